"""All checks of stores."""

from askwise.testing.stores import amendments, copies, logs, records, transactions
from askwise.testing.stores.base import MakeStore, StoreSuite

CHECKS = StoreSuite(
    [
        *(*logs.CHECKS, *transactions.CHECKS, *records.CHECKS),
        *(*copies.CHECKS, *amendments.CHECKS),
    ]
)


def check_store(make_store: MakeStore) -> None:
    """Run all checks; the first that fails raises AssertionError.

    Parameters
    ----------
    make_store : callable
        Makes a fresh, empty store at every call.

    Examples
    --------
    >>> from askwise.store import MemoryStore
    >>> check_store(MemoryStore)
    """
    CHECKS.run(make_store)
