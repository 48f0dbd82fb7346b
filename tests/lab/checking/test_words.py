"""A report card in words."""

from __future__ import annotations

from decimal import Decimal

import pytest

from askwise.auditing import ReportCard, check
from askwise.lab.checking import words
from tests.auditing.tables import noisy, sheet


@pytest.fixture(scope="module")
def card() -> ReportCard:
    """Two people who differ on 3 of 12 tasks, four times over, and a good and a poor judge."""
    people = sheet({"ann": "yyyynnnnyyyy" * 4, "ben": "yyyynnnnynnn" * 4})
    verdicts = sheet({"good": "yyyynnnnyyyn" * 4, "poor": "ynynynynynyn" * 4})
    return check(verdicts, people, prices={"good": Decimal("0.01"), "poor": Decimal("0.001")})


def test_what_is_recommended_is_told_with_its_own_cost_and_error(card: ReportCard) -> None:
    assert card.cascade is not None
    chosen, expected = words.cascade_sentences(card.cascade)
    # Half right where people are tied: 1.5 of 12 are wrong.
    assert chosen.startswith(
        "Cheapest choice: ask good alone. On these 48 tasks it costs 0.01 per task, asking all "
        "judges 0.011; it is wrong on 0.125 ["
    )
    assert "measuring it on the other" in expected
    assert "on average" in expected


def test_how_far_people_agree_is_told_with_the_highest_accuracy(card: ReportCard) -> None:
    assert words.people_sentence(card) == (
        "One person agrees with the majority of the others on 75.0% of the tasks. Where people are "
        "wrong, a judge who is right counts as wrong. People are tied on 12 of 48 tasks, so the "
        "highest accuracy that a judge can reach here is 87.5%."
    )


def test_people_who_are_never_tied_set_no_limit() -> None:
    assert "tied" not in words.people_sentence(check(*noisy(1, {"gpt": 0.9}, tasks=9)))
    alone = check(*noisy(1, {"gpt": 0.9}, tasks=9, people=1))
    assert words.people_sentence(alone).startswith("No task has answers from two people")
