"""Whether logs from elsewhere can be folded: looked at event by event before they are kept."""

from collections.abc import Iterable, Iterator

from askwise.campaign.piloting import OWN_RULES
from askwise.campaign.settling import SETTLED
from askwise.campaign.spec import Spec
from askwise.campaign.views.assignments import STATES
from askwise.core.errors import StoreError, UnknownPolicy
from askwise.core.events import Event, Kind
from askwise.ledger import Ledger
from askwise.ledger import columns as c
from askwise.ledger.entries import ABOUT_ASSIGNMENTS, REVISES
from askwise.ledger.given import GIVING
from askwise.store.backup.portable import Head, Item
from askwise.store.event_rows import EventRow, unpack

_TAKES_LATE = frozenset((Kind.ANSWER, Kind.FAILED))
"""What may also come after an assignment has expired."""


class LogCheck:
    """Folds the log of one campaign into a ledger, and refuses an event that does not follow.

    A ledger takes what it is told, as a campaign checks before it writes. A log from elsewhere was
    not checked here, so this also looks at what has become of each assignment before.
    """

    def __init__(self, spec: Spec) -> None:
        self._ledger = Ledger(spec.problem)
        self._notes = {*OWN_RULES, *spec.policy.notes}

    def take(self, event: Event) -> None:
        """Fold one event.

        Raises
        ------
        ValueError
            It does not follow from those before it, for a reason that the ledger does not look at.
        """
        if event.kind in ABOUT_ASSIGNMENTS or event.kind in REVISES:
            self._check_assignment(event)
        if event.kind == Kind.DECIDED and (event.note or "") not in self._notes:
            raise ValueError(f"the policy makes no decision that is called {event.note!r}")
        if event.kind in GIVING and (event.price or 0) <= 0:
            raise ValueError(f"the amount is {event.price}")
        self._ledger.apply(event)
        if event.kind == Kind.BONUS and self._ledger.unspent < 0:
            raise ValueError("the budget does not have the money for the bonus")

    def _check_assignment(self, event: Event) -> None:
        at = self._ledger.assignment_at(event.assignment or 0)
        if at is None:
            raise ValueError(f"there is no assignment {event.assignment}")
        status = int(self._ledger.book.assignments[at, c.STATUS])
        if event.kind in REVISES:
            if status != c.SETTLED:
                raise ValueError(f"assignment {event.assignment} is {STATES[status]}, not answered")
            if event.kind == Kind.REVISED:
                self._ledger.number(event.value)
            return
        late = status == c.EXPIRED and event.kind in _TAKES_LATE
        if status in SETTLED and not late:
            raise ValueError(f"assignment {event.assignment} is {STATES[status]} already")


def folded(items: Iterable[Item]) -> Iterator[Item]:
    """Pass on what a store is made of, and fold each campaign's log on the way.

    A campaign whose policy is of a package that is not installed is passed on as it is.

    Raises
    ------
    StoreError
        A campaign can't be read, or its log does not fold; the message names the event.
    """
    name, check = "", None
    for item in items:
        if isinstance(item, Head):
            name, check = item.name, _check_of(item)
        elif isinstance(item, EventRow) and check is not None:
            try:
                check.take(*unpack([item]))
            except Exception as error:  # whatever a log may hold
                raise _refused(
                    f"the log of campaign {name!r} can't be folded: event {item.seq} "
                    f"({item.kind}) does not follow from those before it ({_why(error)})"
                ) from error
        yield item


def _check_of(head: Head) -> LogCheck | None:
    try:
        return LogCheck(Spec.from_json(head.spec))
    except UnknownPolicy:
        return None
    except Exception as error:  # whatever a description may hold
        raise _refused(f"campaign {head.name!r} can't be read ({_why(error)})") from error


def _why(error: Exception) -> str:
    said = str(error)
    return said if isinstance(error, ValueError) and said else f"{type(error).__name__}: {said}"


def _refused(message: str) -> StoreError:
    return StoreError(
        f"{message}: nothing of the backup was restored", field="file", reason="bad_backup"
    )
