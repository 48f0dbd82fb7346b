"""What a campaign allows: legality, money, leases. Emits the events of one write."""

from collections.abc import Sequence
from typing import Any

from askwise.campaign import bidding, phases, revising, settling
from askwise.campaign.deciding import DecidingWrite
from askwise.campaign.loading import Loaded
from askwise.campaign.refusals import conflict, invalid_answer
from askwise.campaign.spec import check_shown
from askwise.campaign.views import assignments as handed
from askwise.core.calls import FailureWhy
from askwise.core.errors import InvalidAnswer, InvalidProblem
from askwise.core.events import Kind
from askwise.core.money import LARGEST, from_micro
from askwise.core.problem import Task, Worker, check_named
from askwise.ledger import columns as c
from askwise.policies import FixedWorkers, LimitsSize


class Verbs(DecidingWrite):
    """What may be asked of a campaign: checks, then emits and folds events."""

    # Answers.

    def tell(
        self,
        assignment: int,
        value: float | str,
        cost: int | None = None,
        probabilities: dict[str, float] | None = None,
        rationale: str | None = None,
        reference: str | None = None,
    ) -> None:
        """Take an answer, in time or late; close the task if the rule says so."""
        call = settling.call_of(self.name, self.state, assignment)
        value = settling.valid_answer(self.state, value)
        if cost is None and settling.is_unpaid(self.state, call):
            cost = 0
        if cost is not None:
            bidding.check_cost(self.state, cost, call.ceiling)
        self._settle(
            Kind.ANSWER,
            call,
            cost,
            value=value,
            probabilities=probabilities,
            rationale=rationale,
            reference=reference,
        )
        phases.judge_worker(self, call.worker, call.seq)
        if self.ledger.problem.audits(self.ledger.workers[call.worker].id):
            self._take_audit(call.task, value)
        if not self.state.is_piloted(call.task, call.worker):
            self.close_by(call.task, self.state.verdict(call.task))

    def revise(
        self,
        assignment: int,
        value: float | str,
        prepared: list[Loaded],
        **said: Any,
    ) -> None:
        """Change an answer; judge its task again."""
        revising.revise(self, assignment, value, prepared, **said)

    def withdraw(self, assignment: int, why: str, prepared: list[Loaded], **said: Any) -> None:
        """Take an answer back; judge its task again."""
        revising.withdraw(self, assignment, why, prepared, **said)

    def _take_audit(self, task: int, value: float | str) -> None:
        """What somebody trusted says of a task is its truth, unless that was told before."""
        if self.ledger.book.tasks[task, c.TRUTH] < 0:
            self.emit(Kind.TRUTH, task=self.ledger.task_id(task), value=value)

    def fail(
        self, assignment: int, why: FailureWhy, cost: int, reference: str | None = None
    ) -> None:
        """Take a call that brought no answer; close the task if that has used up its money."""
        call = settling.call_of(self.name, self.state, assignment)
        bidding.check_cost(self.state, cost, 0)
        self._settle(Kind.FAILED, call, cost, why=why, reference=reference)
        if self.state.at_cap(call.task):
            self.close_ruled(call.task, self.state.guess(call.task), "over_budget")

    def _settle(
        self, kind: Kind, call: settling.PendingCall, said: int | None, **fields: Any
    ) -> None:
        """Book a call at its price, or at what it was said to cost."""
        bill = settling.bill_for(self.name, self.state, call, said)
        if kind == Kind.ANSWER:
            bidding.check_paid(self.state, call.worker, bill.price)
        self.emit(
            kind,
            assignment=call.seq,
            task=self.ledger.task_id(call.task),
            worker=self.ledger.workers[call.worker].id,
            price=bill.price,
            cost=bill.cost,
            over_ceiling=bill.over_ceiling,
            **fields,
        )

    def truth(self, task: str, option: str, field: str = "option") -> None:
        """Record a task's truth; the same again changes nothing, another is refused."""
        problem, ledger = self.state.spec.problem, self.ledger
        if not problem.options:
            raise InvalidAnswer("a utility campaign has no true option", field=field)
        at = self.task_at(task)
        if option not in problem.options:
            valid = ", ".join(problem.options)
            message = f"{field} is {option!r}: give one of {valid}"
            raise invalid_answer("invalid_value", field, message)
        known = int(ledger.book.tasks[at, c.TRUTH])
        if known < 0:
            self.emit(Kind.TRUTH, task=task, value=option)
            if self.state.screening is not None and not ledger.book.tasks[at, c.CLOSED]:
                # It is for gold questions from now on: nobody is paid for what is known.
                self.close_with(at, self.state.label(at), "closed")
        elif problem.options[known] != option:
            message = (
                f"{field} is {option!r}, but the truth of task {task!r} was told to be "
                f"{problem.options[known]!r}: the first truth stays; check which one is right"
            )
            raise conflict("truth_known", field, message)

    def tell_truths(self, told: dict[str, str]) -> None:
        """Record the truths of many tasks."""
        for task, option in told.items():
            self.truth(task, option)

    def set_label(
        self, task: str, value: float | str, by: str, why: str | None = None, truth: bool = False
    ) -> None:
        """Set a task's label by hand; nobody is asked about it any more."""
        if self.state.spec.problem.taskless:
            message = "this campaign has no tasks: there is nothing to label"
            raise conflict("no_tasks", "task", message)
        at = self.task_at(task)
        value = settling.valid_answer(self.state, value)
        if truth:
            self.truth(task, str(value), "value")
        if not self.ledger.book.tasks[at, c.CLOSED]:
            self.close_with(at, self.state.label(at), "closed")
        self.emit(Kind.LABELLED, task=task, value=value, by=by, why=why)

    # Leases.

    def expire_overdue(self) -> None:
        """Release what is past its lease: the next caller does it for all."""
        while (seq := self.state.overdue(self.now)) is not None:
            self.expire(seq)

    def expire(self, assignment: int) -> None:
        """Take back an assignment that will not be answered."""
        self._release(assignment, Kind.EXPIRED)

    def decline(self, assignment: int) -> None:
        """Take back an assignment that its worker turns down."""
        self._release(assignment, Kind.DECLINED)

    def flag(self, assignment: int, why: str) -> None:
        """Take back an assignment that can't be answered, with the reason."""
        about = self.about_out(assignment)
        if about["task"] is None:
            message = "this campaign buys units of work: decline what can't be done"
            raise conflict("no_tasks", "task", message)
        self.emit(Kind.FLAGGED, **about, why=why)
        self.decline(assignment)

    def comment(self, task: str, text: str, by: str) -> None:
        """Put a comment on a task on record."""
        if self.state.spec.problem.taskless:
            message = "this campaign has no tasks: there is nothing to comment on"
            raise conflict("no_tasks", "task", message)
        self.task_at(task)
        self.emit(Kind.COMMENTED, task=task, text=text, by=by)

    def renew(self, assignment: int) -> None:
        """Restart the lease of an open assignment, if it has one."""
        lease = self.state.spec.lease
        about = self.about_out(assignment)
        if lease is not None:
            self.emit(Kind.RENEWED, **about, expires=self.now + lease)

    def _release(self, seq: int, kind: Kind) -> None:
        self.emit(kind, **self.about_out(seq))

    def about_out(self, seq: int) -> dict[str, Any]:
        """What an event says of an assignment that is out; refuses one that is not."""
        at = handed.place_of(self.name, self.ledger, seq)
        row = self.ledger.book.assignments[at]
        status = int(row[c.STATUS])
        if status != c.OUT:
            message = f"assignment {self._id(seq)!r} is {handed.STATES[status]} already"
            raise conflict(settling.SETTLED[status], "assignment", message)
        return {
            "assignment": seq,
            "task": self.ledger.task_id(int(row[c.TASK])),
            "worker": self.ledger.workers[int(row[c.WORKER])].id,
        }

    def release_all(self, worker: str) -> None:
        """Take back all that a worker has out."""
        for at in handed.places_out(self.ledger, worker):
            self.expire(int(self.ledger.book.assignments[at, c.SEQ]))

    # What there is.

    def add(self, tasks: Sequence[Task], workers: Sequence[Worker]) -> None:
        """Add tasks and workers, all of them or none."""
        ledger, problem, policy = self.ledger, self.state.spec.problem, self.state.spec.policy
        self._check_running()
        if tasks and problem.taskless:
            raise conflict("no_tasks", "tasks", "this campaign buys units of work: it has no tasks")
        if workers and isinstance(policy, FixedWorkers):
            remedy = "create another campaign with them"
            message = f"policy {policy.name!r} accepts nobody new after the start: {remedy}"
            raise conflict("no_newcomers", "workers", message)
        coming: set[str] = set()
        for worker in workers:
            there = ledger.has_worker(worker.id) and ledger.is_here(ledger.worker_at(worker.id))
            if there or worker.id in coming:
                message = f"worker {worker.id!r} is in this campaign already"
                raise conflict("worker_exists", "workers", message)
            coming.add(worker.id)
            problem.check_rating(worker)
            problem.check_auditor(worker)
            self._check_kind(worker)
            policy.check_worker(worker)
        if workers and isinstance(policy, LimitsSize):
            new = sum(not ledger.has_worker(worker.id) for worker in workers)
            policy.check_size(len(problem.options), ledger.total(c.WORKERS) + new)
        known = coming | {worker.id for worker in ledger.workers}
        names: set[str] = set()
        for task in tasks:
            if ledger.has_task(task.id) or task.id in names:
                message = f"task {task.id!r} is in this campaign already"
                if ledger.has_task(task.id) and ledger.task_at(task.id) in ledger.removed:
                    message = f"task {task.id!r} was removed from this campaign: give another id"
                raise conflict("task_exists", "tasks", message)
            names.add(task.id)
            check_named(task, known)
        if self.state.spec.content is not None:
            check_shown(self.state.spec.content, tasks)
        if workers:
            self.emit(Kind.JOINED, workers=tuple(worker.to_json() for worker in workers))
        if tasks:
            self.emit(Kind.ADDED, tasks=tuple(task.to_json() for task in tasks))

    def _check_kind(self, worker: Worker) -> None:
        """Refuse somebody back who was asked again and may not be now, or the other way round."""
        ledger, problem = self.ledger, self.state.spec.problem
        if not ledger.has_worker(worker.id):
            return
        at = ledger.worker_at(worker.id)
        once = problem.asks_once(worker)
        if ledger.book.workers[at, c.LAST] >= 0 and once != problem.asks_once(ledger.workers[at]):
            given = "not given" if worker.kind is None else repr(worker.kind)
            was = "crowd" if once else ledger.workers[at].kind
            raise InvalidProblem(
                f"kind of worker {worker.id!r} is {given}, but they were asked as a {was} before: "
                f"give {was!r}, or add them under another id",
                field="kind",
            )

    def bid(self, worker: str, amount: int) -> None:
        """Take a worker's price, in place of the one they named before."""
        self._check_running()
        bidding.check_bid(self.state, worker, amount)
        self.emit(Kind.BID, worker=worker, price=amount)

    def leave(self, worker: str) -> None:
        """Let a worker go; what they have out is released."""
        self._check_here(worker)
        self.release_all(worker)
        self.emit(Kind.LEFT, worker=worker)

    def suspend(self, worker: str, by: str, why: str | None = None) -> None:
        """Hand nothing to a worker until they are reinstated; what they have out stays theirs."""
        self._check_here(worker)
        if self.ledger.standings.of(self.ledger.worker_at(worker)).suspended:
            message = f"worker {worker!r} is suspended already"
            raise conflict("worker_suspended", "worker", message)
        self.emit(Kind.SUSPENDED, worker=worker, by=by, why=why)

    def reinstate(self, worker: str, by: str, why: str | None = None) -> None:
        """Ask a worker again who was suspended."""
        if not self.ledger.standings.of(self.ledger.worker_at(worker)).suspended:
            message = f"worker {worker!r} is not suspended"
            raise conflict("worker_not_suspended", "worker", message)
        self.emit(Kind.REINSTATED, worker=worker, by=by, why=why)

    def _check_here(self, worker: str) -> None:
        if not self.ledger.is_here(self.ledger.worker_at(worker)):
            raise conflict("worker_left", "worker", f"worker {worker!r} has left already")

    def top_up(self, amount: int) -> None:
        """Add money."""
        self._check_running()
        budget = self.ledger.budget
        if budget is None:
            raise conflict("no_budget", "amount", "this campaign has no budget to add to")
        if amount == 0 or budget + amount > LARGEST:
            raise InvalidProblem(
                f"amount is {from_micro(amount)}: give more than 0, "
                f"up to {from_micro(LARGEST - budget)}",
                field="amount",
                reason="invalid_amount",
            )
        self.emit(Kind.TOPPED_UP, price=amount)

    def switch(self, kind: Kind) -> None:
        """Pause, resume or stop."""
        self._check_running()
        paused = self.ledger.total(c.PAUSED)
        if kind == Kind.PAUSED and paused:
            raise conflict("campaign_paused", "state", "the campaign is paused already")
        if kind == Kind.RESUMED and not paused:
            raise conflict("campaign_not_paused", "state", "the campaign is not paused")
        self.emit(kind)

    def close(self, task: str) -> None:
        """Close a task by hand."""
        if self.state.spec.problem.taskless:
            message = "this campaign has no tasks to close: stop() ends it"
            raise conflict("no_tasks", "task", message)
        at = self.task_at(task)
        if self.ledger.book.tasks[at, c.CLOSED]:
            raise conflict("task_closed", "task", f"task {task!r} is closed already")
        self.close_with(at, self.state.label(at), "closed")

    def task_at(self, task: str) -> int:
        """Index of a task; refuses one that was removed."""
        at = self.ledger.task_at(task)
        if at in self.ledger.removed:
            raise conflict("task_removed", "task", f"task {task!r} was removed from this campaign")
        return at

    def _id(self, seq: int) -> str:
        return handed.assignment_id(self.name, seq)

    def _check_running(self) -> None:
        if self.ledger.total(c.STOPPED):
            raise conflict("campaign_stopped", "state", "the campaign was stopped")
