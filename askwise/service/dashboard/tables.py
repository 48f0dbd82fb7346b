"""Rows of the dashboard's tables: read off a campaign for one page at a time."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from askwise.campaign import Campaign, views
from askwise.campaign.state import CampaignState
from askwise.campaign.views.contested import confidences, least_sure
from askwise.core.content import Content
from askwise.core.errors import InvalidProblem
from askwise.core.events import Event
from askwise.core.problem import Task
from askwise.core.prompts import item_text
from askwise.ledger import columns as c
from askwise.ledger.entries import REMOVED, SetLabel
from askwise.service.dashboard.facts import Facts
from askwise.service.dashboard.overview import Overviews
from askwise.service.dashboard.visit import Cut, cut

MOST_ANSWERS = 200
"""Answers to one task that its page shows, the newest."""


@dataclass(frozen=True)
class AssignmentRow:
    """One assignment of the log of decisions."""

    seq: int
    decision: int
    handed: views.Handed
    time: float | None = None
    changed: Sequence[int] = ()
    """The events that have changed its answer."""
    came: Event | None = None
    """What answered it or failed, if the log was read as far."""
    changes: Sequence[Event] = ()
    """The changes of its answer, as they came."""

    @property
    def said(self) -> Event | None:
        """What has its answer as it is now."""
        return self.changes[-1] if self.changes else self.came

    @property
    def versions(self) -> Sequence[Event]:
        """The answer as it was given, and each change of it; nothing if it was not changed."""
        return [self.came, *self.changes] if self.came is not None and self.changes else ()


@dataclass(frozen=True)
class TaskRow:
    """A task in a list."""

    answer: views.Answer
    votes: list[tuple[str, int]]
    payload: Any


@dataclass(frozen=True)
class TaskPage:
    """A task with all that was said about it."""

    task: Task
    answer: views.Answer
    options: tuple[str, ...]
    votes: list[tuple[str, int]]
    truth: str | None
    label: SetLabel | None
    """The label that was set by hand."""
    remarks: Sequence[Event]
    """Flags and comments, as they came."""
    closed: bool
    asked: list[AssignmentRow]
    more: int
    """Answers that are not shown."""


def decisions(campaign: Campaign, page: int, rows: int) -> tuple[list[AssignmentRow], Cut]:
    """What was asked, newest first."""
    with campaign.reading() as state:
        total = state.ledger.total(c.ASSIGNMENTS)
        shown = cut(total, page, rows)
        found = [
            assignment_row(campaign, state, total - 1 - at) for at in range(shown.start, shown.end)
        ]
    # The log alone knows when; read without holding up who writes.
    return timed(campaign, found), shown


def assignment_row(campaign: Campaign, state: CampaignState, at: int) -> AssignmentRow:
    """The assignment at a place of the book; its time is not known there."""
    row = state.ledger.book.assignments[at]
    handed = views.handed(campaign.name, state, at)
    changed = tuple(state.ledger.changes.get(int(row[c.SEQ]), ()))
    return AssignmentRow(int(row[c.SEQ]), int(row[c.DECISION]), handed, changed=changed)


def timed(campaign: Campaign, asked: list[AssignmentRow]) -> list[AssignmentRow]:
    """The same with the times at which they were asked, which the log alone knows."""
    times = {event.seq: event.time for event in campaign.events(each.seq for each in asked)}
    return [replace(each, time=times[each.seq]) for each in asked]


def with_replies(
    campaign: Campaign, overviews: Overviews, asked: list[AssignmentRow]
) -> list[AssignmentRow]:
    """Add what answered, failed or changed each assignment: costs, reasons and words are there."""
    settled = overviews.settled(campaign.name, [each.seq for each in asked])
    seqs = [*settled.values(), *(seq for each in asked for seq in each.changed)]
    events = {event.seq: event for event in campaign.events(seqs)}
    return [
        replace(
            each,
            came=events.get(settled.get(each.seq, 0)),
            changes=[events[seq] for seq in each.changed],
        )
        for each in asked
    ]


TASK_SORTS = {
    "unsure": "least sure first",
    "sure": "surest first",
    "most": "most answers first",
    "least": "fewest answers first",
    "added": "as they were added",
}


def tasks(
    campaign: Campaign, facts: Facts, page: int, sort: str, outcome: str | None
) -> tuple[list[TaskRow], Cut]:
    """A page of tasks; those without a confidence or an answer come last of the unsure."""
    answers = facts.answers
    counts = np.array([each.count for each in answers], np.int64)
    if sort == "unsure":
        order = least_sure(answers, facts.votes)
    elif sort == "sure":
        order = np.lexsort((-counts, -confidences(answers)))
    elif sort in ("most", "least"):
        order = np.argsort(-counts if sort == "most" else counts, kind="stable")
    else:
        order = np.arange(len(answers))
    if outcome is not None:
        wanted = np.array([each.outcome == outcome for each in answers], bool)
        order = order[wanted[order]]
    else:
        there = np.array([each.outcome != REMOVED for each in answers], bool)
        order = order[there[order]]
    shown = cut(len(order), page)
    return task_rows(campaign, facts, order[shown.start : shown.end].tolist()), shown


def task_rows(campaign: Campaign, facts: Facts, places: Sequence[int]) -> list[TaskRow]:
    """The tasks at these places."""
    with campaign.reading() as state:
        options, content, ledger = state.spec.problem.options, state.spec.content, state.ledger
        return [
            TaskRow(
                facts.answers[at],
                _votes(options, facts.votes[at]),
                _gist(content, ledger.payload(at)),
            )
            for at in places
        ]


def _votes(options: tuple[str, ...], votes: Any) -> list[tuple[str, int]]:
    """The options that were named, most votes first."""
    pairs = [(name, int(count)) for name, count in zip(options, votes, strict=False) if count]
    return sorted(pairs, key=lambda pair: -pair[1])


def contested(campaign: Campaign, facts: Facts, most: int) -> list[tuple[views.Contested, Any]]:
    """The most contested tasks, each with its payload."""
    with campaign.reading() as state:
        ledger, content = state.ledger, state.spec.content
        return [
            (each, _gist(content, ledger.payload(ledger.task_at(each.task))))
            for each in facts.contested[:most]
        ]


def _gist(content: Content | None, payload: Any) -> Any:
    """A payload to be told in a line: by the fields that are shown, where content names some."""
    if content is None or not content.fields:
        return payload
    try:
        return item_text(content.parts(payload))
    except InvalidProblem:
        return payload


def task_page(campaign: Campaign, overviews: Overviews, task: str, *, now: bool) -> TaskPage:
    """A task with its answers, newest first."""
    with campaign.reading() as state:
        index = int(state.ledger.task_at(task))
    facts = overviews.facts(campaign.name, now=now)
    if index >= len(facts.answers):
        facts = overviews.facts(campaign.name, now=True)
    found: list[AssignmentRow] = []
    more = 0
    with campaign.reading() as state:
        ledger, options = state.ledger, state.spec.problem.options
        book = ledger.book
        last = int(book.tasks[index, c.TASK_LAST])
        while last >= 0:
            if len(found) < MOST_ANSWERS:
                found.append(assignment_row(campaign, state, last))
            else:
                more += 1
            last = int(book.assignments[last, c.BEFORE_OF_TASK])
        truth = int(book.tasks[index, c.TRUTH])
        told = [*ledger.flags.get(index, ()), *ledger.comments.get(index, ())]
        page = TaskPage(
            task=ledger.tasks[index],
            answer=facts.answers[index],
            options=options,
            votes=_votes(options, book.votes[index]),
            truth=options[truth] if options and truth >= 0 else None,
            label=ledger.labels.get(index),
            remarks=(),
            closed=bool(book.tasks[index, c.CLOSED]),
            asked=found,
            more=more,
        )
    rows = with_replies(campaign, overviews, timed(campaign, found))
    return replace(page, asked=rows, remarks=campaign.events(sorted(told)))


WORKER_SORTS = (
    "id",
    "price",
    "answered",
    "share",
    "paid",
    "cost_an_answer",
    "agreement",
    "quality",
    "kind",
    "family",
)


def workers(
    found: list[views.WorkerSummary], page: int, sort: str, down: bool
) -> tuple[list[views.WorkerSummary], Cut]:
    """A page of workers, by a column; those without a value there come last."""

    def value(worker: views.WorkerSummary) -> Any:
        cell = getattr(worker, sort)
        return cell.value if sort == "quality" and cell is not None else cell

    known = sorted((each for each in found if value(each) is not None), key=value, reverse=down)
    rest = [each for each in found if value(each) is None]
    shown = cut(len(found), page)
    return [*known, *rest][shown.start : shown.end], shown
