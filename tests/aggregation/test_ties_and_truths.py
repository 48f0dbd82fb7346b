"""Ties by rule, and weights that are learned from known truths alone."""

from __future__ import annotations

import math

import pytest

from askwise import Campaign, Worker
from askwise.aggregation import aggregation
from askwise.core.errors import InvalidParameter

TABLE = {
    "task": ["t1"] * 3 + ["t2"] * 3 + ["t3"] * 3,
    "worker": ["ann", "bob", "cleo"] * 3,
    "label": ["a", "b", "b", "a", "b", "b", "a", "b", "b"],
}


def test_weights_of_known_truths_overrule_the_majority() -> None:
    learner = aggregation.make({"name": "weighted-majority", "learn": "truths", "temper": 0})
    found = learner.fit(TABLE, gold={"t1": "a", "t2": "a"})
    # Of two told tasks ann has 2 right, the others 0: (2 + 1) / (0 + 1) against (0 + 1) / (2 + 1).
    assert found.workers_["weight"].tolist() == pytest.approx([math.log(3)] + [-math.log(3)] * 2)
    assert found.labels_["t3"] == "a"
    # Three votes of weight log 3 for a: 27 to 1.
    assert found.confidence_["t3"] == pytest.approx(27 / 28)


def test_without_a_truth_nobody_counts() -> None:
    found = aggregation.make({"name": "weighted-majority", "learn": "truths"}).fit(TABLE)
    assert found.workers_["weight"].tolist() == [0.0, 0.0, 0.0]
    assert found.confidence_["t3"] == pytest.approx(0.5)


def tied(**aggregator: str) -> list[str | float | None]:
    """The answers of a campaign in which ann says no and bob yes, to thirty tasks."""
    campaign = Campaign.create(
        workers=[Worker("ann", 1), Worker("bob", 1)],
        tasks=[f"t{at}" for at in range(30)],
        options=["no", "yes"],
        policy="random-pairs",
        aggregation={"name": "majority", **aggregator},
        seed=1,
    )
    for assignment in campaign.ask(limit=60):
        campaign.tell(assignment.id, "no" if assignment.worker == "ann" else "yes")
    return [answer.value for answer in campaign.answers()]


def test_a_tie_is_drawn_or_goes_to_the_first_option() -> None:
    assert tied(ties="first") == ["no"] * 30
    assert set(tied()) == {"no", "yes"}
    assert tied() == tied(ties="draw")


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"name": "majority", "ties": "last"}, "ties"),
        ({"name": "weighted-majority", "learn": "gold"}, "learn"),
    ],
)
def test_other_words_are_refused(given: dict[str, str], field: str) -> None:
    with pytest.raises(InvalidParameter, match=f"{field} is .*: give one of") as caught:
        aggregation.make(given)
    assert caught.value.field == field
