"""A service with a dashboard, and what a browser without JavaScript finds on its pages."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

from starlette.testclient import TestClient

from askwise.campaign import Campaign
from askwise.core.choices import Batch
from askwise.core.problem import Task, Worker
from askwise.service.state import ServiceState

NASTY = "<script>alert(1)</script>\"'&"

TURNED = NASTY + "\u202eevil\n\t\x07"
"""Not for ids, which are printable: for payloads, contexts and labels."""


class Site:
    """A service in memory and a browser that is signed in to it."""

    def __init__(self, client: TestClient, service: ServiceState) -> None:
        self.client = client
        self.service = service

    def sign_in(self, role: str = "owner") -> None:
        secret, _ = self.service.identities.issue(role, f"the {role}")
        self.client.cookies.clear()
        reply = self.client.post("/login", data={"key": secret}, follow_redirects=False)
        assert reply.status_code == 303

    def create(self, name: str = "cats", **fields: Any) -> Campaign:
        given: dict[str, Any] = {
            "workers": [Worker("ann", "0.10"), Worker("bob", "0.25")],
            "tasks": [Task("t1", payload="A cat?"), Task("t2"), Task("t3")],
            "options": ["yes", "no"],
            "budget": "10",
            "policy": "random-pairs",
            "seed": 1,
        }
        given.update(fields)
        Campaign.create(store=self.service.campaigns.store, name=name, **given)
        return self.service.campaigns.get(name)

    def page(self, path: str, status: int = 200) -> str:
        reply = self.client.get(path)
        assert reply.status_code == status, reply.text
        return reply.text

    def send(self, form: Form, **typed: str) -> Any:
        """Send a form as it is on the page, with these fields filled in."""
        return self.client.post(form.action, data={**form.fields, **typed}, follow_redirects=False)


class Form:
    """A form of a page: where it goes and what it holds."""

    def __init__(self, action: str) -> None:
        self.action = action
        self.fields: dict[str, str] = {}


class _Forms(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[Form] = []
        self.inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "form":
            self.found.append(Form(given["action"] or ""))
            self.inside = True
        if tag == "input" and self.inside and given.get("type") == "hidden":
            self.found[-1].fields[given["name"] or ""] = given.get("value") or ""

    def handle_endtag(self, tag: str) -> None:
        self.inside = self.inside and tag != "form"


def form_of(page: str, action: str) -> Form:
    """The form of a page that goes there."""
    parser = _Forms()
    parser.feed(page)
    return next(form for form in parser.found if form.action.endswith(action))


def words_of(page: str) -> str:
    """What a page says, without its tags and on one line."""
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


def work(campaign: Campaign, *values: float | str) -> None:
    """Ask for one answer after the other."""
    for value in values:
        batch = campaign.ask()
        assert isinstance(batch, Batch)
        campaign.tell(batch[0].id, value)
