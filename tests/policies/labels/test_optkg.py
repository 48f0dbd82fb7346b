"""OptKG: its arithmetic against numerical integration, its choices against a scan of all pairs."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from askwise import Campaign, Task, Worker
from askwise.campaign.state import CampaignState
from askwise.core.choices import Batch
from askwise.core.draws import Draw
from askwise.core.errors import InvalidParameter, InvalidProblem
from askwise.core.events import Kind
from askwise.policies import policies
from askwise.policies.labels.optkg.moments import (
    doubt,
    gain,
    log_gamma,
    strength,
    task_after,
    worker_after,
)
from askwise.policies.labels.optkg.ranks import derive
from askwise.testing.scenes import scenes_for
from askwise.testing.sessions import play
from tests.policies.folded import state_of


def sure(a, b):
    """h(I(a, b))."""
    positive = stats.beta.sf(0.5, a, b)
    return np.maximum(positive, 1.0 - positive)


def matched(m1, m2):
    """The Beta distribution of two moments, as the notes have it."""
    scale = (m1 - m2) / (m2 - m1 * m1)
    return m1 * scale, (1.0 - m1) * scale


def after(a, b, c, d, positive):
    """Beliefs after an answer by the formulas as printed: a, b, c, d."""
    n, k = a + b, c + d
    if positive:
        D = a * c + b * d
        t1 = a * ((a + 1) * c + b * d) / ((n + 1) * D)
        t2 = a * (a + 1) * ((a + 2) * c + b * d) / ((n + 1) * (n + 2) * D)
        r1 = c * (a * (c + 1) + b * d) / ((k + 1) * D)
        r2 = c * (c + 1) * (a * (c + 2) + b * d) / ((k + 1) * (k + 2) * D)
    else:
        D = b * c + a * d
        t1 = a * (b * c + (a + 1) * d) / ((n + 1) * D)
        t2 = a * (a + 1) * (b * c + (a + 2) * d) / ((n + 1) * (n + 2) * D)
        r1 = c * (b * (c + 1) + a * d) / ((k + 1) * D)
        r2 = c * (c + 1) * (b * (c + 2) + a * d) / ((k + 1) * (k + 2) * D)
    return *matched(t1, t2), *matched(r1, r2)


def score(a, b, c, d):
    """Score of a pair, both answers tried."""
    return np.maximum(
        sure(*after(a, b, c, d, True)[:2]), sure(*after(a, b, c, d, False)[:2])
    ) - sure(a, b)


def moments(a, b, c, d, positive):
    """E[theta], E[theta^2], E[rho], E[rho^2] after an answer, by integration."""

    def expect(value):
        def at(rho, theta):
            right = theta if positive else 1.0 - theta
            chance = rho * right + (1.0 - rho) * (1.0 - right)
            belief = theta ** (a - 1) * (1.0 - theta) ** (b - 1)
            belief *= rho ** (c - 1) * (1.0 - rho) ** (d - 1)
            return value(theta, rho) * chance * belief

        return integrate.dblquad(at, 0, 1, 0, 1, epsabs=0.0, epsrel=1e-8)[0]

    whole = expect(lambda theta, rho: 1.0)
    return [
        expect(value) / whole
        for value in (
            lambda theta, rho: theta,
            lambda theta, rho: theta**2,
            lambda theta, rho: rho,
            lambda theta, rho: rho**2,
        )
    ]


def moments_of(one, other):
    return [each.moment(order) for each in (one, other) for order in (1, 2)]


@pytest.mark.parametrize(
    "shapes", [(1.0, 1.0, 4.0, 1.0), (3.5, 2.5, 4.5, 3.0), (2.0, 6.0, 3.0, 5.0)]
)
@pytest.mark.parametrize("positive", [True, False])
def test_moments_after_an_answer_are_those_of_the_posterior(shapes, positive):
    a, b, c, d = shapes
    if positive:
        task, worker = task_after(a, b, c, d), worker_after(a, b, c, d)
    else:
        task, worker = task_after(b, a, c, d)[::-1], worker_after(b, a, c, d)
    due = moments(a, b, c, d, positive)
    assert moments_of(stats.beta(*task), stats.beta(*worker)) == pytest.approx(due, abs=1e-7)
    assert (*task, *worker) == pytest.approx(after(a, b, c, d, positive), rel=1e-9)


positive_numbers = st.floats(0.05, 300.0)


@given(a=positive_numbers, b=positive_numbers)
@settings(max_examples=150)
def test_doubt_is_the_incomplete_beta_function_at_a_half(a, b):
    low, high = min(a, b), max(a, b)
    assert doubt(a, b) == pytest.approx(stats.beta.cdf(0.5, high, low), rel=1e-10)
    assert doubt(a, b) == doubt(b, a)


@given(st.floats(0.01, 1e6))
def test_log_gamma_is_that(x):
    from scipy.special import gammaln

    assert log_gamma(x) == pytest.approx(gammaln(x), rel=1e-13, abs=1e-13)


@given(a=positive_numbers, b=positive_numbers, c=positive_numbers, d=positive_numbers)
@settings(max_examples=150)
def test_a_gain_is_the_larger_of_both_answers_and_depends_on_strength_alone(a, b, c, d):
    found = gain(a, b, doubt(a, b), strength(c, d))
    assert found == pytest.approx(score(a, b, c, d), rel=1e-9, abs=1e-11)


def test_gains_grow_with_strength():
    rng = np.random.default_rng(4)
    steps = np.linspace(0.0, 1.0, 41)
    for scale in (2.0, 20.0, 400.0):
        a, b = np.exp(rng.uniform(np.log(0.05), np.log(scale), (2, 400)))
        rows = [score(a, b, 1.0 + s, 1.0 - s + 1e-12) for s in steps]
        assert np.diff(rows, axis=0).min() > -1e-12


class Scan:
    """The algorithm as printed: all pairs are scored before every ask."""

    def __init__(self, tasks, workers, contexts=None):
        self.tasks, self.workers = tasks, workers
        self.contexts = contexts or [0] * tasks
        pools = max(self.contexts) + 1
        self.task = np.ones((tasks, 2))
        self.worker = np.tile([4.0, 1.0], (pools, workers, 1))
        self.asked = np.zeros((tasks, workers), bool)
        self.spent = np.zeros(pools)

    def choices(self, may, context=None):
        """Pairs whose score is the highest, up to rounding: by task, then who was asked least."""
        a, b = self.task[:, :1], self.task[:, 1:]
        skill = self.worker[self.contexts]
        scores = score(a, b, skill[:, :, 0], skill[:, :, 1])
        scores = np.where(may & ~self.asked, scores, -np.inf)
        if context is not None:
            scores[np.array(self.contexts) != context] = -np.inf
        best = zip(*np.nonzero(scores >= (1.0 - 1e-9) * scores.max()), strict=True)
        asked = self.asked.sum(axis=0)
        return sorted(best, key=lambda pair: (pair[0], asked[pair[1]], pair[1]))

    def learn(self, task, worker, positive):
        pool = self.contexts[task]
        beliefs = after(*self.task[task], *self.worker[pool, worker], positive)
        self.task[task], self.worker[pool, worker] = beliefs[:2], beliefs[2:]
        self.asked[task, worker] = True


def crowd(seed, tasks, workers):
    """Answers of workers of all kinds, some worse than guessing."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=tasks)
    right = rng.random((tasks, workers)) < rng.uniform(0.2, 0.95, workers)
    return np.where(right, truth[:, None], 1 - truth[:, None])


def campaign_of(policy, tasks, staff, **more):
    """A campaign; tasks and workers may be given as numbers."""
    if isinstance(tasks, int):
        tasks = [f"t{at}" for at in range(tasks)]
    if isinstance(staff, int):
        staff = [Worker(f"w{at}", 1) for at in range(staff)]
    return Campaign.create(
        **{
            "workers": staff,
            "tasks": tasks,
            "options": ["no", "yes"],
            "policy": policy,
            "name": "labels",
            **more,
        }
    )


def number(name):
    return int(name[1:])


def label_of(campaign, *tasks):
    state = state_of(campaign)
    labels = state.spec.policy.labels(
        state.spec.problem, state.beliefs, state.ledger, tasks, Draw(1, 2, 3)
    )
    return [(label.value, label.confidence) for label in labels]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_whole_run_asks_what_a_scan_of_all_pairs_would(seed):
    tasks, workers = 14, 6
    limits = [None, 9, None, 4, None, 12]
    staff = [Worker(f"w{at}", 1 + at % 2, limits[at]) for at in range(workers)]
    budget = 85
    campaign = campaign_of("optkg", tasks, staff, budget=budget)
    answers, scan, spent = crowd(seed, tasks, workers), Scan(tasks, workers), 0
    while isinstance(batch := campaign.ask(), Batch):
        pair = number(batch[0].task), number(batch[0].worker)
        asked = scan.asked.sum(axis=0)
        may = np.array(
            [
                staff[at].price <= budget - spent and asked[at] < (limits[at] or tasks)
                for at in range(workers)
            ]
        )
        assert pair == scan.choices(may[None, :])[0]
        option = int(answers[pair])
        campaign.tell(batch[0].id, ["no", "yes"][option])
        scan.learn(*pair, option == 1)
        spent += int(staff[pair[1]].price)
    assert budget - spent < 2 or scan.asked.sum() > 60
    labels = label_of(campaign, *range(tasks))
    assert [option for option, _ in labels] == [float(a >= b) for a, b in scan.task]
    assert [sureness for _, sureness in labels] == pytest.approx(sure(*scan.task.T), abs=1e-9)


def test_one_instance_a_context_each_on_its_share_of_the_money():
    contexts = [0, 1, 1, 0, 1, 1, 2, 1, 1, 1]
    tasks, workers, budget = len(contexts), 5, 30
    named = [Task(f"t{at}", f"c{context}") for at, context in enumerate(contexts)]
    campaign = campaign_of("optkg-multi", named, workers, budget=budget)
    answers, scan = crowd(5, tasks, workers), Scan(tasks, workers, contexts)
    sizes = np.bincount(contexts)
    while isinstance(batch := campaign.ask(), Batch):
        pair = number(batch[0].task), number(batch[0].worker)
        context = int(np.argmin(scan.spent / sizes))
        assert pair == scan.choices(np.ones((1, workers), bool), context)[0]
        option = int(answers[pair])
        campaign.tell(batch[0].id, ["no", "yes"][option])
        scan.learn(*pair, option == 1)
        scan.spent[context] += 1
    # Two, seven and one of ten tasks: 6, 21 and 3 of 30.
    assert scan.spent.tolist() == [6, 21, 3]


def test_the_share_of_a_context_that_has_nothing_left_goes_to_the_others():
    # A quarter of 7 is due to t0, which only one worker may be asked about.
    tasks = [Task("t0", "small", workers=("w0",)), *(Task(f"t{at}", "large") for at in (1, 2, 3))]
    campaign = campaign_of("optkg-multi", tasks, 2, budget=7)
    asked = []
    while isinstance(batch := campaign.ask(), Batch):
        asked.append(batch[0].task)
        campaign.tell(batch[0].id, "yes")
    assert asked[:2] == ["t0", "t1"]
    assert sorted(asked) == ["t0", "t1", "t1", "t2", "t2", "t3", "t3"]


def test_without_a_model_of_workers_answers_count_one_each_and_anyone_is_asked():
    tasks, workers = 6, 4
    policy = {"name": "optkg", "workers": False}
    campaign = campaign_of(policy, tasks, workers, budget=20, seed=3)
    answers, shape, asked = crowd(7, tasks, workers), np.ones((tasks, 2)), np.zeros(tasks)
    seen = set()
    while isinstance(batch := campaign.ask(), Batch):
        task, worker = number(batch[0].task), number(batch[0].worker)
        a, b = shape.T
        gains = np.maximum(sure(a + 1, b), sure(a, b + 1)) - sure(a, b)
        gains[asked == workers] = -np.inf
        assert task == np.nonzero(gains >= (1.0 - 1e-9) * gains.max())[0][0]
        assert batch[0].propensity == 1.0 / (workers - asked[task])
        campaign.tell(batch[0].id, ["no", "yes"][int(answers[task, worker])])
        shape[task, 1 - int(answers[task, worker])] += 1
        asked[task] += 1
        seen.add(worker)
    assert asked.sum() == 20
    assert seen == set(range(workers))


def test_a_task_that_nobody_answered_is_positive_as_the_paper_prints_it():
    assert label_of(campaign_of("optkg", 2, 2), 0, 1) == [(1.0, 0.5), (1.0, 0.5)]


def test_answers_that_are_out_send_others_to_other_tasks():
    campaign = campaign_of("optkg", 3, 3)
    assert [work.task for work in campaign.ask(7)] == ["t0", "t1", "t2", "t0", "t1", "t2", "t0"]


def test_a_worker_who_is_known_to_err_is_as_good_as_one_known_to_be_right():
    # Told by their record that they say the opposite, their answers are turned round.
    policy = {"name": "optkg", "right": 1.0, "wrong": 9.0}
    campaign = campaign_of(policy, 1, 1)
    campaign.tell(campaign.ask()[0].id, "yes")
    ((option, sureness),) = label_of(campaign, 0)
    assert option == 0.0
    # theta after it: Beta(1, 2) with weight .9 and Beta(2, 1) with .1, matched.
    m1, m2 = 0.9 / 3 + 0.1 * 2 / 3, 0.9 / 6 + 0.1 / 2
    assert sureness == pytest.approx(sure(*matched(m1, m2)))


@pytest.mark.parametrize("name", ["optkg", "optkg-multi"])
@pytest.mark.parametrize("workers", [True, False])
def test_bounds_kept_up_event_by_event_are_those_worked_out_anew(name, workers):
    policy = policies.make({"name": name, "workers": workers})
    for at, scene in enumerate(scenes_for(policy)):
        script = random.Random(at).choices(range(2**16), k=60)
        session = play(policy, scene, script)
        state = CampaignState(session.state.spec)
        for event in session.log:
            state.fold(event)
            if event.kind in (Kind.ANSWER, Kind.EXPIRED, Kind.LEFT, Kind.JOINED, Kind.CLOSED):
                kept = state.beliefs
                anew = kept._replace(
                    **{
                        name: np.zeros_like(getattr(kept, name))
                        for name in ("order", "keys", "tops", "leaves", "tree")
                    }
                )
                derive(state.ledger.book, anew, policy.params())
                for field in ("order", "keys", "tops", "leaves", "tree"):
                    np.testing.assert_array_equal(
                        getattr(kept, field), getattr(anew, field), err_msg=field
                    )


def test_scores_are_the_gains_of_the_task_that_is_next():
    campaign = campaign_of("optkg", 2, 2)
    campaign.tell(campaign.ask()[0].id, "yes")
    state = state_of(campaign)
    found = state.scores(np.ones(2, np.int8))
    assert [each.worker for each in found] == ["w0", "w1"]
    assert found[0].index == pytest.approx(score(1.0, 1.0, 4.0, 1.0))
    assert found[0].details["accuracy"] == pytest.approx(0.8)


def test_three_options_are_refused():
    with pytest.raises(InvalidProblem, match="options has 3 names: policy 'optkg' works on two"):
        campaign_of("optkg", 1, 1, options=["a", "b", "c"])


@pytest.mark.parametrize(
    ("parameter", "value"),
    [("positive", 0), ("negative", -1.0), ("right", "much"), ("wrong", 1e9), ("workers", 1)],
)
def test_a_bad_parameter_is_named(parameter, value):
    with pytest.raises(InvalidParameter, match=f"{parameter} is"):
        policies.make({"name": "optkg", parameter: value})
