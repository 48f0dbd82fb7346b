"""What is registered says what it does, in the parts that its page is made of."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

import pytest

from askwise.aggregation import aggregation
from askwise.core.docstrings import doc_of, parse
from askwise.lab.experiment import experiments
from askwise.mechanisms import mechanisms
from askwise.policies import policies
from askwise.stopping import stopping
from docs.docstrings import table
from docs.entries import ours


def by_name(registry: Any) -> Any:
    return pytest.mark.parametrize("entry", ours(registry), ids=lambda entry: entry.name)


def fields_of(entry: Any) -> set[str]:
    return {field.name for field in dataclasses.fields(entry)}


def check_parts(entry: Any) -> None:
    """All parts are there, in the house order."""
    read = doc_of(entry)
    assert read.sentence.endswith(".")
    assert read.described == fields_of(entry)
    parts = ["Parameters\n-", "Assumes ", "Not ", "References\n-", "Examples\n-"]
    if not read.described:
        parts.remove("Parameters\n-")
    text = inspect.cleandoc(entry.__doc__)
    places = [text.find(f"\n\n{part}") for part in parts]
    assert -1 not in places, parts[places.index(-1)]
    assert places == sorted(places)
    assert read.sections["References"]
    assert ">>> " in read.sections["Examples"]
    assert entry.paper


@by_name(policies)
def test_a_policy_says_what_it_does_needs_and_is_not_for(entry: Any) -> None:
    check_parts(entry)
    assert entry.rule
    assert entry.notes


@by_name(stopping)
def test_a_rule_says_what_it_does_needs_promises_and_is_not_for(entry: Any) -> None:
    check_parts(entry)
    assert entry.promise.startswith("Guarantees " if entry.guarantees else "Trades ")
    assert entry.promise.endswith(".")
    assert entry.dial in fields_of(entry)


@by_name(aggregation)
def test_an_aggregator_says_what_it_does_needs_and_is_not_for(entry: Any) -> None:
    check_parts(entry)
    assert entry.outcomes


@by_name(mechanisms)
def test_a_mechanism_says_what_it_pays_promises_and_is_not_for(entry: Any) -> None:
    check_parts(entry)


@by_name(experiments)
def test_an_experiment_says_what_it_asks_and_what_it_reproduces(entry: Any) -> None:
    assert doc_of(entry).sentence.endswith(".")
    assert entry.title
    assert entry.summary.endswith((".", "?"))
    assert entry.reproduces
    assert entry.reps > 0
    assert all(figure.caption for figure in entry.figures)
    assert entry.figures
    for base in entry.__mro__:
        assert doc_of(base).described <= fields_of(entry)


def test_paragraphs_after_the_parameters_are_not_parameters() -> None:
    read = parse(
        """Do it.

        More about it,
        on two lines.

        Parameters
        ----------
        a, b : int
            Numbers.

            Both of them.
        c
            Without a type.

        Assumes nothing : really.

        References
        ----------
        A book.
        """
    )
    assert read.sentence == "Do it."
    assert read.prose == ["More about it, on two lines.", "Assumes nothing : really."]
    assert read.described == {"a", "b", "c"}
    assert read.entries["Parameters"][0].text == "Numbers. Both of them."
    assert read.sections == {"References": "A book."}


def test_a_table_keeps_bars_inside_its_cells() -> None:
    lines = table(("x", "y"), [("a | b", "1")], "<>").splitlines()
    assert lines == ["| x | y |", "| --- | --: |", "| a \\| b | 1 |"]
