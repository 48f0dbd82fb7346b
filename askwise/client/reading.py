"""The verbs by which a campaign of a service is read."""

from typing import Any
from urllib.parse import quote

from askwise.campaign.views import (
    Agreement,
    Answer,
    Bonus,
    CampaignCertificate,
    CampaignResults,
    DuePayout,
    Explanation,
    Handed,
    JudgesReport,
    OwnStanding,
    Payment,
    Payout,
    PilotReport,
    Status,
    WorkerReport,
    WorkerSummary,
)
from askwise.campaign.views.tables import AnswerTable, PaymentTable
from askwise.client import requests
from askwise.client.calls import CampaignCalls
from askwise.client.requests import Steps, download, read, verb
from askwise.core.choices import Assignment, Done
from askwise.core.content import Content
from askwise.core.events import Event
from askwise.core.fields import as_name
from askwise.core.keys import Key
from askwise.core.problem import Task, as_task
from askwise.core.shown import ShownList


class CampaignReads(CampaignCalls):
    """What can be read off a campaign."""

    @verb
    def answers(self) -> Steps[AnswerTable]:
        """Every task's answer so far; one nameless entry in a campaign without tasks."""
        return AnswerTable(map(Answer.from_json, (yield from self._pages("answers"))))

    @verb
    def payments(self) -> Steps[PaymentTable]:
        """What each worker has earned, what is owed of it and what is reserved for them."""
        return PaymentTable(map(Payment.from_json, (yield from self._pages("payments"))))

    @verb
    def due(self) -> Steps[ShownList[DuePayout]]:
        """What to pay now: an entry for every worker who is owed something."""
        return ShownList(map(DuePayout.from_json, (yield from self._pages("due"))), DuePayout)

    @verb
    def payouts(self, worker: str | None = None) -> Steps[ShownList[Payout]]:
        """What was marked as paid, to all or to one worker, in the order of the log."""
        found = map(Payout.from_json, (yield from self._pages("payouts")))
        mine = (each for each in found if as_name(worker) in (None, each.worker))
        return ShownList(mine, Payout)

    @verb
    def bonuses(self, worker: str | None = None) -> Steps[ShownList[Bonus]]:
        """What was given as a bonus, to all or to one worker, in the order of the log."""
        found = map(Bonus.from_json, (yield from self._pages("bonuses")))
        mine = (each for each in found if as_name(worker) in (None, each.worker))
        return ShownList(mine, Bonus)

    @verb
    def workers(self) -> Steps[ShownList[WorkerSummary]]:
        """Every worker who ever joined: their work, their money, their pace, how good they seem."""
        return ShownList(
            map(WorkerSummary.from_json, (yield from self._pages("workers"))), WorkerSummary
        )

    @verb
    def standing(self, worker: str) -> Steps[OwnStanding]:
        """Where a worker stands, as they may know."""
        found = yield from read(f"{self._path}/standing", worker=as_name(worker))
        return OwnStanding.from_json(found)

    @verb
    def status(self) -> Steps[Status]:
        """The campaign at a glance."""
        return Status.from_json((yield from read(self._path)))

    @verb
    def explain(self, assignment_id: str) -> Steps[Explanation]:
        """Why an assignment was made, recomputed from the log."""
        path = self._assignment(assignment_id)
        return Explanation.from_json((yield from read(f"{path}/explanation")))

    @verb
    def log(self, after: int = 0, upto: int | None = None) -> Steps[ShownList[Event]]:
        """The events from ``after`` (exclusive) to ``upto`` (inclusive)."""
        found: ShownList[Event] = ShownList(kind=Event)
        start: int | None = max(0, after)
        while start is not None and (upto is None or start < upto):
            limit = requests.PAGE if upto is None else min(requests.PAGE, upto - start)
            page = yield from read(f"{self._path}/log", after=start, limit=limit)
            found.extend(Event.from_json(raw) for raw in page["items"])
            start = None if page["next"] is None else int(page["next"])
        return found

    @verb
    def assignments(self, worker: str | None = None) -> Steps[ShownList[Assignment]]:
        """What is out, of all or of one worker: handed out, neither answered nor released."""
        found = yield from self._pages("assignments", worker=as_name(worker))
        return ShownList(map(Assignment.from_json, found), Assignment)

    @verb
    def assignment(self, assignment_id: str) -> Steps[Handed]:
        """One assignment, and what has become of it."""
        return Handed.from_json((yield from read(self._assignment(assignment_id))))

    @verb
    def payload(self, assignment_id: str) -> Steps[Any]:
        """What the worker of an assignment is shown: as in ``assignment.payload``, by a request."""
        return (yield from read(self._assignment(assignment_id))).get("payload")

    @verb
    def task(self, task: str) -> Steps[Task]:
        """A task as it was added, with its payload."""
        return as_task((yield from read(f"{self._path}/task", id=as_name(task))))

    @verb
    def over(self) -> Steps[Done | None]:
        """Why there is nothing more to ask, if so, and nothing is out; changes nothing.

        Compare it with ``None``: a ``Done`` is an empty sequence, and so false.
        """
        why = (yield from read(f"{self._path}/over"))["why"]
        return None if why is None else Done(why)

    @verb
    def certificate(self) -> Steps[CampaignCertificate]:
        """What audits have shown of the labels so far; only where ``certify`` was given."""
        return CampaignCertificate.from_json((yield from read(f"{self._path}/certificate")))

    @verb
    def pilot(self) -> Steps[PilotReport]:
        """What the pilot has shown of its workers so far; only where ``pilot`` was given."""
        return PilotReport.from_json((yield from read(f"{self._path}/pilot")))

    @verb
    def results(self) -> Steps[CampaignResults]:
        """What the labels are, what they rest on, and how many are right as far as is known."""
        return CampaignResults.from_json((yield from read(f"{self._path}/results")))

    @verb
    def agreement(self) -> Steps[Agreement]:
        """How far answers to the same tasks agree, with 95% intervals."""
        return Agreement.from_json((yield from read(f"{self._path}/agreement")))

    @verb
    def judges(self) -> Steps[JudgesReport]:
        """The models among the workers, beside people and truths, and together."""
        return JudgesReport.from_json((yield from read(f"{self._path}/judges")))

    @verb
    def worker(self, worker: str) -> Steps[WorkerReport]:
        """One worker in full: quality over time, what they mix up, contexts, pace."""
        return WorkerReport.from_json((yield from read(f"{self._path}/worker", id=as_name(worker))))

    @verb
    def run_state(self) -> Steps[dict[str, Any]]:
        """Who asks the judges of the campaign, what is in flight, and who can't be asked."""
        return (yield from read(f"{self._path}/run"))

    @verb
    def tokens(self) -> Steps[list[Key]]:
        """The workers' tokens, without their secrets, newest first."""
        return [Key.from_json(raw) for raw in (yield from self._pages("tokens"))]

    @verb
    def download(self, what: str) -> Steps[bytes]:
        """A campaign as a file, such as ``answers.csv``, ``votes.csv`` or ``log.jsonl``."""
        return (yield from download(f"{self._path}/export/{quote(what, safe='')}"))

    def _spec(self) -> Steps[dict[str, Any]]:
        return (yield from read(f"{self._path}/spec"))

    def _content(self) -> Steps[Content | None]:
        raw = (yield from read(self._path))["content"]
        return None if raw is None else Content.from_json(raw)
