"""Stores: where campaigns keep their logs."""

from askwise.store.backup.portable import Portable
from askwise.store.base import Reply, Snapshot, Store, Transaction
from askwise.store.memory.store import MemoryStore
from askwise.store.news import TellsNews
from askwise.store.open import open_store, pending_steps
from askwise.store.records import Change, Record
from askwise.store.sqlite.store import SqliteStore

__all__ = [
    "Change",
    "MemoryStore",
    "Portable",
    "Record",
    "Reply",
    "Snapshot",
    "SqliteStore",
    "Store",
    "TellsNews",
    "Transaction",
    "open_store",
    "pending_steps",
]
