"""What is said of tasks in the end: as a live campaign says it, with rules and truths."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from askwise import Campaign
from askwise.core.choices import Batch
from askwise.core.errors import InvalidParameter, UnknownPolicy
from askwise.core.scoring import ScoredLabels
from askwise.lab.replaying.bench import Bench, contender, draw_truths, final_answers, final_labels
from askwise.lab.worlds import Recording

TOLD = (5, 1)


def recorded(seed: int, tasks: int = 12, workers: int = 6, options: int = 3) -> Recording:
    """Most pairs of two contexts; people who are right on two of three."""
    rng = np.random.default_rng(seed)
    task, worker = np.nonzero(rng.random((tasks, workers)) < 0.8)
    truth = rng.integers(options, size=tasks)
    wrong = (truth[task] + rng.integers(1, options, size=len(task))) % options
    label = np.where(rng.random(len(task)) < 0.67, truth[task], wrong)
    return Recording(task, worker, label, tasks, workers, options, truth, np.arange(tasks) % 2)


def run(label: str, told: tuple[int, ...] = (), budget: int = 30) -> tuple[Any, Any, ScoredLabels]:
    """A contender's run: the bench, the outcome and the labels."""
    bench, each = Bench(recorded(2), told), contender(label)
    outcome = bench._outcome(each, budget, 3, 0, 1, {})
    return bench, outcome, final_labels(each, bench.campaign(budget)[0], outcome, 3, 0)


def live(label: str, told: tuple[int, ...] = (), budget: int = 30) -> Campaign:
    """The same, as a campaign that is asked and told."""
    recording, each = recorded(2), contender(label)
    campaign = Campaign.create(
        **recording.problem(budget).to_json(),
        policy=each.policy,
        stopping=each.rule,
        aggregation=each.aggregator,
        seed=3,
        name="x",
    )
    for task in told:
        campaign.truth(f"t{task}", f"o{recording.truth[task]}")
    pairs = zip(recording.task, recording.worker, strict=True)
    said = dict(zip(pairs, recording.label, strict=True))
    while isinstance(asked := campaign.ask(), Batch):
        for each_asked in asked:
            pair = int(str(each_asked.task)[1:]), int(each_asked.worker[1:])
            campaign.tell(each_asked.id, f"o{said[pair]}")
    return campaign


@pytest.mark.parametrize("told", [(), TOLD])
@pytest.mark.parametrize(
    "label",
    [
        "hem",
        "hem(target=0.1)",
        "bbta",
        "b-kube until lead(lead=2)",
        "hem until lead(lead=2)",
        "random-pairs until lead(lead=2,horizon=3)",
        "random-pairs until posterior(error=0.2)",
        "random-pairs until composite",
        "random-pairs with dawid-skene",
        "hem with one-coin",
    ],
)
@pytest.mark.parametrize("budget", [14, pytest.param(30, marks=pytest.mark.slow), 1000])
def test_answers_are_those_of_a_live_campaign(
    label: str, told: tuple[int, ...], budget: int
) -> None:
    _, outcome, found = run(label, told, budget)
    campaign = live(label, told, budget)
    answers = campaign.answers()
    counts = outcome.ledger.book.votes[: len(answers), :3].sum(axis=1)
    assert [each.count for each in answers] == counts.tolist()
    for at, each in enumerate(answers):
        if at in told:
            # Not measured: the vote may say what it likes.
            continue
        tied = (np.abs(found.probabilities[at] - found.confidence[at]) < 1e-9).sum() > 1
        assert (each.value is None) == (found.named[at] < 0)
        if each.value is not None and not tied:
            assert each.value == f"o{found.named[at]}"
        if each.confidence is not None:
            assert found.confidence[at] == pytest.approx(each.confidence)
        assert found.probabilities[at].sum() == pytest.approx(1.0)
    done = sum(each.outcome == "confident" for each in answers)
    assert int((outcome.closings[:, 2] == 1).sum()) == done


def test_without_an_aggregator_votes_are_shares() -> None:
    _, outcome, found = run("random-pairs")
    votes = outcome.ledger.book.votes[:12, :3]
    heard = votes.sum(axis=1) > 0
    assert found.probabilities[heard] == pytest.approx(
        votes[heard] / votes[heard].sum(axis=1)[:, None]
    )
    assert (found.named[~heard] == -1).all()
    assert found.probabilities[~heard] == pytest.approx(1 / 3)


def test_a_named_aggregator_says_it_of_closed_tasks_too() -> None:
    bench, outcome, found = run("random-pairs with dawid-skene until fixed(n=2)")
    assert (outcome.closings[:, 2] == 1).any()
    named = contender("random-pairs with dawid-skene")
    same = final_labels(named, bench.campaign(30)[0], outcome, 3, 0)
    assert found.named.tolist() == same.named.tolist()
    assert np.array_equal(found.confidence, same.confidence, equal_nan=True)


@pytest.mark.parametrize("split", ["", " by context"])
def test_aggregators_learn_from_what_is_told(split: str) -> None:
    _, _, found = run(f"random-pairs with dawid-skene{split}", TOLD, 40)
    truth = recorded(2).truth
    for task in TOLD:
        assert (found.named[task], found.confidence[task]) == (truth[task], 1.0)
    _, _, without = run(f"random-pairs with dawid-skene{split}", (), 40)
    others = [at for at in range(12) if at not in TOLD]
    assert not np.allclose(found.probabilities[others], without.probabilities[others])


@pytest.mark.parametrize("label", ["random-pairs with dawid-skene by context", "hem", "bbta"])
def test_labels_name_what_answers_name_where_nothing_is_tied(label: str) -> None:
    bench, outcome, found = run(label)
    answers = final_answers(contender(label), bench.campaign(30)[0], outcome, 3, 0)
    level = np.abs(found.probabilities - found.confidence[:, None]) < 1e-9
    clear = level.sum(axis=1) <= 1
    assert found.named[clear].tolist() == answers[clear].tolist()


# What a run comes to.


def test_done_is_what_the_rule_closed_or_what_reaches_the_target() -> None:
    bench, outcome, found = run("hem until lead(lead=2)")
    grade = bench.grade(contender("hem until lead(lead=2)"), 30, 3, 0)
    called = outcome.closings[:, 2] == 1
    assert grade.done == called.sum() > 0
    right = found.named[called] == bench.recording.truth[called]
    assert grade.wrong == pytest.approx((~right).sum())
    assert np.isnan(bench.grade(contender("hem"), 30, 3, 0).done)
    target = contender("hem(target=0.2)")
    _, outcome, found = run("hem(target=0.2)")
    assert bench.grade(target, 30, 3, 0).done == (found.confidence >= 0.8).sum() > 0


def test_what_is_told_is_not_measured() -> None:
    recording = recorded(2)
    bench = Bench(recording, TOLD)
    for label in ("hem", "random-pairs", "random-pairs with dawid-skene"):
        grade = bench.grade(contender(label), 30, 3, 0)
        _, _, found = run(label, TOLD)
        others = [at for at in range(12) if at not in TOLD]
        right = (found.named == recording.truth).astype(float)
        right[found.named < 0] = 1 / 3
        level = np.abs(found.probabilities - found.confidence[:, None]) < 1e-9
        tied = (level.sum(axis=1) > 1) & (found.named >= 0)
        right[tied] = level[tied, recording.truth[tied]] / level[tied].sum(axis=1)
        assert grade.accuracy == pytest.approx(right[others].mean())
        assert grade.ties == tied[others].sum()
    (measured,) = bench.measure([contender("hem")], 30, 3, 0)
    assert measured[0] == bench.grade(contender("hem"), 30, 3, 0).accuracy


def test_truths_are_drawn_with_a_seed_and_more_of_them_begin_with_the_same() -> None:
    recording = recorded(2)
    truth = recording.truth.copy()
    truth[[0, 3, 8]] = -1
    some = Recording(
        recording.task, recording.worker, recording.label, 12, 6, 3, truth, recording.contexts
    )
    drawn = draw_truths(some, 9, 1, 0).tolist()
    assert sorted(drawn) == [at for at in range(12) if at not in (0, 3, 8)]
    assert draw_truths(some, 4, 1, 0).tolist() == drawn[:4]
    assert draw_truths(some, 9, 1, 1).tolist() != drawn
    assert draw_truths(some, 9, 2, 0).tolist() != drawn
    bench = Bench(some).in_another_order(1, 0, 4)
    assert len(bench.truths) == 4
    assert (bench.measured.truth >= 0).sum() == 5
    assert all(bench.recording.truth[task] == truth for task, truth in bench.truths)


# Labels of contenders.


@pytest.mark.parametrize(
    "label",
    [
        "b-kube until lead(lead=4)",
        "random-pairs with dawid-skene until posterior",
        "hem with one-coin by context until fixed(n=2)",
    ],
)
def test_a_label_is_read_and_written(label: str) -> None:
    made = contender(label)
    assert made.rule is not None
    assert contender(made.series) == made


def test_a_rule_that_is_not_known_is_refused() -> None:
    with pytest.raises(UnknownPolicy, match="stopping 'led' is not known: did you mean 'lead'"):
        contender("hem until led")


def test_a_policy_that_needs_a_rule_and_has_none_says_how_to_give_one() -> None:
    said = (
        "stop is missing: policy 'b-kube' stays on a task until a stopping rule closes it; "
        r"give --stop 'lead\(lead=2\)', for example, or write 'b-kube until lead\(lead=2\)'"
    )
    with pytest.raises(InvalidParameter, match=said) as caught:
        contender("b-kube").check(recorded(2).problem(30))
    assert caught.value.field == "stop"
    contender("b-kube until lead").check(recorded(2).problem(30))
