"""What can be read off an engine: status, answers, payments, explanations."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from askwise.campaign.spec import Spec
from askwise.campaign.state import Engine
from askwise.campaign.views import (
    Answer,
    Candidate,
    Explanation,
    Handed,
    NeedsGold,
    Payment,
    Status,
)
from askwise.core.choices import Assignment, Batch, Done, Wait, read_choice
from askwise.core.errors import UnknownName
from askwise.core.events import Event, Kind
from askwise.core.money import NO_CAP, from_micro
from askwise.core.problem import UNLIMITED
from askwise.ledger import columns as c
from askwise.ledger import queries
from askwise.ledger.ledger import Ledger
from askwise.policies import capabilities
from askwise.policies.capabilities import Explains, Score
from askwise.store import Store

STATES = ("out", "answered", "expired", "declined")
"""What may become of an assignment, by its code in the book."""


def assignment_id(name: str, seq: int) -> str:
    """An assignment's id: the campaign and the sequence number of its ASKED."""
    return f"{name}:{seq}"


def seq_of(name: str, assignment: str) -> int:
    """The sequence number in an assignment's id."""
    campaign, _, seq = str(assignment).rpartition(":")
    if campaign != name or not seq.isdecimal() or len(seq) > 18:
        raise UnknownName(
            f"assignment {assignment!r} is not of this campaign: ids look like {name}:12",
            field="assignment",
            reason="unknown_assignment",
        )
    return int(seq)


def assignment_of(name: str, event: Event, payload: Any = None) -> Assignment:
    """The assignment that an ASKED made, with its task's payload."""
    assert event.worker is not None
    assert event.price is not None
    return Assignment(
        id=assignment_id(name, event.seq),
        task=event.task,
        worker=event.worker,
        price=from_micro(event.price),
        propensity=event.propensity,
        expires=event.expires,
        payload=payload,
    )


def recalled(engine: Engine, kept: dict[str, Any]) -> Batch | Wait | Done:
    """What an ask came to, from its JSON as it was kept, with the payloads of its tasks."""
    choice, ledger = read_choice(kept), engine.ledger
    if not isinstance(choice, Batch):
        return choice
    return Batch(
        tuple(replace(each, payload=ledger.payload(ledger.task_at(each.task))) for each in choice)
    )


def outstanding(name: str, engine: Engine, worker: str | None = None) -> list[Assignment]:
    """What is out, of all or of one worker, oldest first."""
    return [_assignment(name, engine, at) for at in places_out(engine.ledger, worker)]


def places_out(ledger: Ledger, worker: str | None = None) -> list[int]:
    """Where in the book the assignments are that are out, of all or of one worker."""
    rows = ledger.book.assignments[: ledger.total(c.ASSIGNMENTS)]
    wanted = rows[:, c.STATUS] == c.OUT
    if worker is not None:
        wanted &= rows[:, c.WORKER] == ledger.worker_at(worker)
    found: list[int] = np.flatnonzero(wanted).tolist()
    return found


def handed(name: str, engine: Engine, seq: int) -> Handed:
    """The assignment whose ASKED has this sequence number, and what has become of it."""
    ledger = engine.ledger
    at = ledger.assignment_at(seq)
    if at is None:
        raise _no_assignment(name, seq)
    state = STATES[int(ledger.book.assignments[at, c.STATUS])]
    value: str | float | None = None
    if state == "answered":
        value = float(ledger.book.marks[at, c.VALUE])
        if engine.spec.problem.options:
            value = engine.spec.problem.options[int(value)]
    return Handed(_assignment(name, engine, at), state, value)


def over(engine: Engine) -> Done | None:
    """Why nothing can be asked any more and nothing is out, if so."""
    ledger = engine.ledger
    if ledger.total(c.PENDING):
        return None
    if ledger.total(c.STOPPED):
        return Done("stopped")
    if (ledger.book.plan[: ledger.total(c.PLAN_ROWS), c.PLAN_COUNT] > 0).any():
        return None
    joined = ledger.book.workers[: ledger.total(c.WORKERS), c.JOINED]
    choice = engine.choose(joined.astype(np.int8))
    return choice if isinstance(choice, Done) else None


def _assignment(name: str, engine: Engine, at: int) -> Assignment:
    ledger = engine.ledger
    row, mark = ledger.book.assignments[at], ledger.book.marks[at]
    chance, expires = float(mark[c.PROPENSITY]), float(mark[c.EXPIRES])
    return Assignment(
        id=assignment_id(name, int(row[c.SEQ])),
        task=ledger.task_id(int(row[c.TASK])),
        worker=ledger.workers[int(row[c.WORKER])].id,
        price=from_micro(int(row[c.COST])),
        propensity=None if math.isnan(chance) else chance,
        expires=None if math.isinf(expires) else expires,
        payload=ledger.payload(int(row[c.TASK])),
    )


def status(name: str, engine: Engine) -> Status:
    """Counts and money of an engine."""
    ledger = engine.ledger
    total = ledger.total
    budget, spent = total(c.BUDGET), total(c.SPENT)
    capped = budget != NO_CAP
    state = "running"
    if total(c.STOPPED):
        state = "stopped"
    elif total(c.PAUSED):
        state = "paused"
    policy, taskless = engine.spec.policy, engine.spec.problem.taskless
    unsettled = []
    if isinstance(policy, capabilities.NeedsGold):
        unsettled = policy.needs_gold(engine.spec.problem, engine.beliefs, ledger)
    return Status(
        name=name,
        state=state,
        policy=engine.spec.policy.name,
        budget=from_micro(budget) if capped else None,
        spent=from_micro(spent),
        reserved=from_micro(ledger.reserved),
        left=from_micro(budget - spent - ledger.reserved) if capped else None,
        workers=int(ledger.book.workers[: total(c.WORKERS), c.JOINED].sum()),
        tasks=0 if taskless else total(c.TASKS),
        open_tasks=0 if taskless else total(c.OPEN),
        decisions=total(c.DECISIONS),
        answers=total(c.ANSWERS),
        pending=total(c.PENDING),
        utility=None if engine.spec.problem.options else ledger.utility,
        seq=engine.seq,
        needs_gold=tuple(NeedsGold(context, tuple(tasks)) for context, tasks in unsettled),
    )


def answers(engine: Engine) -> list[Answer]:
    """Every task's answer: the rule's where it closed the task or came to no end, else the
    aggregator's.
    """
    ledger, options = engine.ledger, engine.spec.problem.options
    over = engine.ran_out()
    total = ledger.total(c.TASKS)
    named = []
    for task in range(total):
        value, outcome, sure = ledger.closings.get(task, (None, over, None))
        if value is None and outcome in ("over_budget", "low_confidence"):
            value, sure = engine.guess(task)
        named.append((value, outcome, sure))
    # All at once: an aggregator may have to learn from every answer there is.
    rest = [task for task, (value, _, _) in enumerate(named) if value is None]
    for task, (value, sure) in zip(rest, engine.labels(rest), strict=True):
        named[task] = (value, named[task][1], sure)
    assured = engine.assurances(list(range(total)))
    counts = ledger.book.tasks[:total, c.TASK_ANSWERED].tolist()
    found = []
    for task, (value, outcome, sure) in enumerate(named):
        shown: str | float | None = value
        if options and value is not None:
            shown = options[int(value)]
        count = counts[task]
        worth = None if assured is None or count == 0 else assured[task]
        if worth is None:
            found.append(Answer(ledger.task_id(task), shown, sure, outcome, count))
            continue
        if outcome == "open":
            outcome = worth.outcome
        found.append(
            Answer(
                ledger.task_id(task), shown, sure, outcome, count,
                assured_error=worth.error, majority_error=worth.majority,
            )
        )  # fmt: skip
    return found


def payments(engine: Engine) -> list[Payment]:
    """What the mechanism owes each worker."""
    owed = engine.spec.mechanism.settle(engine.spec.problem, engine.ledger)
    return [
        Payment(
            each.worker, each.answers, from_micro(each.paid), from_micro(each.reserved), each.why
        )
        for each in owed
    ]


def explain(
    name: str, seq: int, store: Store, spec: Spec, engine_at: Callable[[int], Engine]
) -> Explanation:
    """Fold the log up to the decision behind an ASKED and choose again."""
    asked = next(iter(store.read(name, seq - 1, seq)), None)
    if asked is None or asked.kind != Kind.ASKED:
        raise _no_assignment(name, seq)
    decided = _decision_before(name, seq, asked.decision, store)
    engine = engine_at(decided.seq - 1)
    ledger = engine.ledger
    joined = ledger.book.workers[: ledger.total(c.WORKERS), c.JOINED].astype(np.int8)
    available = joined
    if decided.available is not None:
        available = np.zeros(len(joined), np.int8)
        for name_of in decided.available:
            available[ledger.worker_at(name_of)] = joined[ledger.worker_at(name_of)]
    again = engine.choose(available)
    same = not isinstance(again, Wait | Done) and engine.rows(again) == decided.rows
    money = int(queries.money_left(ledger.book.totals))
    scores = {score.worker: score for score in engine.scores(available)}
    candidates = []
    for at, worker in enumerate(ledger.workers):
        if not joined[at]:
            continue
        score = scores.get(worker.id)
        details = {} if score is None else score.details
        candidates.append(
            Candidate(
                worker=worker.id,
                available=bool(available[at]),
                room=_limited(int(queries.room(ledger.book, at, money))),
                index=_finite(score.index) if score is not None else None,
                details={name: _finite(value) for name, value in details.items()},
            )
        )
    # An index beyond all numbers (a crowd never asked) is shown as none, and comes first.
    candidates.sort(key=lambda each: _rank(scores.get(each.worker)), reverse=True)
    shown = assignment_of(name, asked)
    return Explanation(
        assignment=shown.id,
        task=shown.task,
        worker=shown.worker,
        price=shown.price,
        propensity=shown.propensity,
        decision=asked.decision or 0,
        purpose=decided.note or "",
        policy=spec.policy.name,
        rule=spec.policy.rule if isinstance(spec.policy, Explains) else "",
        budget_left=None if ledger.total(c.BUDGET) == NO_CAP else from_micro(money),
        rows=tuple((r.task, r.worker, r.count, r.propensity) for r in decided.rows or ()),
        candidates=tuple(candidates),
        reproduced=same,
    )


def _no_assignment(name: str, seq: int) -> UnknownName:
    return UnknownName(
        f"assignment {assignment_id(name, seq)!r} is not known: event {seq} of the log is no ASKED",
        field="assignment",
        reason="unknown_assignment",
    )


def _decision_before(name: str, seq: int, decision: int | None, store: Store) -> Event:
    """Look for the DECIDED backwards, in growing strides: it is near as a rule."""
    upto, stride = seq, 64
    while upto > 0:
        for event in reversed(store.read(name, max(0, upto - stride), upto)):
            if event.kind == Kind.DECIDED and event.decision == decision:
                return event
        upto, stride = upto - stride, 2 * stride
    raise AssertionError(f"decision {decision} is not in the log before event {seq}")


def _rank(score: Score | None) -> float:
    return -math.inf if score is None or score.index is None else score.index


def _limited(room: int) -> int | None:
    """How often somebody can be asked; None without limit."""
    return None if room > UNLIMITED // 2 else room


def _finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else value
