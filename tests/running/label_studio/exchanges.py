"""A fixed course of requests, and what of the replies askwise relies on.

Put to a real server it gives what ``exchanges.json`` holds; to the fake one, the same.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx

from askwise.core.content import Content
from askwise.sources.label_studio import TASK, LabelStudioForm

RECORDED = Path(__file__).with_name("exchanges.json")

FORM = LabelStudioForm(Content("Spam?", options=["no", "yes"], fields=["text"]))

PROJECT = ("description", "maximum_annotations", "model_version", "show_collab_predictions",
           "skip_queue", "enable_empty_annotation")  # fmt: skip


class Course:
    """Makes requests, and notes what matters of them."""

    def __init__(self, owner: httpx.Client, other: httpx.Client) -> None:
        self.http = {"owner": owner, "other": other}
        self.noted: list[dict[str, Any]] = []

    def ask(self, who: str, what: str, path: str, body: Any = None, **query: Any) -> Any:
        """Make a request; what is noted comes in the next call of ``note``."""
        method, _, about = what.partition(" ")
        reply = self.http[who].request(method, path, json=body, params=query or None)
        self.noted.append({"who": who, "asks": f"{method} {about}", "status": reply.status_code})
        return reply.json() if reply.content and reply.status_code < 300 else None

    def note(self, **seen: Any) -> None:
        self.noted[-1] |= seen

    def task(self, id: int) -> None:
        """Look at a task."""
        self.note_task(self.ask("owner", "GET task", f"/api/tasks/{id}/"))

    def note_task(self, found: Any) -> None:
        self.note(
            task=found["data"][TASK],
            overlap=found["overlap"],
            is_labeled=found["is_labeled"],
            annotations=[
                {name: each[name] for name in ("was_cancelled", "ground_truth")}
                | {"choices": [said["value"] for said in each["result"]]}
                for each in found["annotations"]
            ],
            predictions=[
                {name: each[name] for name in ("model_version", "score")}
                for each in found["predictions"]
            ],
        )


def course(owner: httpx.Client, other: httpx.Client) -> list[dict[str, Any]]:
    """Put the requests to a server; says what came of them."""
    on = Course(owner, other)
    on.ask("owner", "POST project whose title is short", "/api/projects/", {"title": "x"})
    fields = {"title": "Spam", "label_config": FORM.config(), "maximum_annotations": 0}
    made = on.ask("owner", "POST project", "/api/projects/", fields | {"description": "mark"})
    on.note(**{name: made[name] for name in PROJECT})
    project = made["id"]
    rows = [{"data": FORM.data(f"t{at}", {"text": f"mail {at}"})} for at in range(2)]
    on.ask("owner", "POST import", f"/api/projects/{project}/import", rows)
    query = {"project": project, "fields": "all", "page": 1, "page_size": 100}
    listed = on.ask("owner", "GET tasks", "/api/tasks", **query)["tasks"]
    on.note(found=[[each["data"][TASK], each["overlap"], each["is_labeled"]] for each in listed])
    on.ask("owner", "GET tasks behind the last page", "/api/tasks", **(query | {"page": 2}))
    first, second = (each["id"] for each in listed)
    handed = f"/api/projects/{project}/next"
    on.ask("other", "GET next of closed tasks", handed)
    on.ask("owner", "PATCH overlap", f"/api/tasks/{first}/", {"overlap": 1})
    on.task(first)
    on.ask("other", "GET next after the overlap alone", handed)
    opened = {"overlap": 1, "is_labeled": False}
    on.ask("owner", "PATCH overlap and is_labeled", f"/api/tasks/{first}/", opened)
    found = on.ask("other", "GET next of an open task", handed)
    on.note(task=found["data"][TASK])
    body = {"result": FORM.result("yes")}
    said = on.ask("other", "POST annotation", f"/api/tasks/{first}/annotations/", body)
    on.task(first)
    on.ask("owner", "GET next of a task that is met", handed)
    again = {"overlap": 2, "is_labeled": False}
    on.ask("owner", "PATCH overlap of a task that is met", f"/api/tasks/{first}/", again)
    on.ask("other", "GET next of one's own", handed)
    found = on.ask("owner", "GET next of another's", handed)
    on.note(task=found["data"][TASK])
    changed = {"result": FORM.result("no")}
    on.ask("other", "PATCH annotation", f"/api/annotations/{said['id']}/", changed)
    on.task(first)
    skip = {"result": [], "was_cancelled": True}
    on.ask("owner", "POST skip", f"/api/tasks/{first}/annotations/", skip)
    on.task(first)
    on.ask("other", "DELETE annotation", f"/api/annotations/{said['id']}/")
    on.ask("owner", "GET deleted annotation", f"/api/annotations/{said['id']}/")
    on.task(first)
    guess = {"task": second, "model_version": "m", "score": 0.5, "result": FORM.result("no")}
    path = f"/api/projects/{project}/import/predictions"
    on.ask("owner", "POST predictions", path, [guess])
    found = on.ask("owner", "GET task", f"/api/tasks/{second}/")
    on.note_task(found)
    id, better = found["predictions"][0]["id"], {"model_version": "n", "score": 0.75}
    on.ask("owner", "PATCH prediction", f"/api/predictions/{id}/", better)
    on.task(second)
    on.ask("owner", "DELETE prediction", f"/api/predictions/{id}/")
    on.ask("owner", "DELETE task", f"/api/tasks/{second}/")
    on.ask("owner", "GET deleted task", f"/api/tasks/{second}/")
    on.ask("owner", "PATCH project", f"/api/projects/{project}/", {"maximum_annotations": 1})
    on.task(first)
    on.ask("owner", "GET project that is not there", "/api/projects/999999/")
    return on.noted


def recorded() -> list[dict[str, Any]]:
    """What a real server replied."""
    return json.loads(RECORDED.read_text())
