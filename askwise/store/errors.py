"""What can go wrong with a store, said in one way by all of them."""

import re
from collections.abc import Iterable

from askwise.core.errors import Conflict, StoreError, UnknownName, nearest


def unknown_campaign(name: str, names: Iterable[str]) -> UnknownName:
    """Build the error for a campaign that does not exist."""
    return UnknownName(
        f"campaign {name!r} is not known: {nearest(name, names)}",
        field="name",
        reason="unknown_campaign",
    )


def campaign_deleted(name: str) -> UnknownName:
    """Build the error for using a campaign that was deleted."""
    return UnknownName(f"campaign {name!r} was deleted", field="name", reason="unknown_campaign")


def campaign_exists(name: str, *, deleted: bool = False) -> Conflict:
    """Build the error for creating a campaign twice, or one of the name of a ``deleted`` one."""
    if deleted:
        message = f"there was a campaign {name!r}, which was deleted: choose another name"
        return Conflict(message, field="name", reason="campaign_exists")
    return Conflict(
        f"campaign {name!r} exists already: choose another name, or open the one there is",
        field="name",
        reason="campaign_exists",
    )


def campaign_archived(name: str, file: str) -> Conflict:
    """Build the error for using a campaign whose log was moved to a file."""
    return Conflict(
        f"campaign {name!r} is archived in {file}: bring it back with askwise restore {file}",
        field="name",
        reason="campaign_archived",
    )


def log_moved(name: str, last: int, expected: int) -> Conflict:
    """Build the error for appending to a log that is not where it was thought to be."""
    return Conflict(
        f"expected_seq is {expected}, but the log of campaign {name!r} is at {last}: "
        "read what is new, decide again and retry",
        field="expected_seq",
        reason="log_moved",
    )


def reply_exists(name: str, key: str) -> Conflict:
    """Build the error for keeping two replies under one key."""
    return Conflict(
        f"campaign {name!r} already keeps a reply under the key {key!r}: a new write needs a new "
        "key",
        field="key",
        reason="key_reused",
    )


def snapshot_ahead(name: str, last: int, seq: int) -> Conflict:
    """Build the error for a snapshot of events that the log does not hold."""
    return Conflict(
        f"the snapshot is of event {seq}, but the log of campaign {name!r} ends at "
        f"{last}: save a snapshot only of what was committed",
        field="seq",
        reason="log_moved",
    )


def inside_write(verb: str) -> StoreError:
    """Build the error for what can't be done inside a write block."""
    return misused(f"can't {verb} inside a write block: end the block first")


def write_is_over() -> StoreError:
    """Build the error for using a transaction after its block."""
    return misused("this transaction is over: open another with store.write(name)")


def nothing_kept(failure: StoreError) -> StoreError:
    """Build the error for going on with a write after ``failure``, for the same reason."""
    return StoreError(f"nothing of this write is kept: {failure}", reason=failure.reason)


def store_closed() -> StoreError:
    """Build the error for using a store after ``close``."""
    return misused("this store was closed: open it again")


def busy(where: object, patience: float) -> StoreError:
    """Build the error for a lock that was not had in time."""
    return StoreError(
        f"{where} is busy: another process or thread kept it locked for more than {patience:g} s; "
        "nothing was written, try again",
        reason="store_busy",
    )


def misused(message: str) -> StoreError:
    """Build the error for what is never done with a store."""
    return StoreError(message, reason="store_misused")


def forked(where: object) -> StoreError:
    """Build the error for going on with a write of the parent process."""
    return misused(f"{where}: a write can't be continued in a forked process; its parent has it")


def in_doubt(message: str) -> StoreError:
    """Build the error for a write that may or may not have been done."""
    return StoreError(message, reason="write_in_doubt")


def unstorable(message: str, field: str | None = None) -> StoreError:
    """Build the error for what can't be written down."""
    return StoreError(message, field=field, reason="unstorable")


def unusable(message: str) -> StoreError:
    """Build the error for what can't be a store, or not one of ours."""
    return StoreError(message, field="store", reason="store_unusable")


def refused_url(url: str, form: str) -> StoreError:
    """Build the error for a url of a known scheme that can't be read; no password is repeated."""
    return unusable(f"store is {without_password(url)!r}: give {form}")


def without_password(url: str) -> str:
    """Take the password out of a url, for messages.

    Examples
    --------
    >>> without_password("mysql://ann:secret@localhost/cats")
    'mysql://ann:***@localhost/cats'
    """
    return re.sub(r"//([^/:@]*):.*@", r"//\1:***@", url)


def not_empty() -> Conflict:
    """Build the error for filling a store that has something in it."""
    return Conflict(
        "the store is not empty: restore into a new one, so that nothing is mixed or overwritten",
        field="store",
        reason="store_not_empty",
    )
