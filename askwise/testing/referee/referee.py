"""Takes in a log event by event and objects to what may not be."""

from collections import Counter
from collections.abc import Callable, Collection

from askwise.core.choices import Done, Wait
from askwise.core.events import Event, Kind
from askwise.core.money import to_micro
from askwise.core.problem import Worker
from askwise.core.screening import GOLD_NOTES
from askwise.ledger import columns as c
from askwise.ledger.entries import REMOVED, REVISES
from askwise.ledger.ledger import Ledger
from askwise.testing.referee.books import AskedWork, RefereeBooks


class Referee(RefereeBooks):
    """Follows a log with books of its own and objects to what may not be."""

    def see(self, event: Event, offered: Collection[str] | None = None) -> None:
        """Take in the next event; ``offered`` is whom the ask was restricted to."""
        assert event.seq == self.seq + 1, f"event {event.seq} follows event {self.seq}"
        self.seq = event.seq
        kind, (changed, self.judged_anew) = event.kind, (self.judged_anew, None)
        if kind == Kind.DECIDED:
            self._decided(event)
        elif kind == Kind.ASKED:
            self._asked(event, offered)
        elif kind == Kind.ANSWER:
            self._answered(event)
        elif kind == Kind.FAILED:
            self._failed(event)
        elif kind in (Kind.EXPIRED, Kind.DECLINED):
            self._released(event)
        elif kind == Kind.RENEWED:
            assert event.assignment in self.out, f"{event.assignment} is renewed, and not out"
            self.renewed[event.assignment] = event.expires or 0.0
        elif kind == Kind.TRUTH:
            assert event.task not in self.truths, f"the truth of {event.task} is told twice"
            self.truths.add(event.task)
        elif kind == Kind.LABELLED:
            assert event.task not in self.open_tasks, f"{event.task} is labelled, and open"
            assert event.by, f"nobody has set the label of {event.task}"
            self.set_by_hand.add(event.task)
        elif kind == Kind.FLAGGED:
            assert event.assignment in self.out, f"{event.assignment} is flagged, and not out"
            assert event.why, f"{event.assignment} is flagged without a reason"
        elif kind in (Kind.PAID, Kind.BONUS):
            self._given(event)
        elif kind in REVISES:
            self._changed(event)
        elif kind in (Kind.WARNED, Kind.QUALIFIED):
            assert event.why, f"{event.worker} is judged without a reason"
        elif kind == Kind.SUSPENDED:
            assert event.worker not in self.suspended, f"{event.worker} is suspended twice"
            self.suspended.add(event.worker or "")
        elif kind == Kind.REINSTATED:
            self.suspended.remove(event.worker or "")
        elif kind == Kind.CLOSED:
            was_open = self.open_tasks.pop(event.task, None)
            if event.outcome == REMOVED:
                answered = {self.work[seq].task for seq in (*self.out, *self.settled)}
                assert event.task not in answered, f"{event.task} is removed, and in use"
            elif was_open is None:
                frozen = event.outcome == "frozen" and event.task in self.set_by_hand
                assert frozen or event.task == changed, f"{event.task} is closed twice"
            self._drop(lambda task, worker: task == event.task or not self.open_tasks)
        elif kind == Kind.ADDED:
            self.open([raw["id"] for raw in event.tasks or ()])
            self.name(event.tasks or ())
        elif kind == Kind.JOINED:
            self.join(Worker(**raw) for raw in event.workers or ())
        elif kind == Kind.LEFT:
            self.joined.discard(event.worker or "")
            self._drop(lambda task, worker: worker == event.worker)
        elif kind == Kind.BID:
            self.bids[event.worker or ""] = self.prices[event.worker or ""] = event.price or 0
        elif kind == Kind.QUOTED:
            self.plan = []
            for quote in event.workers or ():
                self.prices[quote["id"]] = to_micro(quote["price"], "price")
        elif kind == Kind.TOPPED_UP:
            assert self.budget is not None
            self.budget += event.price or 0
        elif kind in (Kind.PAUSED, Kind.RESUMED):
            self.paused = kind == Kind.PAUSED
        elif kind == Kind.STOPPED:
            self.stopped = True
            self.plan = []
        for row in self.plan:
            if row[0] is None and not self.repeats(row[1]):
                row[3] = min(row[3], self.tasks_for(row[1]))
        left = self.free - self.reserved(alive=True)
        assert left >= 0, f"after event {event.seq} the budget is exceeded by {-left}"

    def _drop(self, gone: Callable[[str | None, str], bool]) -> None:
        self.plan = [row for row in self.plan if not gone(row[0], row[1])]

    def _decided(self, event: Event) -> None:
        assert event.rows, "a decision is empty"
        assert event.decision == self.decisions, "decisions are not counted up"
        self.decisions += 1
        self.gold = event.note in GOLD_NOTES
        self.plan = [[row.task, row.worker, row.count, row.count] for row in event.rows]
        wanted: Counter[str] = Counter()
        for row in event.rows:
            assert row.worker in self.joined, f"{row.worker} is planned and not there"
            if event.available is not None:
                assert row.worker in event.available, f"{row.worker} is planned, not available"
            assert row.count >= 1, f"{row.worker} is planned {row.count} times"
            wanted[row.worker] += row.count
            if row.task is not None:
                self._may_be_asked(row.task, row.worker)
            odds = row.propensity
            assert odds is None or 0.0 < odds <= 1.0, f"a propensity is {odds}"
        for worker, count in wanted.items():
            most = self.most(worker) - self.asked[worker]
            assert count <= most, f"{worker} is planned {count} times and has {most} left"

    def _here(self, offered: Collection[str] | None) -> set[str]:
        """Who may be asked now."""
        return self.joined - self.passed_over if offered is None else set(offered)

    def _may_be_asked(self, task: str | None, worker: str) -> None:
        if self.problem.audits(worker):
            # Audits are of labels that are settled, and of any task.
            assert task in self.numbers, f"task {task} is not known"
            assert not self.pairs[task, worker], f"{worker} has audited task {task} before"
            return
        if self.gold:
            assert task in self.truths, f"the truth of {task} is not known"
        else:
            assert task in self.open_tasks, f"task {task} is not open"
        assert self.is_for(task, worker), f"task {task} is not for {worker}"
        repeated = self.pairs[task, worker] and not self.repeats(worker)
        assert not repeated, f"{worker} was asked about task {task} before"

    def _asked(self, event: Event, offered: Collection[str] | None) -> None:
        worker = event.worker or ""
        assert not self.paused, "the campaign is paused"
        assert not self.stopped, "the campaign was stopped"
        assert worker in self.joined, f"{worker} is asked and not there"
        assert worker in self._here(offered), f"{worker} is asked and not on offer"
        assert worker not in self.suspended, f"{worker} is asked and suspended"
        self._may_be_asked(event.task, worker)
        for row in self.plan:
            if row[1] == worker and row[2] > 0 and row[0] in (None, event.task):
                row[2], row[3] = row[2] - 1, max(0, row[3] - 1)
                break
        else:
            raise AssertionError(f"{worker} is asked about {event.task}, which was not decided")
        assert event.price == self.prices[worker], "the price is not the worker's"
        elapsed = self.spent / self.budget if self.budget else 0.0
        self.work[event.seq] = AskedWork(
            event.task, worker, self.prices[worker], self.asked[worker], elapsed, self.gold
        )
        self.out.append(event.seq)
        self._count(event.seq, 1)
        most = self.most(worker)
        assert self.asked[worker] <= most, f"{worker} is asked more than {most} times"

    def _answered(self, event: Event) -> None:
        seq = event.assignment or 0
        self._booked(event)
        if seq in self.out:
            self.out.remove(seq)
        else:
            self.expired.remove(seq)
            self._count(seq, 1)
        self.settled.append(seq)
        self.passed_over.clear()
        self.replies.append((Kind.ANSWER, self.work[seq].worker, seq))

    def _failed(self, event: Event) -> None:
        seq = event.assignment or 0
        assert event.cost is not None, "nobody said what a failure cost"
        self._booked(event)
        if seq in self.out:
            self.out.remove(seq)
            self._count(seq, -1)
        else:
            self.expired.remove(seq)
        self.failed.append(seq)
        work = self.work[seq]
        self.failures[work.worker] += 1
        self._end_pair(seq)
        left = max(0, self.most(work.worker) - self.asked[work.worker])
        sure = left
        for row in self.plan:
            if row[1] == work.worker:
                row[2], row[3] = min(row[2], left), min(row[3], sure)
                sure -= row[3]

    def _booked(self, event: Event) -> None:
        """Count what was booked for a call: its price, or its cost as far as there is money."""
        seq, price = event.assignment or 0, event.price or 0
        work, said = self.work[seq], event.cost
        due = work.price if said is None else said
        held = work.price if seq in self.out else 0
        least, most = (
            min(due, held + max(0, self.free - self.reserved(alive=alive)))
            for alive in (False, True)
        )
        assert least <= price <= most, f"{price} was booked for a call of {due}, not {most}"
        over = said is not None and said > work.price
        assert (event.over_ceiling or False) == over, f"{said} is marked as {event.over_ceiling}"
        self.spent += price
        self.paid[work.worker] += price

    def _given(self, event: Event) -> None:
        """Count a bonus, or a payout of what is owed."""
        worker, amount = event.worker or "", event.price or 0
        assert worker in self.prices, f"{worker} is given money and never joined"
        assert amount > 0, f"{worker} is given {amount}"
        assert event.by, f"nobody has given {worker} money"
        if event.kind == Kind.BONUS:
            assert event.why, f"{worker} is given a bonus for no reason"
            left = self.free - self.reserved(alive=True)
            assert amount <= left, f"{worker} is given {amount}, and {left} is left"
            self.bonuses[worker] += amount
            return
        owed = self.owed(worker)
        assert amount <= owed, f"{worker} is paid {amount} and owed {owed}"
        assert event.on, f"nobody says when {worker} was paid"
        self.paid_out[worker] += amount
        answered = (*self.settled, *self.withdrawn)
        self.paid_for[worker] = {seq for seq in answered if self.work[seq].worker == worker}

    def _released(self, event: Event) -> None:
        seq = event.assignment or 0
        self.out.remove(seq)
        self._count(seq, -1)
        if event.kind == Kind.EXPIRED:
            self.expired.append(seq)
        else:
            self._end_pair(seq)

    def _end_pair(self, seq: int) -> None:
        """Note that a worker is not asked again, or not before somebody has answered."""
        work = self.work[seq]
        if self.repeats(work.worker):
            # Unless they are named.
            self.passed_over.add(work.worker)
            self.replies.append((Kind.DECLINED, work.worker, seq))
        else:
            self.pairs[work.task, work.worker] += 1

    def _changed(self, event: Event) -> None:
        """Count an answer as it was changed: one that was withdrawn as a call that failed."""
        seq = event.assignment or 0
        assert not self.stopped, f"the answer to {seq} is changed after the end"
        if event.kind == Kind.REVISED and seq not in self.withdrawn:
            assert seq in self.settled, f"the answer to {seq} is changed, and was not given"
        else:
            back = event.kind == Kind.REVISED
            before, after = (self.failed, self.settled) if back else (self.settled, self.failed)
            assert seq in before, f"the answer to {seq} is withdrawn, and was not given"
            before.remove(seq)
            after.append(seq)
            self._withdraw(seq, -1 if back else 1)
        self.judged_anew = self.work[seq].task

    def _withdraw(self, seq: int, step: int) -> None:
        """Take an answer out of the counts, or back into them."""
        work = self.work[seq]
        self.withdrawn ^= {seq}
        self.failures[work.worker] += step
        self._count(seq, -step)
        if not self.repeats(work.worker):
            self.pairs[work.task, work.worker] += step
        self.passed_over.clear()
        for kind, worker, asked in self.replies:
            if kind == Kind.ANSWER and asked not in self.withdrawn:
                self.passed_over.clear()
            elif kind == Kind.JOINED:
                self.passed_over.discard(worker)
            elif self.repeats(worker):
                self.passed_over.add(worker)

    def _count(self, seq: int, step: int) -> None:
        work = self.work[seq]
        self.asked[work.worker] += step
        self.pairs[work.task, work.worker] += step

    def compare(self, ledger: Ledger) -> None:
        """See whether the ledger has the same books."""
        books = {
            c.SPENT: self.spent,
            c.HELD: self.held,
            c.PENDING: len(self.out),
            c.ANSWERS: len(self.settled),
            c.OPEN: len(self.open_tasks),
            c.DECISIONS: self.decisions,
            c.BONUSES: self.bonuses.total(),
        }
        found = {column: ledger.total(column) for column in books}
        assert found == books, f"the ledger's totals are {found}, by the log they are {books}"
        least, most = self.reserved(alive=True), self.reserved(alive=False)
        planned = ledger.total(c.PLANNED)
        assert least <= planned <= most, f"{planned} is planned, by the log {least} to {most}"
        for at, worker in enumerate(self.order):
            row = ledger.book.workers[at]
            due = (self.prices[worker], self.asked[worker], worker in self.joined)
            assert (row[c.PRICE], row[c.ASKED], ledger.is_here(at)) == due
            calls = (self.paid[worker], self.failures[worker])
            assert (row[c.PAID], row[c.FAILURES]) == calls, f"{worker} was paid {calls}"
            up_to = len(self.paid_for.get(worker, set()) - self.withdrawn)
            given = (self.bonuses[worker], self.paid_out[worker], up_to)
            assert tuple(row[[c.BONUS, c.PAID_OUT, c.PAID_UP_TO]]) == given, f"{worker}: {given}"
            assert row[c.ONCE] == (not self.repeats(worker)), f"{worker} may be asked again, or not"
            family = self.families[worker]
            number = -1 if family is None else ledger.families[family]
            assert row[c.FAMILY] == number, f"{worker} is of family {family}"

    def judge(self, choice: Wait | Done, offered: Collection[str] | None) -> None:
        """Object to a wait that nothing would end, and to a wrong reason for the end."""
        able = [worker for worker in self.order if self.can_work(worker)]
        if isinstance(choice, Wait):
            here = self._here(offered)
            right = {
                "resume": self.paused,
                "answers": bool(self.out),
                "workers": not self.joined or bool(self.joined - here),
                "truth": self.awaiting_truth() is not None,
            }[choice.what]
        else:
            # One worker may stand for all: some policies give everything to one.
            right = {
                "stopped": self.stopped,
                # What is sure enough, only the policy can tell.
                "target": bool(self.problem.options),
                "agreement": bool(self.problem.options),
                "budget": bool(able),
                "worthless": bool(able),
                "limits": any(self.is_at_limit(one) for one in self.joined),
                "tasks": not self.open_tasks
                or any(self.tasks_for(one) == 0 for one in self.joined)
                or self.left_to_nobody(able),
            }[choice.why]
        assert right, f"{choice} is not so: out {self.out}, could be asked {able}"
