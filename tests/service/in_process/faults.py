"""A store that fails when it is told to, and an owner's client of a service on it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from starlette.testclient import TestClient

from askwise.campaign import Campaign
from askwise.core.errors import StoreError
from askwise.service.app import make_app
from askwise.service.auth.identity import Identities
from askwise.service.settings import Settings
from askwise.service.state import ServiceState
from askwise.store import Change, MemoryStore, Record, Store

SPEC: dict[str, Any] = {
    "workers": [{"id": "ann", "price": "0.05"}, {"id": "bob", "price": "0.05"}],
    "tasks": ["one", "two", "three"],
    "options": ["yes", "no"],
    "budget": "5",
    "policy": "random-pairs",
}


class Crash(BaseException):
    """The process ends here."""


class FaultyStore(MemoryStore):
    """A store in which things go wrong when they are told to."""

    before: BaseException | None = None
    """Raised by the next creation, before it is done."""
    after: BaseException | None = None
    """The same, afterwards."""
    refuses = ""
    """The kind of records of which the next change fails."""
    hangs: threading.Event | None = None
    """For which look-ups of records wait."""

    def create(self, name: str, spec: str, time: float) -> None:
        error, self.before = self.before, None
        if error is not None:
            raise error
        super().create(name, spec, time)
        error, self.after = self.after, None
        if error is not None:
            raise error

    def change(self, changes: Sequence[Change]) -> bool:
        if any(change.kind == self.refuses for change in changes):
            self.refuses = ""
            raise StoreError("the connection was lost")
        return super().change(changes)

    def record(self, kind: str, id: str) -> Record | None:
        if self.hangs is not None:
            self.hangs.wait(60)
        return super().record(kind, id)


class OwnerClient(TestClient):
    """A client of an application on a store, with the owner's key."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.secret = Identities(store).first_owner() or ""
        made = make_app(Settings(store="memory"), store)
        self.service: ServiceState = made.state.service
        super().__init__(made, follow_redirects=False)

    def call(
        self, method: str, path: str, body: Any = None, *, once: str | None = None, **headers: str
    ) -> Any:
        sent = {"Authorization": f"Bearer {self.secret}"} | headers
        if once is not None:
            sent["Idempotency-Key"] = once
        return self.request(method, path, json=body, headers=sent)

    def create(self, name: str, once: str | None = None, **fields: Any) -> Any:
        return self.call("POST", "/campaigns", {**SPEC, "name": name, **fields}, once=once)

    def workers(self, name: str) -> int:
        found: int = self.call("GET", f"/campaigns/{name}").json()["workers"]
        return found

    @contextmanager
    def address(self, address: str) -> Iterator[None]:
        """Let it be what people type."""
        before, base = self.service.settings, self.base_url
        self.service.settings = replace(before, address=address)
        self.base_url = address
        try:
            yield
        finally:
            self.service.settings, self.base_url = before, base


def at_once(count: int, work: Callable[[int], Any]) -> list[Any]:
    """What so many threads get that begin at the same moment."""
    gate = threading.Barrier(count)

    def run(number: int) -> Any:
        gate.wait()
        return work(number)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))


def broken(store: Store, name: str) -> None:
    """A campaign whose policy is installed nowhere any more."""
    Campaign.create(store=store, name=f"{name}-fine", **SPEC)
    spec = json.loads(store.spec(f"{name}-fine"))
    store.create(name, json.dumps({**spec, "policy": {"name": "gone-plugin"}}), 0.0)
