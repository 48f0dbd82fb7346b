"""How stores in SQL databases delete a campaign and rewrite one."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

from askwise.core.events import Event
from askwise.store import errors
from askwise.store.amending.base import Amending, Rewriting
from askwise.store.archive.sql import SqlArchiving
from askwise.store.backup.portable import CHUNK
from askwise.store.connections import Connection
from askwise.store.event_rows import EventRow, pack
from askwise.store.records import Change, in_order
from askwise.store.sql import DELETED, LAST, last_of

_REMOVE = "DELETE FROM {s}{table} WHERE campaign = {v}"
_MARK_DELETED = "UPDATE {s}campaigns SET spec = '', archived = {v} WHERE id = {v}"
_SPEC = "UPDATE {s}campaigns SET spec = {v} WHERE id = {v}"
_ROW = "UPDATE {s}events SET key = {v}, body = {v} WHERE campaign = {v} AND seq = {v}"
_REPLY = """
    UPDATE {s}replies SET key = {v}, request = {v}, body = {v} WHERE campaign = {v} AND key = {v}
"""

DELETE = "delete a campaign"
REWRITE = "rewrite a campaign"


class _RecordsMoved(Exception):
    """A record is not what it was; the transaction is given up."""


class SqlAmending(SqlArchiving, Amending):
    """Deletes and rewrites in one transaction each."""

    def delete(self, name: str, expected_seq: int, changes: Sequence[Change] = ()) -> bool:
        ordered = in_order(changes)
        try:
            with self._alone(DELETE) as link:
                campaign, _ = self._hold(link, name, expected_seq)
                self._change_or_raise(link, ordered)
                for table in ("snapshots", "replies", "events"):
                    self._run(link, _REMOVE, campaign, table=table)
                self._run(link, _MARK_DELETED, DELETED, campaign)
        except _RecordsMoved:
            return False
        self._ids.pop(name, None)
        return True

    def rewrite(
        self,
        name: str,
        expected_seq: int,
        rewriting: Rewriting,
        events: Sequence[Event],
        changes: Sequence[Change] = (),
    ) -> bool:
        ordered, new = in_order(changes), pack(events, expected_seq)
        try:
            with self._alone(REWRITE) as link:
                campaign, spec = self._hold(link, name, expected_seq)
                self._change_or_raise(link, ordered)
                self._run(link, _REMOVE, campaign, table="snapshots")
                if (written := rewriting.spec(spec)) != spec:
                    self._run(link, _SPEC, self._kept(written, "spec"), campaign)
                self._rewrite_log(link, campaign, rewriting)
                self._rewrite_replies(link, campaign, rewriting)
                self._filler(link, campaign).take(new)
        except _RecordsMoved:
            return False
        self._told(name, expected_seq + len(new))
        return True

    def _rewrite_log(self, link: Connection, campaign: int, rewriting: Rewriting) -> None:
        # Piece by piece, and each is read whole before it is written.
        for row in map(EventRow._make, self._rows(link, campaign, 0, 2**62, CHUNK)):
            new = rewriting.row(row)
            if new != row:
                key = None if new.key is None else self._kept(new.key, "key")
                self._run(link, _ROW, key, new.body, campaign, row.seq)

    def _rewrite_replies(self, link: Connection, campaign: int, rewriting: Rewriting) -> None:
        # All are read first: a key that changes must not be met again.
        for reply in [*self._all_replies(link, campaign)]:
            new = rewriting.reply(reply)
            if new != reply:
                texts = (new.key, new.request, new.body)
                values = [self._kept(text, "reply") for text in texts]
                self._run(link, _REPLY, *values, campaign, self._kept(reply.key, "key"))

    def _hold(self, link: Any, name: str, expected_seq: int) -> tuple[int, str]:
        """Lock a campaign whose log is where it is expected; its number and its spec."""
        row = self._row(link, name)
        if row is None:
            raise self._unknown(name)
        campaign, _, spec, note = row
        if note is not None:
            raise self._gone(name, note)
        last = last_of(self._run(link, LAST, campaign))
        if last != expected_seq:
            raise errors.log_moved(name, last, expected_seq)
        return campaign, spec

    def _change_or_raise(self, link: Any, changes: Sequence[Change]) -> None:
        if not self._change_on(link, changes):
            raise _RecordsMoved

    @abstractmethod
    def _change_on(self, link: Any, changes: Sequence[Change]) -> bool:
        """Change records in the transaction that is open; False if one is not as it was."""

    @abstractmethod
    def _told(self, name: str, last: int) -> None:
        """Tell those who wait for news that a log has grown up to ``last``."""
