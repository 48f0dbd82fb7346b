"""A campaign of a service, used as one of this process would be."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from numbers import Real
from typing import Any

from askwise.campaign.paying import check_day
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
from askwise.campaign.views.assignments import seq_of
from askwise.client.transport import PAGE, Transport
from askwise.core.calls import FailureWhy
from askwise.core.choices import Assignment, Batch, Done, Wait, read_choice
from askwise.core.content import Content
from askwise.core.errors import InvalidAnswer, InvalidProblem, UnknownName
from askwise.core.events import Event
from askwise.core.keys import Invitation, Key
from askwise.core.money import Amount, from_micro, to_micro
from askwise.core.problem import Task, Worker, WorkerKind, as_task, as_worker, listed

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def path_of(name: str) -> str:
    """Where a campaign is."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise UnknownName(
            f"{name!r} is not known: names are of letters, digits, '.', '_' and '-'",
            field="name",
            reason="unknown_campaign",
        )
    return f"/campaigns/{name}"


class RemoteCampaign:
    """A campaign of a service; made by ``Service.create`` or ``Service.open``.

    Its methods are those of ``Campaign``: same parameters, same results, same errors. A write
    that gets no answer is sent again until it does, and happens once. Beside them are those that
    only a service has: invitations, absences. A worker's token allows ``ask``, ``tell``,
    ``decline``, ``flag``, ``bid``, ``leave``, ``assignments``, ``assignment`` and ``standing``, of
    their own.
    What the worker of an assignment is shown comes with it, as its ``payload``: that takes no
    request.
    """

    def __init__(self, transport: Transport, name: str) -> None:
        self.name = name
        self._transport = transport
        self._path = path_of(name)

    # Asking and telling.

    def ask(
        self,
        limit: int = 1,
        workers: Iterable[str] | None = None,
        key: str | None = None,
        *,
        wait: float = 0,
    ) -> Batch | Wait | Done:
        """Decide whom to ask next; reserves the price of what is handed out.

        ``while batch := campaign.ask():`` goes on as long as there is somebody to ask: ``Wait``
        and ``Done`` are empty sequences, told from each other by their type.

        Parameters
        ----------
        limit : int
            The most assignments to hand out now.
        workers : iterable of str, optional
            Who is available; everyone who joined and is not away by default.
        key : str, optional
            A retry with the same key gives the same answer and changes nothing.
        wait : float
            Seconds to wait for work if there is none now, up to 60: the service answers as soon as
            there is. ``Wait`` then means that there was none in all that time.
        """
        if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
            raise InvalidProblem(f"limit is {limit!r}: give a whole number from 1", field="limit")
        if isinstance(wait, bool) or not isinstance(wait, Real) or not 0 <= wait <= 60:
            raise InvalidProblem(f"wait is {wait!r}: give seconds from 0 to 60", field="wait")
        body: dict[str, Any] = {"limit": limit}
        if workers is not None:
            body["workers"] = listed(workers, "workers")
        if wait:
            body["wait"] = float(wait)
        reply = self._transport.write(f"{self._path}/ask", body, key=key, longer=float(wait))
        return read_choice(reply)

    def tell(
        self,
        assignment_id: str,
        value: float | str,
        key: str | None = None,
        *,
        cost: Amount | None = None,
        probabilities: Mapping[str, float] | None = None,
        rationale: str | None = None,
        reference: str | None = None,
    ) -> None:
        """Hand in the answer to an assignment; its price is spent, or what it cost.

        A worker's token can't say what it cost.
        """
        if isinstance(value, Real) and not isinstance(value, bool):
            value = float(value)
            if not math.isfinite(value):
                raise InvalidAnswer(
                    f"answer is {value!r}: give a finite number",
                    field="value",
                    reason="invalid_value",
                )
        # A service from before there were costs would refuse the fields.
        more: dict[str, Any] = {} if cost is None else {"cost": money(cost, "cost")}
        if probabilities is not None:
            given = isinstance(probabilities, Mapping)
            more["probabilities"] = dict(probabilities) if given else probabilities
        more |= {} if rationale is None else {"rationale": rationale}
        more |= {} if reference is None else {"reference": reference}
        self._settle(assignment_id, "answer", key, {"value": value, **more})

    def fail(
        self,
        assignment_id: str,
        why: FailureWhy,
        cost: Amount = "0",
        reference: str | None = None,
        key: str | None = None,
    ) -> None:
        """Hand in that a call brought no answer, and what it cost; the pair is closed."""
        body = {"why": why, "cost": money(cost, "cost"), "reference": reference}
        self._settle(assignment_id, "fail", key, body)

    def truth(self, task: str, option: str, key: str | None = None) -> None:
        """Reveal the true option of a task; the same again changes nothing, another is refused."""
        self._write("truth", {"task": task, "option": option}, key)

    def truths(self, told: Mapping[str, str], key: str | None = None) -> None:
        """Reveal the true options of many tasks in one write, all of them or none."""
        self._write("truths", {"truths": dict(told)}, key)

    def set_label(
        self,
        task: str,
        value: float | str,
        *,
        by: str,
        why: str | None = None,
        truth: bool = False,
        key: str | None = None,
    ) -> None:
        """Set a task's label by hand: it is the task's answer from now on."""
        body = {"task": task, "value": value, "by": by, "why": why, "truth": truth}
        self._write("label", body, key)

    def revise(
        self,
        assignment_id: str,
        value: float | str,
        *,
        probabilities: Mapping[str, float] | None = None,
        rationale: str | None = None,
        reference: str | None = None,
        by: str | None = None,
        key: str | None = None,
    ) -> None:
        """Change an answer: from now on the campaign is as if it had been given so from the start.

        A worker's token changes their last answer, for as long as the service allows.
        """
        body: dict[str, Any] = {"value": value, "rationale": rationale, "reference": reference}
        body |= {"probabilities": None if probabilities is None else dict(probabilities), "by": by}
        self._settle(assignment_id, "revise", key, body)

    def withdraw(
        self, assignment_id: str, why: str, *, by: str | None = None, key: str | None = None
    ) -> None:
        """Take an answer back: there is no vote, and what was paid stays paid."""
        self._settle(assignment_id, "withdraw", key, {"why": why, "by": by})

    def expire(self, assignment_id: str, key: str | None = None) -> None:
        """Release an assignment that will not be answered."""
        self._settle(assignment_id, "expire", key)

    def renew(self, assignment_id: str, key: str | None = None) -> None:
        """Begin the lease of an assignment that is out anew; without leases nothing changes."""
        self._settle(assignment_id, "renew", key)

    def decline(self, assignment_id: str, key: str | None = None) -> None:
        """Release an assignment that its worker turns down; the pair is not offered again."""
        self._settle(assignment_id, "decline", key)

    def flag(self, assignment_id: str, why: str, key: str | None = None) -> None:
        """Say that a task can't be answered, and why; the pair is not offered again."""
        self._settle(assignment_id, "flag", key, {"why": why})

    def comment(self, task: str, text: str, *, by: str, key: str | None = None) -> None:
        """Write a comment on a task, in up to 2,000 characters; workers do not see it."""
        self._write("comment", {"task": task, "text": text, "by": by}, key)

    # Changing what there is.

    def add(
        self,
        *,
        tasks: Iterable[Task | Mapping[str, Any] | str] = (),
        workers: Iterable[Worker | Mapping[str, Any]] = (),
        key: str | None = None,
    ) -> None:
        """Add tasks and workers, all or none; a worker who left may come back."""
        body = {
            "tasks": [as_task(task).to_json() for task in listed(tasks, "tasks")],
            "workers": [worker_json(worker) for worker in listed(workers, "workers")],
        }
        self._write("add", body, key)

    def bid(self, worker: str, amount: Amount, key: str | None = None) -> None:
        """Name a worker's price for an answer, sealed; a later bid takes its place."""
        self._write("bid", {"worker": worker, "amount": money(amount, "amount")}, key)

    def leave(self, worker: str, key: str | None = None) -> None:
        """Let a worker go; what they have out is released, and may be answered late."""
        self._write("leave", {"worker": worker}, key)

    def suspend(
        self, worker: str, *, by: str, why: str | None = None, key: str | None = None
    ) -> None:
        """Hand nothing to a worker until :meth:`reinstate`; what they have out stays theirs."""
        self._write("suspend", {"worker": worker, "by": by, "why": why}, key)

    def reinstate(
        self, worker: str, *, by: str, why: str | None = None, key: str | None = None
    ) -> None:
        """Ask a worker again who was suspended."""
        self._write("reinstate", {"worker": worker, "by": by, "why": why}, key)

    def top_up(self, amount: Amount, key: str | None = None) -> None:
        """Add money to the budget."""
        self._write("top-up", {"amount": money(amount, "amount")}, key)

    def pause(self, key: str | None = None) -> None:
        """Hand out nothing until :meth:`resume`; answers are still taken."""
        self._write("pause", None, key)

    def resume(self, key: str | None = None) -> None:
        """Go on after :meth:`pause`."""
        self._write("resume", None, key)

    def stop(self, key: str | None = None) -> None:
        """End the campaign for good; answers to what is out are still taken."""
        self._write("stop", None, key)

    def close(self, task: str, key: str | None = None) -> None:
        """Ask no more about a task."""
        self._write("close", {"task": task}, key)

    # Money out.

    def pay(
        self,
        worker: str,
        amount: Amount | None = None,
        *,
        by: str,
        reference: str | None = None,
        on: date | str | None = None,
        key: str | None = None,
    ) -> Payout:
        """Mark what a worker is owed as paid, all of it by default; more than that is refused."""
        body = {"worker": worker, **_paid(by, reference, on)}
        body |= {} if amount is None else {"amount": money(amount, "amount")}
        return Payout.from_json(self._write("pay", body, key))

    def pay_all(
        self,
        amounts: Mapping[str, Amount] | None = None,
        *,
        by: str,
        reference: str | None = None,
        on: date | str | None = None,
        key: str | None = None,
    ) -> list[Payout]:
        """Mark what several workers are owed as paid, all of them or none."""
        body = _paid(by, reference, on)
        if amounts is not None:
            given = isinstance(amounts, Mapping)
            body["amounts"] = (
                {worker: money(amount, "amount") for worker, amount in amounts.items()}
                if given
                else amounts
            )
        found = self._write("pay-all", body, key)
        return [Payout.from_json(raw) for raw in found["payouts"]]

    def bonus(
        self, worker: str, amount: Amount, why: str, *, by: str, key: str | None = None
    ) -> None:
        """Give a worker money apart from what their answers are paid, and say why."""
        body = {"worker": worker, "amount": money(amount, "amount"), "why": why, "by": by}
        self._write("bonus", body, key)

    # Taking back.

    def remove(self, task: str, key: str | None = None) -> None:
        """Take a task out that nobody has answered; it is in no view any more."""
        self._write("remove", {"task": task}, key)

    def archive(self, key: str | None = None) -> None:
        """Put the campaign away: it is read only and in no list of work until :meth:`unarchive`."""
        self._write("archive", None, key)

    def unarchive(self, key: str | None = None) -> None:
        """Take the campaign up again, as it was before :meth:`archive`."""
        self._write("unarchive", None, key)

    def retitle(self, title: str | None, key: str | None = None) -> None:
        """Call the campaign something else; None for the title that it was created with."""
        self._write("title", {"title": title}, key)

    def delete(self, key: str | None = None) -> None:
        """Delete the campaign, which nobody has answered, with its links and webhooks, for good."""
        self._transport.delete("/campaigns", self.name, key=key)

    def forget(self, worker: str, pseudonym: str | None = None, key: str | None = None) -> str:
        """Replace a worker's id in the whole log; returns what they are called from now on."""
        body = {"worker": worker, "pseudonym": pseudonym}
        return str(self._write("forget", body, key)["worker"])

    # Reading.

    def answers(self) -> list[Answer]:
        """Every task's answer so far; one nameless entry in a campaign without tasks."""
        return [Answer.from_json(raw) for raw in self._pages("answers")]

    def payments(self) -> list[Payment]:
        """What each worker has earned, what is owed of it and what is reserved for them."""
        return [Payment.from_json(raw) for raw in self._pages("payments")]

    def due(self) -> list[DuePayout]:
        """What to pay now: an entry for every worker who is owed something."""
        return [DuePayout.from_json(raw) for raw in self._pages("due")]

    def payouts(self, worker: str | None = None) -> list[Payout]:
        """What was marked as paid, to all or to one worker, in the order of the log."""
        found = map(Payout.from_json, self._pages("payouts"))
        return [each for each in found if worker in (None, each.worker)]

    def bonuses(self, worker: str | None = None) -> list[Bonus]:
        """What was given as a bonus, to all or to one worker, in the order of the log."""
        found = map(Bonus.from_json, self._pages("bonuses"))
        return [each for each in found if worker in (None, each.worker)]

    def workers(self) -> list[WorkerSummary]:
        """Every worker who ever joined: their work, their money, their pace, how good they seem."""
        return [WorkerSummary.from_json(raw) for raw in self._pages("workers")]

    def standing(self, worker: str) -> OwnStanding:
        """Where a worker stands, as they may know."""
        found = self._transport.read(f"{self._path}/standing", worker=worker)
        return OwnStanding.from_json(found)

    def status(self) -> Status:
        """The campaign at a glance."""
        return Status.from_json(self._transport.read(self._path))

    def explain(self, assignment_id: str) -> Explanation:
        """Why an assignment was made, recomputed from the log."""
        path = self._assignment(assignment_id)
        return Explanation.from_json(self._transport.read(f"{path}/explanation"))

    def log(self, after: int = 0, upto: int | None = None) -> list[Event]:
        """The events from ``after`` (exclusive) to ``upto`` (inclusive)."""
        found: list[Event] = []
        start: int | None = max(0, after)
        while start is not None and (upto is None or start < upto):
            limit = PAGE if upto is None else min(PAGE, upto - start)
            page = self._transport.read(f"{self._path}/log", after=start, limit=limit)
            found.extend(Event.from_json(raw) for raw in page["items"])
            start = None if page["next"] is None else int(page["next"])
        return found

    def assignments(self, worker: str | None = None) -> list[Assignment]:
        """What is out, of all or of one worker: handed out, neither answered nor released."""
        return [Assignment.from_json(raw) for raw in self._pages("assignments", worker=worker)]

    def assignment(self, assignment_id: str) -> Handed:
        """One assignment, and what has become of it."""
        return Handed.from_json(self._transport.read(self._assignment(assignment_id)))

    def payload(self, assignment_id: str) -> Any:
        """What the worker of an assignment is shown: as in ``assignment.payload``, by a request."""
        return self._transport.read(self._assignment(assignment_id)).get("payload")

    def task(self, task: str) -> Task:
        """A task as it was added, with its payload."""
        return as_task(self._transport.read(f"{self._path}/task", id=task))

    def over(self) -> Done | None:
        """Why there is nothing more to ask, if so, and nothing is out; changes nothing.

        Compare it with ``None``: a ``Done`` is an empty sequence, and so false.
        """
        why = self._transport.read(f"{self._path}/over")["why"]
        return None if why is None else Done(why)

    def certificate(self) -> CampaignCertificate:
        """What audits have shown of the labels so far; only where ``certify`` was given."""
        return CampaignCertificate.from_json(self._transport.read(f"{self._path}/certificate"))

    def pilot(self) -> PilotReport:
        """What the pilot has shown of its workers so far; only where ``pilot`` was given."""
        return PilotReport.from_json(self._transport.read(f"{self._path}/pilot"))

    def results(self) -> CampaignResults:
        """What the labels are, what they rest on, and how many are right as far as is known."""
        return CampaignResults.from_json(self._transport.read(f"{self._path}/results"))

    def agreement(self) -> Agreement:
        """How far answers to the same tasks agree, with 95% intervals."""
        return Agreement.from_json(self._transport.read(f"{self._path}/agreement"))

    def judges(self) -> JudgesReport:
        """The models among the workers, beside people and truths, and together."""
        return JudgesReport.from_json(self._transport.read(f"{self._path}/judges"))

    def worker(self, worker: str) -> WorkerReport:
        """One worker in full: quality over time, what they mix up, contexts, pace."""
        return WorkerReport.from_json(self._transport.read(f"{self._path}/worker", id=worker))

    @property
    def spec(self) -> dict[str, Any]:
        """The campaign as created, as JSON."""
        return self._transport.read(f"{self._path}/spec")

    @property
    def content(self) -> Content | None:
        """What workers are asked and shown, if that was given."""
        raw = self._transport.read(self._path)["content"]
        return None if raw is None else Content.from_json(raw)

    # What a service has beside.

    def availability(
        self, worker: str, *, available: bool, until: float | None = None, key: str | None = None
    ) -> None:
        """Say whether a worker takes questions; ``until`` (seconds since 1970) ends an absence."""
        body = {"worker": worker, "available": available, "until": until}
        self._write("availability", body, key)

    def invite(
        self,
        worker: str,
        *,
        price: Amount | None = None,
        limit: int | None = None,
        lasts: float | None = None,
        kind: WorkerKind | None = None,
        family: str | None = None,
        key: str | None = None,
    ) -> Invitation:
        """Make a worker's link; with a price, add them first if they are not in the campaign yet.

        ``lasts`` are the seconds until it expires; without, never. ``kind`` and ``family`` are
        those of ``Worker``; not given, somebody who comes back keeps theirs.
        """
        body: dict[str, Any] = {
            "worker": worker,
            "price": None if price is None else money(price, "price"),
            "limit": limit,
            "lasts": lasts,
        }
        # A service from before there were kinds would refuse the fields.
        body |= {} if kind is None else {"kind": kind}
        body |= {} if family is None else {"family": family}
        return Invitation.from_json(self._write("invite", body, key))

    def run_state(self) -> dict[str, Any]:
        """Who asks the judges of the campaign, what is in flight, and who can't be asked."""
        found: dict[str, Any] = self._transport.read(f"{self._path}/run")
        return found

    def tokens(self) -> list[Key]:
        """The workers' tokens, without their secrets, newest first."""
        return [Key.from_json(raw) for raw in self._pages("tokens")]

    def revoke_token(self, id: str, key: str | None = None) -> Key:
        """End a worker's token."""
        return Key.from_json(self._transport.delete(f"{self._path}/tokens", id, key=key))

    def __repr__(self) -> str:
        return f"<RemoteCampaign {self.name!r} at {self._transport.url}>"

    def __iter__(self) -> Iterator[Any]:
        raise TypeError("a campaign is not iterable: call ask() until it returns Done")

    def _write(self, verb: str, body: Any, key: str | None) -> Any:
        return self._transport.write(f"{self._path}/{verb}", body, key=key)

    def _settle(self, assignment_id: str, verb: str, key: str | None, body: Any = None) -> None:
        self._transport.write(f"{self._assignment(assignment_id)}/{verb}", body, key=key)

    def _pages(self, what: str, **query: str | int | None) -> Iterator[Any]:
        return self._transport.pages(f"{self._path}/{what}", **query)

    def _assignment(self, assignment_id: str) -> str:
        return f"/assignments/{self.name}:{seq_of(self.name, assignment_id)}"


def _paid(by: str, reference: str | None, on: date | str | None) -> dict[str, Any]:
    """What a request says of a payout beside who was paid how much."""
    return {"by": by, "reference": reference, "on": None if on is None else check_day(on)}


def money(amount: Amount, label: str) -> str:
    """An amount as requests carry it: exact, or refused as a campaign would."""
    return str(from_micro(to_micro(amount, label)))


def worker_json(worker: Worker | Mapping[str, Any]) -> dict[str, Any]:
    """A worker as JSON; one that names a judge is for the service to read."""
    if isinstance(worker, Mapping) and "judge" in worker:
        return dict(worker)
    return as_worker(worker).to_json()
