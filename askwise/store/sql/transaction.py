"""A write to a store in an SQL database, which asks the database once."""

from abc import abstractmethod
from collections.abc import Sequence

from askwise.core.events import Event
from askwise.store import errors
from askwise.store.base import Reply, Transaction
from askwise.store.connections import Connection
from askwise.store.event_rows import EventRow, pack
from askwise.store.sql.store import SqlStore


class SqlTransaction(Transaction):
    """Works on the connection of its thread, on which a transaction holds the lock.

    While it does, nobody else appends or keeps a reply: where the log ends is asked once, and so
    is each key.
    """

    def __init__(
        self, store: SqlStore, link: Connection, name: str, campaign: int, last: int
    ) -> None:
        self.store = store
        self.link = link
        self.name = name
        self.campaign = campaign
        self.last = last
        self.grown = False
        self.over = False
        self._replies: dict[str, Reply | None] = {}

    def tail(self, after: int) -> list[Event]:
        self.check()
        if after >= self.last:
            return []
        return self.store.read_on(self.link, self.campaign, after, None)

    def reply(self, key: str) -> Reply | None:
        return self.replies([key]).get(key)

    def replies(self, keys: Sequence[str]) -> dict[str, Reply]:
        self.check()
        new = [key for key in dict.fromkeys(keys) if key not in self._replies]
        if new:
            found = self.store.replies_on(self.link.run_ahead, self.campaign, new)
            self._replies.update({**dict.fromkeys(new), **found})
        known = ((key, self._replies[key]) for key in keys)
        return {key: reply for key, reply in known if reply is not None}

    def append(self, events: Sequence[Event], expected_seq: int) -> None:
        self.check()
        if self.last != expected_seq:
            raise errors.log_moved(self.name, self.last, expected_seq)
        rows = pack(events, expected_seq)
        if rows:
            self._append(rows)
            self.last += len(rows)
            self.grown = True

    def keep(self, reply: Reply) -> None:
        if self.reply(reply.key) is not None:
            raise errors.reply_exists(self.name, reply.key)
        self._keep(reply)
        self._replies[reply.key] = reply

    def check(self) -> None:
        """Complain if the transaction can't go on."""
        if self.over:
            raise errors.write_is_over()
        self.link.check()

    @abstractmethod
    def _append(self, rows: list[EventRow]) -> None:
        """Let the database append to the log."""

    @abstractmethod
    def _keep(self, reply: Reply) -> None:
        """Let the database keep a reply."""
