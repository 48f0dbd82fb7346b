"""A Label Studio in memory, that does what was seen of a real one (Community 1.23.2).

``test_exchanges`` holds it against recorded exchanges, and a real server too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import httpx

ADMIN = "admin-token"
Reply = tuple[int, Any]


class FakeLabelStudio(httpx.BaseTransport):
    """Answers requests, one at a time."""

    def __init__(self, mails: tuple[str, ...] = ()) -> None:
        self.users = [{"id": 1, "email": "admin@example.org", "active_organization": 1}]
        self.tokens = {ADMIN: 1}
        for at, mail in enumerate(mails, 2):
            self.users.append({"id": at, "email": mail, "active_organization": 1})
            self.tokens[f"token-{at}"] = at
        self.projects: dict[int, dict[str, Any]] = {}
        self.tasks: dict[int, dict[str, Any]] = {}
        self.annotations: dict[int, dict[str, Any]] = {}
        self.predictions: dict[int, dict[str, Any]] = {}
        self.hooks: dict[int, dict[str, Any]] = {}
        self.seen: list[str] = []
        self.down = False
        self.guard: Callable[[str], None] = lambda what: None
        """Called before and after every request; may raise, as if askwise were killed there."""
        self._ids = 0
        self._now = datetime(2026, 1, 1, tzinfo=UTC).timestamp()

    # As a transport.

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        what = f"{request.method} {request.url.path}"
        self.guard(what)
        if self.down:
            raise httpx.ConnectError("refused")
        self.seen.append(what)
        user = self._user(request.headers.get("Authorization", ""))
        status, body = (401, {"detail": "Invalid token."})
        if user or request.url.path == "/api/token/refresh":
            given = json.loads(request.read() or b"null")
            status, body = self._route(request, given, user or 0)
        self.guard(f"after {what}")
        return httpx.Response(status, json=body) if body is not None else httpx.Response(status)

    def _user(self, said: str) -> int | None:
        kind, _, token = said.partition(" ")
        if kind == "Bearer":
            return 1 if token == "access" else None
        return self.tokens.get(token) if kind == "Token" else None

    def _route(self, request: httpx.Request, given: Any, user: int) -> Reply:
        method, path = request.method, request.url.path
        for pattern, act in _ROUTES:
            found = re.fullmatch(pattern, f"{method} {path}")
            if found:
                ids = [int(each) for each in found.groups()]
                return act(self, dict(request.url.params), given, user, *ids)
        return 404, {"detail": "Not found."}

    def _id(self) -> int:
        self._ids += 1
        return self._ids

    def now(self) -> str:
        """The next moment: nothing happens at the same time as anything else."""
        self._now += 1
        return datetime.fromtimestamp(self._now, UTC).isoformat().replace("+00:00", "Z")

    # Requests.

    def refresh(self, query: Any, given: Any, user: int) -> Reply:
        fits = given == {"refresh": "a.personal.token"}
        return (200, {"access": "access"}) if fits else (401, {"detail": "Token is invalid"})

    def list_users(self, query: Any, given: Any, user: int) -> Reply:
        return 200, self.users

    def list_projects(self, query: Any, given: Any, user: int) -> Reply:
        found = [self._project(each) for each in self.projects.values()]
        return 200, {"count": len(found), "next": None, "previous": None, "results": found}

    def _project(self, project: dict[str, Any]) -> dict[str, Any]:
        number = sum(each["project"] == project["id"] for each in self.tasks.values())
        return {**project, "task_number": number}

    def make_project(self, query: Any, given: Any, user: int) -> Reply:
        if len(given["title"]) < 3:
            return 400, {"detail": "Validation error"}
        made = {
            "id": self._id(),
            "description": "",
            "maximum_annotations": 1,
            "show_collab_predictions": True,
            "skip_queue": "REQUEUE_FOR_OTHERS",
            "enable_empty_annotation": True,
            "show_instruction": False,
            "model_version": "",
            **given,
        }
        self.projects[made["id"]] = made
        return 201, made

    def get_project(self, query: Any, given: Any, user: int, id: int) -> Reply:
        if id not in self.projects:
            return 404, {"detail": "No Project matches the given query."}
        return 200, self._project(self.projects[id])

    def change_project(self, query: Any, given: Any, user: int, id: int) -> Reply:
        changed = given.get("maximum_annotations", self.projects[id]["maximum_annotations"])
        if changed != self.projects[id]["maximum_annotations"]:
            for task in self.tasks.values():
                if task["project"] == id:
                    task["overlap"] = changed
                    self._update_labelled(task)
        self.projects[id] |= given
        return 200, self.projects[id]

    def import_tasks(self, query: Any, given: Any, user: int, id: int) -> Reply:
        most = self.projects[id]["maximum_annotations"]
        for each in given:
            at = self._id()
            self.tasks[at] = {
                "id": at,
                "project": id,
                "data": each["data"],
                "overlap": most,
                "is_labeled": most <= 0,
            }
        return 201, {"task_count": len(given), "annotation_count": 0, "prediction_count": 0}

    def _task(self, task: dict[str, Any]) -> dict[str, Any]:
        def of(rows: dict[int, dict[str, Any]]) -> list[dict[str, Any]]:
            return [each for each in rows.values() if each["task"] == task["id"]]

        return {
            **task,
            "annotations": of(self.annotations),
            "predictions": of(self.predictions),
            "drafts": [],
        }

    def list_tasks(self, query: Any, given: Any, user: int) -> Reply:
        found = [
            self._task(each)
            for each in self.tasks.values()
            if each["project"] == int(query["project"])
        ]
        page, size = int(query["page"]), int(query["page_size"])
        rows = found[(page - 1) * size : page * size]
        if page > 1 and not rows:
            return 404, {"detail": "Invalid page."}
        return 200, {"total": len(found), "tasks": rows}

    def get_task(self, query: Any, given: Any, user: int, id: int) -> Reply:
        if id not in self.tasks:
            return 404, {"detail": "No Task matches the given query."}
        found = self._task(self.tasks[id])
        people = {each["id"]: each for each in self.users}
        annotations = [
            each | {"completed_by": people[each["completed_by"]]} for each in found["annotations"]
        ]
        return 200, found | {"annotations": annotations}

    def change_task(self, query: Any, given: Any, user: int, id: int) -> Reply:
        if id not in self.tasks:
            return 404, {"detail": "No Task matches the given query."}
        # What is not given stays: whether it is labelled is not worked out again.
        self.tasks[id] |= given
        return 200, self._task(self.tasks[id])

    def delete_task(self, query: Any, given: Any, user: int, id: int) -> Reply:
        if self.tasks.pop(id, None) is None:
            return 404, {"detail": "No Task matches the given query."}
        for rows in (self.annotations, self.predictions):
            for key in [key for key, each in rows.items() if each["task"] == id]:
                del rows[key]
        return 204, None

    def _update_labelled(self, task: dict[str, Any]) -> None:
        there = [each for each in self.annotations.values() if each["task"] == task["id"]]
        who = {each["completed_by"] for each in there if not each["was_cancelled"]}
        task["is_labeled"] = len(who) >= task["overlap"]

    def annotate(self, query: Any, given: Any, user: int, id: int) -> Reply:
        if id not in self.tasks:
            return 404, {"detail": "No Task matches the given query."}
        made = {"id": self._id(), "task": id, "completed_by": user, "was_cancelled": False}
        made |= {"ground_truth": False, "updated_at": self.now(), **given}
        self.annotations[made["id"]] = made
        self._update_labelled(self.tasks[id])
        return 201, made

    def get_annotation(self, query: Any, given: Any, user: int, id: int) -> Reply:
        if id not in self.annotations:
            return 404, {"detail": "No Annotation matches the given query."}
        return 200, self.annotations[id]

    def change_annotation(self, query: Any, given: Any, user: int, id: int) -> Reply:
        self.annotations[id] |= {**given, "updated_at": self.now()}
        self._update_labelled(self.tasks[self.annotations[id]["task"]])
        return 200, self.annotations[id]

    def delete_annotation(self, query: Any, given: Any, user: int, id: int) -> Reply:
        task = self.tasks[self.annotations.pop(id)["task"]]
        self._update_labelled(task)
        return 204, None

    def next_task(self, query: Any, given: Any, user: int, id: int) -> Reply:
        for task in self.tasks.values():
            there = [each for each in self.annotations.values() if each["task"] == task["id"]]
            count = sum(not each["was_cancelled"] for each in there)
            mine = any(each["completed_by"] == user for each in there)
            open_to = task["project"] == id and not task["is_labeled"] and not mine
            if open_to and count < task["overlap"]:
                return 200, self._task(task)
        return 404, {"detail": "There are no tasks"}

    def import_predictions(self, query: Any, given: Any, user: int, id: int) -> Reply:
        if any(each["task"] not in self.tasks for each in given):
            return 400, {"detail": "Validation error"}
        for each in given:
            at = self._id()
            self.predictions[at] = {"id": at, "project": id, **each}
        return 201, {"created": len(given)}

    def change_prediction(self, query: Any, given: Any, user: int, id: int) -> Reply:
        self.predictions[id] |= given
        return 200, self.predictions[id]

    def delete_prediction(self, query: Any, given: Any, user: int, id: int) -> Reply:
        del self.predictions[id]
        return 204, None

    def list_hooks(self, query: Any, given: Any, user: int) -> Reply:
        project = int(query["project"])
        return 200, [each for each in self.hooks.values() if each["project"] == project]

    def make_hook(self, query: Any, given: Any, user: int) -> Reply:
        if given["url"].startswith("http://127.0.0.9"):
            return 403, {"detail": "URL resolves to a reserved network address"}
        at = self._id()
        self.hooks[at] = {"id": at, **given}
        return 201, self.hooks[at]

    def change_hook(self, query: Any, given: Any, user: int, id: int) -> Reply:
        self.hooks[id] |= given
        return 200, self.hooks[id]


_F = FakeLabelStudio
_ROUTES: list[tuple[str, Callable[..., Reply]]] = [
    (r"POST /api/token/refresh", _F.refresh),
    (r"GET /api/users/", _F.list_users),
    (r"GET /api/projects/", _F.list_projects),
    (r"POST /api/projects/", _F.make_project),
    (r"GET /api/projects/(\d+)/", _F.get_project),
    (r"PATCH /api/projects/(\d+)/", _F.change_project),
    (r"GET /api/projects/(\d+)/next", _F.next_task),
    (r"POST /api/projects/(\d+)/import", _F.import_tasks),
    (r"POST /api/projects/(\d+)/import/predictions", _F.import_predictions),
    (r"GET /api/tasks", _F.list_tasks),
    (r"GET /api/tasks/(\d+)/", _F.get_task),
    (r"PATCH /api/tasks/(\d+)/", _F.change_task),
    (r"DELETE /api/tasks/(\d+)/", _F.delete_task),
    (r"POST /api/tasks/(\d+)/annotations/", _F.annotate),
    (r"GET /api/annotations/(\d+)/", _F.get_annotation),
    (r"PATCH /api/annotations/(\d+)/", _F.change_annotation),
    (r"DELETE /api/annotations/(\d+)/", _F.delete_annotation),
    (r"PATCH /api/predictions/(\d+)/", _F.change_prediction),
    (r"DELETE /api/predictions/(\d+)/", _F.delete_prediction),
    (r"GET /api/webhooks/", _F.list_hooks),
    (r"POST /api/webhooks/", _F.make_hook),
    (r"PATCH /api/webhooks/(\d+)/", _F.change_hook),
]
