"""Why an assignment was made: its decision, taken again from the log."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated

from askwise.campaign.certifying import AUDIT_RULES
from askwise.campaign.own_decisions import OwnDecision
from askwise.campaign.piloting import OWN_RULES
from askwise.campaign.screening import SCREENING_RULES
from askwise.campaign.spec import Spec
from askwise.campaign.state import CampaignState
from askwise.campaign.views.assignments import assignment_id, unknown_assignment
from askwise.core.allocation import Watch
from askwise.core.arrays import Array
from askwise.core.choices import Done, Wait
from askwise.core.events import HANDED_OVER, Event, Kind, PlannedRow, PlanRow
from askwise.core.json_types import AssignmentId, Chance, Count, Id, JsonLimits
from askwise.core.jsonable import Jsonable
from askwise.core.money import NO_CAP, from_micro
from askwise.core.pilot import PILOT
from askwise.core.problem import UNLIMITED
from askwise.core.screening import MIXED_IN
from askwise.ledger import Ledger, queries
from askwise.ledger import columns as c
from askwise.policies.capabilities import Explains, Score
from askwise.store import Store


@dataclass(frozen=True, slots=True)
class Candidate(Jsonable):
    """One worker as the policy saw them.

    Attributes
    ----------
    worker : str
        The worker.
    available : bool
        Whether they could be asked then.
    room : int or None
        How many more answers money and limit allow; None without limit.
    index : float or None
        What the policy ranks by; None where it does not rank, or where the index is beyond
        all numbers.
    details : dict of str to float or None
        Further numbers of the policy, by name.
    """

    worker: Id
    available: bool
    room: Count | None
    index: float | None
    details: dict[str, float | None]


@dataclass(frozen=True, slots=True)
class Explanation(Jsonable):
    """Why an assignment was made, recomputed from the log.

    Attributes
    ----------
    assignment : str
        The assignment.
    task : str or None
        The task; None where units of work are bought.
    worker : str
        The worker who was asked.
    price : Decimal
        What was reserved for the answer.
    propensity : float or None
        The probability of this choice; None where it has no closed form.
    decision : int
        The number of the decision.
    purpose : str
        What the decision was for, in the policy's words.
    policy : str
        The name of the policy.
    rule : str
        How the policy chooses, in words.
    budget_left : Decimal or None
        The money left before the decision; None without a cap.
    rows : tuple of PlannedRow
        The whole decision. Each row holds a task (or None), a worker, how often they are
        asked, and the propensity (or None).
    candidates : tuple of Candidate
        All workers who had joined, the best first.
    reproduced : bool
        Whether choosing again, at the same place of the log with the same draws, gave the
        same decision.
    watch : Watch or None
        What audits said of assured answers at that point; None where none are audited.
    """

    assignment: AssignmentId
    task: Id | None
    worker: Id
    price: Decimal
    propensity: Chance | None
    decision: Count
    purpose: str
    policy: str
    rule: str
    budget_left: Decimal | None
    rows: Annotated[tuple[PlannedRow, ...], JsonLimits(minItems=1)]
    candidates: Annotated[tuple[Candidate, ...], JsonLimits(minItems=1)]
    reproduced: bool
    watch: Watch | None = None


def explain(
    name: str, seq: int, store: Store, spec: Spec, state_at: Callable[[int], CampaignState]
) -> Explanation:
    """Fold the log up to the decision behind an ASKED and choose again."""
    asked = next(iter(store.read(name, seq - 1, seq)), None)
    if asked is None or asked.kind != Kind.ASKED:
        why = f"is not known: event {seq} of the log is not an ASKED event"
        raise unknown_assignment(assignment_id(name, seq), why)
    assert asked.worker is not None
    assert asked.price is not None
    decided = _decision_before(name, seq, asked.decision, store)
    state = state_at(decided.seq - 1)
    ledger, scores = state.ledger, {}
    audits = decided.note in AUDIT_RULES
    if decided.note in OWN_RULES:
        gold = decided.note in SCREENING_RULES
        here = state.auditors if audits else state.present if gold else state.available
        available = here(decided.available)
        rule, again = OWN_RULES[decided.note or ""], _asked_again(state, available, decided)
    else:
        available = state.available(decided.available)
        rule = spec.policy.rule if isinstance(spec.policy, Explains) else ""
        choice = state.choose(available)
        again = None if isinstance(choice, Wait | Done) else state.rows(choice)
        scores = {score.worker: score for score in state.scores(available)}
    money = int(queries.money_left(ledger.book.totals))
    candidates = []
    for at, worker in enumerate(ledger.workers):
        # An audit is put to those who audit, a pilot to its workers, all else to all others.
        if not ledger.is_here(at) or audits != ledger.problem.audits(worker.id):
            continue
        if decided.note == PILOT and (spec.pilot is None or worker.id not in spec.pilot.workers):
            continue
        score = scores.get(worker.id)
        details = {} if score is None else score.details
        candidates.append(
            Candidate(
                worker=worker.id,
                available=bool(available[at]),
                room=_limited(_room(ledger, at, money)),
                index=_finite(score.index) if score is not None else None,
                details={name: _finite(value) for name, value in details.items()},
            )
        )
    # An index beyond all numbers (a crowd never asked) is shown as none, and comes first.
    candidates.sort(key=lambda each: _rank(scores.get(each.worker)), reverse=True)
    return Explanation(
        assignment=assignment_id(name, seq),
        task=asked.task,
        worker=asked.worker,
        price=from_micro(asked.price),
        propensity=asked.propensity,
        decision=asked.decision or 0,
        purpose=decided.note or "",
        policy=spec.policy.name,
        rule=rule,
        budget_left=None if ledger.total(c.BUDGET) == NO_CAP else from_micro(money),
        rows=tuple((r.task, r.worker, r.count, r.propensity) for r in decided.rows or ()),
        candidates=tuple(candidates),
        reproduced=again == decided.rows,
        watch=state.watch(),
    )


def _asked_again(
    state: CampaignState, available: Array, decided: Event
) -> tuple[PlanRow, ...] | None:
    """Decide again on audits, on the pilot or on gold questions."""
    if decided.note == HANDED_OVER:
        return decided.rows  # it was said from outside, and nothing was chosen
    if decided.note in SCREENING_RULES:
        return _gold_again(state, available, decided)
    phase = state.certification if decided.note in AUDIT_RULES else state.pilot
    assert phase is not None
    step = phase.next_step(state.ledger, available, len(decided.rows or ()))
    return step.plan(state.ledger) if isinstance(step, OwnDecision) else None


def _gold_again(
    state: CampaignState, available: Array, decided: Event
) -> tuple[PlanRow, ...] | None:
    """Draw gold questions again."""
    screening, rows = state.screening, decided.rows or ()
    assert screening is not None
    if decided.note == MIXED_IN:
        again = screening.mixed_in(state.ledger, state.ledger.worker_at(rows[0].worker))
    else:
        again = screening.qualification(state.ledger, available, len(rows))
    return None if again is None else again.plan(state.ledger)


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


def _room(ledger: Ledger, worker: int, money: int) -> int:
    """How often somebody can still be asked; those who audit are not there to policies."""
    row = ledger.book.workers[worker]
    if row[c.AUDITS] == 0:
        return int(queries.room(ledger.book, worker, money))
    within, price = int(row[c.LIMIT] - row[c.ASKED]), int(row[c.PRICE])
    return within if price == 0 else min(within, money // price)


def _limited(room: int) -> int | None:
    """How often somebody can be asked; None without limit."""
    return None if room > UNLIMITED // 2 else room


def _finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else value
