"""BBTA: weights, votes and losses by hand, and whole runs against the algorithm as printed."""

from __future__ import annotations

import math

import numpy as np
import pytest

from askwise import Campaign, Task, Worker
from askwise.core.choices import Batch, Done
from askwise.core.errors import InvalidParameter
from askwise.core.events import Kind
from askwise.policies import policies


def campaign_of(contexts, workers=3, budget=100, options="-+", seed=1, **parameters):
    return Campaign.create(
        workers=[Worker(f"w{at}", 1) for at in range(workers)],
        tasks=[Task(f"t{at}", context=context) for at, context in enumerate(contexts)],
        options=list(options),
        budget=budget,
        policy={"name": "bbta", **parameters},
        seed=seed,
        name="bbta",
    )


def tell(campaign, batch, answers):
    for work, answer in zip(batch, answers, strict=True):
        campaign.tell(work.id, answer)


def test_exploration_asks_everyone_about_the_first_tasks_of_each_context():
    campaign = campaign_of("aabb", explore=1)
    seen = []
    for _ in range(2):
        batch = campaign.ask(3)
        seen.append([(work.task, work.worker, work.propensity) for work in batch])
        tell(campaign, batch, "+++")
    assert seen == [
        [(task, f"w{at}", 1.0) for at in range(3)] for task in ("t0", "t2")
    ]  # The third decision is of the adaptive phase: one pair.
    assert len(campaign.ask(1)) == 1


def test_weights_votes_and_losses_by_hand():
    campaign = campaign_of("aa", explore=1)
    # Exploration: the majority says +, w2 has a loss. L = (0, 0, 1).
    tell(campaign, campaign.ask(3), "++-")
    eta = math.sqrt(math.log(3) / 3)
    weights = {"w0": 1.0, "w1": 1.0, "w2": math.exp(-eta)}
    (first,) = campaign.ask()
    assert first.task == "t1"
    assert first.propensity == pytest.approx(weights[first.worker] / sum(weights.values()))
    # The only vote is their own: no loss. Step 2 has another learning rate.
    campaign.tell(first.id, "+")
    eta = math.sqrt(math.log(3) / (2 * 3))
    weights = {"w0": 1.0, "w1": 1.0, "w2": math.exp(-eta)}
    (second,) = campaign.ask()
    rest = {name: weight for name, weight in weights.items() if name != first.worker}
    assert second.propensity == pytest.approx(rest[second.worker] / sum(rest.values()))
    campaign.tell(second.id, "-")
    # Against the vote, or level with it: both are a loss, divided by the probability.
    losses = {"w0": 0.0, "w1": 0.0, "w2": 1.0}
    if weights[second.worker] <= weights[first.worker]:
        losses[second.worker] += 1.0 / second.propensity
    (third,) = campaign.ask()
    assert third.propensity == 1.0
    campaign.tell(third.id, "+")
    eta = math.sqrt(math.log(3) / (3 * 3))
    least = min(losses.values())
    w = {name: math.exp(-eta * (loss - least)) for name, loss in losses.items()}
    plus = w[first.worker] + w[third.worker]
    answers = {answer.task: answer for answer in campaign.answers()}
    if plus <= w[second.worker]:
        losses[third.worker] += 1.0
        w = {name: math.exp(-eta * loss) for name, loss in losses.items()}
        plus = w[first.worker] + w[third.worker]
    due = "+" if plus > w[second.worker] else "-"
    assert answers["t1"].value == due
    share = max(plus, w[second.worker]) / sum(w.values())
    assert answers["t1"].confidence == pytest.approx(share)


class Printed:
    """Algorithm 1 with the readings of the design notes: dictionaries, everything rescanned."""

    def __init__(self, contexts, workers, options, explore):
        self.contexts, self.workers, self.options = contexts, workers, options
        self.answers = {task: {} for task in range(len(contexts))}
        self.losses = {(s, j): 0.0 for s in contexts for j in range(workers)}
        self.t = dict.fromkeys(contexts, 0)
        self.scores = dict.fromkeys(range(len(contexts)), 0.0)
        self.explored = set()
        for s in dict.fromkeys(contexts):
            alike = [at for at, each in enumerate(contexts) if each == s]
            self.explored.update(alike[:explore])

    def weights(self, s, t):
        eta = math.sqrt(math.log(self.workers) / (t * self.workers))
        return [math.exp(-eta * self.losses[s, j]) for j in range(self.workers)]

    def vote(self, task, weights):
        sums = [0.0] * self.options
        for worker, answer in self.answers[task].items():
            sums[answer] += weights[worker]
        return sums

    def explore(self, task, answers):
        self.answers[task] = dict(answers)
        counts = [list(answers.values()).count(option) for option in range(self.options)]
        leaders = [option for option, count in enumerate(counts) if count == max(counts)]
        for worker, answer in answers.items():
            if len(leaders) > 1 or answer != leaders[0]:
                self.losses[self.contexts[task], worker] += 1.0

    def pick(self):
        free = [
            task
            for task in range(len(self.contexts))
            if task not in self.explored and len(self.answers[task]) < self.workers
        ]
        # Equal scores may differ in the last bits, by the order of summing.
        least = min(self.scores[task] for task in free)
        return [task for task in free if self.scores[task] < least + 1e-12]

    def chances(self, task):
        s = self.contexts[task]
        weights = self.weights(s, self.t[s] + 1)
        left = [j for j in range(self.workers) if j not in self.answers[task]]
        total = sum(weights[j] for j in left)
        return {j: weights[j] / total for j in left}

    def take(self, task, worker, answer, chance):
        s = self.contexts[task]
        self.t[s] += 1
        weights = self.weights(s, self.t[s])
        self.answers[task][worker] = answer
        sums = self.vote(task, weights)
        loss = any(sums[o] >= sums[answer] for o in range(self.options) if o != answer)
        for other in self.scores:
            if self.contexts[other] == s:
                top, second = sorted(self.vote(other, weights), reverse=True)[:2]
                self.scores[other] = (top - second) / sum(weights)
        if loss:
            self.losses[s, worker] += 1.0 / chance


@pytest.mark.parametrize(
    ("explore", "options", "refresh"), [(0, 2, 0.0), (1, 2, 0.0), (2, 3, 0.0), (1, 2, 1e-12)]
)
def test_a_run_is_that_of_the_algorithm_as_printed(explore, options, refresh):
    rng = np.random.default_rng(explore + options)
    contexts = [("a", "b", "b")[at % 3] for at in range(12)]
    labels = rng.integers(options, size=(12, 5))
    names = "-+?"[:options]
    campaign = campaign_of(
        contexts, 5, budget=50, options=names, explore=explore, refresh=refresh, seed=explore
    )
    printed = Printed(contexts, 5, options, explore)
    rounds = len(printed.explored)
    while not isinstance(batch := campaign.ask(5 if rounds > 0 else 1), Done):
        assert isinstance(batch, Batch)
        rounds -= 1
        note = [event for event in campaign.log() if event.kind == Kind.DECIDED][-1].note
        answers = {}
        for work in batch:
            task, worker = int(work.task[1:]), int(work.worker[1:])
            answers[worker] = int(labels[task, worker])
            if note != "exploration":
                assert task in printed.pick()
                assert work.propensity == pytest.approx(printed.chances(task)[worker], rel=1e-9)
                printed.take(task, worker, answers[worker], work.propensity)
            campaign.tell(work.id, names[answers[worker]])
        if note == "exploration":
            assert {work.task for work in batch} <= {f"t{at}" for at in printed.explored}
            printed.explore(task, answers)
    spent = campaign.status().answers
    assert spent == min(50, 12 * 5)


def test_a_known_pair_of_parameters_is_refused_if_it_makes_no_sense():
    for wrong in ({"explore": -1}, {"explore": 1.5}, {"refresh": -0.1}, {"refresh": "often"}):
        with pytest.raises(InvalidParameter, match=next(iter(wrong))):
            policies.make({"name": "bbta", **wrong})


def test_a_task_with_an_answer_out_waits_behind_those_without():
    campaign = campaign_of("aaa", workers=4, explore=0)
    assert [work.task for work in campaign.ask(5)] == ["t0", "t1", "t2", "t0", "t1"]
