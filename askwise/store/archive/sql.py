"""How stores in SQL databases give away the log of a campaign and take it back."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, ClassVar

from askwise.store import errors
from askwise.store.archive.base import ArchiveNote, Archiving, head_of
from askwise.store.backup.portable import Filler, Head, Item, lent
from askwise.store.connections import Connection
from askwise.store.sql import LAST, SqlStore, last_of

_NOTES = "SELECT name, archived FROM {s}campaigns WHERE archived <> 'deleted'"
_ROW = "SELECT id, created, spec, archived FROM {s}campaigns WHERE name = {v}"
_REPLIES = "SELECT count(*) FROM {s}replies WHERE campaign = {v}"
_NOTE = "UPDATE {s}campaigns SET archived = {v} WHERE id = {v}"
_BACK = "UPDATE {s}campaigns SET archived = NULL WHERE id = {v}"
_REMOVE = "DELETE FROM {s}{table} WHERE campaign = {v}"

ARCHIVE = "archive a campaign"
BRING_BACK = "bring a campaign back"


class SqlArchiving(SqlStore, Archiving):
    """Archives campaigns in one transaction each.

    Attributes
    ----------
    locking : str
        What a query ends with so that other writers of the row wait.
    """

    locking: ClassVar[str] = ""

    def archived(self) -> dict[str, ArchiveNote]:
        with self._look() as link:
            found = [] if link is None else self._run(link, _NOTES)
        return {self._given(name): ArchiveNote.from_text(self._given(note)) for name, note in found}

    @contextmanager
    def content(self, name: str) -> Iterator[Iterator[Item]]:
        campaign = self._id(name)
        with self._connections.use_apart(ARCHIVE) as link:
            for statement in self.moment:
                link.run(statement)
            with lent(self._campaign_items(link, name, campaign)) as items:
                yield items

    def take_out(self, name: str, note: ArchiveNote) -> None:
        with self._alone(ARCHIVE) as link:
            row = self._row(link, name)
            if row is None:
                raise self._unknown(name)
            campaign, _, _, archived = row
            if archived is not None:
                raise self._gone(name, archived)
            last = last_of(self._run(link, LAST, campaign))
            ((replies,),) = self._run(link, _REPLIES, campaign)
            if (last, replies) != (note.events, note.replies):
                raise errors.log_moved(name, last, note.events)
            for table in ("snapshots", "replies", "events"):
                self._run(link, _REMOVE, campaign, table=table)
            self._run(link, _NOTE, self._kept(note.to_text(), "note"), campaign)
        self._ids.pop(name, None)

    def bring_back(self, items: Iterable[Item]) -> None:
        source = iter(items)
        head = head_of(source)
        with self._alone(BRING_BACK) as link:
            row = self._row(link, head.name)
            if row is not None and (row[1:3] != (head.created, head.spec) or row[3] is None):
                raise errors.campaign_exists(head.name)
            campaign = None if row is None else row[0]
            self._fill_log(link, head, campaign, source)
            if campaign is not None:
                self._run(link, _BACK, campaign)

    def _row(self, link: Connection, name: str) -> tuple[int, float, str, str | None] | None:
        """The row of a campaign, locked."""
        found = self._run(link, _ROW + self.locking, self._kept(name, "name"))
        if not found:
            return None
        number, created, spec, note = found[0]
        return int(number), created, self._given(spec), None if note is None else self._given(note)

    def _fill_log(self, link: Any, head: Head, campaign: int | None, items: Iterable[Item]) -> None:
        filler = self._filler(link, campaign)
        if campaign is None:
            filler.campaign(head)
        filler.take(items)

    @abstractmethod
    def _alone(self, verb: str) -> AbstractContextManager[Any]:
        """Lend a connection with a transaction that commits at the end of the block."""

    @abstractmethod
    def _filler(self, link: Any, campaign: int | None) -> Filler:
        """What fills the log of a campaign; None for one that is about to be made."""
