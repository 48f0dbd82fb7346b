"""Replay on recorded answers: a table by hand, what is saved, what is refused."""

from __future__ import annotations

import math
from decimal import Decimal
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest

from askwise import Worker
from askwise.lab.replaying.bench import Bench, Grade
from askwise.lab.replaying.files import headline, lines, saving_text, sure_lines, write_replay
from askwise.lab.replaying.measures import Measures
from askwise.lab.replaying.replay import EVERYTHING, Saving, recording_of
from askwise.lab.simulate import simulate
from askwise.lab.worlds import Recording
from askwise.lab.worlds.recorded import shuffled
from askwise.ledger import Ledger
from askwise.policies import policies
from tests.lab.replaying.recordings import GOLD, PRICES, Make, run

# A table by hand.


def test_everything_by_majority_counts_a_tie_its_share(make: Make) -> None:
    found = run(make(), prices=PRICES)
    # Of t0, t1 and t2: 1 + 1/2 + 0. Three of ann, two of bob, three of eve: 3 + 4 + 1.5.
    assert found.everything == (0.5, Decimal("8.5"))
    assert (found.tasks, found.workers, found.answers, found.options) == (4, 3, 8, 2)
    assert found.measured == 3
    assert run(make()).everything == (0.5, Decimal(8))


def test_a_task_without_an_answer_counts_as_a_guess(make: Make) -> None:
    table = make("t0 ann yes, t1 ann no")
    found = run(table, {"t0": "yes", "t1": "no"}, budget=1)
    # One of two is answered, right; the other is right once in two.
    assert {row.x for row in found.rows} == {1.0}
    assert found.final("hem").mean == found.final("random-pairs").mean == 0.75
    assert found.final("hem", "spent").mean == 1.0
    # All of it: one more answer, no more guess.
    assert run(table, {"t0": "yes", "t1": "no"}, budget=2).final("hem").mean == 1.0


def test_tasks_and_workers_are_read_once_for_all_budgets(make: Make) -> None:
    recording = recording_of(make(), GOLD, {"t0": "x", "t1": "y"}, PRICES)
    bench = Bench(recording)
    with mock.patch.object(
        Recording, "problem", autospec=True, side_effect=Recording.problem
    ) as read:
        found = {budget: bench.campaign(budget) for budget in (3, 8, None)}
    assert read.call_count == 1
    for budget, (problem, ledger) in found.items():
        alone = recording.problem(budget)
        fresh = Ledger(alone)
        assert problem == alone
        assert ledger.problem == alone
        assert ledger.names() == fresh.names()
        for name, array in fresh.arrays().items():
            np.testing.assert_array_equal(ledger.arrays()[name], array, err_msg=name)


@pytest.mark.parametrize("policy", ["hem", "bbta", "random-pairs"])
@pytest.mark.parametrize("window", [1, 3, 1_000_000])
def test_only_recorded_pairs_are_asked_and_all_of_them_if_money_allows(
    make: Make, policy: str, window: int
) -> None:
    recording = recording_of(make(), GOLD, {"t0": "x", "t1": "y"}, PRICES)
    pairs = sorted(zip(recording.task.tolist(), recording.worker.tolist(), strict=True))
    outcome = simulate(
        policies.make(policy), recording.problem(100), recording.answering(), seed=1, window=window
    )
    asked = outcome.ledger.book.assignments[: outcome.answers, :2]
    assert sorted(map(tuple, asked.tolist())) == pairs
    assert outcome.spent == 8.5


def test_with_money_for_everything_all_of_it_is_bought_and_that_is_said(make: Make) -> None:
    found = run(make(), prices=PRICES, budget="8.5")
    for series in found.series:
        assert found.final(series, "spent").mean == 8.5
    assert any("buys everything" in remark for remark in found.remarks)
    less = run(make(), prices=PRICES, budget="8.49")
    assert not any("buys everything" in remark for remark in less.remarks)
    assert all(row.mean <= row.x for row in less.rows if row.metric == "spent")


def test_the_first_of_several_answers_of_a_pair_counts(make: Make) -> None:
    twice = "t0 ann yes, t0 ann no, t1 ann no, t0 ann no"
    for more, left_out in (({}, 2), ({"duplicates": "drop"}, 2)):
        table = make(twice, **more)
        recording = recording_of(table, GOLD)
        assert recording.task.tolist() == [0, 1]
        assert [table.label_names[at] for at in recording.label] == ["yes", "no"]
        found = run(table, budget=2)
        assert found.answers == 2
        assert found.remarks[0].endswith(f"because a pair is asked once: {left_out}.")


def test_runs_differ_by_their_order_and_a_seed_gives_the_same_again(make: Make) -> None:
    one, same = (run(make(), budget=3, runs=5, seed=4) for _ in range(2))
    assert one.to_json() == same.to_json()
    assert run(make(), budget=3, runs=5, seed=5).to_json()["curve"] != one.to_json()["curve"]
    (alone,) = {row.n for row in run(make(), runs=1).rows}
    assert alone == 1
    assert all(row.ci_low == row.mean == row.ci_high for row in run(make(), runs=1).rows)


def test_intervals_of_a_share_stay_within_what_it_can_be(make: Make) -> None:
    for row in run(make(), budget=3, runs=2).rows:
        if row.metric == "accuracy":
            assert 0.0 <= row.ci_low <= row.mean <= row.ci_high <= 1.0


@pytest.mark.parametrize("run_number", range(5))
def test_another_order_is_the_same_recording(make: Make, run_number: int) -> None:
    recording = recording_of(make(), GOLD, {"t0": "x", "t1": "y"}, PRICES)
    other = shuffled(recording, 7, run_number)

    def facts(each: Recording) -> list[Any]:
        assert each.contexts is not None
        return sorted(
            (each.truth[t], each.contexts[t], str(each.prices[w]), label, (each.task == t).sum())
            for t, w, label in zip(each.task, each.worker, each.label, strict=True)
        )

    assert facts(other) == facts(recording)


# What is saved.

CURVES = {
    "hem": [0.5, 0.6, 0.7, 0.8, 0.8, 0.7, 0.8, 0.8],
    "bbta": [0.5, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.75],
    "random-pairs": [0.5, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.9],
}


def graded_by(curves: dict[str, list[float]], swing: float = 0.0) -> Any:
    """Runs whose accuracy is as the curves say, and now above, now below by a swing."""

    def graded(bench: Bench, each: Any, budget: Any, seed: int, run: int, *_: Any) -> Grade:
        # Everyone spends half of what they might.
        right, spent = curves[each.series][int(budget) - 1], float(budget) / 2
        swung = right + (swing if run % 2 else -swing) * (each.series == "hem")
        return Grade(swung, spent, 0.0, math.nan, math.nan, math.nan, math.nan)

    return mock.patch.object(Bench, "grade", graded)


def test_savings_are_read_off_the_curve_between_its_points(make: Make) -> None:
    with graded_by(CURVES):
        found = run(make(), budget=8, against=["bbta", "random-pairs"])
    # The curve falls to .7 at 6 and is .8 from 7 on: .75 is kept from halfway between them, and
    # half of the budget is spent: 3.25 instead of 4.
    bbta, random, everything = found.savings
    assert bbta == Saving("bbta", 0.75, Decimal(4), Decimal("3.25"), False, sure=True)
    assert bbta.share == pytest.approx(1 - 3.25 / 4)
    assert random == Saving("random-pairs", 0.9, Decimal(4), None, False)
    assert random.share is None
    # Everything is .5 for 8, where the curve begins: perhaps it would be there for less.
    assert everything == Saving(EVERYTHING, 0.5, Decimal(8), Decimal("0.5"), True, sure=True)
    assert everything.share == 0.9375
    texts = [saving_text("hem", each) for each in found.savings]
    assert texts[0] == "bbta is right on 75.0% for 4.00: hem gets there for 3.25, which saves 19%."
    assert texts[1].endswith("hem does not get there within the budget, so it saves nothing.")
    assert texts[2].endswith("hem gets there for at most 0.50, which saves at least 94%.")


def test_an_accuracy_that_a_curve_passes_and_falls_below_again_is_no_saving(make: Make) -> None:
    hem = [0.5, 0.6, 0.7, 0.76, 0.8, 0.78, 0.75, 0.72]
    with graded_by({"hem": hem, "bbta": [*hem[:7], 0.74]}):
        found = run(make(), budget=8, against=["bbta"])
    (bbta, _) = found.savings
    assert bbta == Saving("bbta", 0.74, Decimal(4), None, False, passed=True)
    assert saving_text("hem", bbta) == (
        "bbta is right on 74.0% for 4.00: hem is as good at smaller budgets only, and less "
        "accurate at the full one, so it saves nothing."
    )


@pytest.mark.parametrize(
    ("runs", "swing", "sure"),
    # Ten runs that swing by s have a standard error of s / 3, times 2.26 is .75 s: ahead by .05.
    [(10, 0.05, True), (10, 0.08, False), (1, 0.0, False)],
)
def test_a_saving_is_claimed_where_it_is_more_than_runs_differ(
    make: Make, runs: int, swing: float, sure: bool
) -> None:
    with graded_by(CURVES, swing):
        found = run(make(), budget=8, against=["bbta"], runs=runs)
    assert found.savings[0].sure is sure
    said = saving_text("hem", found.savings[0])
    assert said.endswith(
        "which saves 19%."
        if sure
        else "for 3.25, 19% less; that may be chance, which more runs would show."
    )


def test_a_saving_may_be_a_loss_and_nothing_can_be_saved_of_nothing() -> None:
    dearer = Saving("bbta", 0.5, Decimal(4), Decimal(5), False)
    assert dearer.share == -0.25
    assert saving_text("hem", dearer).endswith("for 5.00, which costs more by 25%.")
    same = Saving("bbta", 0.5, Decimal(4), Decimal(4), False)
    assert saving_text("hem", same).endswith("for 4.00, which saves nothing.")
    free = Saving("bbta", 0.5, Decimal(0), Decimal(0), True)
    assert free.share is None
    assert saving_text("hem", free).endswith(": hem gets there for at most 0.00.")


# How sure, and what is done.

VOTES = "t0 ann yes, t0 bob yes, t0 eve no, t1 ann no, t1 bob yes, t2 ann no, t2 bob no, t3 eve yes"
TRUE = {"t0": "yes", "t1": "no", "t2": "yes", "t3": "yes"}
"""Right with 2 of 3 votes, tied, wrong with all of them, right with one."""


def test_measures_of_a_vote_by_hand(make: Make) -> None:
    (found,) = (
        each
        for each in run(make(VOTES), TRUE, budget=8, policy="random-pairs", against=[]).measures
        if each.budget == 8
    )
    assert found.accuracy == pytest.approx((1 + 0.5 + 0 + 1) / 4)
    assert found.ties == 1
    # 2/3 against right, .5 against a half; both at 1 are in one bin, half of them right.
    assert found.ece == pytest.approx((1 / 3 + 0 + 1) / 4)
    due = math.log(3 / 2) + math.log(2) + 6 * math.log(10)
    assert found.log_loss == pytest.approx(due / 4)
    assert (found.done_share, found.done_error) == (None, None)


def test_what_a_rule_closes_is_done(make: Make) -> None:
    found = run(
        make(VOTES), TRUE, budget=8, policy="random-pairs", against=[], stop="lead(lead=2)", runs=6
    )
    assert found.policy == "random-pairs until lead(lead=2)"
    assert found.stop == "lead(lead=2)"
    last = found.final_measures(found.policy)
    # t2 is closed, wrong, in every run; t0 only where the two who are right come first.
    assert last.done_share is not None
    assert last.done_error is not None
    closed = last.done_share * 4 * 6
    assert 6 <= closed <= 12
    assert last.done_error == pytest.approx(6 / closed)
    first = min(found.measures, key=lambda each: each.budget)
    assert (first.done_share, first.done_error) == (0.0, None)


def test_what_reaches_the_target_is_done(make: Make) -> None:
    for target, done in ((0.5, 1.0), (0.0, None)):
        label = f"hem(target={target})" if target else "hem"
        last = run(make(VOTES), TRUE, budget=8, policy=label).final_measures(label)
        assert last.done_share == done


def test_a_rule_of_ones_own_comes_before_the_common_one(make: Make) -> None:
    found = run(
        make(), policy="b-kube until fixed(n=1)", against=["random-pairs", "hem"], stop="lead"
    )
    assert found.series == [
        "b-kube until fixed(n=1)", "random-pairs until lead", "hem until lead",
    ]  # fmt: skip
    said = [each for each in found.remarks if "the answers are those of the rule" in each]
    assert [each.partition(":")[0] for each in said] == [
        "b-kube until fixed(n=1)",
        "hem until lead",
    ]
    # One answer a task, four tasks.
    assert found.final("b-kube until fixed(n=1)", "spent").mean == 4


def test_what_can_not_be_measured_is_none_and_a_dash(make: Make) -> None:
    nothing = Measures("hem", 8.0, 0.5, 0.0, None, None, None, None)
    assert list(sure_lines([nothing])) == [("hem", ("8", "50.0%", "0.0", "-", "-", "-", "-"))]
    full = Measures("hem", 8.0, 0.5, 1.25, 0.0625, 1.5, 0.25, 0.125)
    assert list(sure_lines([full])) == [
        ("hem", ("8", "50.0%", "1.2", "0.062", "1.500", "25.0%", "12.5%"))
    ]
    assert full.to_json()["done_error"] == 0.125


def test_accuracy_is_the_same_in_the_curve_and_in_the_measures(make: Make) -> None:
    found = run(make(), runs=3)
    curve = {(row.series, row.x): row.mean for row in found.rows if row.metric == "accuracy"}
    assert {(each.series, each.budget): each.accuracy for each in found.measures} == curve


# What is odd and goes.


def test_what_is_left_out_is_told(make: Make) -> None:
    remarks = run(make(), contexts={"t0": "x", "t8": "y"}).remarks
    assert any("gold file without a recorded answer are left out: 1." in each for each in remarks)
    assert any("paid for, and not measured: 1 of 4." in each for each in remarks)
    assert any("without a context share one: 3." in each for each in remarks)
    # sqrt(.25 / 3) = .289.
    assert "3 tasks" in remarks[-1]
    assert "0.289" in remarks[-1]


def test_a_label_that_only_gold_has_is_an_option_too(make: Make) -> None:
    found = run(make("t0 ann yes, t1 ann yes"), {"t0": "yes", "t1": "maybe"}, budget=2)
    assert found.options == 2
    assert found.everything[0] == found.final("hem").mean == 0.5


def test_odd_names_are_names(make: Make) -> None:
    long, odd = "x" * 5000, "日本<b>&'\""
    table = make(f"{long} {odd} yes, {odd} {long} no")
    found = run(table, {long: "yes", odd: "no"}, budget=2, contexts={long: odd})
    assert found.final("hem").mean == 1.0


def test_free_answers_are_all_bought(make: Make, tmp_path: Path) -> None:
    free = [Worker(name, 0) for name in ("ann", "bob", "eve")]
    # Of t3 nobody is in doubt; a tie might cost one policy more than another.
    found = run(make(), {"t3": "yes"}, prices=free, budget=1)
    assert found.final("hem", "spent").mean == 0.0
    assert [saving.share for saving in found.savings] == [None, None]
    page = write_replay(found, tmp_path / "page", "labels.csv", "askwise replay")
    assert "gets there for at most 0.00" in page.read_text(encoding="utf-8")


def test_a_context_for_each_task_and_a_worker_for_each_answer(make: Make) -> None:
    answers = ", ".join(f"t{at} w{at} {'yes' if at % 3 else 'no'}" for at in range(12))
    gold = {f"t{at}": "yes" for at in range(12)}
    found = run(make(answers), gold, budget=50, contexts={f"t{at}": f"c{at}" for at in range(12)})
    assert found.final("hem").mean == pytest.approx(8 / 12)


def test_a_policy_may_be_given_an_aggregator(make: Make) -> None:
    found = run(make(), policy="random-pairs with majority", against=[], budget=8)
    assert found.policy == "random-pairs with majority"
    assert [saving.other for saving in found.savings] == [EVERYTHING]
    assert headline(found).startswith("random-pairs with majority would have been right on ")
    assert [name for name, _ in lines(found)] == ["random-pairs with majority", EVERYTHING]


# What the crowd is said to be, and what is told on the way.


def test_limits_in_the_file_of_prices_are_kept(make: Make) -> None:
    staff = [Worker("ann", 1, limit=1), Worker("bob", 2), Worker("eve", "0.5", limit=2)]
    recording = recording_of(make(), GOLD, prices=staff)
    for each in (recording, shuffled(recording, 1, 0)):
        limits = {worker.price: worker.limit for worker in each.problem(9).workers}
        assert limits == {Decimal("1"): 1, Decimal("2"): None, Decimal("0.5"): 2}


def test_kinds_and_families_of_workers_are_kept(make: Make) -> None:
    staff = [Worker("ann", 1), Worker("bob", 2, kind="model", family="gpt"), Worker("eve", 3)]
    recording = recording_of(make(), GOLD, workers=staff)
    for each in (recording, shuffled(recording, 1, 0)):
        said = {worker.price: (worker.kind, worker.family) for worker in each.problem(9).workers}
        assert said == {1: (None, None), 2: ("model", "gpt"), 3: (None, None)}


def test_workers_say_what_prices_say(make: Make) -> None:
    by_prices, by_workers = (run(make(), **{name: PRICES}) for name in ("prices", "workers"))
    assert by_prices.to_json() == by_workers.to_json()


def test_what_is_run_now_is_told_in_words(make: Make) -> None:
    heard: list[str] = []
    run(make(), runs=2, budget=1, doing=heard.append)
    assert heard == [
        "reading the recorded answers",
        "hem at a budget of 1, run 1 of 2 (0 % done)",
        "random-pairs at a budget of 1, run 1 of 2 (25 % done)",
        "hem at a budget of 1, run 2 of 2 (50 % done)",
        "random-pairs at a budget of 1, run 2 of 2 (75 % done)",
    ]


def test_progress_begins_at_once_and_moves_with_each_policy(make: Make) -> None:
    seen: list[tuple[int, int]] = []
    run(make(), runs=2, budget=2, progress=lambda what, done, total: seen.append((done, total)))
    points = len({row.x for row in run(make(), runs=1, budget=2).rows})
    total = 2 * points * 2
    assert seen == [(done, total) for done in range(total + 1)]
