"""Shell completion: of commands and registered names, without importing what is heavy."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from askwise.cli.completing import completes, names_in
from tests.cli.conftest import Program


@pytest.mark.parametrize(
    ("room", "registry", "module"),
    [
        ("policies", "policies", "askwise.policies"),
        ("stopping", "stopping", "askwise.stopping"),
        ("aggregation", "aggregation", "askwise.aggregation"),
        ("mechanisms", "mechanisms", "askwise.mechanisms"),
        ("lab", "experiments", "askwise.lab.experiment"),
    ],
)
def test_the_names_in_the_sources_are_those_that_are_registered(
    room: str, registry: str, module: str
) -> None:
    entries = getattr(import_module(module), registry)
    ours = {name for name in entries.names() if entries.get(name).__module__.startswith("askwise")}
    assert set(names_in(room, registry)) == ours


def test_a_name_is_completed_by_its_beginning() -> None:
    assert completes("policies")("bounded-k") == ["bounded-kube"]


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("askwise stat", {"status"}),
        ("askwise policies show bounded-k", {"bounded-kube"}),
        ("askwise new items.csv --policy bounded-k", {"bounded-kube"}),
    ],
)
def test_the_shell_completes_commands_and_names(
    words: str, completed: set[str], program: Program, workplace: Path
) -> None:
    done = program(
        _ASKWISE_COMPLETE="complete_bash",
        COMP_WORDS=words,
        COMP_CWORD=str(len(words.split()) - 1),
    )
    assert set(done.stdout.split()) == completed


def test_the_script_for_a_shell_is_printed(program: Program) -> None:
    shown = program(_ASKWISE_COMPLETE="source_bash")
    assert "complete" in shown.stdout
    assert "_ASKWISE_COMPLETE" in shown.stdout
