"""Replay on recorded answers: a table by hand, what is saved, what is refused."""

from __future__ import annotations

import math
from decimal import Decimal
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from askwise import Worker
from askwise.core.errors import AskwiseError
from askwise.data.labels import LabelTable, read_labels
from askwise.lab.replaying.bench import Bench, Grade
from askwise.lab.replaying.files import headline, lines, saving_text, sure_lines, write_replay
from askwise.lab.replaying.measures import Measures
from askwise.lab.replaying.replay import EVERYTHING, Replay, Saving, recording_of, replay
from askwise.lab.simulate import simulate
from askwise.lab.worlds import Recording
from askwise.lab.worlds.recorded import shuffled
from askwise.policies import policies

ANSWERS = """
t0 ann yes, t0 bob yes, t0 eve no,
t1 ann no, t1 bob yes,
t2 eve no,
t3 ann yes, t3 eve yes
"""
GOLD = {"t0": "yes", "t1": "no", "t2": "yes", "t9": "no"}
"""Right by majority, tied, wrong; t3 has none, and t9 no answer."""

PRICES = [Worker("ann", 1), Worker("bob", 2), Worker("eve", "0.5"), Worker("zoe", 9)]

Make = Any


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Write answers down as a table and read it."""

    def table(answers: str = ANSWERS, **more: Any) -> LabelTable:
        file = tmp_path / "labels.csv"
        rows = [",".join(each.split()) for each in answers.strip().split(",") if each.strip()]
        file.write_text("task,worker,label\n" + "\n".join(rows) + "\n", encoding="utf-8")
        return read_labels(file, **more)

    return table


def run(table: LabelTable, gold: Any = None, **more: Any) -> Replay:
    raw: dict[str, Any] = {"against": ["random-pairs"], "budget": 4, "runs": 2, **more}
    return replay(table, GOLD if gold is None else gold, **raw)


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
        assert found.remarks[0].endswith(f"as a pair is asked once: {left_out}.")


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


def test_savings_are_read_off_the_curve_between_its_points(make: Make) -> None:
    def graded(bench: Bench, each: Any, budget: Any, *_: Any) -> Grade:
        # Everyone spends half of what they might.
        right, spent = CURVES[each.series][int(budget) - 1], float(budget) / 2
        return Grade(right, spent, 0.0, math.nan, math.nan, math.nan, math.nan)

    with mock.patch.object(Bench, "grade", graded):
        found = run(make(), budget=8, against=["bbta", "random-pairs"])
    # At .75 halfway between 3 and 4, of which half is spent: 1.75 instead of 4.
    bbta, random, everything = found.savings
    assert bbta == Saving("bbta", 0.75, Decimal(4), Decimal("1.75"), False)
    assert bbta.share == pytest.approx(1 - 1.75 / 4)
    assert random == Saving("random-pairs", 0.9, Decimal(4), None, False)
    assert random.share is None
    # Everything is .5 for 8, where the curve begins: perhaps it would be there for less.
    assert everything == Saving(EVERYTHING, 0.5, Decimal(8), Decimal("0.5"), True)
    assert everything.share == 0.9375
    texts = [saving_text("hem", each) for each in found.savings]
    assert texts[0] == "bbta is right on 75.0% for 4.00: hem gets there for 1.75, which saves 56%."
    assert texts[1].endswith("for 4.00: hem does not get there within the budget.")
    assert texts[2].endswith("hem gets there for at most 0.50, which saves at least 94%.")


def test_a_saving_may_be_a_loss_and_nothing_can_be_saved_of_nothing() -> None:
    dearer = Saving("bbta", 0.5, Decimal(4), Decimal(5), False)
    assert dearer.share == -0.25
    assert saving_text("hem", dearer).endswith("for 5.00, which costs more by 25%.")
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


# Truths that are told.


def many(tasks: int = 12) -> tuple[str, dict[str, str]]:
    """Answers of two who are right and two who are wrong: only truths tell who is who."""
    said = {"ann": "yes no", "bob": "yes no", "eve": "no yes", "max": "no yes"}
    rows = [
        f"t{at} {who} {answers.split()[at % 2]}"
        for at in range(tasks)
        for who, answers in said.items()
    ]
    return ", ".join(rows), {f"t{at}": ("yes", "no")[at % 2] for at in range(tasks)}


@pytest.mark.parametrize(
    "policy", ["random-pairs with dawid-skene", "random-pairs with weighted-majority(learn=truths)"]
)
def test_truths_teach_those_who_learn_and_others_pass_them_over(make: Make, policy: str) -> None:
    answers, gold = many()
    against = ["random-pairs with majority"]
    told = run(make(answers), gold, budget=48, policy=policy, against=against, truths=4)
    assert told.final(policy).mean == 1.0
    assert told.final(against[0]).mean == 0.5
    assert (told.truths, told.measured, told.everything[0]) == (4, 8, 0.5)
    assert told.final_measures(against[0]).ties == 8
    assert any("Truths told at the start of each run, at no cost: 4." in r for r in told.remarks)
    none = run(make(answers), gold, budget=48, policy=policy, against=against)
    assert none.final(policy).mean == 0.5
    assert (none.truths, none.measured) == (0, 12)


def test_the_same_truths_are_told_to_all_policies_and_others_in_another_run(make: Make) -> None:
    answers, gold = many()
    seen: list[tuple[int, str, list[tuple[int, int]]]] = []
    grade = Bench.grade

    def listening(bench: Bench, each: Any, budget: Any, seed: int, number: int, *more: Any) -> Any:
        seen.append((number, each.series, bench.truths))
        return grade(bench, each, budget, seed, number, *more)

    with mock.patch.object(Bench, "grade", listening):
        run(make(answers), gold, truths=3, runs=2)
    by_run = [{str(truths) for number, _, truths in seen if number == run} for run in (0, 1)]
    assert [len(each) for each in by_run] == [1, 1]
    assert by_run[0] != by_run[1]
    assert len({series for _, series, _ in seen}) == 2


def test_everything_is_measured_where_nothing_is_told(make: Make) -> None:
    # In each run one of t0 (right), t1 (tied) and t2 (wrong) is told: the mean of what is left.
    found = run(make(), truths=1, runs=4)
    assert found.measured == 2
    assert found.everything[0] in {total / 8 for total in range(2, 7)}


def test_a_policy_that_waits_for_truths_is_told_and_that_is_said(make: Make) -> None:
    found = run(make(), policy="ccb-ns", against=["random-pairs"])
    (remark,) = (each for each in found.remarks if "waits for truths" in each)
    assert remark.startswith("ccb-ns waits for truths and is told those of tasks that it asked")


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
    # Of t0 and t2 nobody is in doubt; a tie might cost one policy more than another.
    found = run(make(), {"t0": "yes", "t2": "no"}, prices=free, budget=1)
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


# What is refused.

BAD: dict[str, tuple[dict[str, Any], str, str]] = {
    "no price": ({"prices": PRICES[:2]}, "worker 'eve' of .* has none; add a line", "prices"),
    "too little money": (
        {"prices": [Worker(name, 3) for name in ("ann", "bob", "eve")], "budget": "2.5"},
        "budget is 2.5: it buys nothing, the cheapest worker costs 3",
        "budget",
    ),
    "no money": ({"budget": 0}, "budget is 0: give an amount above 0", "budget"),
    "bad money": ({"budget": "some"}, "budget is 'some'", "budget"),
    "a worker without a line": (
        {"workers": PRICES[:2]},
        "workers: worker 'eve' of .* is not among them; add a line",
        "workers",
    ),
    "prices twice": (
        {"workers": PRICES, "prices": PRICES},
        "workers and prices both say what an answer costs: give one of them",
        "workers",
    ),
    "more truths than half": (
        {"truths": 2},
        "truths is 2: 3 tasks have gold, and at least half of them are needed to measure by; "
        "give 1 at most",
        "truths",
    ),
    "negative truths": ({"truths": -1}, "truths is -1", "truths"),
    "an unknown rule": ({"stop": "led"}, "stopping 'led' is not known", "stopping"),
    "a bad rule": ({"stop": "lead(margin=2)"}, "'lead' has no parameter 'margin'", "margin"),
    "a rule that costs too much": (
        {"stop": "lead(cap=1)", "prices": PRICES},
        "cap is 1: an answer of worker 'w1' costs 2",
        "cap",
    ),
    "no rule": ({"against": ["b-kube"]}, "stop is missing: policy 'b-kube' stays", "stop"),
    "no run": ({"runs": 0}, "runs is 0", "runs"),
    "no window": ({"window": 0}, "window is 0", "window"),
    "a seed": ({"seed": -1}, "seed is -1: give a whole number from 0", "seed"),
    "a rival twice": ({"against": ["hem"]}, "against names 'hem' twice", "against"),
    "an unknown policy": ({"policy": "hum"}, "policy 'hum' is not known", "policy"),
    "gold of other tasks": ({"gold": {"t77": "yes"}}, "no task in common with .*'t0'", "gold"),
    "no gold": ({"gold": {}}, "gold has no task in common", "gold"),
    "a policy for two options": (
        {"against": ["optkg"], "gold": {"t0": "maybe"}},
        "options has 3 names: policy 'optkg' works on two",
        "options",
    ),
}


@pytest.mark.parametrize("fault", BAD)
def test_what_is_wrong_is_named(fault: str, make: Make) -> None:
    changes, said, field = BAD[fault]
    with pytest.raises(AskwiseError, match=said) as caught:
        run(make(), **changes)
    assert caught.value.field == field


def test_one_label_is_nothing_to_choose_from(make: Make) -> None:
    with pytest.raises(AskwiseError, match="one label, 'yes': nothing to choose from"):
        run(make("t0 ann yes, t0 bob yes"), {"t0": "yes"})


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
        f"{series} at a budget of 1, run {number} of 2"
        for number in (1, 2)
        for series in ("hem", "random-pairs")
    ]


def test_progress_begins_at_once_and_moves_with_each_policy(make: Make) -> None:
    seen: list[tuple[int, int]] = []
    run(make(), runs=2, budget=2, progress=lambda what, done, total: seen.append((done, total)))
    points = len({row.x for row in run(make(), runs=1, budget=2).rows})
    total = 2 * points * 2
    assert seen == [(done, total) for done in range(total + 1)]
