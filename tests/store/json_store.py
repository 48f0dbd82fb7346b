"""A store as somebody else would write it: one JSON file for one process, and no more."""

from __future__ import annotations

import copy
import json
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from askwise.core.events import Event
from askwise.store import Change, Record, Reply, Store, Transaction, errors
from askwise.store.event_rows import pack, unpack
from askwise.store.records import check_limit, in_order, whole


class JsonTransaction(Transaction):
    def __init__(self, name: str, campaign: dict[str, Any]) -> None:
        self.name, self.campaign = name, campaign

    def tail(self, after: int) -> list[Event]:
        return unpack(self._part("rows")[after:])

    def reply(self, key: str) -> Reply | None:
        return Reply(key, *found) if (found := self._part("replies").get(key)) else None

    def append(self, events: Sequence[Event], expected_seq: int) -> None:
        rows = self._part("rows")
        if expected_seq != len(rows):
            raise errors.log_moved(self.name, len(rows), expected_seq)
        rows += pack(events, expected_seq)

    def keep(self, reply: Reply) -> None:
        kept = [reply.request, reply.body]
        if self._part("replies").setdefault(reply.key, kept) is not kept:
            raise errors.reply_exists(self.name, reply.key)

    def _part(self, part: str) -> Any:
        if not self.campaign:
            raise errors.write_is_over()
        return self.campaign[part]


class JsonStore(Store):
    def __init__(self, url: str) -> None:
        self.file, self.closed = Path(url.removeprefix("json://")), False
        self.lock, self.local = threading.Lock(), threading.local()
        new = '{"campaigns": {}, "records": {}}'
        self.state = json.loads(self.file.read_text() if self.file.exists() else new)

    def create(self, name: str, spec: str, time: float) -> None:
        with self._turn("create a campaign") as draft:
            if name in draft["campaigns"]:
                raise errors.campaign_exists(name)
            draft["campaigns"][name] = {"spec": spec, "rows": [], "replies": {}}

    def spec(self, name: str) -> str:
        return str(self._find(name)["spec"])

    def names(self) -> list[str]:
        return sorted(self._now()["campaigns"])

    @contextmanager
    def write(self, name: str) -> Iterator[Transaction]:
        self._find(name)
        with self._turn("write"):
            transaction = JsonTransaction(name, self._find(name))
            try:
                yield transaction
            finally:
                transaction.campaign = {}

    def read(self, name: str, after: int = 0, upto: int | None = None) -> list[Event]:
        return unpack(self._find(name)["rows"][max(after, 0) : upto and max(upto, 0)])

    def records(
        self, kind: str, prefix: str = "", after: str = "", limit: int | None = None
    ) -> list[Record]:
        check_limit(limit)
        whole(prefix + after, "prefix or after")
        found = sorted(self._now()["records"].get(whole(kind, "kind"), {}).items())
        fit = [(id, body) for id, body in found if id.startswith(prefix) and id > after]
        return [Record(kind, id, body) for id, body in fit[:limit]]

    def change(self, changes: Sequence[Change]) -> bool:
        ordered = in_order(changes)
        with self._turn("change records") as draft:
            kinds = {each.kind: draft["records"].setdefault(each.kind, {}) for each in ordered}
            fits = all(kinds[each.kind].get(each.id) == each.before for each in ordered)
            for kind, id, _, after in ordered if fits else ():
                kinds[kind].pop(id, None) if after is None else kinds[kind].update({id: after})
        return fits

    def close(self) -> None:
        if getattr(self.local, "draft", None):
            raise errors.inside_write("close the store")
        self.closed = True

    @contextmanager
    def _turn(self, verb: str) -> Iterator[dict[str, Any]]:
        if getattr(self.local, "draft", None):
            raise errors.inside_write(verb)
        with self.lock:
            self.local.draft = draft = copy.deepcopy(self._now())
            try:
                yield draft
            finally:
                self.local.draft = None
            with (new := self.file.with_suffix(".new")).open("w") as file:
                json.dump(draft, file)
                file.flush()
                os.fsync(file.fileno())
            os.replace(new, self.file)
            self.state = draft

    def _now(self) -> Any:
        if self.closed:
            raise errors.store_closed()
        return getattr(self.local, "draft", None) or self.state

    def _find(self, name: str) -> Any:
        if name not in (campaigns := self._now()["campaigns"]):
            raise errors.unknown_campaign(name, campaigns)
        return campaigns[name]
