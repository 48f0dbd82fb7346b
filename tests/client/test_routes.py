"""Every route of the service has a verb of the client."""

from __future__ import annotations

import inspect
import re
from typing import Any

from askwise.client import AsyncRemoteCampaign, AsyncService, RemoteCampaign, Service
from askwise.client.requests import ServiceRequest, Steps
from tests.service.auth.rules import API

FOR_BROWSERS = {("GET", "/docs")}

GIVEN: dict[str, Any] = {
    **{"assignment_id": "cats:7", "why": "refused", "value": "yes", "task": "t", "option": "yes"},
    **{"told": {}, "by": "me", "text": "hm", "worker": "ann", "amount": 1, "title": "Cats"},
    **{"available": True, "id": "a1", "what": "log.jsonl", "role": "viewer", "label": "x"},
    **{"url": "https://example.org", "events": ["campaign.done"], "hook": "h1", "delivery": "d1"},
    **{"workers": [], "name": "cats"},
}
"""Something for each parameter that has no default; `create` takes a text as TOML too."""


class Recorder:
    """A transport that sends nothing: the first request of a verb is its route."""

    url = "http://127.0.0.1"

    def __init__(self) -> None:
        self.seen: set[tuple[str, str]] = set()

    def run(self, steps: Steps[Any]) -> None:
        request: ServiceRequest = next(steps)
        self.seen.add((request.method, request.path))


def called(thing: Any) -> None:
    """Call every verb."""
    for name, member in inspect.getmembers(type(thing)):
        if name.startswith("_") or (name == "close" and not hasattr(thing, "name")):
            continue
        if isinstance(member, property):
            getattr(thing, name)
            continue
        needed = {
            each.name: GIVEN[each.name]
            for each in list(inspect.signature(member).parameters.values())[1:]
            if each.default is each.empty
        }
        getattr(thing, name)(**needed)


def reached(service: type, campaign: type) -> set[tuple[str, str]]:
    recorder = Recorder()
    called(service(recorder))
    called(campaign(recorder, "cats"))
    return recorder.seen


def test_the_client_has_a_verb_for_every_route() -> None:
    seen = reached(Service, RemoteCampaign)
    for method, path in set(API) - FOR_BROWSERS:
        form = re.compile(re.sub(r"\{\w+\}", "[^/]+", path))
        assert any(m == method and form.fullmatch(p) for m, p in seen), f"{method} {path}"


def test_both_clients_have_the_same_verbs_and_send_the_same() -> None:
    assert reached(Service, RemoteCampaign) == reached(AsyncService, AsyncRemoteCampaign)
    for there, here in ((AsyncService, Service), (AsyncRemoteCampaign, RemoteCampaign)):
        names = [{name for name in dir(each) if not name.startswith("_")} for each in (there, here)]
        assert names[0] == names[1]
