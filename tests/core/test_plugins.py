"""Entries of other distributions: what is broken is told by name and left out."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from askwise.core import plugins
from askwise.core.errors import UnknownPolicy
from askwise.core.registry import Registry
from askwise.policies import policies
from tests.distributions import POLICY, install

GROUP = "askwise.store"
"""A package that registers nothing, so that a registry of it finds plug-ins alone."""

Install = Callable[..., None]


def fresh() -> Registry[Any]:
    """A registry that has loaded nothing yet, with one policy of our own."""
    registry: Registry[Any] = Registry("policy", GROUP)
    registry.register("uniform")(policies.get("uniform"))
    return registry


@pytest.fixture
def put(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Install a distribution where this process finds it; what was told before is forgotten."""
    monkeypatch.setattr(plugins, "_told", set())

    def made(name: str, version: str, points: dict[str, str] | str, **modules: str) -> None:
        install(tmp_path / name, name, version, points, group=GROUP, modules=modules)
        monkeypatch.syspath_prepend(str(tmp_path / name))

    return made


BROKEN = {
    "a module that is missing": ("", "ModuleNotFoundError: No module named 'absent_{at}'"),
    "a module that raises": (
        "raise RuntimeError('no licence\\n  found')",
        "RuntimeError: no licence found",
    ),
    "a module that exits": ("raise SystemExit(3)", "SystemExit: 3"),
    "a module that is no Python": ("def def", "SyntaxError: "),
    "a name that is missing": ("x = 1", "AttributeError: module 'broken_{at}' has no attribute"),
    "a function": ("def Own(): pass", "TypeError: broken_{at}:Own is not a class"),
    "another class": ("class Own: pass", "TypeError: broken_{at}:Own is not a subclass of "),
    "a class that is not finished": (
        "from askwise.policies import Policy\nclass Own(Policy): pass",
        "TypeError: broken_{at}:Own does not define absorb, choose, start",
    ),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_plug_in_that_can_not_be_loaded_is_told_and_left_out(
    kind: str, put: Install, caplog: pytest.LogCaptureFixture
) -> None:
    source, why = BROKEN[kind]
    at = list(BROKEN).index(kind)
    module = f"broken_{at}" if source else f"absent_{at}"
    put("foo", "1.2", {"broken": f"{module}:Own"}, **({module: source} if source else {}))
    put("bar", "3.4", {"works": f"works_{at}:Own"}, **{f"works_{at}": POLICY})
    registry = fresh()
    assert registry.names() == ["uniform", "works"]
    assert registry.make("works").name == "works"
    (told,) = caplog.records
    assert told.levelno == logging.WARNING
    trouble = f"policy 'broken' of package foo 1.2 could not be loaded: {why.format(at=at)}"
    assert told.getMessage().startswith(trouble)
    assert told.getMessage().endswith("; it is left out")
    assert "\n" not in told.getMessage()
    with pytest.raises(UnknownPolicy) as caught:
        registry.make({"name": "broken", "size": 3})
    assert str(caught.value) == told.getMessage().removesuffix("; it is left out")
    assert (caught.value.field, caught.value.missing) == ("policy", None)


def test_what_a_module_has_registered_before_it_failed_is_left_out_too(
    put: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = fresh()
    monkeypatch.setattr("askwise.store.registry_of_this_test", registry, raising=False)
    enter = "\nfrom askwise.store import registry_of_this_test as registry\n"
    source = POLICY + enter + "registry.register('early')(Own)\nraise ValueError('late')"
    put("foo", "1.2", {"early": "half_loaded:Own"}, half_loaded=source)
    assert registry.names() == ["uniform"]


def test_a_keyboard_interrupt_is_not_taken_for_a_broken_plug_in(put: Install) -> None:
    put("foo", "1.2", {"x": "interrupted:Own"}, interrupted="raise KeyboardInterrupt")
    registry = fresh()
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            registry.names()


def test_a_name_of_our_own_is_nobody_elses(put: Install, caplog: pytest.LogCaptureFixture) -> None:
    put("foo", "1.2", {"uniform": "impostor:Own"}, impostor="raise AssertionError('imported')")
    registry = fresh()
    assert registry.get("uniform") is policies.get("uniform")
    assert [record.getMessage() for record in caplog.records] == [
        "policy 'uniform' of package foo 1.2 has the name of one of askwise's own; it is left out"
    ]


@pytest.mark.parametrize("order", [("bar", "foo"), ("foo", "bar")])
def test_of_two_packages_with_one_name_the_first_by_name_is_used_and_the_other_told(
    order: tuple[str, str], put: Install, caplog: pytest.LogCaptureFixture
) -> None:
    for name in order:
        module = f"{name}_of_{'_'.join(order)}"
        put(name, "1.0", {"same": f"{module}:Own"}, **{module: POLICY})
    assert fresh().get("same").__module__ == f"bar_of_{'_'.join(order)}"
    assert [record.getMessage() for record in caplog.records] == [
        "policy 'same' of package foo 1.0 has the name of one of package bar 1.0, which is used; "
        "it is left out"
    ]


def test_if_the_first_of_two_is_broken_the_other_is_used(
    put: Install, caplog: pytest.LogCaptureFixture
) -> None:
    put("bar", "1.0", {"same": "nowhere_at_all:Own"})
    put("foo", "1.0", {"same": "second_choice:Own"}, second_choice=POLICY)
    assert fresh().get("same").__module__ == "second_choice"
    assert len(caplog.records) == 1


def test_one_class_of_two_packages_is_no_conflict(
    put: Install, caplog: pytest.LogCaptureFixture
) -> None:
    put("bar", "1.0", {"same": "shared_class:Own"}, shared_class=POLICY)
    put("foo", "1.0", {"same": "shared_class:Own"})
    assert fresh().names() == ["same", "uniform"]
    assert caplog.records == []


def test_entry_points_that_can_not_be_read_hide_no_others(
    put: Install, caplog: pytest.LogCaptureFixture
) -> None:
    put("unreadable", "0.1", "no equals sign")
    put("bar", "3.4", {"works": "beside_unreadable:Own"}, beside_unreadable=POLICY)
    assert fresh().names() == fresh().names() == ["uniform", "works"]
    (told,) = caplog.records
    assert told.getMessage().startswith(
        "the entry points of package unreadable 0.1 could not be read: "
    )


def test_an_unknown_name_is_said_to_be_missing() -> None:
    with pytest.raises(UnknownPolicy, match="did you mean 'uniform'") as caught:
        fresh().get("unifrom")
    assert caught.value.missing == "policy 'unifrom'"


def test_lists_are_read_again_only_after_the_path_has_changed(
    put: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = []
    really = plugins.entry_points

    def counted(*, group: str) -> Any:
        read.append(group)
        return really(group=group)

    monkeypatch.setattr(plugins, "entry_points", counted)
    put("bar", "1.0", {"first": "nowhere:Own"})
    for _ in range(3):
        assert [point.name for point in plugins.points_of(GROUP)] == ["first"]
    assert read == [GROUP]
    put("foo", "1.0", {"second": "nowhere:Own"})
    assert [point.name for point in plugins.points_of(GROUP)] == ["first", "second"]
    assert read == [GROUP, GROUP]
