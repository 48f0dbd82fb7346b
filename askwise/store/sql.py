"""What stores in SQL databases share: transactions that ask once, and reading a store out whole."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from askwise.store import errors
from askwise.store.backup.portable import CHUNK, Head, Item
from askwise.store.base import Reply, Transaction
from askwise.store.event_rows import EventRow
from askwise.store.records import Record


class SqlTransaction(Transaction):
    """Holds the lock: nobody else keeps a reply meanwhile, so each key is looked up once."""

    def __init__(self, name: str, campaign: int) -> None:
        self.name = name
        self.campaign = campaign
        self.over = False
        self._replies: dict[str, Reply | None] = {}

    def reply(self, key: str) -> Reply | None:
        return self.replies([key]).get(key)

    def replies(self, keys: Sequence[str]) -> dict[str, Reply]:
        self.check()
        new = [key for key in dict.fromkeys(keys) if key not in self._replies]
        if new:
            self._replies.update({**dict.fromkeys(new), **self._look_up(new)})
        known = ((key, self._replies[key]) for key in keys)
        return {key: reply for key, reply in known if reply is not None}

    def keep(self, reply: Reply) -> None:
        if self.reply(reply.key) is not None:
            raise errors.reply_exists(self.name, reply.key)
        self._insert(reply)
        self._replies[reply.key] = reply

    def check(self) -> None:
        """Complain if the transaction can't go on."""
        if self.over:
            raise errors.write_is_over()

    @abstractmethod
    def _look_up(self, keys: list[str]) -> dict[str, Reply]:
        """Find the replies that the database keeps."""

    @abstractmethod
    def _insert(self, reply: Reply) -> None:
        """Let the database keep a reply."""


_HEAD = "SELECT created, spec FROM {s}campaigns WHERE id = {v}"
_ROWS = """
    SELECT seq, kind, time, key, body FROM {s}events
    WHERE campaign = {v} AND seq > {v} ORDER BY seq LIMIT {chunk}
"""
_FIRST_REPLIES = """
    SELECT key, request, body FROM {s}replies WHERE campaign = {v} ORDER BY key LIMIT {chunk}
"""
_REPLIES = _FIRST_REPLIES.replace("ORDER BY", "AND key > {v} ORDER BY")
_RECORDS = """
    SELECT kind, id, body FROM {s}records
    WHERE (kind, id) > ({v}, {v}) ORDER BY kind, id LIMIT {chunk}
"""


def _same(text: str) -> str:
    return text


class SqlContents:
    """Reads all tables on a connection of its own, on which a transaction is open.

    Parameters
    ----------
    run : callable
        Executes a statement with values and returns its rows.
    schema, mark : str
        What names of tables begin with, and what stands for a value.
    given, given_in_order : callable
        Turn text back into what it was before it was kept; the second, text that is sorted by.
    """

    def __init__(
        self,
        run: Callable[..., list[Any]],
        schema: str = "",
        mark: str = "?",
        given: Callable[[str], str] = _same,
        given_in_order: Callable[[str], str] = _same,
    ) -> None:
        self._execute = run
        self._words = {"s": schema, "v": mark, "chunk": CHUNK}
        self._given, self._given_in_order = given, given_in_order
        found = self._run("SELECT name, id FROM {s}campaigns")
        self._ids = {given(name): int(number) for name, number in found}

    def items(self) -> Iterator[Item]:
        """Read it out."""
        given, in_order = self._given, self._given_in_order
        for name, campaign in sorted(self._ids.items()):
            ((created, spec),) = self._run(_HEAD, campaign)
            yield Head(name, created, given(spec))
            last = 0
            while rows := self._run(_ROWS, campaign, last):
                for seq, kind, time, key, body in rows:
                    yield EventRow(seq, kind, time, None if key is None else given(key), body)
                last = rows[-1][0]
            rows = self._run(_FIRST_REPLIES, campaign)
            while rows:
                yield from (Reply(*map(given, row)) for row in rows)
                rows = self._run(_REPLIES, campaign, rows[-1][0])
        # No id is empty, so this is below all of them.
        place = ("", "")
        while rows := self._run(_RECORDS, *place):
            for kind, record, body in rows:
                yield Record(in_order(kind), in_order(record), given(body))
            place = rows[-1][:2]

    def _run(self, statement: str, *values: Any) -> list[Any]:
        return self._execute(statement.format(**self._words), *values)
