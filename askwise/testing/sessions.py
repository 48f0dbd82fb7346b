"""Campaigns under a referee's eye, and scripts of odd events to play on them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, get_args
from unittest import mock

from askwise.campaign import Campaign
from askwise.campaign.spec import Spec, make_spec
from askwise.campaign.state import CampaignState
from askwise.core.calls import FailureWhy
from askwise.core.choices import Batch, Done, Wait
from askwise.core.errors import InvalidAnswer, OverBudget
from askwise.core.events import Event
from askwise.core.money import MICRO, from_micro
from askwise.policies import FixedWorkers, Policy
from askwise.store import MemoryStore, Store
from askwise.testing.referee import Referee
from askwise.testing.scenes import LEASE, Scene
from askwise.testing.suite import refused

MOST_STEPS = 3000
"""After this many asks a small campaign is taken never to end."""


class Session:
    """A campaign that is watched: every event is refereed and folded a second time."""

    def __init__(self, scene: Scene, store: Store, campaign: Campaign) -> None:
        self.scene = scene
        self.store = store
        self.campaign = campaign
        spec = spec_of_campaign(campaign)
        self.policy = type(spec.policy)
        self.state = CampaignState(spec)
        self.referee = Referee(spec.problem)
        self.log: list[Event] = []
        self.referee.compare(self.state.ledger)
        self.catch_up()

    def catch_up(self, offered: Collection[str] | None = None) -> None:
        """Take in what is new in the log."""
        news = self.campaign.log(after=len(self.log))
        for event in news:
            self.log.append(event)
            self.state.fold(event)
            self.referee.see(event, offered)
        if news:
            self.referee.compare(self.state.ledger)

    def ask(self, limit: int = 1, workers: list[str] | None = None) -> Batch | Wait | Done:
        """Ask, and judge what comes back."""
        calls = 0
        choose = self.policy.choose

        def counted(*arguments: Any) -> Any:
            nonlocal calls
            calls += 1
            # Each decision hands out something, or the ask ends.
            assert calls <= limit + 1, "it decides again and again on what nobody can be asked"
            return choose(*arguments)

        with mock.patch.object(self.policy, "choose", counted):
            choice = self.campaign.ask(limit, workers)
        self.catch_up(workers)
        if not isinstance(choice, Batch):
            self.referee.judge(choice, workers)
        return choice

    def tell(self, seq: int, cost: Decimal | None = None) -> None:
        """Answer as the scene has it."""
        work = self.referee.work[seq]
        worker, task = self.referee.order.index(work.worker), self.referee.numbers[work.task]
        said = self.scene.answer(worker, task, work.k)
        self.campaign.tell(f"scene:{seq}", said, cost=cost)
        self.catch_up()

    def tell_all(self) -> None:
        """Answer all that is out."""
        for seq in tuple(self.referee.out):
            self.tell(seq)

    def reveal(self) -> None:
        """Tell the truth of the first task that was asked about and has none yet."""
        task = self.referee.awaiting_truth()
        assert task is not None, "it waits for a truth and no task lacks one"
        self.campaign.truth(task, self.scene.truth(self.referee.numbers[task]))
        self.catch_up()

    def tell_in_vain(self, seq: int) -> None:
        """See that an answer is refused and leaves no trace."""
        refused((InvalidAnswer, OverBudget), self.tell, seq)
        assert len(self.campaign.log()) == len(self.log), "a refusal left events behind"

    def step(self, limit: int = 1) -> bool:
        """Answer all that is out and ask again, or tell a truth; False at the end."""
        self.tell_all()
        everyone = sorted(self.referee.joined) if self.referee.passed_over else None
        choice = self.ask(limit, everyone)
        if choice == Wait("truth"):
            self.reveal()
        else:
            assert not isinstance(choice, Wait), f"with nothing out and all on offer: {choice}"
        return not isinstance(choice, Done)

    def finish(self, limit: int = 1) -> Session:
        """Go on to the end."""
        for _ in range(MOST_STEPS):
            if not self.step(limit):
                return self
        raise AssertionError(f"the campaign does not end within {MOST_STEPS} steps")


def spec_of_campaign(campaign: Campaign) -> Spec:
    """Read a campaign's spec back."""
    raw = campaign.spec
    del raw["format"]
    return make_spec(raw)


def start(policy: Policy, scene: Scene, **more: Any) -> Session:
    """Start a scene under watch."""
    store = MemoryStore()
    return Session(scene, store, scene.create(policy, store=store, **more))


def resume(scene: Scene, store: Store) -> Session:
    """Open a scene that a store holds, as another process would."""
    return Session(scene, store, Campaign.open(store, "scene"))


def folded(spec: Spec, log: Iterable[Event]) -> CampaignState:
    """The state of a campaign with a spec and a log."""
    state = CampaignState(spec)
    for event in log:
        state.fold(event)
    return state


def comparable(log: Iterable[Event]) -> list[Event]:
    """Leave time and key out of a log."""
    return [replace(event, time=0.0, key=None) for event in log]


def same_logs(found: Iterable[Event], due: Iterable[Event], what: str) -> None:
    one, other = comparable(found), comparable(due)
    for a, b in zip(one, other, strict=False):
        assert a == b, f"{what}: {a} instead of {b}"
    assert len(one) == len(other), f"{what}: {len(one)} events instead of {len(other)}"


class _Player:
    """Turns whole numbers into what may happen to a campaign."""

    def __init__(self, session: Session, clock: list[float]) -> None:
        self.session = session
        self.clock = clock
        self.referee = session.referee
        often = (self.ask, self.ask_some, self.tell, self.tell, self.ask, self.tell)
        rare = (self.late, self.twice, self.expire, self.renew, self.decline, self.fail)
        comings = (self.leave, self.come, self.give)
        once = (self.top_up, self.switch, self.close_or_add, self.wait)
        told = (self.truth,) if session.scene.truths else ()
        self.moves: tuple[Callable[[int], None], ...] = often + rare + comings + once + told

    def move(self, number: int) -> None:
        which, argument = number % len(self.moves), number // len(self.moves)
        self.moves[which](argument)
        self.session.catch_up()

    def ask(self, number: int) -> None:
        self.session.ask(1 + number % 5)

    def ask_some(self, number: int) -> None:
        some = [one for at, one in enumerate(self.referee.order) if number >> at & 1]
        self.session.ask(1 + number % 3, some)

    def tell(self, number: int) -> None:
        if self._current():
            seq = self._pick(self.referee.out, number)
            self.session.tell(seq, None if number % 3 else self._cost(seq, number // 3))

    def late(self, number: int) -> None:
        if self.referee.expired and self._current():
            seq = self._pick(self.referee.expired, number)
            taken = self.referee.takes_late(seq)
            if taken:
                self.session.tell(seq)
            elif taken is not None:
                self.session.tell_in_vain(seq)

    def twice(self, number: int) -> None:
        if self.referee.settled and not self._overdue():
            self.session.tell_in_vain(self._pick(self.referee.settled, number))

    def expire(self, number: int) -> None:
        if self._current():
            self.session.campaign.expire(f"scene:{self._pick(self.referee.out, number)}")

    def renew(self, number: int) -> None:
        if self._current():
            self.session.campaign.renew(f"scene:{self._pick(self.referee.out, number)}")

    def decline(self, number: int) -> None:
        if self._current():
            self.session.campaign.decline(f"scene:{self._pick(self.referee.out, number)}")

    def fail(self, number: int) -> None:
        """A call brings no answer, and costs something or nothing."""
        if self._current():
            seq = self._pick(self.referee.out, number)
            cost = Decimal(0) if number % 3 else self._cost(seq, number // 3) or Decimal(0)
            why = self._pick(get_args(FailureWhy), number)
            self.session.campaign.fail(f"scene:{seq}", why, cost)

    def leave(self, number: int) -> None:
        if self.referee.joined:
            self.session.campaign.leave(self._pick(sorted(self.referee.joined), number))

    def come(self, number: int) -> None:
        """A new worker joins, or one who left comes back at another price."""
        gone = sorted(set(self.referee.order) - self.referee.joined)
        if gone and number % 2:
            at = int(self._pick(gone, number)[1:])
            worker = self.session.scene.worker(at, price=1 + number % 7)
        else:
            worker = self.session.scene.worker(len(self.referee.order) % 64)
        fixed = issubclass(self.session.policy, FixedWorkers)
        if worker.id not in self.referee.joined and not fixed:
            self.session.campaign.add(workers=[worker])

    def truth(self, number: int) -> None:
        """The truth of any task comes, also of one that nobody was asked about yet."""
        tasks = [task for task in self.referee.numbers if task not in self.referee.truths]
        if tasks:
            task = self._pick(tasks, number)
            option = self.session.scene.truth(self.referee.numbers[task])
            self.session.campaign.truth(task, option)

    def top_up(self, number: int) -> None:
        if self.referee.budget is not None:
            self.session.campaign.top_up(1 + number % 20)

    def give(self, number: int) -> None:
        """A worker is given a bonus that there is money for, or paid some of what is owed."""
        worker, by = self._pick(self.referee.order, number), "the requester"
        ledger = self.session.state.ledger
        amount = min(ledger.unspent, (1 + number % 3) * MICRO // 2)
        if number % 2 and amount > 0:
            self.session.campaign.bonus(worker, from_micro(amount), "Well done.", by=by)
        elif (owed := self.referee.owed(worker)) > 0:
            part = from_micro(owed if number % 3 else max(1, owed // 2))
            self.session.campaign.pay(worker, part, by=by)

    def switch(self, number: int) -> None:
        campaign = self.session.campaign
        (campaign.resume if self.referee.paused else campaign.pause)()

    def close_or_add(self, number: int) -> None:
        if self.referee.problem.taskless:
            return
        tasks = [task for task in self.referee.open_tasks if task is not None]
        if tasks and number % 3:
            self.session.campaign.close(self._pick(tasks, number))
        else:
            self.session.campaign.add(tasks=[f"t{len(self.referee.numbers)}"])

    def wait(self, number: int) -> None:
        self.clock[0] += number % 12

    def _cost(self, seq: int, number: int) -> Decimal | None:
        """What a call cost: up to twice its price; None where bids have settled that."""
        if self.session.state.spec.mechanism.bidding:
            return None
        return from_micro(self.referee.work[seq].price * (number % 9) // 4)

    def _current(self) -> bool:
        """Let what is overdue expire first (any write does); whether something is out."""
        if self._overdue() and not self.referee.paused:
            self.session.campaign.pause()
            self.session.campaign.resume()
            self.session.catch_up()
        return bool(self.referee.out) and not self._overdue()

    def _overdue(self) -> bool:
        due = {seq: self.session.log[seq - 1].expires or 0.0 for seq in self.referee.out}
        due |= {seq: until for seq, until in self.referee.renewed.items() if seq in due}
        return any(until <= self.clock[0] for until in due.values())

    @staticmethod
    def _pick(among: Sequence[Any], number: int) -> Any:
        return among[number % len(among)]


def play(policy: Policy, scene: Scene, script: Sequence[int], seed: int = 1) -> Session:
    """Run a script, watching every event, and then go on to a proper end.

    Parameters
    ----------
    script : sequence of int
        Any numbers from 0: each stands for an ask, an answer (in time, late or a second time, at
        its price or another cost), an expiry, a renewal, a refusal, a failure, somebody leaving or
        joining, more money, a bonus, a payout, a pause, a task closed or added, or for time
        passing.
    """
    clock = [1000.0]
    session = start(policy, scene, seed=seed, lease=LEASE, clock=lambda: clock[0])
    player = _Player(session, clock)
    for number in script:
        player.move(number)
    if session.referee.paused:
        session.campaign.resume()
    clock[0] += 2 * LEASE
    if session.referee.joined:
        session.ask()
        session.finish()
    return session
