"""One instance for each crowd and one for all: who is judged, and who has the word."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askwise import Campaign, Worker
from askwise.core.errors import AskwiseError, InvalidParameter, InvalidProblem
from askwise.core.registry import label_of, spec_of
from askwise.stopping import stopping
from askwise.stopping.composite import Composite
from askwise.stopping.gap import Gap
from tests.stopping.question import Question, first_stop, share

STRICT = "gap(quality=1,smooth=False)"
SINGLE = ["gap(quality=1.5)", "lead", "fixed", "quorum", "posterior", "e-process(delta=0.2)"]


def composite(rule: Any = STRICT, **more: Any) -> dict[str, Any]:
    return {"name": "composite", "rule": rule, **more}


# Who is judged.


def test_a_crowd_stops_by_its_own_answers() -> None:
    question = Question(composite())
    assert question.hear("a", "xyxy") == [None] * 4
    # b: 2 > 1.41; the total has 4 of 6, 2 < 2.45.
    assert question.hear("b", "yy") == [None, (1, "confident", 1.0)]


def test_the_total_crowd_stops_where_no_crowd_alone_would() -> None:
    assert first_stop(composite(), "yy", crowds="ab") == (2, (1, "confident", 1.0))
    assert first_stop(composite(total=False), "yyy", crowds="abc") is None
    # Each crowd has 3-1, 2 > 2 is false; the total 6-2, 4 > 2.83.
    question = Question(composite())
    question.hear("a", "xyyy")
    assert question.hear("b", "xyyy")[-1] == (1, "confident", 0.75)


def test_only_who_just_answered_is_judged() -> None:
    rule = "gap(quality=1.2)"
    question = Question(composite(rule, total=False))
    question.hear("a", "yy")
    # 2 against 1.7, rounded up or down.
    due = 2 - 1.2 * math.sqrt(2)
    assert abs(share(question.verdicts(2000)) - due) < 4 * math.sqrt(due * (1 - due) / 2000)
    # Now b spoke: 1 against 1.2 never stops, and a, that would, is idle.
    question.say("b", "x")
    assert question.verdicts(500) == [None] * 500
    question.hear("a", "yy")
    assert share(question.verdicts(100)) == 1.0


def test_idle_is_also_who_was_asked_and_has_not_answered() -> None:
    question = Question(composite("fixed(n=2)", total=False))
    assert question.hear("a", "yy")[-1] == (1, "confident", 1.0)
    question.ask("b")
    assert question.verdict() == (1, "confident", 1.0)
    assert question.say("b", "x") is None


@pytest.mark.parametrize(("total", "stops"), [(True, 1.0), (False, 0.0)])
def test_without_the_total_crowd_only_the_crowds_count(total: bool, stops: float) -> None:
    question = Question(composite(total=total))
    for crowd in "abc":
        question.say(crowd, "y")
    assert share(question.verdicts(20)) == stops


def test_each_instance_has_a_draw_of_its_own() -> None:
    # Crowd and total both have 1 of 1 against 0.5: each stops half of the time.
    both = Question(composite("gap(quality=0.5)"))
    both.say("a", "y")
    assert abs(share(both.verdicts(3000)) - 0.75) < 4 * math.sqrt(0.75 * 0.25 / 3000)
    crowds = []
    for crowd in "abc":
        alone = Question(composite("gap(quality=0.5)", total=False))
        alone.say(crowd, "y")
        crowds.append([verdict is not None for verdict in alone.verdicts(1500)])
    for one, other in ((0, 1), (0, 2), (1, 2)):
        agree = sum(a == b for a, b in zip(crowds[one], crowds[other], strict=True))
        assert abs(agree - 750) < 4 * math.sqrt(1500 / 4)


def test_two_that_stop_at_once_with_different_options_are_drawn_between() -> None:
    question = Question(composite())
    question.hear("a", "y" * 9)
    question.hear("b", "xx")
    # b: 2 > 1.41 for x; the total, 9-2: 7 > 3.3 for y.
    found = question.verdicts(1000)
    assert set(found) == {(0, "confident", 1.0), (1, "confident", 9 / 11)}
    assert abs(found.count((0, "confident", 1.0)) - 500) < 4 * math.sqrt(250)


def test_two_that_stop_at_once_with_one_option_give_it() -> None:
    question = Question(composite())
    question.hear("a", "y")
    found = set(question.hear("b", "yy")[-1:])
    assert found == {(1, "confident", 1.0)}


def test_the_draw_between_two_is_apart_from_the_draws_of_the_instances() -> None:
    # At a tie in the crowd and a tie in all, instance and total draw their leaders.
    question = Question(composite("fixed(n=2)"))
    question.hear("a", "xy")
    options = [verdict.option for verdict in question.verdicts(1000) if verdict]
    assert len(options) == 1000
    assert abs(sum(options) - 500) < 4 * math.sqrt(250)


def test_three_options() -> None:
    question = Question(composite(), options="xyz")
    question.hear("a", "xyz")
    # 3, 1, 1 in a: 2 < 2.24; 4, 1, 1: 3 > 2.45.
    assert question.hear("a", "zzz") == [None, None, (2, "confident", 4 / 6)]


def test_confident_has_the_word_over_low_confidence() -> None:
    # b has used up its three answers, one for each; all together have two for x.
    question = Question(composite("quorum(quorum=2,of=3)"), options="xyz")
    question.say("a", "x")
    assert question.hear("b", "yzx")[-1] == (0, "confident", 0.5)


def test_a_crowd_out_of_reach_of_its_quorum_leaves_the_others_theirs() -> None:
    # a is out of reach after 1-1 of 3; b has three answers left.
    question = Question(composite("quorum(quorum=3,of=3)", total=False))
    assert question.hear("a", "xy")[-1] is None


# Limits.


def test_horizon_and_cap_are_of_the_question() -> None:
    assert first_stop(composite("lead", horizon=4), "xyyy", "ab") == (
        4,
        (1, "low_confidence", 0.75),
    )
    assert first_stop(composite("lead", cap=4), "xyyy", "ab") == (4, (1, "over_budget", 0.75))
    assert first_stop(composite("lead", horizon=3, cap=3), "yyy", "a") == (3, (1, "confident", 1.0))


def test_without_the_total_crowd_the_horizon_answers_for_all_crowds() -> None:
    question = Question(composite("lead(lead=9)", total=False, horizon=7))
    question.hear("a", "yyyyyy")
    verdict = question.say("b", "x")
    assert verdict is not None
    assert verdict[:2] == (1, "low_confidence")


# One crowd.


@pytest.mark.parametrize("name", SINGLE)
@given(word=st.text("xyz", min_size=1, max_size=16))
def test_on_one_crowd_without_total_it_stops_as_its_rule_does(name: str, word: str) -> None:
    name = name.replace("quality=1.5", "quality=1.5,smooth=False")
    outer = Question(composite(name, total=False), options="xyz")
    inner = Question(stopping.make(outer.rule.inner), options="xyz")  # type: ignore[attr-defined]
    for option in word:
        found, due = outer.say("a", option), inner.say("a", option)
        # A crowd that gives up does not end the question.
        assert (found is None) == (due is None or due.outcome != "confident")
        if found and due:
            assert found.outcome == due.outcome
            assert found.confidence == pytest.approx(due.confidence)
            return


# How it is written.


@pytest.mark.parametrize(
    ("written", "label"),
    [
        ("gap", "gap"),
        ("gap(quality=1.5)", "gap(quality=1.5)"),
        ("gap( quality = 1.5 )", "gap(quality=1.5)"),
        ({"name": "gap", "quality": 1.5}, "gap(quality=1.5)"),
        ({"name": "gap"}, "gap"),
        (Gap(quality=1.5), "gap(quality=1.5)"),
        (Gap(quality=2), "gap"),
        ("gap(delta=1e-05,smooth=False)", "gap(delta=1e-05,smooth=False)"),
        ("quorum(quorum=2,of=7)", "quorum(of=7,quorum=2)"),
        ("e-process(delta=0.2)", "e-process(delta=0.2)"),
    ],
    ids=str,
)
def test_its_rule_may_be_a_name_a_label_a_mapping_or_a_rule(written: Any, label: str) -> None:
    rule = Composite(rule=written)
    assert rule.rule == label
    assert stopping.make(spec_of(rule)) == rule
    assert label_of(rule.inner) == label


def test_a_composite_in_a_label_reads_back() -> None:
    rule = stopping.make(composite("gap(quality=1.5,smooth=False)", total=False))
    label = label_of(rule)
    assert label == "composite(rule=gap(quality=1.5,smooth=False),total=False)"
    campaign = Campaign.create(
        workers=[Worker("a", 1)],
        tasks=["t"],
        options=["x", "y"],
        policy="round-robin",
        stopping=rule,
    )
    assert campaign.ask()


@pytest.mark.parametrize("inner", ["joint-glr", "penalty", "composite", "composite(rule=lead)"])
def test_rules_on_several_crowds_are_refused_inside(inner: str) -> None:
    with pytest.raises(InvalidParameter, match="give a rule on a single crowd") as caught:
        stopping.make(composite(inner))
    assert caught.value.field == "rule"


@pytest.mark.parametrize(
    "inner", ["gap(horizon=5)", "lead(cap=5)", {"name": "fixed", "horizon": 9}], ids=str
)
def test_limits_inside_are_refused(inner: Any) -> None:
    with pytest.raises(InvalidParameter, match="is the composite's: set it there"):
        stopping.make(composite(inner))


def test_the_refusal_of_an_inner_cap_names_it() -> None:
    with pytest.raises(InvalidParameter) as caught:
        stopping.make(composite("lead(cap=5)"))
    assert caught.value.field == "cap"


@pytest.mark.parametrize(
    ("raw", "field"),
    [
        ({"rule": "gap(quality=-1)"}, "quality"),
        ({"rule": "gap(quality=loud)"}, "quality"),
        ({"rule": "gap(size=1)"}, "size"),
        ({"rule": {"name": "gap", "size": 1}}, "size"),
        ({"rule": {"quality": 1}}, "rule"),
        ({"rule": "nonsense"}, "rule"),
        ({"rule": ""}, "rule"),
        ({"rule": 5}, "rule"),
        ({"rule": None}, "rule"),
        ({"rule": "gap(quality=1"}, "gap"),
        ({"rule": "gap(1)"}, "gap"),
        ({"total": 1}, "total"),
        ({"total": "yes"}, "total"),
        ({"total": None}, "total"),
        ({"horizon": 0}, "horizon"),
        ({"cap": 0}, "cap"),
    ],
    ids=str,
)
def test_what_it_cannot_read_is_refused_with_a_field(raw: dict[str, Any], field: str) -> None:
    with pytest.raises(AskwiseError) as caught:
        stopping.make({"name": "composite", **raw})
    assert caught.value.field == field


def test_a_utility_campaign_is_refused_even_for_fixed() -> None:
    with pytest.raises(InvalidProblem, match="works on options"):
        Campaign.create(
            workers=[Worker("a", 1)],
            tasks=["t"],
            outcome="utility",
            budget=5,
            policy="uniform",
            stopping=composite("fixed"),
        )
