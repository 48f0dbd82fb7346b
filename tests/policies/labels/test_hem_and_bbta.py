"""hem and bbta where it hurts: coming and going, experts, truths, extremes, a second reading."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import betaln

from askwise import Campaign, Task, Worker
from askwise.campaign.state import Engine
from askwise.core.choices import Batch, Done, Wait
from askwise.core.errors import AskwiseError, PolicyFault
from askwise.lab.simulate import simulate
from askwise.lab.worlds import Recording
from askwise.policies import policies
from askwise.policies.labels.hem.beliefs import GOLD, MODE
from askwise.testing.sessions import spec_of_campaign

BOTH = ["hem", "bbta"]


def campaign_of(workers: Any, tasks: Any, policy: Any = "hem", **more: Any) -> Campaign:
    """Workers by number (at a price of 1) or as they are; tasks by number, contexts or as such."""
    if isinstance(workers, int):
        workers = [Worker(f"w{at}", 1) for at in range(workers)]
    if isinstance(tasks, int):
        tasks = [f"t{at}" for at in range(tasks)]
    elif isinstance(tasks, str):
        tasks = [Task(f"t{at}", context=context) for at, context in enumerate(tasks)]
    raw = {"options": ["no", "yes"], "budget": 100, "seed": 1, "name": "x", **more}
    return Campaign.create(workers=workers, tasks=tasks, policy=policy, **raw)


def run(campaign: Campaign, answer: Any, most: int = 2000) -> tuple[list[tuple[str, str]], Any]:
    """Answer one by one until the end; returns what was asked, and the end."""
    asked: list[tuple[str, str]] = []
    while len(asked) < most:
        batch = campaign.ask()
        if not isinstance(batch, Batch):
            return asked, batch
        asked.append((str(batch[0].task), batch[0].worker))
        campaign.tell(batch[0].id, answer(*asked[-1]))
    return asked, None


def engine_of(campaign: Campaign) -> Engine:
    engine = Engine(spec_of_campaign(campaign))
    for event in campaign.log():
        engine.fold(event)
    return engine


def all_numbers(campaign: Campaign) -> Engine:
    """Nothing is infinite or no number, but for the keys of tasks that are done."""
    engine = engine_of(campaign)
    for name, array in engine.beliefs._asdict().items():
        found = array.astype(float)
        fine = ~np.isnan(found) if name == "keys" else np.isfinite(found)
        assert fine.all(), name
    for answer in campaign.answers():
        assert answer.confidence is None or 0.0 < answer.confidence <= 1.0 + 1e-12
    return engine


# Coming and going.


@pytest.mark.parametrize("policy", ["hem", "bbta", {"name": "bbta", "explore": 0}], ids=str)
def test_a_newcomer_is_asked_about_a_task_that_everyone_else_has_at_hand(policy: Any) -> None:
    campaign = campaign_of(1, 1, policy)
    campaign.ask()
    campaign.add(workers=[Worker("new", 1)])
    (work,) = campaign.ask()
    assert (work.task, work.worker) == ("t0", "new")


@pytest.mark.parametrize("policy", ["hem", "bbta", {"name": "bbta", "explore": 0}], ids=str)
def test_a_task_added_to_a_new_context_is_asked_about(policy: Any) -> None:
    campaign = campaign_of(2, "aa", policy)
    run(campaign, lambda task, worker: "yes")
    for number in range(20):
        campaign.add(tasks=[Task(f"n{number}", context=f"new {number}")])
    asked, end = run(campaign, lambda task, worker: "no")
    assert {task for task, _ in asked} == {f"n{number}" for number in range(20)}
    assert end == Done("tasks")
    all_numbers(campaign)


def test_tasks_that_are_out_are_ranked_anew_in_the_second_half() -> None:
    campaign = campaign_of(5, 4, budget=10)
    campaign.ask(5)
    state = engine_of(campaign).beliefs
    assert state.meta[MODE] % 2 == 1
    # Each that is out adds .1 + .7; before, those with the most were pursued.
    out = [sum(work.task == f"t{at}" for work in campaign.assignments()) for at in range(4)]
    assert state.keys[:4] == pytest.approx([0.8 * each for each in out])


@pytest.mark.parametrize("gone", [False, True], ids=["limit", "left"])
def test_an_unsettled_task_that_nobody_is_left_for_is_not_called_settled(gone: bool) -> None:
    campaign = campaign_of([Worker("w0", 1, limit=1)], 3)
    campaign.truth("t0", "no")
    campaign.tell(campaign.ask()[0].id, "no")
    if gone:
        campaign.leave("w0")
    assert campaign.ask() == (Wait("workers") if gone else Done("limits"))


def test_a_target_that_others_have_reached_does_not_hide_that_money_is_short() -> None:
    campaign = campaign_of(1, 2, {"name": "hem", "target": 0.4}, budget=1)
    asked, end = run(campaign, lambda task, worker: "yes")
    assert (asked, end) == ([("t0", "w0")], Done("budget"))


# Pairs that may repeat.


def test_exploration_asks_each_worker_once_also_where_pairs_may_repeat() -> None:
    campaign = campaign_of(2, "aabb", "bbta", repeat=True, budget=30)
    asked, end = run(campaign, lambda task, worker: "yes" if worker == "w0" else "no")
    assert asked[:4] == [("t0", "w0"), ("t0", "w1"), ("t2", "w0"), ("t2", "w1")]
    assert {task for task, _ in asked[4:]} == {"t1", "t3"}
    assert end == Done("budget")


def test_where_all_tasks_are_explored_and_pairs_may_repeat_it_goes_on_with_them() -> None:
    campaign = campaign_of(2, "ab", "bbta", repeat=True, budget=9)
    asked, end = run(campaign, lambda task, worker: "yes")
    assert len(asked) == 9
    assert end == Done("budget")


@pytest.mark.parametrize("policy", BOTH)
def test_hundreds_of_answers_to_one_task_leave_numbers(policy: str) -> None:
    campaign = campaign_of(2, 1, policy, repeat=True, budget=500)
    run(campaign, lambda task, worker: "yes", most=400)
    all_numbers(campaign)
    assert campaign.answers()[0].value == "yes"
    assert campaign.answers()[0].confidence == pytest.approx(1.0)
    assert run(campaign, lambda task, worker: "no")[1] == Done("budget")
    all_numbers(campaign)


def test_many_workers_who_agree_leave_numbers() -> None:
    campaign = campaign_of(120, 1, budget=120, options=["a", "b", "c"])
    assert len(run(campaign, lambda task, worker: "b")[0]) == 120
    all_numbers(campaign)


# Extremes.


@pytest.mark.parametrize("policy", BOTH)
@pytest.mark.parametrize(
    ("workers", "tasks", "more"),
    [
        (1, 1, {"budget": 1}),
        (1, 9, {}),
        (9, 1, {}),
        ([Worker("a", 0), Worker("b", 0)], 3, {"budget": None}),
        ([Worker("a", 0), Worker("b", 0)], 3, {"budget": 0}),
        ([Worker("a", 0), Worker("b", 5)], 3, {"budget": 7}),
        (3, "abcdefghi", {}),
        (3, 6, {"options": [f"o{at}" for at in range(9)] + ["no", "yes"]}),
        (3, 20, {"budget": 7}),
        ([Worker(f"w{at}", 10**9) for at in range(3)], 2, {"budget": 10**9}),
    ],
    ids=lambda each: str(each)[:30],
)
def test_extremes_end_properly(policy: str, workers: Any, tasks: Any, more: Any) -> None:
    campaign = campaign_of(workers, tasks, policy, **more)
    asked, end = run(campaign, lambda task, worker: ("no", "yes")[sum(map(ord, task + worker)) % 2])
    assert isinstance(end, Done)
    assert len(asked) == len(set(asked))
    assert all_numbers(campaign).ledger.reserved == 0


def test_a_large_budget_times_many_workers_does_not_wrap_round() -> None:
    campaign = campaign_of(10_000, 2, budget=10**9)
    assert engine_of(campaign).beliefs.meta[MODE] % 2 == 0


# Truths and experts.


def vet(name: str = "vet", price: int = 2) -> Worker:
    return Worker(name, price, trusted=True)


@pytest.mark.parametrize("before", [True, False], ids=["expert first", "ordinary first"])
def test_who_comes_back_with_another_trust_is_counted_by_it(before: bool) -> None:
    campaign = campaign_of([Worker("w0", 1, trusted=before), Worker("w1", 50)], 4)
    for _ in range(2):
        campaign.tell(campaign.ask(workers=["w0"])[0].id, "yes")
    campaign.leave("w0")
    campaign.add(workers=[Worker("w0", 1, trusted=not before)])
    state = all_numbers(campaign).beliefs
    # Both answers count in full now, or not at all any more.
    assert state.totals[0].sum() == pytest.approx(2.0 if before else 0.0)
    assert (state.counts >= 0.0).all()
    campaign.truth("t0", "no")
    assert isinstance(run(campaign, lambda task, worker: "no")[1], Done)
    all_numbers(campaign)
    assert campaign.answers()[0].value == "no"


def test_a_free_expert_is_asked_also_where_everybody_is_free() -> None:
    campaign = campaign_of([Worker("w0", 0), vet(price=0)], 2, budget=None)
    assert campaign.ask()[0].worker == "vet"


@pytest.mark.parametrize("repeat", [False, True])
def test_nobody_is_asked_what_an_expert_is_being_asked(repeat: bool) -> None:
    staff = [Worker("w0", 1), Worker("w1", 1), vet(), vet("prof")]
    campaign = campaign_of(staff, 3, repeat=repeat)
    batch = campaign.ask(9)
    assert [(each.task, each.worker) for each in batch] == [
        ("t0", "vet"), ("t1", "vet"), ("t2", "vet"),
    ]  # fmt: skip
    assert campaign.ask() == Wait("answers")
    campaign.decline(batch[0].id)
    assert campaign.ask()[0].task == "t0"


def test_all_workers_are_experts_and_one_answer_a_task_is_enough() -> None:
    campaign = campaign_of([vet(), vet("prof")], 3)
    asked, end = run(campaign, lambda task, worker: "no")
    assert len(asked) == 3
    assert end == Done("target")
    assert [answer.confidence for answer in campaign.answers()] == [1.0] * 3


def test_a_truth_overrules_an_expert_and_counts_once() -> None:
    campaign = campaign_of([Worker("w0", 1), vet()], 2)
    campaign.tell(campaign.ask(workers=["w0"])[0].id, "yes")
    campaign.tell(campaign.ask(workers=["vet"])[0].id, "yes")
    campaign.truth("t0", "no")
    campaign.truth("t0", "no")
    engine = all_numbers(campaign)
    assert engine.beliefs.sides[0, GOLD] == 1.0
    # Who agreed with the expert was wrong.
    assert engine.beliefs.counts[0].tolist() == [[0.0, 1.0], [0.0, 0.0]]
    assert (campaign.answers()[0].value, campaign.answers()[0].confidence) == ("no", 1.0)


def test_an_expert_who_contradicts_a_truth_changes_nothing() -> None:
    campaign = campaign_of([Worker("w0", 1), vet()], 2)
    (work,) = campaign.ask(workers=["vet"])
    campaign.truth("t0", "no")
    campaign.tell(work.id, "yes")
    assert campaign.answers()[0].value == "no"
    assert engine_of(campaign).beliefs.known[0] == 1


def test_answers_to_a_closed_task_and_its_truth_teach_about_those_who_gave_them() -> None:
    campaign = campaign_of(2, 2)
    batch = campaign.ask(2)
    campaign.close("t0")
    campaign.truth("t0", "no")
    for work in batch:
        campaign.tell(work.id, "yes")
    state = all_numbers(campaign).beliefs
    assert state.totals[:2, 0, 1].tolist() == [1.0, 1.0]
    assert {task for task, _ in run(campaign, lambda task, worker: "no")[0]} == {"t1"}


def test_no_gold_is_asked_for_where_all_truths_are_known() -> None:
    campaign = campaign_of(14, "aa", budget=1000)
    run(campaign, lambda task, worker: ("no", "yes")[int(worker[1:]) % 2])
    campaign.truth("t0", "yes")
    assert [need.tasks for need in campaign.status().needs_gold] == [("t1",)]
    campaign.truth("t1", "yes")
    assert campaign.status().needs_gold == ()


SCRIPTS = st.lists(st.integers(0, 4000), max_size=40)


@pytest.mark.parametrize("policy", ["hem", {"name": "hem", "target": 0.1}, "bbta"], ids=str)
@given(script=SCRIPTS, repeat=st.booleans(), cut=st.integers(0, 40))
def test_whatever_happens_there_are_numbers_an_end_and_a_faithful_snapshot(
    policy: Any, script: list[int], repeat: bool, cut: int
) -> None:
    """Asks, answers, truths, experts who become ordinary, contexts and workers that come later."""
    campaign = campaign_of(
        [Worker("w0", 1), Worker("w1", 2, limit=6), vet("w2", 3)], "ab", policy, repeat=repeat
    )
    again = Engine(spec_of_campaign(campaign))
    for at, number in enumerate(script):
        try:
            move(campaign, number % 9, number // 9)
        except PolicyFault:
            raise
        except AskwiseError:
            pass
        if at == cut:
            engine = engine_of(campaign)
            again = Engine.restore(engine.spec, engine.snapshot())
    engine = all_numbers(campaign)
    for event in campaign.log(after=again.seq):
        again.fold(event)
    kept = engine.spec.policy.used(engine.beliefs, engine.ledger)
    for name, array in engine.spec.policy.used(again.beliefs, again.ledger).items():
        np.testing.assert_array_equal(array, kept[name], err_msg=name)
    # Nothing but the facts counts: soft counts add up to the answers of ordinary workers.
    if engine.spec.policy.name == "hem":
        for at, worker in enumerate(engine.ledger.workers):
            due = 0 if worker.trusted else engine.ledger.book.workers[at, 4]
            assert engine.beliefs.totals[at].sum() == pytest.approx(due, abs=1e-6)
    for each in campaign.assignments():
        campaign.tell(each.id, "yes")
    here = [worker.id for worker in engine.ledger.workers]
    for _ in range(300):
        choice = campaign.ask(4, here)
        if not isinstance(choice, Batch):
            break
        for each in choice:
            campaign.tell(each.id, ("no", "yes")[len(each.id) % 2])
    assert isinstance(choice, Done) or campaign.status().workers == 0, choice
    all_numbers(campaign)


def move(campaign: Campaign, which: int, number: int) -> None:
    """One thing that may happen."""
    out = campaign.assignments()
    tasks = [answer.task for answer in campaign.answers()]
    if which in (0, 1):
        campaign.ask(1 + number % 5)
    elif which in (2, 3) and out:
        campaign.tell(out[number % len(out)].id, ("no", "yes")[number % 2])
    elif which == 4:
        campaign.truth(str(tasks[number % len(tasks)]), ("no", "yes")[number // 7 % 2])
    elif which == 5 and out:
        (campaign.expire, campaign.decline)[number % 2](out[number % len(out)].id)
    elif which == 6:
        campaign.leave(f"w{number % 5}")
    elif which == 7:
        campaign.add(workers=[Worker(f"w{number % 5}", 1 + number % 3, trusted=number % 2 == 0)])
    elif which == 8 and number % 3:
        campaign.add(tasks=[Task(f"n{number}", context=f"c{number % 4}")])
    elif which == 8:
        campaign.close(str(tasks[number % len(tasks)]))


# In the lab as live.


def recorded(seed: int, tasks: int = 9, workers: int = 5) -> Recording:
    """Some pairs of two contexts, two of three recorded."""
    rng = np.random.default_rng(seed)
    task, worker = np.nonzero(rng.random((tasks, workers)) < 0.67)
    truth = rng.integers(2, size=tasks)
    label = np.where(rng.random(len(task)) < 0.75, truth[task], 1 - truth[task])
    return Recording(task, worker, label, tasks, workers, 2, truth, np.arange(tasks) % 2)


@pytest.mark.parametrize("window", [1, 3, 1000])
@pytest.mark.parametrize("policy", BOTH)
def test_a_simulation_asks_what_a_live_campaign_asks(policy: str, window: int) -> None:
    recording = recorded(4)
    for budget in (12, 1000):
        problem = recording.problem(budget)
        outcome = simulate(
            policies.make(policy), problem, recording.answering(), seed=3, window=window
        )
        campaign = Campaign.create(**problem.to_json(), policy=policy, seed=3, name="x")
        said = dict(zip(zip(recording.task, recording.worker, strict=True), recording.label,
                        strict=True))  # fmt: skip
        asked, ended = [], None
        while ended is None:
            out = campaign.assignments()
            choice = campaign.ask() if len(out) < window else None
            if isinstance(choice, Batch):
                asked.append((int(str(choice[0].task)[1:]), int(choice[0].worker[1:])))
            elif out:
                pair = int(str(out[0].task)[1:]), int(out[0].worker[1:])
                campaign.tell(out[0].id, f"o{said[pair]}")
            else:
                ended = choice
        found = outcome.ledger.book.assignments[: outcome.answers, :2]
        assert [tuple(pair) for pair in found.tolist()] == asked
        assert outcome.ended == ended
        assert len(asked) == min(budget, len(recording.task))
        assert set(asked) <= set(said)


# H-EM by the design notes, once more and independently, two options.


class Notes:
    """The notes' H-EM: everything is counted anew from posteriors whenever it is needed."""

    def __init__(self, contexts: str, workers: int, budget: int) -> None:
        self.contexts, self.workers, self.budget = contexts, workers, budget
        self.given: dict[int, dict[int, int]] = {}
        self.q: dict[int, float] = {}
        self.lam, self.rho = 1.0, 0.0
        self.used, self.news = 0, 0

    def table(self) -> dict[tuple[str, int, int], list[float]]:
        """Soft counts [right, wrong] by context, worker and class."""
        found: dict[tuple[str, int, int], list[float]] = {}
        for task, answers in self.given.items():
            for worker, label in answers.items():
                for c, share in ((0, 1 - self.q[task]), (1, self.q[task])):
                    row = found.setdefault((self.contexts[task], worker, c), [0.0, 0.0])
                    row[label != c] += share
        return found

    def lent(self, table: Any, s: str, j: int, c: int, lam: float, rho: float) -> list[float]:
        def at(context: str, kind: int) -> np.ndarray:
            return np.array(table.get((context, j, kind), [0.0, 0.0]))

        total = lam * at(s, 1 - c)
        for other in sorted(set(self.contexts) - {s}):
            total = total + rho * (at(other, c) + lam * at(other, 1 - c))
        return [float(each) for each in total]

    def accuracy(self, table: Any, s: str, j: int, c: int) -> tuple[float, float]:
        """Accuracy, and the answers it rests on."""
        r, w = table.get((s, j, c), (0.0, 0.0))
        right, wrong = self.lent(table, s, j, c, self.lam, self.rho)
        n = 6 + r + w + right + wrong
        return min(0.99, max(0.01, (4 + r + right) / n)), n

    def ratio(self, table: Any, s: str, j: int, label: int) -> float:
        plus, minus = self.accuracy(table, s, j, 1)[0], self.accuracy(table, s, j, 0)[0]
        return math.log(plus / (1 - minus)) if label else math.log((1 - plus) / minus)

    def prior(self, s: str) -> float:
        alike = [self.q[task] for task in self.q if self.contexts[task] == s]
        share = (2 + sum(alike)) / (4 + len(alike))
        return math.log(share / (1 - share))

    def take(self, task: int, worker: int, label: int) -> None:
        s = self.contexts[task]
        odds = logit(self.q[task]) if task in self.q else self.prior(s)
        self.q[task] = expit(odds + self.ratio(self.table(), s, worker, label))
        self.given.setdefault(task, {})[worker] = label
        self.used += 1
        self.news += 1
        if self.news >= max(30, 0.1 * self.used):
            self.news = 0
            self.refit(3)

    def refit(self, rounds: int) -> None:
        table = self.table()

        def evidence(lam: float, rho: float) -> float:
            total = 0.0
            for (s, j, c), (r, w) in table.items():
                right, wrong = self.lent(table, s, j, c, lam, rho)
                total += betaln(4 + right + r, 2 + wrong + w) - betaln(4 + right, 2 + wrong)
            return total

        grid = [(lam, rho) for lam in (1, 0.3, 0) for rho in (0, 0.03, 0.1, 0.3, 1)]
        self.lam, self.rho = max(grid, key=lambda each: evidence(*each))
        if self.rho == 0:
            for s in set(self.contexts):
                pairs = {j for t, j, _ in table if t == s}
                belief = 0.0
                for j in pairs:
                    both = np.add(table.get((s, j, 0), (0, 0)), table.get((s, j, 1), (0, 0)))
                    belief += math.log((1 + both[0]) / (1 + both[1]))
                if belief < 0:
                    for task in self.q:
                        if self.contexts[task] == s:
                            self.q[task] = 1 - self.q[task]
        for _ in range(rounds):
            table = self.table()
            priors = {s: self.prior(s) for s in set(self.contexts)}
            self.q = {
                task: expit(
                    priors[self.contexts[task]]
                    + sum(self.ratio(table, self.contexts[task], j, y) for j, y in answers.items())
                )
                for task, answers in self.given.items()
            }

    def ranks(self) -> dict[int, tuple[int, float]]:
        """Where each task stands: the lowest is next."""
        late = 2 * self.used >= self.budget or self.budget <= len(self.contexts)
        # A task of n answers may get one more below a cap of 5 + 3 * used / N, in whole answers.
        cap = 5 + 3 * self.used // len(self.contexts)
        found = {}
        for task in range(len(self.contexts)):
            n = len(self.given.get(task, ()))
            if n == self.workers:
                continue
            score = abs(logit(self.q[task])) + 0.1 * n if n else 0.0
            if n >= cap:
                found[task] = (2, score)
            elif late:
                found[task] = (0, score)
            else:
                found[task] = (0, -score) if score < 2.2 else (1, score)
        return found

    def merits(self, task: int) -> dict[int, float]:
        table = self.table()
        found = {}
        for j in set(range(self.workers)) - set(self.given.get(task, ())):
            found[j] = 0.0
            for c in (0, 1):
                acc, n = self.accuracy(table, self.contexts[task], j, c)
                found[j] += (acc + math.sqrt(acc * (1 - acc) / (n + 1))) / 2
        return found


def logit(p: float) -> float:
    return math.log(p / (1 - p))


def expit(x: float) -> float:
    return 1 / (1 + math.exp(-x))


@pytest.mark.parametrize(
    ("seed", "tasks", "workers", "budget"), [(1, 14, 6, 80), (2, 20, 5, 95), (3, 30, 4, 29)]
)
def test_a_whole_run_is_that_of_the_design_notes(
    seed: int, tasks: int, workers: int, budget: int
) -> None:
    rng = np.random.default_rng(seed)
    contexts = "".join(rng.choice(list("ab"), size=tasks))
    truth = rng.integers(2, size=tasks)
    skill = rng.uniform(0.45, 0.95, size=(2, workers))
    places = np.array([ord(each) - ord("a") for each in contexts])
    right = rng.random((tasks, workers)) < skill[places]
    labels = np.where(right, truth[:, None], 1 - truth[:, None])
    campaign = campaign_of(workers, contexts, budget=budget, seed=seed)
    notes = Notes(contexts, workers, budget)
    engine = Engine(spec_of_campaign(campaign))
    refits = 0
    while isinstance(batch := campaign.ask(), Batch):
        task, worker = int(str(batch[0].task)[1:]), int(batch[0].worker[1:])
        ranks, merits = notes.ranks(), notes.merits(task)
        level, best = min(ranks.values())
        # Equal ones may differ in the last bits, by the order of summing.
        assert ranks[task][0] == level
        assert ranks[task][1] == pytest.approx(best, abs=1e-9)
        assert merits[worker] == pytest.approx(max(merits.values()), abs=1e-9)
        label = int(labels[task, worker])
        campaign.tell(batch[0].id, ("no", "yes")[label])
        notes.take(task, worker, label)
        refits += notes.news == 0
        for event in campaign.log(after=engine.seq):
            engine.fold(event)
        for each, q in notes.q.items():
            assert engine.beliefs.posterior[each, 1] == pytest.approx(q, abs=1e-9)
        assert engine.beliefs.shares.tolist() == [notes.lam, notes.rho]
    assert notes.used == min(budget, tasks * workers)
    assert refits == budget // 30
    notes.refit(6)
    for answer in campaign.answers():
        at = int(str(answer.task)[1:])
        if at in notes.q:
            sure = max(notes.q[at], 1 - notes.q[at])
            assert answer.confidence == pytest.approx(sure, abs=1e-9)
            assert answer.value == ("yes" if notes.q[at] > 0.5 else "no")
        else:
            assert answer.value is None
