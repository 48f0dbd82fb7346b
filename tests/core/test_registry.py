"""Registries: names, parameters, and what is said when they are wrong."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from abc import ABC
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from askwise.core.errors import InvalidParameter, UnknownPolicy
from askwise.core.registry import (
    Registry,
    changed_parameters,
    from_label,
    label_of,
    parameters_of,
    spec_of,
)
from askwise.policies import policies


class Kind(ABC):  # noqa: B024
    """What all things have in common."""


@dataclass(frozen=True)
class Thing(Kind):
    name: ClassVar[str] = ""
    size: int = 1
    colour: str = "red"


def fresh() -> Registry[Any]:
    """A registry of its own; its package has nothing to register."""
    registry: Registry[Any] = Registry("thing", "askwise.store")
    registry.register("thing-one")(Thing)
    return registry


def test_an_entry_is_made_from_a_name_a_mapping_or_itself() -> None:
    registry = fresh()
    made = registry.make({"name": "thing-one", "size": 3})
    assert made == Thing(size=3)
    assert registry.make("thing-one") == Thing()
    assert registry.make(made) is made
    assert made.name == "thing-one"


def test_names_are_sorted() -> None:
    registry = fresh()
    other = dataclass(frozen=True)(type("Other", (), {}))
    registry.register("a-thing")(other)
    assert registry.names() == ["a-thing", "thing-one"]


def test_a_name_is_registered_once() -> None:
    registry = fresh()
    registry.register("thing-one")(Thing)
    other = dataclass(frozen=True)(type("Other", (), {}))
    with pytest.raises(InvalidParameter, match="'thing-one' is registered twice"):
        registry.register("thing-one")(other)


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownPolicy, match="did you mean 'thing-one'") as caught:
        fresh().make("thing-won")
    assert caught.value.field == "thing"
    assert caught.value.code == "unknown_policy"


def test_a_name_like_no_other_is_answered_with_all() -> None:
    with pytest.raises(UnknownPolicy, match="known: thing-one"):
        fresh().make("zzz")


def test_an_unknown_parameter_is_answered_with_the_nearest() -> None:
    with pytest.raises(InvalidParameter, match="no parameter 'color': did you mean 'colour'") as e:
        fresh().make({"name": "thing-one", "color": "blue"})
    assert e.value.field == "color"


@pytest.mark.parametrize("spec", [{}, {"size": 3}, {"name": 3}, 7, None, ["thing-one"]])
def test_what_names_nothing_is_refused(spec: Any) -> None:
    with pytest.raises(InvalidParameter, match="thing is") as caught:
        fresh().make(spec)
    assert caught.value.field == "thing"


def test_a_class_is_no_instance() -> None:
    with pytest.raises(InvalidParameter, match="thing is"):
        fresh().make(Thing)


def test_parameters_and_labels() -> None:
    registry = fresh()
    thing = registry.make({"name": "thing-one", "size": 3, "colour": "blue"})
    assert parameters_of(thing) == {"size": 3, "colour": "blue"}
    assert changed_parameters(registry.make({"name": "thing-one", "size": 3})) == {"size": 3}
    assert spec_of(thing) == {"name": "thing-one", "size": 3, "colour": "blue"}
    assert registry.make(spec_of(thing)) == thing
    assert label_of(Thing()) == "thing-one"
    assert label_of(thing) == "thing-one(colour=blue,size=3)"
    assert registry.make(from_label(label_of(thing))) == thing


@pytest.mark.parametrize("name", policies.names())
def test_every_policy_is_made_again_from_its_spec_and_label(name: str) -> None:
    policy = policies.make(name)
    assert policies.make(spec_of(policy)) == policy
    assert policies.make(from_label(label_of(policy))) == policy
    assert policy.name == name


WRONG: list[tuple[str, dict[str, Any]]] = [
    ("bounded-epsilon-first", {"epsilon": 1.5}),
    ("bounded-epsilon-first", {"epsilon": -0.1}),
    ("bounded-epsilon-first", {"epsilon": float("nan")}),
    ("bounded-epsilon-first", {"epsilon": "often"}),
    ("bounded-epsilon-first", {"epsilon": True}),
    ("bounded-epsilon-first", {"exploration": "none"}),
    ("bounded-epsilon-first", {"by": "price"}),
    ("bounded-epsilon-first", {"beta": 0}),
    ("bounded-epsilon-first", {"beta": "x"}),
    ("bounded-epsilon-first", {"confidence": 1.0}),
    ("bounded-epsilon-first", {"carry": "no"}),
    ("budget-limited-epsilon-first", {"epsilon": 2}),
    ("bounded-kube", {"bonus": -1}),
    ("bounded-kube", {"bonus": float("inf")}),
    ("bounded-kube", {"bonus": "large"}),
    ("simplified-bounded-kube", {"raw_bonus": "yes"}),
    ("thompson-knapsack", {"discount": 0}),
    ("thompson-knapsack", {"discount": 1.1}),
    ("thompson-knapsack", {"discount": "x"}),
    ("thompson-knapsack", {"patience": -1}),
    ("thompson-knapsack", {"patience": 1.5}),
    ("knowledge-gradient", {"screen": 1.01}),
    ("knowledge-gradient", {"discount": float("nan")}),
]


@pytest.mark.parametrize(("name", "parameter"), WRONG, ids=str)
def test_a_parameter_out_of_bounds_is_refused_by_name(name: str, parameter: dict[str, Any]) -> None:
    ((field, value),) = parameter.items()
    with pytest.raises(InvalidParameter, match=f"{field} is {value!r}") as caught:
        policies.make({"name": name, **parameter})
    assert caught.value.field == field


def test_threads_that_look_at_once_all_see_everything() -> None:
    script = """
        from concurrent.futures import ThreadPoolExecutor
        from askwise.policies import policies
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda _: tuple(policies.names()), range(8)))
        assert len(set(found)) == 1, [len(names) for names in found]
        assert "random-pairs" in found[0]
    """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
