"""What a campaign asks that is not its policy's: gold questions, the pilot, the audits."""

from collections.abc import Collection, Sequence

import numpy as np

from askwise.campaign.certifying import FROZEN, drawable, freeze_draw
from askwise.campaign.own_decisions import OwnDecision
from askwise.campaign.piloting import draw_pilot
from askwise.campaign.views import assignments as handed
from askwise.campaign.views.answers import RAN_OUT, answers
from askwise.campaign.write import Write
from askwise.core import draws
from askwise.core.arrays import Array
from askwise.core.choices import Assignment, Batch, Done, Wait
from askwise.core.events import Kind
from askwise.core.labels import Label
from askwise.core.pilot import PILOT
from askwise.ledger import columns as c
from askwise.ledger import queries

SEEDS = 2**63 - 1


def ask_pilot(
    write: Write, limit: int, available: Array, everyone: bool
) -> list[Assignment] | Wait | None:
    """Hand out questions of the pilot; None when it is the policy's turn.

    ``everyone`` tells that ``available`` are all who joined.
    """
    state, ledger = write.state, write.ledger
    terms = state.spec.pilot
    if terms is None:
        return None
    staff = [ledger.worker_at(worker) for worker in terms.workers]
    if not available[staff].any():
        if state.pilot is not None and not ledger.book.workers[staff, c.JOINED].any():
            # They have all left: nobody's answer is to be waited for.
            _take_verdicts(write, state.pilot.tasks)
        return None
    if ledger.pilot is None:
        record = draw_pilot(terms, ledger, state.spec.seed)
        if record is None:
            return None
        write.emit(Kind.DRAWN, draw=record, note=PILOT)
    pilot = state.pilot
    assert pilot is not None
    step = pilot.next_step(ledger, available, limit)
    if step is not None:
        return hand_all_out(write, step, None if everyone else available)
    assert ledger.pilot is not None
    if not ledger.pilot.over:
        if pilot.is_out(ledger):
            return Wait("answers")
        _take_verdicts(write, pilot.tasks)
    return None


def ask_qualification(write: Write, limit: int, here: Array, everyone: bool) -> list[Assignment]:
    """Put gold questions to those who have to qualify, if there is work for them afterwards.

    ``here`` are those who could be asked, ``everyone`` tells that they are all who joined.
    """
    state, screening = write.state, write.state.screening
    if screening is None:
        return []
    step = screening.qualification(write.ledger, here, limit)
    if step is None:
        return []
    able = np.zeros_like(here)
    able[[row.worker for row in step.rows]] = 1
    planned, _, _ = queries.next_row(write.ledger.book, able)
    if planned < 0 and isinstance(state.choose(able), Wait | Done):
        return []
    return hand_all_out(write, step, None if everyone else here)


def mix_in_gold(write: Write, worker: int) -> Assignment | None:
    """Put a gold question to a worker in place of the ordinary one, if it is time for one."""
    screening = write.state.screening
    step = None if screening is None else screening.mixed_in(write.ledger, worker)
    if step is None:
        return None
    here = np.zeros(write.ledger.total(c.WORKERS), np.int8)
    here[worker] = 1
    return hand_all_out(write, step, here)[0]


def what_keeps(write: Write, here: Array) -> Wait | None:
    """What those who have to qualify wait for, of those who could be asked."""
    screening, ledger = write.state.screening, write.ledger
    if screening is None:
        return None
    found = np.flatnonzero(screening.unqualified(ledger) & (here > 0)).tolist()
    if not found:
        return None
    if any(handed.places_out(ledger, ledger.workers[at].id) for at in found):
        return Wait("answers")
    short = any(
        screening.still_to_ask(ledger, at) > len(screening.gold_for(ledger, at)) for at in found
    )
    return Wait("truth") if short else None


def judge_worker(write: Write, worker: int, seq: int) -> None:
    """Put on record what follows from an answer, if it was to a gold question."""
    screening = write.state.screening
    verdict = None if screening is None else screening.verdict(write.ledger, worker, seq)
    if verdict is not None:
        fields = {"worker": write.ledger.workers[worker].id, "why": verdict.why}
        write.emit(verdict.kind, note=verdict.note, **fields)


def _take_verdicts(write: Write, tasks: Sequence[int]) -> None:
    """Let the rule decide on tasks whose verdicts were put off."""
    for task in tasks:
        if write.ledger.book.tasks[task, c.TASK_ANSWERED]:
            write.close_by(task, write.state.verdict(task))


def hand_all_out(write: Write, step: OwnDecision, here: Array | None) -> list[Assignment]:
    """Put a decision of the campaign's own on record and hand it out; ``here`` None: to anyone."""
    ledger, available = write.ledger, None
    if here is not None:
        available = tuple(ledger.workers[at].id for at in np.flatnonzero(here))
    write.emit(
        Kind.DECIDED,
        decision=ledger.total(c.DECISIONS),
        note=step.note,
        rows=step.plan(ledger),
        available=available,
    )
    return [write.hand_out(at, row.task) for at, row in enumerate(step.rows)]


def is_labelling(write: Write) -> bool:
    """Whether the policy goes on: all that was drawn is dealt with, and tasks were added."""
    audits = write.state.certification
    assert audits is not None
    if write.ledger.total(c.OPEN) == 0:
        return False
    return isinstance(audits.next_step(write.ledger, write.state.auditors()), Done)


def certify(
    write: Write, done: Done, limit: int, offered: Sequence[str] | None, away: Collection[str]
) -> Batch | Wait | Done:
    """Go from labelling to audits, once the policy is done and nothing is out."""
    state, audits = write.state, write.state.certification
    assert audits is not None
    if not audits.may_draw(write.ledger):
        return done
    if write.ledger.total(c.PENDING):
        return Wait("answers")
    if not state.auditors().any():
        return Wait("workers")
    return ask_audits(write, limit, offered, away) if _freeze(write) else done


def _freeze(write: Write) -> bool:
    """Close what is open and draw the audits; False if there is nothing to audit."""
    state, ledger, problem = write.state, write.ledger, write.state.spec.problem
    labels, open_tasks, fresh = {}, [], drawable(ledger)
    for at, answer in enumerate(answers(state)):
        # What was closed before has the label that it was closed with.
        label = answer.value
        if at in ledger.closings and at not in ledger.labels:
            label = state.named(ledger.closings[at][0].value)
        else:
            open_tasks.append((at, answer))
        if fresh[at] and answer.rests_on != "truth" and isinstance(label, str):
            labels[at] = problem.options.index(label)
    if not labels:
        return False
    for at, answer in open_tasks:
        value = None if answer.value is None else ledger.number(answer.value)
        outcome = FROZEN if answer.outcome not in RAN_OUT else answer.outcome
        write.close_with(at, Label(value, answer.confidence, answer.rests_on), outcome)
    high, low = draws.stream(state.spec.seed, draws.AUDITS, len(ledger.draws))
    record, freed = freeze_draw(problem, ledger, labels, (high << 32 | low) & SEEDS)
    write.emit(Kind.DRAWN, draw=record, price=freed)
    return True


def ask_audits(
    write: Write, limit: int, offered: Sequence[str] | None, away: Collection[str]
) -> Batch | Wait | Done:
    """Put drawn tasks to those who audit."""
    ledger, audits = write.ledger, write.state.certification
    assert audits is not None
    mask = write.state.auditors(offered)
    if offered is None:
        mask[[ledger.worker_at(worker) for worker in away if ledger.has_worker(worker)]] = 0
    step = audits.next_step(ledger, mask, limit)
    if not isinstance(step, OwnDecision):
        return step
    anyone = offered is None and not away
    return Batch(tuple(hand_all_out(write, step, None if anyone else mask)))
