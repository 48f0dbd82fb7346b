"""Every rule keeps the contract, whatever its parameters; laws and refusals they all share."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, ClassVar
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askwise import Campaign, Worker
from askwise.core.draws import Draw
from askwise.core.errors import AskwiseError, InvalidParameter, InvalidProblem
from askwise.core.events import Kind
from askwise.core.problem import Problem, make_problem
from askwise.core.registry import from_label, spec_of
from askwise.lab.contract import a_rules_live_log_is_the_labs, check_in_lab
from askwise.ledger.ledger import Ledger
from askwise.policies import policies
from askwise.stopping import StoppingRule, Verdict, stopping
from askwise.testing import rules
from askwise.testing.sessions import start
from tests.stopping.question import Question

VARIANTS = [
    *(f"{name}(horizon=5,cap=25)" for name in stopping.names()),
    "gap(quality=0.7)",
    "gap(quality=1,smooth=False)",
    "gap(delta=0.5,horizon=4)",
    "gap(quality=9,cap=9)",
    "lead(lead=1.5)",
    "lead(lead=2,horizon=3)",
    "fixed(n=1)",
    "fixed(n=4,cap=11)",
    "quorum(quorum=2,of=3)",
    "quorum(quorum=5,of=9)",
    "posterior(error=0.2)",
    "posterior(error=0.001,horizon=2)",
    "posterior(error=0.2,kinds=[{'share': 0.4}, {'share': 0.6}])",
    "posterior(error=0.2,learn=20)",
    "e-process(delta=0.9)",
    "e-process(horizon=3)",
    "joint-glr(beta=1)",
    "joint-glr(beta=20,horizon=2,cap=20)",
    "penalty(penalty=60,ahead=3)",
    "penalty(penalty=100000,horizon=3)",
    "composite(rule=gap(quality=0.7),total=False)",
    "composite(rule=quorum(quorum=2,of=2))",
    "composite(rule=posterior(error=0.2),horizon=3)",
    "composite(rule=e-process,horizon=2)",
]
"""Every rule with limits that it meets, as the registry has them; and some at other settings."""


@pytest.mark.parametrize(
    ("label", "check"),
    [
        pytest.param(label, check, id=f"{label}-{check.__name__}")
        for label in (*stopping.names(), *VARIANTS)
        for check in rules.CHECKS
    ],
)
def test_a_rule_keeps_the_contract(label: str, check: rules.Check) -> None:
    rule = stopping.make(from_label(label))
    in_session = getattr(check, "__wrapped__", None)
    if in_session is None:
        check(rule)
        return
    # In one of its scenes, in which one depends on the check and the rule; the slow suite has them
    # all.
    scenes = rules.scenes_of(rule)
    turn = rules.CHECKS.index(check) + stopping.names().index(label.partition("(")[0])
    scene = scenes[turn % len(scenes)]
    in_session(start(policies.make("uniform"), scene), rule)


@pytest.mark.slow
@pytest.mark.parametrize("label", [*stopping.names(), *VARIANTS])
def test_a_rule_keeps_the_contract_in_every_scene(label: str) -> None:
    rules.CHECKS.run(stopping.make(from_label(label)))


@pytest.mark.sampled(len(stopping.names()))
@pytest.mark.parametrize("label", [*stopping.names(), *VARIANTS])
def test_the_live_log_is_that_of_the_lab(label: str) -> None:
    a_rules_live_log_is_the_labs(stopping.make(from_label(label)))


COMPILED = ("fixed", "gap", "posterior")
"""A sample: the compiled loops of all others are compared in the slow suite."""


@pytest.mark.compiled
@pytest.mark.xdist_group("loops of rules")
@pytest.mark.parametrize(
    "label",
    [
        pytest.param(label, marks=() if label.partition("(")[0] in COMPILED else pytest.mark.slow)
        for label in (*stopping.names(), *VARIANTS)
    ],
)
def test_the_live_log_is_that_of_the_compiled_loop(label: str) -> None:
    a_rules_live_log_is_the_labs(stopping.make(from_label(label)))


@pytest.mark.parametrize("label", [*VARIANTS, *stopping.names()])
def test_a_rule_closes_something_in_the_scenes_of_the_contract(label: str) -> None:
    for scene in rules.scenes_of(stopping.make(from_label(label))):
        session = start(policies.make("uniform"), scene, seed=1)
        session.finish()
        assert any(event.kind == Kind.CLOSED for event in session.log)


# Laws that all rules share.

SYMMETRIC = [
    "gap(quality=1.3,smooth=False)",
    "gap(quality=1.3)",
    "lead(lead=2.5)",
    "fixed(n=4)",
    "quorum(quorum=3,of=4)",
    "posterior(error=0.1)",
    "e-process(delta=0.4)",
    "joint-glr(beta=2)",
    "composite(rule=gap(quality=1.3))",
    "composite(rule=posterior(error=0.1))",
]
ANSWERS = st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 2)), min_size=1, max_size=16)


@pytest.mark.parametrize("label", SYMMETRIC)
@given(ANSWERS, st.permutations("xyz"))
def test_a_rule_favours_no_option(
    label: str, answers: list[tuple[str, int]], names: list[str]
) -> None:
    """Section 4 of paper 004: whether it stops does not change if options are permuted."""
    one, other = (Question(from_label(label), options="xyz") for _ in range(2))
    for crowd, option in answers:
        found, again = one.say(crowd, "xyz"[option]), other.say(crowd, names[option])
        assert (found is None) == (again is None)
        if found and again:
            assert found.outcome == again.outcome
            assert found.confidence == pytest.approx(again.confidence)
            votes = one.ledger.book.votes[0]
            if (votes == votes.max()).sum() == 1 and "composite" not in label:
                assert found.option is not None
                assert again.option is not None
                assert names[found.option] == "xyz"[again.option]
            return


@pytest.mark.parametrize(
    "label",
    [
        "gap(quality=3)",
        "lead(lead=3)",
        "fixed(n=9)",
        "quorum(quorum=9,of=9)",
        "composite(rule=lead(lead=3))",
        "posterior(error=0.001)",
        "e-process(delta=0.01)",
        "joint-glr(beta=9)",
        "penalty(penalty=1000000)",
        "composite(rule=posterior(error=0.001))",
    ],
)
def test_a_tie_at_the_horizon_goes_to_no_option_by_its_place(label: str) -> None:
    spec = from_label(label)
    assert isinstance(spec, dict)
    question = Question({**spec, "horizon": 4})
    question.hear("a", "xyyx")
    found = [verdict.option for verdict in question.verdicts(200) if verdict]
    assert len(found) == 200
    assert set(found) == {0, 1}


@pytest.mark.parametrize("courses", [2, pytest.param(12, marks=pytest.mark.slow)])
@pytest.mark.parametrize("label", [*stopping.names(), *VARIANTS])
def test_confidence_is_a_probability_and_the_option_is_there(label: str, courses: int) -> None:
    rng = np.random.default_rng(3)
    for _ in range(courses):
        question = Question(from_label(label))
        for _ in range(14):
            question.say("abc"[rng.integers(3)], "xy"[rng.integers(2)])
            option, sure = question.guess()
            assert option in (0, 1)
            assert sure is not None
            assert 0.0 <= sure <= 1.0
            verdict = question.verdict()
            if verdict is not None:
                assert verdict.outcome in rules.OUTCOMES
                assert (verdict.option, verdict.confidence) == (option, sure)


@pytest.mark.parametrize("label", [*stopping.names(), *VARIANTS])
def test_a_task_without_an_answer_gets_no_verdict(label: str) -> None:
    question = Question(from_label(label))
    assert question.verdict() is None
    question.ask("a")
    assert question.verdict() is None
    assert question.guess() == (None, None)


@pytest.mark.parametrize("name", stopping.names())
def test_one_task_s_votes_do_not_count_for_another(name: str) -> None:
    alone = Question(name, tasks=("t", "u"))
    amid = Question(name, tasks=("t", "u"))
    for option in "yxyy":
        alone.say("a", option)
        amid.say("a", option)
        amid.say("a", "x", "u")
        amid.say("b", "x", "u")
    assert amid.verdict(77) == alone.verdict(77)
    assert amid.guess(77) == alone.guess(77)


# Refusals.

FRACTIONS = [0, 1, -0.1, 1.1, 0.0, 1.0, float("nan"), float("inf"), True, False, "0.1", [0.1]]
COUNTS = [0, -1, 1.5, 2.0, True, "2", float("nan"), [2]]
REFUSED: list[tuple[str, str, list[Any]]] = [
    ("gap", "quality", [-0.1, -1, float("nan"), float("inf"), True, "1", None, [1]]),
    ("gap", "delta", FRACTIONS),
    ("gap", "smooth", [0, 1, "true", None]),
    ("lead", "lead", [0, 0.99, -3, float("nan"), float("inf"), True, "3", None]),
    ("fixed", "n", [*COUNTS, None]),
    ("quorum", "quorum", [*COUNTS, None]),
    ("quorum", "of", [*COUNTS, None, 2]),
    ("posterior", "error", [*FRACTIONS, None]),
    ("posterior", "learn", [-1, 1.5, 2.0, True, "2", None, float("nan"), [2], 1001]),
    ("e-process", "delta", [*FRACTIONS, None]),
    ("joint-glr", "beta", [-0.1, float("nan"), float("inf"), True, "3", None]),
    ("penalty", "penalty", [0, "0", -1, "-2", True, "much", float("nan"), None, "0.0000001"]),
    ("penalty", "ahead", [*COUNTS, None]),
]
LIMITS: list[tuple[str, str, list[Any]]] = [
    *((name, "horizon", COUNTS) for name in stopping.names()),
    *((name, "cap", [0, "0", -1, "-0.5", True, "x", float("inf")]) for name in stopping.names()),
    *((name, "cap", [1e16, "0.0000001", [1]]) for name in stopping.names()),
]


@pytest.mark.parametrize(
    ("name", "field", "value"),
    [(name, field, value) for name, field, values in REFUSED + LIMITS for value in values],
)
def test_a_bad_parameter_is_refused_with_its_name(name: str, field: str, value: Any) -> None:
    with pytest.raises(AskwiseError, match=f"^{field} is ") as caught:
        stopping.make({"name": name, field: value})
    assert caught.value.field == field
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "field", "value"),
    [("gap", "quality", 10**400), ("e-process", "delta", 10**400), ("fixed", "n", -(10**5000))],
    ids=["quality", "delta", "n"],
)
def test_a_number_beyond_all_floats_is_refused_with_its_name(
    name: str, field: str, value: int
) -> None:
    with pytest.raises(InvalidParameter) as caught:
        stopping.make({"name": name, field: value})
    assert caught.value.field == field


@pytest.mark.parametrize("name", stopping.names())
def test_an_unknown_parameter_is_refused(name: str) -> None:
    with pytest.raises(InvalidParameter, match="has no parameter 'patience'") as caught:
        stopping.make({"name": name, "patience": 3})
    assert caught.value.field == "patience"


@pytest.mark.parametrize("cap", [3, "3", 3.0, Decimal("3.00")])
def test_money_in_any_form_is_the_same_rule(cap: Any) -> None:
    assert stopping.make({"name": "gap", "cap": cap}) == stopping.make({"name": "gap", "cap": 3})
    same = stopping.make({"name": "penalty", "penalty": cap})
    assert same == stopping.make({"name": "penalty", "penalty": 3})


@pytest.mark.parametrize("label", [*stopping.names(), *VARIANTS])
def test_a_rule_is_built_again_from_what_it_is_written_as(label: str) -> None:
    rule = stopping.make(from_label(label))
    assert stopping.make(spec_of(rule)) == rule


@pytest.mark.parametrize("name", stopping.names())
def test_a_campaign_that_a_rule_cannot_close_is_refused(name: str) -> None:
    rule = stopping.make(name)
    workers = [Worker("a", 1)]
    rated = make_problem(workers=workers, tasks=["t"], outcome="utility", budget=9)
    units = make_problem(workers=workers, outcome="utility", budget=9)
    if name == "fixed":
        rule.check(rated)
        message = "closes tasks, this campaign has none"
    else:
        message = "works on options, this campaign has utility"
        with pytest.raises(InvalidProblem, match=message) as caught:
            rule.check(rated)
        assert caught.value.field == "stopping"
    with pytest.raises(InvalidProblem, match=message) as caught:
        rule.check(units)
    assert caught.value.field == "stopping"
    with pytest.raises(InvalidProblem, match=message):
        Campaign.create(
            workers=workers, outcome="utility", budget=9, policy="uniform", stopping=name
        )


# A rule that does not say how sure it is.


@dataclass(frozen=True)
class TwoAgree(StoppingRule):
    """In plain Python: close with the first option that two have named."""

    name: ClassVar[str] = "two-agree"

    def verdict(
        self, problem: Problem, state: Any, ledger: Ledger, task: int, draw: Draw, beliefs: Any
    ) -> Verdict | None:
        votes = ledger.book.votes[task]
        return Verdict(int(votes.argmax()), "confident") if votes.max() >= 2 else None


def test_a_rule_without_a_confidence_keeps_the_contract_live_and_in_the_lab() -> None:
    with mock.patch.dict(stopping._entries, {"two-agree": TwoAgree}):
        rules.check_rule(TwoAgree())
        check_in_lab(TwoAgree())
        campaign = Campaign.create(
            workers=[Worker("a", 1)],
            tasks=["t"],
            options=["no", "yes"],
            repeat=True,
            policy="uniform",
            stopping=TwoAgree(),
        )
        while batch := campaign.ask():
            campaign.tell(batch[0].id, "yes")
        (answer,) = campaign.answers()
        assert (answer.value, answer.outcome, answer.confidence) == ("yes", "confident", None)
