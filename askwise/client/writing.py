"""The verbs by which a campaign of a service is written to."""

from collections.abc import Iterable, Mapping
from datetime import date
from numbers import Real
from typing import Any

from askwise.campaign.paying import check_day
from askwise.campaign.views import Payout
from askwise.client.calls import CampaignCalls, answer_json, money, worker_json
from askwise.client.requests import Steps, delete, verb, write
from askwise.core.calls import FailureWhy
from askwise.core.choices import Batch, Done, Wait, read_choice
from askwise.core.errors import InvalidProblem
from askwise.core.fields import as_name, by_name
from askwise.core.keys import Invitation, Key
from askwise.core.money import Amount
from askwise.core.problem import Task, Worker, WorkerKind, as_task, listed


class CampaignWrites(CampaignCalls):
    """What changes a campaign; each happens once, however often it is sent."""

    # Asking and telling.

    @verb
    def ask(
        self,
        limit: int = 1,
        workers: Iterable[str] | None = None,
        key: str | None = None,
        *,
        wait: float = 0,
    ) -> Steps[Batch | Wait | Done]:
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
            body["workers"] = [as_name(worker) for worker in listed(workers, "workers")]
        if wait:
            body["wait"] = float(wait)
        reply = yield from write(f"{self._path}/ask", body, key=key, longer=float(wait))
        return read_choice(reply)

    @verb
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
    ) -> Steps[None]:
        """Hand in the answer to an assignment; its price is spent, or what it cost.

        A worker's token can't say what it cost.
        """
        # A service from before there were costs would refuse the fields.
        more: dict[str, Any] = {} if cost is None else {"cost": money(cost, "cost")}
        if probabilities is not None:
            given = isinstance(probabilities, Mapping)
            more["probabilities"] = by_name(probabilities, "option") if given else probabilities
        more |= {} if rationale is None else {"rationale": rationale}
        more |= {} if reference is None else {"reference": reference}
        yield from self._settle(assignment_id, "answer", key, {"value": answer_json(value), **more})

    @verb
    def fail(
        self,
        assignment_id: str,
        why: FailureWhy,
        cost: Amount = "0",
        reference: str | None = None,
        key: str | None = None,
    ) -> Steps[None]:
        """Hand in that a call brought no answer, and what it cost; the pair is closed."""
        body = {"why": why, "cost": money(cost, "cost"), "reference": reference}
        yield from self._settle(assignment_id, "fail", key, body)

    @verb
    def truth(self, task: str, option: str, key: str | None = None) -> Steps[None]:
        """Reveal the true option of a task; the same again changes nothing, another is refused."""
        yield from self._write("truth", {"task": task, "option": option}, key)

    @verb
    def truths(self, told: Mapping[str, str], key: str | None = None) -> Steps[None]:
        """Reveal the true options of many tasks in one write, all of them or none."""
        named = {task: as_name(option) for task, option in by_name(dict(told), "task").items()}
        yield from self._write("truths", {"truths": named}, key)

    @verb
    def set_label(
        self,
        task: str,
        value: float | str,
        *,
        by: str,
        why: str | None = None,
        truth: bool = False,
        key: str | None = None,
    ) -> Steps[None]:
        """Set a task's label by hand: it is the task's answer from now on."""
        body = {"task": task, "value": answer_json(value), "by": by, "why": why, "truth": truth}
        yield from self._write("label", body, key)

    @verb
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
    ) -> Steps[None]:
        """Change an answer: from now on the campaign is as if it had been given so from the start.

        A worker's token changes their last answer, for as long as the service allows.
        """
        body: dict[str, Any] = {"value": answer_json(value)}
        body |= {"rationale": rationale, "reference": reference, "by": by}
        chances = None if probabilities is None else by_name(probabilities, "option")
        body |= {"probabilities": chances}
        yield from self._settle(assignment_id, "revise", key, body)

    @verb
    def withdraw(
        self, assignment_id: str, why: str, *, by: str | None = None, key: str | None = None
    ) -> Steps[None]:
        """Take an answer back: there is no vote, and what was paid stays paid."""
        yield from self._settle(assignment_id, "withdraw", key, {"why": why, "by": by})

    @verb
    def expire(self, assignment_id: str, key: str | None = None) -> Steps[None]:
        """Release an assignment that will not be answered."""
        yield from self._settle(assignment_id, "expire", key)

    @verb
    def renew(self, assignment_id: str, key: str | None = None) -> Steps[None]:
        """Restart the lease of an open assignment; without leases nothing changes."""
        yield from self._settle(assignment_id, "renew", key)

    @verb
    def decline(self, assignment_id: str, key: str | None = None) -> Steps[None]:
        """Release an assignment that its worker turns down; the pair is not offered again."""
        yield from self._settle(assignment_id, "decline", key)

    @verb
    def flag(self, assignment_id: str, why: str, key: str | None = None) -> Steps[None]:
        """Say that a task can't be answered, and why; the pair is not offered again."""
        yield from self._settle(assignment_id, "flag", key, {"why": why})

    @verb
    def comment(self, task: str, text: str, *, by: str, key: str | None = None) -> Steps[None]:
        """Write a comment on a task, in up to 2,000 characters; workers do not see it."""
        yield from self._write("comment", {"task": task, "text": text, "by": by}, key)

    # Changing what there is.

    @verb
    def add(
        self,
        *,
        tasks: Iterable[Task | Mapping[str, Any] | str] = (),
        workers: Iterable[Worker | Mapping[str, Any]] = (),
        key: str | None = None,
    ) -> Steps[None]:
        """Add tasks and workers, all or none; a worker who left may come back."""
        body = {
            "tasks": [as_task(task).to_json() for task in listed(tasks, "tasks")],
            "workers": [worker_json(worker) for worker in listed(workers, "workers")],
        }
        yield from self._write("add", body, key)

    @verb
    def bid(self, worker: str, amount: Amount, key: str | None = None) -> Steps[None]:
        """Name a worker's price for an answer, sealed; a later bid takes its place."""
        yield from self._write("bid", {"worker": worker, "amount": money(amount, "amount")}, key)

    @verb
    def leave(self, worker: str, key: str | None = None) -> Steps[None]:
        """Let a worker go; what they have out is released, and may be answered late."""
        yield from self._write("leave", {"worker": worker}, key)

    @verb
    def suspend(
        self, worker: str, *, by: str, why: str | None = None, key: str | None = None
    ) -> Steps[None]:
        """Hand nothing to a worker until :meth:`reinstate`; what they have out stays theirs."""
        yield from self._write("suspend", {"worker": worker, "by": by, "why": why}, key)

    @verb
    def reinstate(
        self, worker: str, *, by: str, why: str | None = None, key: str | None = None
    ) -> Steps[None]:
        """Ask a worker again who was suspended."""
        yield from self._write("reinstate", {"worker": worker, "by": by, "why": why}, key)

    @verb
    def top_up(self, amount: Amount, key: str | None = None) -> Steps[None]:
        """Add money to the budget."""
        yield from self._write("top-up", {"amount": money(amount, "amount")}, key)

    @verb
    def pause(self, key: str | None = None) -> Steps[None]:
        """Hand out nothing until :meth:`resume`; answers are still taken."""
        yield from self._write("pause", None, key)

    @verb
    def resume(self, key: str | None = None) -> Steps[None]:
        """Go on after :meth:`pause`."""
        yield from self._write("resume", None, key)

    @verb
    def stop(self, key: str | None = None) -> Steps[None]:
        """End the campaign for good; answers to what is out are still taken."""
        yield from self._write("stop", None, key)

    @verb
    def close(self, task: str, key: str | None = None) -> Steps[None]:
        """Ask no more about a task."""
        yield from self._write("close", {"task": task}, key)

    # Money out.

    @verb
    def pay(
        self,
        worker: str,
        amount: Amount | None = None,
        *,
        by: str,
        reference: str | None = None,
        on: date | str | None = None,
        key: str | None = None,
    ) -> Steps[Payout]:
        """Mark what a worker is owed as paid, all of it by default; more than that is refused."""
        body = {"worker": worker, **_paid(by, reference, on)}
        body |= {} if amount is None else {"amount": money(amount, "amount")}
        return Payout.from_json((yield from self._write("pay", body, key)))

    @verb
    def pay_all(
        self,
        amounts: Mapping[str, Amount] | None = None,
        *,
        by: str,
        reference: str | None = None,
        on: date | str | None = None,
        key: str | None = None,
    ) -> Steps[list[Payout]]:
        """Mark what several workers are owed as paid, all of them or none."""
        body = _paid(by, reference, on)
        if amounts is not None:
            given = isinstance(amounts, Mapping)
            body["amounts"] = (
                {
                    worker: money(amount, "amount")
                    for worker, amount in by_name(amounts, "worker").items()
                }
                if given
                else amounts
            )
        found = yield from self._write("pay-all", body, key)
        return [Payout.from_json(raw) for raw in found["payouts"]]

    @verb
    def bonus(
        self, worker: str, amount: Amount, why: str, *, by: str, key: str | None = None
    ) -> Steps[None]:
        """Give a worker money apart from what their answers are paid, and say why."""
        body = {"worker": worker, "amount": money(amount, "amount"), "why": why, "by": by}
        yield from self._write("bonus", body, key)

    # Taking back.

    @verb
    def remove(self, task: str, key: str | None = None) -> Steps[None]:
        """Take a task out that nobody has answered; it is in no view any more."""
        yield from self._write("remove", {"task": task}, key)

    @verb
    def archive(self, key: str | None = None) -> Steps[None]:
        """Put the campaign away: it is read only and in no list of work until :meth:`unarchive`."""
        yield from self._write("archive", None, key)

    @verb
    def unarchive(self, key: str | None = None) -> Steps[None]:
        """Take the campaign up again, as it was before :meth:`archive`."""
        yield from self._write("unarchive", None, key)

    @verb
    def retitle(self, title: str | None, key: str | None = None) -> Steps[None]:
        """Call the campaign something else; None for the title that it was created with."""
        yield from self._write("title", {"title": title}, key)

    @verb
    def delete(self, key: str | None = None) -> Steps[None]:
        """Delete the campaign, which nobody has answered, with its links and webhooks, for good."""
        yield from delete("/campaigns", self.name, key=key)

    @verb
    def forget(
        self, worker: str, pseudonym: str | None = None, key: str | None = None
    ) -> Steps[str]:
        """Replace a worker's id in the whole log; returns what they are called from now on."""
        body = {"worker": worker, "pseudonym": pseudonym}
        return str((yield from self._write("forget", body, key))["worker"])

    # What a service has beside.

    @verb
    def availability(
        self, worker: str, *, available: bool, until: float | None = None, key: str | None = None
    ) -> Steps[None]:
        """Say whether a worker takes questions; ``until`` (seconds since 1970) ends an absence."""
        body = {"worker": worker, "available": available, "until": until}
        yield from self._write("availability", body, key)

    @verb
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
    ) -> Steps[Invitation]:
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
        return Invitation.from_json((yield from self._write("invite", body, key)))

    @verb
    def revoke_token(self, id: str, key: str | None = None) -> Steps[Key]:
        """End a worker's token."""
        return Key.from_json((yield from delete(f"{self._path}/tokens", id, key=key)))


def _paid(by: str, reference: str | None, on: date | str | None) -> dict[str, Any]:
    """What a request says of a payout beside who was paid how much."""
    return {"by": by, "reference": reference, "on": None if on is None else check_day(on)}
