"""What the policy "auto" chooses, worked out by hand from the table in docs/how-to/auto.md."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from askwise import Campaign, Task, Worker
from askwise.campaign.choosing import PREFERENCES
from askwise.campaign.spec import make_spec
from askwise.core.errors import AskwiseError, InvalidParameter, InvalidProblem
from askwise.policies import policies
from askwise.stopping import stopping

PEOPLE = [Worker("ann", "0.05"), Worker("bob", "0.10")]
CROWDS = [Worker("panel", "0.05", kind="crowd"), Worker("vendor", "0.10", kind="crowd")]
MODELS = [Worker("small", "0.01", kind="model"), Worker("large", "0.10", kind="model")]
VET = Worker("vet", 2, trusted=True)
FEW = ["t1", "t2", "t3"]
MANY = [f"t{n}" for n in range(600)]
TWO, THREE = ["no", "yes"], ["no", "yes", "both"]
MANY_OPTIONS = [f"option {n}" for n in range(2300)]


def made(**given: Any) -> dict[str, Any]:
    """The description that the store would keep."""
    kept: dict[str, Any] = json.loads(make_spec({"workers": PEOPLE, "seed": 1, **given}).to_json())
    return kept


def labels(**given: Any) -> dict[str, Any]:
    return {"tasks": FEW, "options": TWO, "budget": 9, **given}


def auto(**terms: Any) -> dict[str, Any]:
    return {"name": "auto", **terms}


def bids(mechanism: str) -> dict[str, Any]:
    return {"name": mechanism, "c_max": 5}


CHOICES: dict[str, tuple[dict[str, Any], dict[str, Any], dict[str, Any] | None]] = {
    "units of work within a budget": (
        {"outcome": "utility", "budget": 5},
        {"name": "gittins-knapsack"},
        None,
    ),
    "tasks with a utility": (
        {"outcome": "utility", "budget": 5, "tasks": FEW},
        {"name": "gittins-knapsack"},
        None,
    ),
    "units of work without a budget": ({"outcome": "utility"}, {"name": "thompson-knapsack"}, None),
    "labels": (labels(), {"name": "hem"}, None),
    "labels of models and a crowd": (labels(workers=[*MODELS, CROWDS[0]]), {"name": "hem"}, None),
    "labels of crowds that are asked once": (
        labels(workers=CROWDS, repeat=False),
        {"name": "hem"},
        None,
    ),
    "persons, though pairs may repeat": (
        labels(workers=MODELS, repeat=True),
        {"name": "hem"},
        None,
    ),
    "labels with a target": (
        labels(policy=auto(target=0.1)),
        {"name": "hem", "target": 0.1},
        None,
    ),
    "labels with a rule": (
        labels(stopping={"name": "fixed", "n": 2}),
        {"name": "hem"},
        {"name": "fixed", "n": 2},
    ),
    "labels that audits certify": (
        labels(
            workers=[*MODELS, VET],
            budget=600,
            tasks=MANY,
            policy=auto(target=0.1, guarantee=True),
            certify={"error": 0.1, "confidence": 0.9, "by": ["vet"], "share": 0.5},
        ),
        {"name": "hem", "target": 0.1},
        None,
    ),
    "labels with too many options for hem": (
        labels(options=MANY_OPTIONS),
        {"name": "random-pairs"},
        None,
    ),
    "labels with too many options for hem, and a target": (
        labels(options=MANY_OPTIONS, policy=auto(target=0.1)),
        {"name": "random-pairs"},
        {"name": "posterior", "error": 0.1},
    ),
    "two options and crowds": (
        labels(workers=CROWDS),
        {"name": "virt-ucb", "try_after": 4.0},
        {"name": "posterior", "error": 0.05, "learn": 100},
    ),
    "two options and workers who may be asked again": (
        labels(repeat=True),
        {"name": "virt-ucb", "try_after": 4.0},
        {"name": "posterior", "error": 0.05, "learn": 100},
    ),
    "nobody yet, but whoever joins may be asked again": (
        labels(workers=[], repeat=True),
        {"name": "virt-ucb", "try_after": 4.0},
        {"name": "posterior", "error": 0.05, "learn": 100},
    ),
    "crowds without a budget": (
        labels(workers=CROWDS, budget=None, policy=auto(target=0.1)),
        {"name": "virt-ucb", "try_after": 4.0},
        {"name": "posterior", "error": 0.1, "learn": 100, "horizon": 1000},
    ),
    "crowds with a guarantee": (
        labels(workers=CROWDS, options=THREE, policy=auto(target=0.1, guarantee=True)),
        {"name": "virt-ucb", "try_after": 4.0},
        {"name": "e-process", "delta": 0.1},
    ),
    "crowds with a rule": (
        labels(workers=CROWDS, stopping="lead"),
        {"name": "virt-ucb", "try_after": 4.0},
        {"name": "lead"},
    ),
    "three options and crowds": (
        labels(workers=CROWDS, options=THREE, policy=auto(target=0.1)),
        {"name": "glr-directed"},
        {"name": "joint-glr", "beta": round(math.log(10), 6)},
    ),
    "three options, crowds and joint-glr": (
        labels(workers=CROWDS, options=THREE, stopping={"name": "joint-glr", "beta": 4}),
        {"name": "glr-directed"},
        {"name": "joint-glr", "beta": 4},
    ),
    "three options, crowds and the gap": (
        labels(workers=CROWDS, options=THREE, stopping="gap"),
        {"name": "lp-thompson"},
        {"name": "gap"},
    ),
    "three options, crowds and another rule": (
        labels(workers=CROWDS, options=THREE, stopping="lead"),
        {"name": "virt-ucb", "try_after": 4.0},
        {"name": "lead"},
    ),
    "too many options to compare each with each": (
        # Twice 158 squared is 49,928, and twice 159 squared is above 50,000.
        labels(workers=CROWDS, options=MANY_OPTIONS[:159]),
        {"name": "virt-ucb", "try_after": 4.0},
        {"name": "posterior", "error": 0.05},
    ),
    "as many options as can be compared": (
        labels(workers=CROWDS, options=MANY_OPTIONS[:158]),
        {"name": "glr-directed"},
        {"name": "joint-glr", "beta": round(math.log(20), 6)},
    ),
    "truths that are told": (
        labels(policy=auto(target=0.1, truths=True)),
        {"name": "ccb-ns", "alpha": 0.1, "xi": 0.03},
        None,
    ),
    "truths that are told, and guarantee": (
        labels(policy=auto(target=0.1, truths=True, guarantee=True)),
        {"name": "ccb-ns", "alpha": 0.1, "xi": 0.03},
        None,
    ),
    "truths that are told, and no target": (
        labels(policy=auto(truths=True)),
        {"name": "hem"},
        None,
    ),
    "truths that are told, of kinds of tasks": (
        labels(
            tasks=[Task("a", context="cats"), Task("b", context="dogs")],
            policy=auto(target=0.1, truths=True),
        ),
        {"name": "hem", "target": 0.1},
        None,
    ),
    "truths that are told, of workers who err together": (
        labels(
            workers=[Worker(name, 1, family="gpt") for name in "ab"],
            policy=auto(target=0.1, truths=True),
        ),
        {"name": "hem", "target": 0.1},
        None,
    ),
    "a guarantee on few labels": (
        labels(workers=[*MODELS, VET], policy=auto(target=0.1, guarantee=True)),
        {"name": "cascade", "error": 0.1, "confidence": 0.9, "truths": 100},
        None,
    ),
    "cheap judges and an expert": (
        # 600 tasks at 0.11 for the judges are 66, three quarters of them at 2 are 900.
        labels(workers=[*MODELS, VET], tasks=MANY, budget=966, policy=auto(target=0.1)),
        {"name": "cascade", "error": 0.1, "confidence": 0.9, "truths": 100},
        None,
    ),
    "cheap judges and an expert, a little too poor": (
        labels(workers=[*MODELS, VET], tasks=MANY, budget="965.99", policy=auto(target=0.1)),
        {"name": "hem", "target": 0.1},
        None,
    ),
    "cheap judges and an expert without a cap": (
        labels(workers=[*MODELS, VET], tasks=MANY, budget=None, policy=auto(target=0.1)),
        {"name": "cascade", "error": 0.1, "confidence": 0.9, "truths": 100},
        None,
    ),
    "cheap judges, an expert and no target": (
        labels(workers=[*MODELS, VET], tasks=MANY, budget=2000),
        {"name": "hem"},
        None,
    ),
    "cheap judges and an expert, too few tasks": (
        labels(workers=[*MODELS, VET], tasks=MANY[:499], budget=2000, policy=auto(target=0.1)),
        {"name": "hem", "target": 0.1},
        None,
    ),
    "judges who cost more than a quarter of the expert": (
        labels(
            workers=[*MODELS, Worker("third", "0.40"), VET],
            tasks=MANY,
            budget=9000,
            policy=auto(target=0.1),
        ),
        {"name": "hem", "target": 0.1},
        None,
    ),
    "a judge with a limit": (
        labels(
            workers=[*MODELS, Worker("third", "0.1", limit=599), VET],
            tasks=MANY,
            budget=9000,
            policy=auto(target=0.1),
        ),
        {"name": "hem", "target": 0.1},
        None,
    ),
    "tasks that are not open to all": (
        labels(
            workers=[*MODELS, VET],
            tasks=[*MANY, Task("own", workers=["vet"])],
            budget=9000,
            policy=auto(target=0.1),
        ),
        {"name": "hem", "target": 0.1},
        None,
    ),
    "labels that another aggregator names": (
        labels(
            workers=[*MODELS, VET],
            tasks=MANY,
            budget=9000,
            aggregation="dawid-skene",
            policy=auto(target=0.1),
        ),
        {"name": "hem", "target": 0.1},
        None,
    ),
    "bids, and learning that may end early": (
        labels(mechanism=bids("self-resampling")),
        {"name": "ccb-s", "alpha": 0.1, "solver": "exact"},
        None,
    ),
    "bids, and learning of a fixed length": (
        labels(mechanism=bids("fixed-exploration"), policy=auto(target=0.2)),
        {"name": "ccb-fixed", "alpha": 0.2, "solver": "exact"},
        None,
    ),
}


@pytest.mark.parametrize(("given", "policy", "rule"), CHOICES.values(), ids=CHOICES)
def test_the_choice_is_the_one_worked_out_by_hand(
    given: dict[str, Any], policy: dict[str, Any], rule: dict[str, Any] | None
) -> None:
    kept = made(**given)
    assert policies.make(kept["policy"]) == policies.make(policy)
    if rule is None:
        assert kept["stopping"] is None
    else:
        assert stopping.make(kept["stopping"]) == stopping.make(rule)
    assert kept["auto"]["because"].startswith(f"{policy['name']}: ")


def test_every_row_of_the_table_is_chosen_somewhere() -> None:
    reasons = {made(**given)["auto"]["because"] for given, _, _ in CHOICES.values()}
    for row in PREFERENCES:
        assert any(reason.startswith(f"{row.policy}: {row.why}; ") for reason in reasons), row.when


SENTENCES = [
    (
        labels(),
        "hem: labels from several workers of unknown skill; ends when the budget is spent",
    ),
    (
        labels(budget=None),
        "hem: labels from several workers of unknown skill; ends when everyone has been asked "
        "about every task",
    ),
    (
        labels(policy=auto(target=0.1), stopping="fixed"),
        "hem: labels from several workers of unknown skill; ends when the estimated error of every "
        "label is at most 0.1, or by the stopping rule 'fixed', or when the budget is spent",
    ),
    (
        labels(workers=CROWDS, budget=None),
        "virt-ucb: crowds that may be asked again about two options; a question ends when "
        "posterior puts its error at 0.05 or less, or after 1,000 answers",
    ),
    (
        labels(workers=CROWDS, stopping="lead"),
        "virt-ucb: crowds that may be asked again about two options; a task ends by the stopping "
        "rule 'lead', or when the budget is spent",
    ),
]


@pytest.mark.parametrize(("given", "sentence"), SENTENCES)
def test_one_sentence_says_what_was_chosen_why_and_when_it_ends(
    given: dict[str, Any], sentence: str
) -> None:
    campaign = Campaign.create(workers=given.pop("workers", PEOPLE), **given)
    assert campaign.status().because == sentence


def test_what_was_named_stays_as_named() -> None:
    named = {"name": "dawid-skene", "max_iterations": 7}
    kept = made(**labels(stopping={"name": "quorum", "quorum": 4}, aggregation=named))
    assert kept["stopping"]["quorum"] == 4
    assert kept["aggregation"]["max_iterations"] == 7
    crowds = made(**labels(workers=CROWDS, aggregation="one-coin", mechanism="pay-price"))
    assert (crowds["aggregation"]["name"], crowds["mechanism"]["name"]) == ("one-coin", "pay-price")


def test_crowds_may_repeat_unless_the_author_says_otherwise() -> None:
    assert made(**labels(workers=CROWDS))["repeat"] is True
    assert made(**labels(workers=CROWDS, repeat=False))["repeat"] is False
    assert made(**labels())["repeat"] is False


def test_workers_may_come_from_an_iterator() -> None:
    assert made(**labels(workers=iter(CROWDS), tasks=iter(FEW)))["repeat"] is True


REFUSED: dict[str, tuple[dict[str, Any], type[AskwiseError], str, str]] = {
    "target of 0": (labels(policy=auto(target=0)), InvalidParameter, "target", "between 0 and 1"),
    "target of 1": (labels(policy=auto(target=1)), InvalidParameter, "target", "between 0 and 1"),
    "target in words": (labels(policy=auto(target="low")), InvalidParameter, "target", "'low'"),
    "guarantee of 1": (
        labels(policy=auto(target=0.1, guarantee=1)),
        InvalidParameter,
        "guarantee",
        "give true or false",
    ),
    "truths in words": (labels(policy=auto(truths="yes")), InvalidParameter, "truths", "'yes'"),
    "guarantee of nothing": (
        labels(policy=auto(guarantee=True)),
        InvalidParameter,
        "target",
        "which error is to be guaranteed",
    ),
    "truths of a utility": (
        {"outcome": "utility", "policy": auto(truths=True)},
        InvalidParameter,
        "truths",
        "has no labels",
    ),
    "target beside a rule for crowds": (
        labels(workers=CROWDS, stopping="gap", policy=auto(target=0.1)),
        InvalidParameter,
        "target",
        "stopping is 'gap'",
    ),
    "guarantee without anybody trusted": (
        labels(policy=auto(target=0.1, guarantee=True)),
        InvalidParameter,
        "guarantee",
        "add judges and a worker with trusted=True",
    ),
    "guarantee that a named aggregator would break": (
        labels(
            workers=[*MODELS, VET],
            aggregation="majority",
            policy=auto(target=0.1, guarantee=True),
        ),
        InvalidParameter,
        "guarantee",
        "name neither stopping nor aggregation",
    ),
    "guarantee where pairs may repeat, but nobody is a crowd": (
        labels(
            workers=[*MODELS, Worker("vet", 2, trusted=True, kind="person")],
            repeat=True,
            policy=auto(target=0.1, guarantee=True),
        ),
        InvalidProblem,
        "repeat",
        "policy 'auto' finds no policy for this campaign: repeat is True",
    ),
    "payments by qualities that nobody told": (
        labels(mechanism=bids("clarke")),
        InvalidProblem,
        "mechanism",
        "use 'ccb-fixed' with known qualities",
    ),
    "nothing that could be asked for nothing": (
        {"outcome": "utility", "workers": [Worker("ann", 0)]},
        InvalidProblem,
        "price",
        "price of worker 'ann' is 0",
    ),
}


@pytest.mark.parametrize(("given", "error", "field", "words"), REFUSED.values(), ids=REFUSED)
def test_what_can_not_be_kept_is_refused_by_field(
    given: dict[str, Any], error: type[AskwiseError], field: str, words: str
) -> None:
    with pytest.raises(error) as caught:
        made(**given)
    assert (type(caught.value), caught.value.field) == (error, field)
    assert words in str(caught.value)
