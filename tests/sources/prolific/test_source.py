"""What a study offers, checked before anything is sent."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from askwise.core.content import Content
from askwise.core.errors import Conflict, InvalidParameter
from askwise.sources import Question, sources
from askwise.sources.prolific import Prolific


def test_it_is_registered_and_never_called() -> None:
    made = sources.make({"name": "prolific", "title": "Cats", "description": "x", "price": "0.05"})
    assert isinstance(made, Prolific)
    question = Question(Content("A cat?", options=["no", "yes"]), "t1", "A picture")
    assert (made.called, made.ceiling(question)) == (False, 50_000)
    with pytest.raises(Conflict):
        asyncio.run(made.answer(question))


def test_a_participant_costs_the_reward_or_their_answers_whichever_is_more() -> None:
    assert Prolific(reward="1", questions=10, price="0.05").most_for_one == 1_000_000
    assert Prolific(reward="1", questions=30, price="0.05").most_for_one == 1_500_000


def test_what_it_offers_does_not_change_who_answers() -> None:
    assert Prolific(reward="1").signature() == Prolific("Cats", reward="2", places=7).signature()


@pytest.mark.parametrize(
    ("terms", "field"),
    [
        ({"reward": "0.005"}, "reward"),
        ({"reward": 0}, "reward"),
        ({"reward": "1.001"}, "reward"),
        ({"minutes": 0}, "minutes"),
        ({"minutes": 1440}, "minutes"),
        ({"questions": 0}, "questions"),
        ({"places": 6, "most": 5}, "places"),
        ({"step": 0}, "step"),
        ({"title": "x" * 121}, "title"),
        ({"description": 7}, "description"),
        ({"extra": {"reward": 7}}, "extra"),
        ({"extra": [1]}, "extra"),
    ],
)
def test_what_can_not_be_offered_is_refused_by_its_field(terms: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidParameter) as error:
        Prolific(**terms)
    assert error.value.field == field


def test_a_study_without_words_is_refused() -> None:
    with pytest.raises(InvalidParameter, match="title is missing"):
        Prolific().check_told()
