"""What an export holds of a campaign's state, taken at one point of the log."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from askwise.campaign import views
from askwise.campaign.state import CampaignState
from askwise.campaign.views import Answer, CampaignCertificate, Payment, Status
from askwise.campaign.views.assignments import STATES, assignment_id
from askwise.campaign.views.workers import WorkerSummary
from askwise.campaign.views.workers import workers as summaries
from askwise.core.events import Event, Kind
from askwise.core.money import from_micro
from askwise.core.problem import Task, Worker
from askwise.ledger import columns as c
from askwise.ledger.given import GIVING

ExportRow = tuple[Any, ...]

SETTLING = (Kind.ANSWER, Kind.FAILED)


@dataclass(frozen=True, eq=False)
class ExportedCampaign:
    """A campaign at one point of its log.

    Attributes
    ----------
    name : str
        The campaign.
    spec : str
        The campaign as created, in JSON.
    question : str
        What workers are asked; empty if nothing was given.
    options : tuple of str
        The possible answers; empty where they are numbers.
    status : Status
        The campaign at a glance; its ``seq`` is the point of the log.
    certificate : CampaignCertificate or None
        What audits have shown; None where nothing is to be certified.
    answers, tasks, truths : sequences
        The answer, the task and the true option of each task; in a campaign without tasks there
        is one answer and no task.
    workers, summaries, payments : sequences
        Each worker as they joined, what they did, and what they have earned.
    states : mapping of int to str
        What has become of the assignment whose ASKED has this sequence number.
    """

    name: str
    spec: str
    question: str
    options: tuple[str, ...]
    status: Status
    certificate: CampaignCertificate | None
    answers: Sequence[Answer]
    tasks: Sequence[Task]
    truths: Sequence[str | None]
    workers: Sequence[Worker]
    summaries: Sequence[WorkerSummary]
    payments: Sequence[Payment]
    states: dict[int, str]

    def rows(self, table: str, events: Iterable[Event]) -> Iterator[ExportRow]:
        """The rows of a table; ``events`` is the log up to this point."""
        return _ROWS[table](self, events)

    def campaign_json(self) -> dict[str, Any]:
        """What ``campaign.json`` holds."""
        certificate = None if self.certificate is None else self.certificate.to_json()
        return {
            "name": self.name,
            "seq": self.status.seq,
            "spec": json.loads(self.spec),
            "status": self.status.to_json(),
            "certificate": certificate,
        }


def exported(name: str, state: CampaignState, answers: Sequence[Answer]) -> ExportedCampaign:
    """Take what an export needs of a state."""
    ledger, problem = state.ledger, state.spec.problem
    handed = ledger.book.assignments[: ledger.total(c.ASSIGNMENTS)][:, [c.SEQ, c.STATUS]].tolist()
    tasks = list(ledger.tasks)
    truths = ledger.book.tasks[: len(tasks), c.TRUTH].tolist()
    return ExportedCampaign(
        name=name,
        spec=state.spec.to_json(),
        question="" if state.spec.content is None else state.spec.content.question,
        options=problem.options,
        status=views.status(name, state),
        certificate=None if problem.certify is None else views.certificate(state),
        answers=answers,
        tasks=tasks,
        truths=[problem.options[at] if at >= 0 else None for at in truths],
        workers=list(ledger.workers),
        summaries=summaries(state, answers),
        payments=views.payments(state),
        states={seq: STATES[status] for seq, status in handed},
    )


def _tasks(campaign: ExportedCampaign, events: Iterable[Event]) -> Iterator[ExportRow]:
    for at, answer in enumerate(campaign.answers):
        task = campaign.tasks[at] if campaign.tasks else None
        shown: ExportRow = (None, None, None)
        if task is not None:
            named = None if task.workers is None else list(task.workers)
            shown = (task.context, _json(task.payload), _json(named))
        yield (
            *(answer.task, *shown, answer.value, answer.confidence, answer.rests_on),
            *(answer.outcome, answer.count, campaign.truths[at] if task is not None else None),
            *(answer.certificate, answer.assured_error, answer.majority_error, answer.decided_by),
        )


def _workers(campaign: ExportedCampaign, events: Iterable[Event]) -> Iterator[ExportRow]:
    for worker, did in zip(campaign.workers, campaign.summaries, strict=True):
        quality = did.quality
        seems: ExportRow = (None,) * 5
        if quality is not None:
            ends = (quality.value, quality.low, quality.high)
            seems = (*ends, quality.basis, quality.answers)
        yield (
            *(worker.id, str(worker.price), worker.limit, worker.rating, worker.rating_weight),
            *(worker.trusted, worker.kind, worker.family, worker.source, did.joined),
            *(did.asked, did.answered, did.out, did.expired, did.declined, did.failed),
            *(did.agreement, *seems),
        )


def _decisions(campaign: ExportedCampaign, events: Iterable[Event]) -> Iterator[ExportRow]:
    purposes: dict[int | None, str | None] = {}
    for event in events:
        if event.kind == Kind.DECIDED:
            purposes[event.decision] = event.note
        elif event.kind == Kind.ASKED:
            yield (
                *(assignment_id(campaign.name, event.seq), event.seq, event.time, event.decision),
                *(purposes.get(event.decision), event.task, event.worker, event.propensity),
                *(_money(event.price), event.expires, campaign.states[event.seq]),
            )


def _answers(campaign: ExportedCampaign, events: Iterable[Event]) -> Iterator[ExportRow]:
    for event in events:
        if event.kind in SETTLING:
            state = "answered" if event.kind == Kind.ANSWER else "failed"
            yield (
                *(assignment_id(campaign.name, event.assignment or 0), event.seq, event.time),
                *(event.task, event.worker, state, event.value, event.why),
                *(_money(event.price), _money(event.cost), bool(event.over_ceiling)),
                *(_json(event.probabilities), event.rationale, event.reference),
            )


def _payments(campaign: ExportedCampaign, events: Iterable[Event]) -> Iterator[ExportRow]:
    for each in campaign.payments:
        yield (
            *(each.worker, each.answers, each.failures, str(each.paid), str(each.bonus)),
            *(str(each.earned), str(each.paid_out), str(each.owed), str(each.overpaid)),
            *(str(each.reserved), each.currency, each.why),
        )


def _payouts(campaign: ExportedCampaign, events: Iterable[Event]) -> Iterator[ExportRow]:
    for event in events:
        if event.kind in GIVING:
            kind = "payout" if event.kind == Kind.PAID else "bonus"
            yield (
                *(event.seq, event.time, kind, event.worker, _money(event.price), event.on),
                *(event.reference, event.why, event.by),
            )


def _events(campaign: ExportedCampaign, events: Iterable[Event]) -> Iterator[ExportRow]:
    for event in events:
        yield event.seq, event.time, event.kind.name, _json(event.to_json())


def _json(value: Any) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=False, allow_nan=False)


def _money(micro: int | None) -> str | None:
    return None if micro is None else str(from_micro(micro))


_ROWS: dict[str, Callable[[ExportedCampaign, Iterable[Event]], Iterator[ExportRow]]] = {
    "tasks": _tasks,
    "workers": _workers,
    "decisions": _decisions,
    "answers": _answers,
    "payments": _payments,
    "payouts": _payouts,
    "events": _events,
}
"""What makes the rows of each table."""
