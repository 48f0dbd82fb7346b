"""Records: small texts by kind and id, beside the logs, that change only from what they were."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from askwise.core.errors import StoreError
from askwise.core.text import flaw
from askwise.store import errors

RUNS = "runs"
"""The kind of records that say who runs a campaign."""

MODEL_REPLIES = "model-replies"
"""The kind of records that keep the replies of models."""

DRAFTS = "drafts"
DRAFT_FILES = "draft-files"
"""The kinds of records that keep files from which a campaign is about to be created."""

TOKENS = "token"
"""The kind of records that are workers' tokens."""

ABSENCES = "absence"
"""The kind of records that say which workers take no questions."""

CREATIONS = "made"
"""The kind of records that say which campaign the key of a creation stands for."""

HOOKS, HOOK_CURSORS, HOOK_LANES = "hook", "hook-cursor", "hook-lane"
DELIVERIES, DELIVERED = "hook-waiting", "hook-settled"
"""The kinds of records of webhooks: themselves, how far each was told of a campaign, who sends to
it, the messages that wait, and those that do not wait any more."""

STUDIES, STUDY_DOORS, STUDY_EVENTS = "prolific-study", "prolific-door", "prolific-event"
STUDY_SESSIONS, STUDY_WORKERS = "prolific-session", "prolific-worker"
STUDY_BONUSES = "prolific-bonuses"
"""The kinds of records of studies on Prolific: themselves, the addresses that lead to them, the
last event that was heard, sessions of participants by submission and by worker, and batches of
bonuses."""

NOT_BACKED_UP = frozenset({RUNS, MODEL_REPLIES, DRAFTS, DRAFT_FILES, STUDY_EVENTS})
"""Kinds that are left out of backups: a run is not part of a copy, replies are a cache, a draft is
given up within a day, and an event only wakes who looks."""


@dataclass(frozen=True, slots=True)
class Record:
    """What is not part of a campaign's log: a key, a token, a session, a webhook.

    Attributes
    ----------
    kind : str
        What it is.
    id : str
        Which one of its kind; not empty.
    body : str
        The rest, as JSON.
    """

    kind: str
    id: str
    body: str


class Change(NamedTuple):
    """A change of one record.

    ``before`` is its body as the caller knows it, None where there must be none. ``after`` is the
    new body, None to remove it.
    """

    kind: str
    id: str
    before: str | None
    after: str | None


def whole(text: str, field: str) -> str:
    """Check that a text can be kept: NUL and halves of surrogate pairs can't.

    Raises
    ------
    StoreError
        It has one, or is no text.

    Examples
    --------
    >>> whole("naïve", "id")
    'naïve'
    """
    if not isinstance(text, str):
        raise errors.unstorable(f"{field} is {text!r}: give a string", field=field)
    wrong = flaw(text)
    if wrong is not None:
        raise errors.unstorable(
            f"{field} can't be kept, because it has {wrong}: leave it out", field=field
        )
    return text


def in_order(changes: Sequence[Change]) -> list[Change]:
    """Check changes and sort them by record: who locks in this order never waits in a circle.

    Raises
    ------
    StoreError
        A text can't be kept, an id is empty, or a record is named twice.
    """
    named = set()
    for kind, record, before, after in changes:
        whole(kind, "kind")
        if not whole(record, "id"):
            raise errors.unstorable(f"id of a {kind!r} is empty: give at least a character", "id")
        for body in (before, after):
            if body is not None:
                whole(body, "body")
        if (kind, record) in named:
            raise errors.unstorable(
                f"changes name the {kind!r} {record!r} twice: give one change a record", "changes"
            )
        named.add((kind, record))
    return sorted(changes, key=lambda change: change[:2])


def check_limit(limit: int | None) -> None:
    """Complain about a limit that is none."""
    if limit is not None and limit < 0:
        message = f"limit is {limit}: give 0 or more, or None for all"
        raise StoreError(message, field="limit", reason="invalid_parameter")


def end_of(prefix: str) -> str | None:
    """The least text above all that begin with ``prefix``; None if there is none.

    Examples
    --------
    >>> end_of("ab/")
    'ab0'
    >>> end_of("") is None
    True
    """
    for at in range(len(prefix) - 1, -1, -1):
        code = ord(prefix[at]) + 1
        if code <= sys.maxunicode:
            # Between these two are the halves of surrogate pairs, no characters.
            return prefix[:at] + chr(0xE000 if code == 0xD800 else code)
    return None
