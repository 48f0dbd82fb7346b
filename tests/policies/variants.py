"""Every policy in the registry, as it comes and with every choice of its parameters."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from askwise.core.errors import AskwiseError
from askwise.core.registry import label_of, parameters_of
from askwise.policies import KernelPolicy, KnowsTruth, Policy, policies

IN_TURN = {"open_at_once": 1, "free_price": 0.5}
"""Of all policies that ask crowds."""

CHOICES: dict[str, list[dict[str, Any]]] = {
    "bounded-epsilon-first": [
        {"exploration": "successive-rejects"},
        {"exploration": "successive-rejects", "by": "density", "epsilon": 0.5},
        {"exploration": "hoeffding-races", "epsilon": 0.6},
        {"exploration": "bernstein-races", "by": "density", "epsilon": 0.6},
        {"exploration": "successive-rejects", "epsilon": "auto"},
        {"carry": False},
        {"carry": False, "epsilon": 0.4, "exploration": "hoeffding-races"},
        {"epsilon": "auto"},
        {"epsilon": 0.0},
        {"epsilon": 1.0},
    ],
    "budget-limited-epsilon-first": [{"epsilon": 0.4}],
    "bounded-kube": [{"bonus": 0.0}, {"raw_bonus": True, "bonus": 0.25}],
    "random": [{"prior": "cheap"}],
    "simplified-bounded-kube": [{"bonus": 0.0}, {"raw_bonus": True, "bonus": 0.25}],
    "thompson-knapsack": [{"discount": 0.9}, {"patience": 0}, {"discount": 0.9, "patience": 1}],
    "virt-ucb": [
        {"schedule": "log", "exploration": 0.3, **IN_TURN},
        {"discount": 0.8, "prior": 5.0, "power": 1.0},
        {"try_after": 4.0},
    ],
    "virt-thompson": [{"discount": 0.8, "prior": 5.0, "reward": "accuracy", **IN_TURN}],
    "lp-thompson": [{"discount": 0.8, "prior": 5.0, **IN_TURN}],
    "glr-directed": [{"discount": 0.8, "prior": 5.0, **IN_TURN}],
    "explore-exploit-rollback": [
        {"quality": 0.9, "low": 0.5, "smooth": False},
        {"alpha": 0.0, **IN_TURN},
    ],
    "gittins-knapsack": [
        {"discount": 0.9, "ratings": "taken"},
        {"screen": 0.0, "ratings": "ignored"},
    ],
    "knowledge-gradient": [{"discount": 0.9}, {"screen": 0.0}, {"screen": 1.0}],
    "bbta": [{"explore": 0, "refresh": 0.05}, {"explore": 2}],
    "optkg": [
        {"workers": False},
        {"positive": 2.0, "negative": 0.5, "right": 2.0, "wrong": 3.0},
    ],
    "optkg-multi": [
        {"workers": False},
        {"positive": 2.0, "negative": 0.5, "right": 2.0, "wrong": 3.0},
    ],
    "crowdsense": [{"threshold": 0.3, "smoothing": 2.0}],
    "iethresh": [{"threshold": 0.2, "error": 0.2}],
    "hem": [{"target": 0.2}],
    "cascade": [{"error": 0.5, "confidence": 0.5, "truths": 3}],
    "b-kube": [
        {"inference": "weighted-majority", "bonus": 0.25},
        {"inference": "map", "by_context": True},
        {
            "inference": "map",
            "skills": {"c0": ["s", "t"], "c1": {"t": 2.0, "u": 1.0}},
            "pooling": 3.0,
        },
        {"inference": ((1.0, 0.25), (0.0, 0.75)), "bonus": 0.0},
    ],
    "label-bounded-epsilon-first": [
        {"epsilon": 0.5, "inference": "map"},
        {"exploitation": "single", "pick": "total"},
    ],
    "label-epsilon-first": [
        {"epsilon": 0.5, "inference": "weighted-majority"},
        {"exploitation": "knapsack", "pick": "total"},
    ],
    "label-trialsourcing": [
        {"exploitation": "single", "pick": "total", "inference": "map"},
    ],
    "ccb-ns": [
        {"alpha": 0.3, "error": "hoeffding-linear(epsilon=0.5)", "mu": 0.9, "bounds": "paper"},
        {"alpha": 0.4, "floor": 0.7, "ahead": 3, "xi": 0.1, "bounds": "ucb1", "solver": "greedy"},
        {"alpha": 0.2, "miss": 20.0, "mu": 0.5, "floor": 0.6},
        {"alpha": 0.45, "mu": 0.9, "error": "hoeffding", "solver": "exact", "floor": 0.65},
        {"alpha": 0.4, "floor": 0.7, "truth": "audited", "audits": 0.7, "alarm": 0.9, "ahead": 2},
    ],
    "ccb-s": [
        {"alpha": 0.4, "floor": 0.7, "truth": "audited", "audits": 0.6, "alarm": 0.8},
        {"alpha": 0.3, "error": "hoeffding-linear(epsilon=0.5)", "mu": 0.9, "bounds": "paper"},
        {"alpha": 0.4, "floor": 0.7, "ahead": 3, "xi": 0.1, "bounds": "ucb1", "solver": "greedy"},
        {"alpha": 0.2, "miss": 20.0, "mu": 0.5, "floor": 0.6},
    ],
    "ccb-se": [
        {"alpha": 0.45, "floor": 0.8, "truth": "audited", "audits": 1.0, "alarm": 0.5},
        {"alpha": 0.4, "error": "hoeffding-linear(epsilon=0.5)", "mu": 0.9, "bounds": "paper"},
        {"alpha": 0.45, "floor": 0.7, "ahead": 3, "xi": 0.1, "solver": "greedy"},
        {"alpha": 0.4, "error": "majority", "mu": 0.9, "bounds": "paper", "floor": 0.6},
    ],
    "epsilon-t-greedy": [
        {"explore": 2.0, "alpha": 0.3, "floor": 0.6},
        {"explore": 0.0, "error": "hoeffding-linear(epsilon=0.5)", "solver": "greedy", "ahead": 2},
    ],
    "cucb": [
        {"bounds": "anytime", "mu": 0.5, "alpha": 0.3, "floor": 0.6, "ahead": 2},
        {"error": "hoeffding-linear(epsilon=0.5)", "solver": "exact", "alpha": 0.4},
    ],
    "multiple-pull-ucb": [
        {"pulls": 2, "ahead": 2},
        {"bounds": "anytime", "mu": 0.5, "alpha": 0.3, "floor": 0.6},
        {"error": "hoeffding-linear(epsilon=0.5)", "alpha": 0.4},
    ],
    "ccb-fixed": [
        {"rounds": 2, "alpha": 0.4, "mu": 0.9, "bounds": "paper", "floor": 0.6, "ahead": 3},
        {"rounds": 0, "qualities": (0.9, 0.7, 0.8, 0.6, 0.95), "solver": "exact"},
        {"rounds": 0, "qualities": (0.9,) * 5, "error": "hoeffding-linear(epsilon=0.5)"},
        {"rounds": 2, "alpha": 0.4, "mu": 0.9, "floor": 0.6, "solver": "classes"},
    ],
}

TRUTH = [[0.5, 0.5], [0.6, 0.4], [0.9, 0.1]]

NEEDED: dict[str, dict[str, Any]] = {
    name: {"truth": TRUTH}
    for name in policies.names()
    if issubclass(policies.get(name), KnowsTruth)
}
"""What a policy must be told to work at all."""


def other_values(name: str) -> dict[str, Any]:
    """A choice of every flag and number that differs from the default, as far as it is valid."""
    needed = NEEDED.get(name, {})
    found: dict[str, Any] = {}
    for parameter, value in parameters_of(policies.make({"name": name, **needed})).items():
        tried: list[Any] = []
        if isinstance(value, bool):
            tried = [not value]
        elif isinstance(value, int):
            tried = [value + 1, value - 1]
        elif isinstance(value, float):
            tried = [value / 2, (value + 1) / 2, value + 1]
        for other in tried:
            with suppress(AskwiseError):
                policies.make({"name": name, **needed, **found, parameter: other})
                if other != value:
                    found[parameter] = other
                    break
    return found


def variants() -> Iterator[Policy]:
    """Every policy as it comes, and with other parameters: chosen here, or any."""
    for name in policies.names():
        needed = NEEDED.get(name, {})
        yield policies.make({"name": name, **needed})
        others = CHOICES[name] if name in CHOICES else [{**needed, **other_values(name)}]
        yield from (policies.make({"name": name, **choice}) for choice in others)


VARIANTS = {label_of(policy): policy for policy in variants()}


def variants_of(name: str) -> list[Policy]:
    return [policy for policy in VARIANTS.values() if policy.name == name]


def compiling(name: str) -> list[KernelPolicy]:
    return [each for each in variants_of(name) if isinstance(each, KernelPolicy) and each.compiles]
