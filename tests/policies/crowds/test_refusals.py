"""What the survey policies refuse: one clear error that names the field."""

from __future__ import annotations

import dataclasses
import math
from decimal import Decimal

import pytest

from askwise import Campaign
from askwise.core.errors import (
    AskwiseError,
    InvalidAnswer,
    InvalidParameter,
    InvalidProblem,
    UnknownName,
)
from askwise.policies import KnowsTruth, policies
from askwise.policies.crowds.common import SurveyPolicy
from tests.policies.crowds.polls import ask, poll

NO_NUMBERS = [math.nan, math.inf, -math.inf, True, False, "1", None, [1], 1j, Decimal(1), 10**400]

WRONG = {
    "exploration": [-1, -1e-9, *NO_NUMBERS],
    "schedule": ["", "Log", "linear", None, True, 1, ["log"]],
    "discount": [0, -0.5, 1.0001, 2, *NO_NUMBERS],
    "prior": [-1, -1e-9, *NO_NUMBERS],
    "quality": [-1, -1e-9, *NO_NUMBERS],
    "low": [0, -0.5, 1.0001, *NO_NUMBERS],
    "alpha": [-1, -1e-9, *(value for value in NO_NUMBERS if value is not None)],
    "smooth": [0, 1, None, "yes", "true", 1.0],
    "open_at_once": [0, -1, 1.5, True, "1", [1]],
    "free_price": [0, -0.5, 1.0001, *NO_NUMBERS],
    "reward": ["", "Gap", None, True, 1, ["gap"]],
    "try_after": [-1, -1e-9, *NO_NUMBERS],
    "power": [0, 0.4999, 4.0001, -1, *NO_NUMBERS],
    "shares": [[1, 2], "a", 1, True, [("a", 1)], {"a": 0}, {}, {"a": 0, "b": 0.0}],
}
"""Of each parameter; the truth of the benchmarks has tests of its own."""

RIGHT = {
    "exploration": [0, 0.0, 3, 1e6],
    "schedule": ["constant", "log"],
    "discount": [1, 1.0, 0.5, 1e-6],
    "prior": [0, 0.5, 10],
    "quality": [0, 0.5, 3],
    "low": [1, 0.01],
    "alpha": [None, 0, 2.5],
    "smooth": [True, False],
    "open_at_once": [None, 1, 7],
    "free_price": [0.25, 1, 0.001],
    "reward": ["gap", "accuracy"],
    "try_after": [0, 1.5, 100],
    "power": [0.5, 1, 4],
    "shares": [None, {"a": 1}, {"a": 1, "b": 0}, {"b": 0.001}],
}

FAMILY = [
    policies.get(name)
    for name in policies.names()
    if issubclass(policies.get(name), SurveyPolicy)
    and not issubclass(policies.get(name), KnowsTruth)
]

PARAMETERS = [(entry.name, field.name) for entry in FAMILY for field in dataclasses.fields(entry)]


def default_of(policy, parameter):
    return getattr(policies.make(policy), parameter)


def of_another_kind(default):
    """Values that a parameter with this default does not take, whatever it means."""
    if isinstance(default, bool):
        return [0, 1, None, "yes", "true", 1.0]
    return ["", None, True, 1, ["a"]] if isinstance(default, str) else NO_NUMBERS


def wrong(policy, parameter):
    return WRONG.get(parameter) or of_another_kind(default_of(policy, parameter))


def right(policy, parameter):
    return RIGHT.get(parameter) or [default_of(policy, parameter)]


def test_every_parameter_whose_values_are_chosen_here_is_there():
    assert set(WRONG) == set(RIGHT) <= {parameter for _, parameter in PARAMETERS}


@pytest.mark.parametrize(("policy", "parameter"), PARAMETERS)
def test_a_value_of_another_kind_than_the_default_is_refused(policy, parameter):
    default = default_of(policy, parameter)
    if isinstance(default, bool | str | int | float):
        for value in of_another_kind(default):
            with pytest.raises(InvalidParameter):
                policies.make({"name": policy, parameter: value})


@pytest.mark.parametrize(("policy", "parameter"), PARAMETERS)
def test_a_wrong_value_is_refused_by_name(policy, parameter):
    for value in wrong(policy, parameter):
        with pytest.raises(InvalidParameter) as caught:
            policies.make({"name": policy, parameter: value})
        assert caught.value.field == parameter, value
        message = str(caught.value)
        assert message.startswith(f"{parameter} "), message
        assert len(message) < 200
        assert "\n" not in message


@pytest.mark.parametrize(("policy", "parameter"), PARAMETERS)
def test_the_same_is_refused_by_a_campaign_before_anything_is_stored(policy, parameter):
    with pytest.raises(InvalidParameter) as caught:
        poll({"name": policy, parameter: wrong(policy, parameter)[0]})
    assert caught.value.field == parameter


@pytest.mark.parametrize(("policy", "parameter"), PARAMETERS)
def test_right_values_are_taken_and_kept(policy, parameter):
    for value in right(policy, parameter):
        campaign = poll({"name": policy, parameter: value})
        # One that came later is not written at its default.
        default = default_of(policy, parameter)
        assert campaign.spec["policy"].get(parameter, default) == value
        for answer in "xyx":
            campaign.tell(ask(campaign).id, answer)


@pytest.mark.parametrize("value", [-1, math.nan, math.inf, True, "1", None])
def test_a_wrong_share_is_refused_by_name(value):
    with pytest.raises(InvalidParameter, match=r"shares\['b'\] is ") as caught:
        policies.make({"name": "non-adaptive", "shares": {"a": 1, "b": value}})
    assert str(caught.value.field).startswith("shares")


def test_a_share_of_nobody_is_refused_with_the_nearest_name():
    with pytest.raises(UnknownName, match="did you mean 'panel'") as caught:
        poll(
            {"name": "non-adaptive", "shares": {"panle": 1}},
            workers=[{"id": "panel", "price": 1}, {"id": "vendor", "price": 1}],
        )
    assert caught.value.field == "shares"


@pytest.mark.parametrize("crowd", [1, None])
def test_a_share_under_something_that_is_no_name_is_refused(crowd):
    with pytest.raises(AskwiseError) as caught:
        poll({"name": "non-adaptive", "shares": {crowd: 1}})
    assert caught.value.field == "shares"


@pytest.mark.parametrize("entry", FAMILY, ids=lambda entry: entry.name)
def test_an_unknown_parameter_is_refused_by_name(entry):
    with pytest.raises(InvalidParameter, match="has no parameter 'explorations'") as caught:
        policies.make({"name": entry.name, "explorations": 1})
    assert caught.value.field == "explorations"


def test_a_misspelt_policy_is_refused_with_the_nearest_name():
    with pytest.raises(UnknownName, match="'virt-ucb'") as caught:
        poll("virt-ubc")
    assert caught.value.field == "policy"


@pytest.mark.parametrize("entry", FAMILY, ids=lambda entry: entry.name)
def test_questions_need_two_options_that_differ_and_no_utility(entry):
    for options, field in (("x", "options"), ("", "outcome"), ("xyx", "option")):
        with pytest.raises(InvalidProblem) as caught:
            poll(entry.name, options=options)
        assert caught.value.field == field
    with pytest.raises(InvalidProblem, match=entry.name) as caught:
        Campaign.create(
            workers=[{"id": "a", "price": 1}], outcome="utility", budget=9, policy=entry.name
        )
    assert caught.value.field == "policy"


@pytest.mark.parametrize("options", [["x", ""], ["x", True], ["x", None], "xy", ["x", "a\nb"]])
def test_options_must_be_names(options):
    with pytest.raises(InvalidProblem) as caught:
        Campaign.create(
            workers=[{"id": "a", "price": 1}], tasks=["q"], options=options, policy="virt-ucb"
        )
    assert str(caught.value.field).startswith("option")


@pytest.mark.parametrize("price", [-1, "-0.01", math.nan, math.inf, True, None, "free", "1e-7"])
def test_a_price_must_be_an_amount_of_money(price):
    with pytest.raises(InvalidProblem, match="price") as caught:
        poll("virt-ucb", (1, price))
    assert caught.value.field == "price"


@pytest.mark.parametrize("limit", [0, -1, True, 1.5, "3"])
def test_a_limit_must_be_a_whole_number(limit):
    with pytest.raises(InvalidProblem, match="limit") as caught:
        poll("virt-ucb", limits={"a": limit})
    assert caught.value.field == "limit"


@pytest.mark.parametrize("repeat", [0, 1, "yes"])
def test_repeat_is_true_or_false(repeat):
    with pytest.raises(InvalidProblem, match="repeat") as caught:
        poll("virt-ucb", repeat=repeat)
    assert caught.value.field == "repeat"


@pytest.mark.parametrize("entry", FAMILY, ids=lambda entry: entry.name)
def test_an_answer_that_is_no_option_is_refused_and_changes_nothing(entry):
    campaign = poll(entry.name)
    assignment = ask(campaign)
    before = campaign.log()
    for answer in ("z", "X", "", " x", 0, 0.0, True, None, math.nan, ["x"]):
        with pytest.raises(InvalidAnswer, match="give one of x, y") as caught:
            campaign.tell(assignment.id, answer)
        assert caught.value.field == "value"
    assert campaign.log() == before
    campaign.tell(assignment.id, "x")
    assert campaign.status().answers == 1
