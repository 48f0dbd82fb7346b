"""Workers' browsers without scripts, on a service in this process."""

from __future__ import annotations

import re
import time
from html.parser import HTMLParser
from typing import Any

import httpx
from starlette.testclient import TestClient

from askwise.campaign import Campaign
from askwise.service.routing.application import Application
from askwise.service.state import ServiceState


class Bench:
    """A service in this process, a name for a campaign of the test, and its workers' browsers."""

    def __init__(self, app: Application, name: str = "cats") -> None:
        self.app = app
        self.name = name
        self.service: ServiceState = app.state.service

    def campaign(self, **fields: Any) -> Campaign:
        defaults: dict[str, Any] = {
            "workers": [{"id": "ann", "price": "0.10"}, {"id": "bob", "price": "0.25"}],
            "tasks": [{"id": "t1", "payload": "A cat?"}, {"id": "t2", "payload": "A dog?"}],
            "options": ["yes", "no"],
            "budget": "10",
            "policy": "random-pairs",
            "seed": 3,
        }
        Campaign.create(
            store=self.service.campaigns.store, name=self.name, **{**defaults, **fields}
        )
        return self.service.campaigns.get(self.name)

    def token(self, worker: str, **more: Any) -> str:
        secret, _ = self.service.identities.issue(
            "worker", worker, campaign=self.name, worker=worker, **more
        )
        return secret

    def visitor(self, worker: str = "ann") -> Visitor:
        client = TestClient(self.app, base_url="http://service.test")
        assert client.get(f"/join/{self.token(worker)}").status_code == 200
        return Visitor(client, self.name)


class Visitor:
    """A worker's browser without scripts: sends the forms of the page that it has."""

    def __init__(self, client: TestClient, campaign: str) -> None:
        self.client = client
        self.home = f"/work/{campaign}"
        self.page = ""
        self.status = 0

    def look(self) -> str:
        return self._take(self.client.get(self.home))

    def send(self, verb: str, page: str | None = None, **fields: str) -> str:
        """Send the form of a verb with what it has hidden; of an older ``page`` if one is given."""
        source = self.page if page is None else page
        form = re.search(rf'<form [^>]*action="{self.home}/{verb}".*?</form>', source, re.S)
        assert form is not None, f"no form to {verb} in {source}"
        hidden = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form[0]))
        return self._take(self.client.post(f"{self.home}/{verb}", data={**hidden, **fields}))

    def heading(self) -> str:
        found = re.search(r"<h1[^>]*>(.*?)</h1>", self.page)
        return found[1] if found else ""

    def about(self) -> str:
        found = re.search(r'id="about"[^>]*>(.*?)</p>', self.page)
        return found[1] if found else ""

    def _take(self, reply: httpx.Response) -> str:
        self.status, self.page = reply.status_code, reply.text
        return self.page


class _Words(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        for name, value in attrs:
            if value is None or (name == "value" and given.get("name") == "csrf"):
                continue
            self.found.append(value.partition("?v=")[0] if name in ("href", "src") else value)

    def handle_data(self, data: str) -> None:
        self.found.append(data)


def told_by(page: str) -> list[str]:
    """Each text and each attribute of a page, hidden ones too.

    Left out is what is drawn or hashed, and may hold any digits by chance: the token of its forms
    and the version of its files.
    """
    parser = _Words()
    parser.feed(page)
    return parser.found


class Clock:
    """A clock that stands still until a test puts it forward."""

    def __init__(self) -> None:
        self.ahead = 0.0
        self._begun = time.time()

    def now(self) -> float:
        return self._begun + self.ahead


def kinds(campaign: Campaign) -> list[str]:
    return [event.kind.name for event in campaign.log()]
