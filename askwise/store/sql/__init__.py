"""What stores in SQL databases share: how they are read, and transactions that ask once."""

from askwise.store.sql.statements import DELETED, EVENTS, LAST, RENAMED_SINCE, last_of
from askwise.store.sql.store import LOOK, PATIENCE, SqlStore
from askwise.store.sql.transaction import SqlTransaction

__all__ = [
    "DELETED",
    "EVENTS",
    "LAST",
    "LOOK",
    "PATIENCE",
    "RENAMED_SINCE",
    "SqlStore",
    "SqlTransaction",
    "last_of",
]
