"""What earlier campaigns showed of workers: records with which a new one begins."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from askwise.core.checks import whole
from askwise.core.errors import InvalidParameter
from askwise.core.events import Event, Kind

Records = tuple[tuple[str, int, int], ...]
"""Workers, how many of their answers were right, and of how many that is known."""


def records_of(campaign: Any) -> list[tuple[str, int, int]]:
    """How often each worker of a campaign was right, as far as truths were told.

    Parameters
    ----------
    campaign : Campaign
        Any that has options; only its log is read.

    Returns
    -------
    list of (worker, right, count)
        In the order in which they first answered a task whose truth is known: what the policies
        ``ccb-*`` take as ``earlier``.

    Examples
    --------
    >>> from askwise import Campaign, Worker
    >>> campaign = Campaign.create(
    ...     workers=[Worker("ann", 1)], tasks=["a"], options=["no", "yes"], policy="ccb-ns"
    ... )
    >>> campaign.tell(campaign.ask()[0].id, "yes")
    >>> campaign.truth("a", "yes")
    >>> records_of(campaign)
    [('ann', 1, 1)]
    """
    return records_in(campaign.log())


def records_in(log: Iterable[Event]) -> list[tuple[str, int, int]]:
    """The same from a campaign's log; an answer that was revised counts as it is now."""
    truths: dict[str | None, Any] = {}
    asked: dict[int, tuple[str | None, str | None]] = {}
    answers: dict[int | None, Any] = {}
    for event in log:
        if event.kind == Kind.TRUTH:
            truths[event.task] = event.value
        elif event.kind == Kind.ASKED:
            asked[event.seq] = event.task, event.worker
        elif event.kind in (Kind.ANSWER, Kind.REVISED):
            answers[event.assignment] = event.value
        elif event.kind == Kind.WITHDRAWN:
            answers.pop(event.assignment, None)
    found: dict[str, list[int]] = {}
    for assignment, value in answers.items():
        task, worker = asked[assignment or 0]
        if task in truths and worker is not None:
            record = found.setdefault(worker, [0, 0])
            record[0] += int(value == truths[task])
            record[1] += 1
    return [(worker, right, count) for worker, (right, count) in found.items()]


def read_records(given: Any) -> Records:
    """Take records as they are given: lists of worker, right and count, or a mapping to both."""
    valid = (
        "give a list of [worker, right, count], as records_of(campaign) returns, or, where a "
        "campaign is created, 'campaign:NAME' of another one in its store"
    )
    if isinstance(given, Mapping):
        given = [(worker, *each) for worker, each in given.items() if isinstance(each, Sequence)]
    if isinstance(given, str | bytes) or not isinstance(given, Sequence):
        raise InvalidParameter(f"earlier is {given!r}: {valid}", field="earlier")
    found: dict[str, tuple[int, int]] = {}
    for each in given:
        if not isinstance(each, Sequence) or isinstance(each, str | bytes) or len(each) != 3:
            raise InvalidParameter(f"earlier has {each!r}: {valid}", field="earlier")
        worker, right, count = each
        if worker in found:
            raise InvalidParameter(
                f"earlier has {worker!r} twice: give one a worker", field="earlier"
            )
        total = whole(count, "earlier", least=0)
        found[str(worker)] = whole(right, "earlier", least=0, most=total), total
    return tuple((worker, *record) for worker, record in found.items())
