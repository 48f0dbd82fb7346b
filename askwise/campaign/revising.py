"""Changing an answer: whether it may be changed, and what becomes of its task."""

from typing import Any

from askwise.campaign import phases
from askwise.campaign.loading import Loaded
from askwise.campaign.refusals import conflict
from askwise.campaign.settling import SETTLED, valid_answer
from askwise.campaign.state import CampaignState
from askwise.campaign.views import assignments as handed
from askwise.campaign.write import Write
from askwise.core.events import Kind
from askwise.core.labels import Label, as_label
from askwise.ledger import columns as c

BY_HAND = ("closed", "frozen")
"""Outcomes of tasks that no rule has closed."""


def revise(
    write: Write, assignment: int, value: float | str, prepared: list[Loaded], **said: Any
) -> None:
    """Change an answer; the same again, with nothing else said, changes nothing."""
    at = changeable(write.name, write.state, assignment)
    value = valid_answer(write.state, value)
    if not changes(write.state, at, value) and not any(said.values()):
        return
    _change(write, Kind.REVISED, at, prepared, value=value, **said)


def withdraw(
    write: Write, assignment: int, why: str, prepared: list[Loaded], by: str | None = None
) -> None:
    """Take an answer back; once more changes nothing."""
    at = changeable(write.name, write.state, assignment)
    if changes(write.state, at, None):
        _change(write, Kind.WITHDRAWN, at, prepared, why=why, by=by)


def changes(state: CampaignState, at: int, value: float | str | None) -> bool:
    """Whether a value (None: no answer) differs from that of an assignment that was answered."""
    book = state.ledger.book
    answered = bool(book.assignments[at, c.STATUS] == c.SETTLED)
    if value is None:
        return answered
    return not answered or bool(book.marks[at, c.VALUE] != state.ledger.number(value))


def changeable(name: str, state: CampaignState, assignment: int) -> int:
    """The place of an assignment whose answer may be changed; refuses others, with the reason."""
    ledger = state.ledger
    at = handed.place_of(name, ledger, assignment)
    row, who = ledger.book.assignments[at], f"assignment {handed.assignment_id(name, assignment)!r}"
    status, worker = int(row[c.STATUS]), ledger.workers[int(row[c.WORKER])].id
    if status == c.OUT:
        message = f"{who} is out: there is no answer to change yet"
        raise conflict("not_answered", "assignment", message)
    if status != c.SETTLED and assignment not in ledger.withdrawn:
        message = f"{who} is {handed.STATES[status]}: there is no answer to change"
        raise conflict(SETTLED[status], "assignment", message)
    if ledger.total(c.STOPPED):
        raise conflict("campaign_stopped", "state", "the campaign was stopped: its answers stay")
    if state.spec.mechanism.bidding:
        raise conflict(
            "workers_bid",
            "assignment",
            f"the answer to {who} stays as it was given: workers bid in this campaign, and what "
            "they are paid follows from answers",
        )
    if ledger.problem.audits(worker):
        raise conflict(
            "answer_is_truth",
            "assignment",
            f"the answer to {who} was taken as the truth of its task, which stays; set_label sets "
            "another label",
        )
    task = ledger.task_id(int(row[c.TASK]))
    if any(task in draw["tasks"] for draw in ledger.draws):
        raise conflict(
            "label_frozen",
            "assignment",
            f"the label of task {task!r} was frozen for an audit, so the answer to {who} stays; "
            "set_label sets another label",
        )
    return at


def _change(write: Write, kind: Kind, at: int, prepared: list[Loaded], **fields: Any) -> None:
    row = write.ledger.book.assignments[at]
    seq, task, worker = (int(row[column]) for column in (c.SEQ, c.TASK, c.WORKER))
    write.emit_change(
        kind,
        prepared,
        assignment=seq,
        task=write.ledger.task_id(task),
        worker=write.ledger.workers[worker].id,
        **fields,
    )
    phases.judge_worker(write, worker, seq)
    row = write.ledger.book.tasks[task]
    if row[c.CLOSED]:
        _close_again(write, task)
    elif row[c.TASK_ANSWERED] and not write.state.is_piloted(task, worker):
        write.close_by(task, write.state.verdict(task))


def _close_again(write: Write, task: int) -> None:
    """Take the verdict on a closed task again: it stays closed, perhaps with another answer."""
    label, outcome = _verdict_now(write.state, task)
    if label.value is None:
        label = write.state.label(task)
    if (label, outcome) != write.ledger.closings[task]:
        write.close_with(task, label, outcome)


def _verdict_now(state: CampaignState, task: int) -> tuple[Label, str]:
    """What a rule says of a task that it has closed, and why it is closed."""
    _, outcome = state.ledger.closings[task]
    rule = state.spec.rule
    if rule is None or outcome in BY_HAND:
        return state.label(task), outcome
    answered = state.ledger.book.tasks[task, c.TASK_ANSWERED] > 0
    verdict = state.verdict_again(task) if answered else None
    if verdict is not None:
        return as_label((verdict.option, verdict.confidence)), verdict.outcome
    # The rule would have gone on: it was not sure with this answer.
    spent = rule.at_cap(state.ledger, task)
    return state.guess(task), "over_budget" if spent else "low_confidence"
