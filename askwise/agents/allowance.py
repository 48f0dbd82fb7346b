"""What an agent may commit in all: money leaves it before a campaign gets it."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal

from askwise.core.errors import InvalidParameter, OverBudget
from askwise.core.money import Amount, from_micro, to_micro


class Allowance:
    """The most that may go into budgets of campaigns; without a limit, nothing may.

    Parameters
    ----------
    limit : amount, optional
        For all campaigns that are created or topped up through it.

    Examples
    --------
    >>> allowance = Allowance("5")
    >>> with allowance.spending("3", "budget"):
    ...     pass
    >>> allowance.left
    Decimal('2')
    """

    def __init__(self, limit: Amount | None = None) -> None:
        self.limit = None if limit is None else to_micro(limit, "budget")
        if self.limit == 0:
            raise InvalidParameter("budget is 0: give an amount above 0, or none", field="budget")
        self._committed = 0
        self._lock = threading.Lock()

    @property
    def left(self) -> Decimal | None:
        """What may still be committed; None where nothing may be."""
        return None if self.limit is None else from_micro(self.limit - self._committed)

    @contextmanager
    def spending(self, amount: Amount, field: str) -> Iterator[None]:
        """Commit an amount; given back if what is done with it fails.

        Raises
        ------
        OverBudget
            It is more than is left.
        """
        wanted = to_micro(amount, field)
        if self.limit is None:
            raise OverBudget(
                "this server may spend nothing: start it with askwise mcp --budget AMOUNT",
                field=field,
            )
        with self._lock:
            left = self.limit - self._committed
            if wanted > left:
                raise OverBudget(
                    f"{field} is {from_micro(wanted)}, but this server may commit "
                    f"{from_micro(left)} more of {from_micro(self.limit)}: ask for less, or let "
                    "the person who started it raise --budget",
                    field=field,
                )
            self._committed += wanted
        try:
            yield
        except BaseException:
            with self._lock:
                self._committed -= wanted
            raise
