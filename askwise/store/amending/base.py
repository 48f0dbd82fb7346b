"""What stores can do against the rule that logs only grow."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Protocol

from askwise.core.events import Event
from askwise.store import errors
from askwise.store.base import Reply, Store
from askwise.store.event_rows import EventRow
from askwise.store.records import Change


class Rewriting(Protocol):
    """What becomes of each text of a campaign; what need not change is returned as it is."""

    def spec(self, text: str) -> str:
        """The text of what the campaign was created with."""

    def row(self, row: EventRow) -> EventRow:
        """An event, which keeps its place and kind."""

    def reply(self, reply: Reply) -> Reply:
        """The reply to a keyed write."""


class Amending(Store):
    """A store that can delete a campaign and rewrite one.

    It is a capability: a store may do without, and then is no ``Amending``. Both are one
    transaction, together with changes of records, and both are refused if the log is not where the
    caller has read it.
    """

    @abstractmethod
    def delete(self, name: str, expected_seq: int, changes: Sequence[Change] = ()) -> bool:
        """Remove a campaign: its log, replies and snapshots, and what it was created with.

        Its name is not used again: what others still hold of it never leads to another campaign.

        Returns
        -------
        bool
            False if a record was not what its ``before`` says; then nothing is changed.

        Raises
        ------
        Conflict
            The log is not at ``expected_seq``.
        """

    @abstractmethod
    def rewrite(
        self,
        name: str,
        expected_seq: int,
        rewriting: Rewriting,
        events: Sequence[Event],
        changes: Sequence[Change] = (),
    ) -> bool:
        """Rewrite a campaign, drop its snapshots and append ``events``.

        Those who hold the campaign know by a RENAMED among the events that what they have read is
        out of date; no snapshot of a state before it is saved any more.

        Returns
        -------
        bool
            False if a record was not what its ``before`` says; then nothing is changed.

        Raises
        ------
        Conflict
            The log is not at ``expected_seq``.
        """

    def scrub(self) -> None:
        """Leave no trace of what was replaced or removed in what the store itself can reach."""


def amending(store: Store) -> Amending:
    """Take a store that can delete and rewrite.

    Raises
    ------
    StoreError
        It can't.
    """
    if not isinstance(store, Amending):
        raise errors.unusable(
            f"a {type(store).__name__} can't delete or rewrite a campaign: do it with the tools of "
            "what it is kept in"
        )
    return store
