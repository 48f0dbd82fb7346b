"""Every aggregator in the registry keeps the contract."""

from __future__ import annotations

from typing import Any, ClassVar
from unittest import mock

import pytest

from askwise.aggregation import aggregation
from askwise.aggregation.majority import Majority
from askwise.core.labels import Label
from askwise.testing import aggregators


@pytest.mark.parametrize("check", aggregators.CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", aggregation.names())
def test_an_aggregator_keeps_the_contract(name: str, check: aggregators.Check) -> None:
    check(aggregation.make(name))


class Careless(Majority):
    """Majority, but for one mistake."""

    name: ClassVar[str] = "careless"

    def labels(self, *arguments: Any, **named: Any) -> list[Label]:
        return [self.wrong(label) for label in super().labels(*arguments, **named)]

    def wrong(self, label: Label) -> Label:
        return label


class Inventive(Careless):
    """Names an option where nobody answered."""

    def wrong(self, label: Label) -> Label:
        return Label(0.0, 0.5, "agreement") if label.value is None else label


class Boastful(Careless):
    """Is surer than sure."""

    def wrong(self, label: Label) -> Label:
        return label._replace(confidence=label.confidence and 1.0 + label.confidence)


class Contrary(Careless):
    """Names another option than everybody, and than is true."""

    def wrong(self, label: Label) -> Label:
        return label._replace(value=None if label.value is None else (label.value + 1) % 2)


class Vague(Careless):
    """Does not say what its confidences rest on."""

    def wrong(self, label: Label) -> Label:
        return label._replace(rests_on=None)


class Terse(Careless):
    """Gives pairs, as aggregators did before labels said what they rest on."""

    def wrong(self, label: Label) -> Label:
        return label[:2]  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("mistake", "check"),
    [
        (Inventive, aggregators.what_nobody_answered_has_no_label),
        (Boastful, aggregators.a_label_is_a_possible_answer_with_a_probability),
        (Vague, aggregators.a_label_is_a_possible_answer_with_a_probability),
        (Terse, aggregators.a_label_is_a_possible_answer_with_a_probability),
        (Contrary, aggregators.what_everybody_says_is_the_answer),
        (Contrary, aggregators.a_known_truth_is_the_label),
    ],
)
def test_a_mistake_is_found(mistake: type[Careless], check: aggregators.Check) -> None:
    with (
        mock.patch.dict(aggregation._entries, {"careless": mistake}),
        pytest.raises(AssertionError),
    ):
        check(mistake())
