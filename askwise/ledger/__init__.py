"""The ledger: what a campaign's log adds up to, as arrays; how to read it, and what to propose."""

from askwise.ledger.columns import Book
from askwise.ledger.ledger import Ledger
from askwise.ledger.proposals import Proposal, propose
from askwise.ledger.queries import cell_of, has_task, idle, may_put, money_left, room

__all__ = [
    "Book",
    "Ledger",
    "Proposal",
    "cell_of",
    "has_task",
    "idle",
    "may_put",
    "money_left",
    "propose",
    "room",
]
