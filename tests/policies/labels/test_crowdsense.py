"""CrowdSense: selections step by step, by hand and against the algorithm as printed."""

from __future__ import annotations

import numpy as np
import pytest

from askwise import Worker
from askwise.core.choices import Batch, Done, Wait
from askwise.core.draws import Draw
from askwise.core.errors import InvalidParameter
from askwise.policies import policies
from tests.policies.folded import state_of
from tests.policies.labels.campaigns import campaign_by_letters, names


def crowdsense(**parameters):
    return {"name": "crowdsense", **parameters}


def labels_of(campaign, *tasks, draw=3):
    state = state_of(campaign)
    labels = state.spec.policy.labels(
        state.spec.problem, state.beliefs, state.ledger, tasks, Draw(1, 2, draw)
    )
    return [(label.value, label.confidence) for label in labels]


def qualities(campaign):
    scores = state_of(campaign).scores(np.ones(len(campaign.spec["workers"]), np.int8))
    return {score.worker: score.index for score in scores}


def tell(campaign, batch, answers):
    for work, answer in zip(batch, answers, strict=True):
        campaign.tell(work.id, answer)


def test_a_run_by_hand():
    campaign = campaign_by_letters(crowdsense(smoothing=1.0, threshold=0.1), "abcd", 2)
    first = campaign.ask(9)
    assert names(first)[:2] == ["a", "b"]
    assert [work.propensity for work in first] == [1.0, 1.0, 0.5]
    assert campaign.ask() == Wait("answers")
    third = first[2].worker
    other = "d" if third == "c" else "c"
    # All Q are 1/2. Two to one: lead 1/2, (1/2 - 1/2) / 4 = 0 < .1, so the last is asked.
    tell(campaign, first, "+-+")
    (last,) = campaign.ask(9)
    assert (last.worker, last.propensity) == (other, 1.0)
    # Three to one and nobody is left: done. Q = (1 + 1) / (1 + 2) if right, 1/3 for b.
    campaign.tell(last.id, "+")
    right = dict.fromkeys("acd", 2 / 3)
    assert qualities(campaign) == pytest.approx({**right, "b": 1 / 3})
    assert labels_of(campaign, 0) == [(1.0, pytest.approx(0.75))]
    # Now a and c are the best; b or d is drawn. Unanimous: lead of 5/3 or 2.
    second = campaign.ask(9)
    assert names(second)[:2] == ["a", "c"]
    assert second[2].worker in "bd"
    tell(campaign, second, "---")
    # (5/3 - 2/3) / 4 and (2 - 1/3) / 4 are above .1: done, and so is the campaign.
    assert campaign.ask() == Done("target")
    assert labels_of(campaign, 1) == [(0.0, 1.0)]


def test_the_answer_stays_as_it_was_voted_when_the_task_was_done():
    campaign = campaign_by_letters(crowdsense(smoothing=1.0, threshold=-1.0), "abc", 4)
    tell(campaign, campaign.ask(9), "++-")
    before = labels_of(campaign, 0)
    for answers in ("+--", "-++", "+--"):
        tell(campaign, campaign.ask(9), answers)
    assert labels_of(campaign, 0) == before


class Printed:
    """Section 4.2, with the random worker taken from what was asked."""

    def __init__(self, workers, options, threshold, smoothing):
        self.workers, self.options = workers, options
        self.threshold, self.smoothing = threshold, smoothing
        self.agreed, self.count = np.zeros(workers), np.zeros(workers)

    @property
    def q(self):
        return (self.agreed + self.smoothing) / (self.count + 2 * self.smoothing)

    def weights(self, said):
        totals = np.zeros(self.options)
        for worker, option in said.items():
            totals[option] += self.q[worker]
        return totals

    def best(self, but):
        left = [worker for worker in range(self.workers) if worker not in but]
        return max(left, key=lambda worker: (self.q[worker], -worker)) if left else None

    def wants(self, said):
        """Whom to ask next, if anyone."""
        candidate = self.best(said)
        if candidate is None:
            return None
        second, top = np.sort(self.weights(said))[-2:]
        close = (top - second - self.q[candidate]) / (len(said) + 1) < self.threshold
        return candidate if close else None

    def finish(self, said):
        weights = self.weights(said)
        top = weights.max()
        tied = (weights == top).sum() > 1
        for worker, option in said.items():
            self.count[worker] += 1
            self.agreed[worker] += not tied and option == weights.argmax()
        return None if tied else int(weights.argmax())


@pytest.mark.sampled(1)
@pytest.mark.parametrize(
    ("options", "threshold", "smoothing"), [(2, 0.1, 100.0), (2, 0.25, 3.0), (3, 0.2, 2.0)]
)
def test_a_whole_run_is_the_algorithm_as_printed(options, threshold, smoothing):
    rng = np.random.default_rng(options)
    tasks, workers = 25, 7
    truth = rng.integers(options, size=tasks)
    right = rng.random((tasks, workers)) < rng.uniform(0.4, 0.95, workers)
    table = np.where(right, truth[:, None], rng.integers(options, size=(tasks, workers)))
    letters = "xyz"[:options]
    campaign = campaign_by_letters(
        crowdsense(threshold=threshold, smoothing=smoothing),
        [f"w{at}" for at in range(workers)],
        tasks,
        letters,
    )
    printed = Printed(workers, options, threshold, smoothing)
    for task in range(tasks):
        batch = campaign.ask(20)
        asked = [int(work.worker[1:]) for work in batch]
        assert {work.task for work in batch} == {f"t{task}"}
        first = printed.best([])
        assert asked[:2] == [first, printed.best([first])]
        assert len(set(asked)) == 3
        assert batch[2].propensity == 1.0 / (workers - 2)
        said = {worker: int(table[task, worker]) for worker in asked}
        tell(campaign, batch, [letters[said[worker]] for worker in asked])
        while (candidate := printed.wants(said)) is not None:
            (work,) = campaign.ask(20)
            assert (work.task, work.worker) == (f"t{task}", f"w{candidate}")
            said[candidate] = int(table[task, candidate])
            campaign.tell(work.id, letters[said[candidate]])
        winner = printed.finish(said)
        if winner is not None:
            assert labels_of(campaign, task)[0][0] == winner
    assert campaign.ask() == Done("target")
    assert list(qualities(campaign).values()) == pytest.approx(list(printed.q))


def test_the_random_worker_is_any_of_the_others():
    thirds = set()
    for seed in range(30):
        campaign = campaign_by_letters("crowdsense", "abcde", 1, seed=seed)
        thirds.add(names(campaign.ask(9))[2])
    assert thirds == set("cde")


def test_a_tie_agrees_with_nobody_and_is_drawn_in_the_end():
    campaign = campaign_by_letters(crowdsense(smoothing=1.0), "ab", 1)
    tell(campaign, campaign.ask(9), "+-")
    assert qualities(campaign) == pytest.approx({"a": 1 / 3, "b": 1 / 3})
    drawn = {labels_of(campaign, 0, draw=number)[0] for number in range(20)}
    assert drawn == {(0.0, 0.5), (1.0, 0.5)}


def test_short_money_cuts_the_first_three():
    staff = [Worker("a", 3), Worker("b", 5), Worker("c", 2), Worker("d", 1)]
    campaign = campaign_by_letters("crowdsense", staff, 2, budget=6)
    batch = campaign.ask(9)
    # a leaves 3: b is too dear, so c is the second best; d is the one whom 1 is enough for.
    assert [(work.worker, work.propensity) for work in batch] == [("a", 1), ("c", 1), ("d", 1)]
    tell(campaign, batch, "+++")
    assert campaign.ask() == Done("budget")


def test_a_task_for_which_the_money_is_not_enough_gives_way_to_the_next():
    staff = [Worker("a", 1), Worker("b", 9)]
    campaign = campaign_by_letters("crowdsense", staff, 2, budget=3)
    for task in ("t0", "t1"):
        (work,) = campaign.ask(9)
        assert (work.task, work.worker) == (task, "a")
        campaign.tell(work.id, "+")
    assert campaign.ask() == Done("target")


def test_who_let_it_expire_or_declined_is_replaced():
    campaign = campaign_by_letters("crowdsense", "abcde", 1)
    batch = campaign.ask(9)
    campaign.decline(batch[0].id)
    campaign.expire(batch[1].id)
    # Two of the three are missing: again the best (a declined, so b) and somebody at random.
    again = campaign.ask(9)
    assert names(again)[0] == "b"
    assert names(again)[1] not in ("a", "b", batch[2].worker)


def test_late_answers_count_for_the_worker_and_not_for_the_task():
    campaign = campaign_by_letters(crowdsense(smoothing=1.0, threshold=-9.0), "abcd", 1)
    batch = campaign.ask(9)
    campaign.expire(batch[0].id)
    (other,) = campaign.ask(9)
    late = batch[0] if other.worker != "a" else None
    tell(campaign, [*batch[1:], other], "+++")
    assert campaign.ask() == Done("target")
    if late is not None:
        campaign.tell(late.id, "-")
        assert qualities(campaign)["a"] == pytest.approx(1 / 3)
    assert labels_of(campaign, 0) == [(1.0, 1.0)]


def test_of_those_on_offer_the_best_are_asked():
    campaign = campaign_by_letters("crowdsense", "abcde", 2)
    assert names(campaign.ask(9, workers=["d", "e"])) == ["d", "e"]
    assert campaign.ask(9, workers=["d"]) == Wait("answers")
    # The third of the first three is a random one of whoever comes.
    assert names(campaign.ask(9, workers=["b", "d"])) == ["b"]


def test_tasks_that_are_added_have_their_turn():
    campaign = campaign_by_letters("crowdsense", "abc", 1)
    tell(campaign, campaign.ask(9), "+++")
    assert campaign.ask() == Done("target")
    campaign.add(tasks=["new"])
    batch = campaign.ask(9)
    assert isinstance(batch, Batch)
    assert {work.task for work in batch} == {"new"}


@pytest.mark.parametrize(("parameter", "value"), [("threshold", "low"), ("smoothing", 0.0)])
def test_a_bad_parameter_is_named(parameter, value):
    with pytest.raises(InvalidParameter, match=f"{parameter} is"):
        policies.make(crowdsense(**{parameter: value}))
