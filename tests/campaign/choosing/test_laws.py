"""What holds of the policy "auto" whatever the campaign is, and whatever else is installed."""

from __future__ import annotations

import dataclasses
from typing import Any, NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askwise.campaign.spec import Spec, make_spec
from askwise.core.errors import AskwiseError
from askwise.core.problem import Problem
from askwise.policies import LimitsSize, policies
from askwise.policies.labels.random_pairs import RandomPairs

CANDIDATES: list[Any] = [
    *policies.names(),
    # What mechanisms with bids take, which no policy is by default.
    {"name": "ccb-s", "solver": "exact"},
    {"name": "ccb-fixed", "solver": "exact"},
]

WORKERS = st.lists(
    st.fixed_dictionaries(
        {"price": st.sampled_from([0, "0.01", 1, 3])},
        optional={
            "kind": st.sampled_from(["person", "model", "crowd"]),
            "limit": st.sampled_from([1, 100]),
            "trusted": st.just(True),
            "family": st.just("f"),
        },
    ),
    max_size=3,
).map(lambda found: [{"id": f"w{at}", **each} for at, each in enumerate(found)])

TASKS = st.lists(
    st.fixed_dictionaries({}, optional={"context": st.sampled_from(["cats", "dogs"])}), max_size=3
).map(lambda found: [{"id": f"t{at}", **each} for at, each in enumerate(found)])

OUTCOMES = st.sampled_from(
    [
        {"outcome": "utility"},
        *({"options": [f"o{at}" for at in range(count)]} for count in (2, 3)),
    ]
)

NAMED = st.fixed_dictionaries(
    {},
    optional={
        "budget": st.sampled_from([1, 100]),
        "repeat": st.booleans(),
        "stopping": st.sampled_from(["fixed", "gap", "posterior", "joint-glr", "penalty", "lead"]),
        "aggregation": st.sampled_from(["majority", "mean", "dawid-skene"]),
        "mechanism": st.sampled_from(
            [{"name": name, "c_max": 2} for name in ("self-resampling", "fixed-exploration")]
        ),
    },
)


def accepted(fields: dict[str, Any], policy: Any) -> Spec | None:
    """The campaign, if it would be created."""
    try:
        spec = make_spec({**fields, "policy": policy, "seed": 1})
        if isinstance(spec.policy, LimitsSize):
            spec.policy.check_size(len(spec.problem.options), len(spec.problem.workers))
    except AskwiseError:
        return None
    return spec


@given(WORKERS, TASKS, OUTCOMES, NAMED)
def test_what_some_policy_takes_auto_finds_one_for_and_else_it_says_so(
    workers: list[dict[str, Any]],
    tasks: list[dict[str, Any]],
    outcome: dict[str, Any],
    named: dict[str, Any],
) -> None:
    fields = {"workers": workers, "tasks": tasks, **outcome, **named}
    some = any(accepted(fields, policy) is not None for policy in CANDIDATES)
    chosen = accepted(fields, "auto")
    assert (chosen is not None) == some
    if chosen is None:
        return
    assert chosen.because is not None
    for field in ("stopping", "aggregation", "mechanism"):
        if field in named:
            part = {"stopping": chosen.rule, "aggregation": chosen.aggregator}.get(
                field, chosen.mechanism
            )
            wanted = named[field]
            assert part is not None
            assert part.name == (wanted if isinstance(wanted, str) else wanted["name"])
    if "repeat" in named:
        assert chosen.problem.repeat == named["repeat"]


@given(
    st.floats(1e-4, 0.9999),
    st.sampled_from(["person", "crowd"]),
    st.sampled_from([2, 3]),
    st.sampled_from([2, 700]),
    st.booleans(),
)
def test_any_target_is_passed_to_what_is_chosen(
    target: float, kind: str, options: int, tasks: int, guarantee: bool
) -> None:
    spec = make_spec(
        {
            "workers": [
                *({"id": f"w{at}", "price": "0.01", "kind": kind} for at in range(2)),
                {"id": "vet", "price": 5, "trusted": True, "kind": kind},
            ],
            "tasks": [f"t{at}" for at in range(tasks)],
            "options": [f"o{at}" for at in range(options)],
            "policy": {"name": "auto", "target": target, "guarantee": guarantee},
        }
    )
    parts = [dataclasses.asdict(part) for part in (spec.policy, spec.rule) if part is not None]
    values = [value for part in parts for value in part.values()]
    if spec.rule is not None and spec.rule.name == "joint-glr":
        # Its dial is a logarithm.
        assert not guarantee
    else:
        assert target in values
    promises = spec.policy.name == "cascade" or (spec.rule is not None and spec.rule.guarantees)
    assert promises or not guarantee


class Greedy(RandomPairs):
    """Takes every problem, and comes first in the alphabet."""

    outcomes = ("options", "utility")

    def check(self, problem: Problem) -> None:
        """Refuse nothing."""


class Faulty(RandomPairs):
    """Fails at whatever it is asked."""

    def check(self, problem: Problem) -> NoReturn:
        """Fail."""
        raise RuntimeError("broken")


@pytest.mark.parametrize("name", ["aaa", "auto"])
@pytest.mark.parametrize("policy", [Greedy, Faulty])
@pytest.mark.parametrize(
    "fields",
    [
        {"outcome": "utility", "budget": 5},
        {"options": ["no", "yes"], "tasks": ["t"]},
        {"options": ["no", "yes"], "tasks": ["t"], "repeat": True},
    ],
)
def test_policies_of_others_change_nothing(
    fields: dict[str, Any], policy: type[RandomPairs], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fields = {"workers": [{"id": "ann", "price": 1}], "seed": 1, **fields}
    before = make_spec(fields)
    monkeypatch.setitem(policies._entries, name, policy)
    assert make_spec(fields) == make_spec({**fields, "policy": "auto"}) == before
