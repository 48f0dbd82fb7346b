"""The campaign: ask, tell, and everything that may happen in between."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

from askwise.campaign.changeable import ChangeableCampaign, decided
from askwise.campaign.earlier_records import make_spec_in
from askwise.campaign.holding import Holding
from askwise.campaign.requests import Crew
from askwise.campaign.spec import Spec, check_name
from askwise.campaign.verbs import Verbs
from askwise.core.calls import FailureWhy, check_by, check_remark
from askwise.core.certify import CertifyTerms
from askwise.core.choices import Batch, Done, Wait
from askwise.core.content import Content
from askwise.core.errors import InvalidProblem
from askwise.core.fields import as_name, by_name
from askwise.core.money import Amount
from askwise.core.pilot import PilotTerms
from askwise.core.problem import Task, Worker
from askwise.core.screening import ScreeningTerms
from askwise.core.text import check_text
from askwise.policies import Cautions, LimitsSize, Policy
from askwise.store import Store, open_store


class Campaign(ChangeableCampaign):
    """A budget, workers, perhaps tasks, and a policy that decides whom to ask next.

    Made by :meth:`create` or :meth:`open`. Every write is one transaction on the store; two
    processes may hold the same campaign.

    Examples
    --------
    >>> campaign = Campaign.create(
    ...     workers=[Worker("ann", "0.50"), Worker("bob", "0.20", limit=5)],
    ...     outcome="utility",
    ...     budget="3",
    ...     policy="bounded-epsilon-first",
    ...     seed=1,
    ... )
    >>> batch = campaign.ask()
    >>> campaign.tell(batch[0].id, 0.7)
    >>> campaign.status().answers
    1
    """

    # Making one.

    @classmethod
    def create(
        cls,
        *,
        workers: Iterable[Worker | Mapping[str, Any]],
        tasks: Iterable[Task | Mapping[str, Any] | str] | None = None,
        options: Sequence[str] | None = None,
        outcome: str | Mapping[str, Any] | None = None,
        budget: Amount | None = None,
        policy: str | Mapping[str, Any] | Policy = "auto",
        stopping: Any = None,
        aggregation: Any = None,
        mechanism: Any = None,
        certify: CertifyTerms | Mapping[str, Any] | None = None,
        content: Content | Mapping[str, Any] | None = None,
        pilot: PilotTerms | Mapping[str, Any] | int | None = None,
        screening: ScreeningTerms | Mapping[str, Any] | bool | None = None,
        repeat: bool | None = None,
        lease: float | timedelta | None = None,
        store: str | Store = "memory",
        seed: int | None = None,
        name: str | None = None,
        clock: Callable[[], float] | None = None,
    ) -> Campaign:
        """Create a campaign.

        Parameters
        ----------
        workers : iterable of Worker (or mappings of its fields), or data frame
            Who may be asked; more may join later. A data frame has their fields as columns.
        tasks : iterable of Task, mappings or ids, or data frame, optional
            What they are asked about. Without, a utility campaign buys units of work.
        options : sequence of str
            The possible answers. Exactly one of this and ``outcome``.
        outcome : "utility" or {"kind": "utility", "low": 0, "high": 1, "zero": 0}
            Answers are numbers in this range. ``zero`` is what no answer at all is worth (0 if not
            given): policies count utility per price from there, and ask nobody whom they
            believe to be below it.
        budget : str, int, Decimal or float, optional
            Never exceeded. None is no cap.
        policy, stopping, aggregation, mechanism : name, mapping or instance
            A registry name, ``"hem(target=0.1)"``, ``{"name": ..., parameters}`` or an instance.
            The policy ``"auto"`` chooses by what else is given, see
            :class:`~askwise.campaign.choosing.AutoTerms`.
        certify : mapping, optional
            What is to be certified and who audits: ``{"error": 0.05, "confidence": 0.9, "by":
            ["vet"]}``, and perhaps ``share`` of the budget that is kept back for audits (0.2),
            ``escalate``, ``audits`` and ``blocks``. See :class:`~askwise.core.certify.CertifyTerms`
            and :meth:`certificate`.
        content : Content or mapping, optional
            What workers are asked and shown: question, options with their meanings, instructions,
            fields of the payload. Its options are the campaign's, if ``options`` is not given.
        pilot : int or mapping, optional
            How many tasks, drawn at random, are put to some workers before the policy decides
            anything: ``30``, or ``{"tasks": 30, "workers": ["gpt", "mini"]}``; by default all
            workers whose ``kind`` is "model". See :class:`~askwise.core.pilot.PilotTerms` and
            :meth:`pilot`.
        screening : bool or mapping, optional
            How workers are kept good by gold questions, which are about tasks whose truth was told:
            ``True``, or ``{"qualify": 10, "pass_share": 0.7, "rate": 0.1, "warn_below": 0.8,
            "pause_below": 0.7}``. See :class:`~askwise.core.screening.ScreeningTerms`.
        repeat : bool, optional
            Whether a worker may be asked the same task again; yes without tasks and with a
            policy for crowds, else no. Workers whose ``kind`` is "person" or "model" never are.
        lease : seconds or timedelta, optional
            How long an assignment is reserved before it is released.
        store : "memory", "sqlite:///FILE", "postgresql://..." or a Store
            Where the log lives.
        seed : int, optional
            The same seed and the same answers give the same log.
        name : str, optional
            Unique in the store; made up if not given.
        clock : callable, optional
            Seconds now; the system's clock by default.
        """
        raw: dict[str, Any] = {"workers": workers, "tasks": tasks, "options": options}
        raw |= {"outcome": outcome, "budget": budget, "repeat": repeat, "lease": lease}
        raw |= {"policy": policy, "stopping": stopping, "aggregation": aggregation}
        raw |= {"mechanism": mechanism, "certify": certify, "seed": seed}
        raw |= {"content": content, "pilot": pilot, "screening": screening}
        opened = open_store(store)
        spec = make_spec_in(opened, raw)
        if isinstance(spec.policy, LimitsSize):
            spec.policy.check_size(len(spec.problem.options), len(spec.problem.workers))
        if isinstance(spec.policy, Cautions):
            for caution in spec.policy.cautions(spec.problem):
                logging.getLogger(__name__).warning("%s", caution)
        made = check_name(name)
        if clock is not None and not callable(clock):
            raise InvalidProblem(
                f"clock is {clock!r}: give a function that returns seconds", field="clock"
            )
        written = spec.to_json()
        check_text(written)
        opened.create(made, written, (clock or time.time)())
        return cls(opened, made, spec, clock)

    @classmethod
    def open(
        cls,
        store: str | Store,
        name: str,
        *,
        clock: Callable[[], float] | None = None,
        later: Callable[[Callable[[], None]], object] | None = None,
        crew: Crew | None = None,
    ) -> Campaign:
        """Open a campaign that a store holds, where it was left.

        ``later`` starts what need not hold up a write, which is to save a snapshot: at once by
        default, in another thread in a service. ``crew`` commits what :meth:`submit` is given.
        """
        opened = open_store(store)
        return cls(opened, name, Spec.from_json(opened.spec(name)), clock, later, crew)

    # Asking and telling.

    def ask(
        self, limit: int = 1, workers: Iterable[str] | None = None, key: str | None = None
    ) -> Batch | Wait | Done:
        """Decide whom to ask next; reserves the price of what is handed out.

        ``while batch := campaign.ask():`` goes on as long as there is somebody to ask: ``Wait``
        and ``Done`` are empty sequences, told from each other by their type.

        Parameters
        ----------
        limit : int
            The most assignments to hand out now.
        workers : iterable of str, optional
            Who is available; everyone who joined by default.
        key : str, optional
            A retry with the same key gives the same answer and changes nothing.
        """
        return self._writer.write(self.asking(limit, workers, key))

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

        An answer after the lease is taken if the budget and the worker's limit still allow
        and the task is open; else it is refused with the reason.

        Parameters
        ----------
        cost : amount, optional
            What the call cost; the price it was asked at, its ceiling, by default. Below the
            ceiling the rest is free again. A cost above it is booked as far as the budget has money
            that is reserved for nobody, and marked ``over_ceiling`` in the log. Where workers bid,
            only the price itself is taken.
        probabilities : mapping of options to probabilities, optional
            How sure the source was. This, ``rationale`` (up to 10,000 characters) and ``reference``
            (such as a model's request id, up to 500) are in the log, and no part of the vote.
        key : str, optional
            A retry with the same key changes nothing.
        """
        write = self.telling(
            assignment_id,
            value,
            key,
            cost=cost,
            probabilities=probabilities,
            rationale=rationale,
            reference=reference,
        )
        self._writer.write(write)

    def fail(
        self,
        assignment_id: str,
        why: FailureWhy,
        cost: Amount = "0",
        reference: str | None = None,
        key: str | None = None,
    ) -> None:
        """Hand in that a call brought no answer, and what it cost nevertheless.

        There is no vote, and the pair is not offered again; a crowd, or a worker of units of work,
        is passed over as after :meth:`decline`. It counts under the worker's limit. A failure after
        the lease, and a cost above the ceiling, are taken as :meth:`tell` takes them.

        Parameters
        ----------
        why : str
            ``refused``, ``unreadable``, ``filtered``, ``timed_out``, ``orders`` (the replies to
            both orders of a pair contradict each other) or ``error``.
        cost : amount
            What it cost; nothing by default. Where workers bid, nothing else is taken.
        reference : str, optional
            Such as a model's request id, up to 500 characters.
        key : str, optional
            A retry with the same key changes nothing.
        """
        self._writer.write(self.failing(assignment_id, why, cost, reference, key))

    def truth(self, task: str, option: str, key: str | None = None) -> None:
        """Reveal the true option of a task; the same again changes nothing, another is refused."""
        self._do("truth", key, Verbs.truth, task=task, option=option)

    def truths(self, told: Mapping[str, str], key: str | None = None) -> None:
        """Reveal the true options of many tasks in one write, all of them or none."""
        named = {task: as_name(option) for task, option in by_name(dict(told), "task").items()}
        self._do("truths", key, Verbs.tell_truths, told=named)

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
        """Set a task's label by hand: it is the task's answer from now on.

        It wins over answers, over the label that a task was closed with and over a truth, and takes
        the place of one that was set before. Nobody is asked about the task any more. The log has
        who set it and why (event LABELLED).

        Parameters
        ----------
        value : str or float
            An option, or a number in the campaign's range.
        by : str
            Who decides; ``Answer.decided_by`` has it.
        why : str, optional
            The reason, in up to 2,000 characters.
        truth : bool
            Whether it is also the truth of the task, from which policies and aggregators learn.
            A truth that was told before stays: another one is refused.
        key : str, optional
            A retry with the same key changes nothing.
        """
        said: dict[str, Any] = {"task": task, "value": self._answer(value), **decided(by, why)}
        if truth:
            said["truth"] = True
        self._do("set_label", key, Verbs.set_label, **said)

    def expire(self, assignment_id: str, key: str | None = None) -> None:
        """Release an assignment that will not be answered."""
        self._writer.write(self.expiring(assignment_id, key))

    def renew(self, assignment_id: str, key: str | None = None) -> None:
        """Restart the lease of an open assignment; without leases nothing changes."""
        self._writer.write(self.renewing(assignment_id, key))

    def decline(self, assignment_id: str, key: str | None = None) -> None:
        """Release an assignment that its worker turns down.

        The pair is not offered again. A worker who may be asked again (units of work, a crowd) is
        passed over until somebody has answered, unless ``ask(workers=...)`` names them.
        """
        self._writer.write(self.declining(assignment_id, key))

    def flag(self, assignment_id: str, why: str, key: str | None = None) -> None:
        """Say that a task can't be answered, and why; its worker is not asked about it again.

        The assignment is released as by :meth:`decline`. The log has the reason (event FLAGGED),
        and the dashboard's review queue shows the task.
        """
        self._writer.write(self.flagging(assignment_id, why, key))

    def comment(self, task: str, text: str, *, by: str, key: str | None = None) -> None:
        """Write a comment on a task, in up to 2,000 characters; workers do not see it."""
        said = {"task": task, "text": check_remark(text, "text"), "by": check_by(by)}
        self._do("comment", key, Verbs.comment, **said)

    # For those who keep campaigns open.

    def ask_around(
        self, away: Collection[str], limit: int = 1, key: str | None = None
    ) -> Batch | Wait | Done:
        """Ask everyone who joined but those ``away``.

        Who that is may change between a request and its retry, which is the same request.
        """
        return self._writer.write(self.asking(limit, None, key, away=away))

    def ask_for_self(
        self, worker: str, holding: Holding, key: str | None = None
    ) -> Batch | Wait | Done:
        """Ask on behalf of a worker who may hold only so much: ``Wait("answers")`` beyond that."""
        return self._writer.write(self.asking(1, [worker], key, holding=holding))

    def release(self, worker: str) -> None:
        """Release all that a worker has out, in one write."""
        self._do("release", None, Verbs.release_all, worker=worker)

    def sweep(self) -> int:
        """Release what is past its lease now, rather than with the next write; tells how many."""
        return self._writer.sweep()

    @property
    def busy(self) -> bool:
        """Whether somebody reads or writes it at this moment; a decision may take seconds."""
        return self._writer.busy

    def settle(self) -> None:
        """Save a snapshot if much has happened since the last, so that opening is quick."""
        self._writer.settle()

    def __repr__(self) -> str:
        return f"<Campaign {self.name!r} policy={self._spec.policy.name!r}>"

    def __iter__(self) -> Iterator[Any]:
        raise TypeError("a Campaign is not iterable: call ask() until it returns Done")
