"""Whether a judge is shown to agree with people often enough."""

from __future__ import annotations

from math import comb
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askwise.auditing import agreement, agreements, held
from askwise.auditing.agreement import JudgeAgreement, lower_end
from askwise.core.errors import AskwiseError
from tests.auditing.tables import sheet


def verdicts(right: int, wrong: int, judge: str = "gpt") -> dict[str, list[str]]:
    return sheet({judge: "y" * right + "n" * wrong})


def people(tasks: int) -> dict[str, list[str]]:
    return sheet({"ann": "y" * tasks})


def found(right: int, wrong: int, at_least: float, **options: Any) -> JudgeAgreement:
    tables = verdicts(right, wrong), people(right + wrong)
    return agreements(*tables, at_least=at_least, **options)[0]


def chance(agreed: int, tasks: int, share: float) -> float:
    """The probability that as many agree, or more, by adding up."""
    return sum(
        comb(tasks, k) * share**k * (1 - share) ** (tasks - k) for k in range(agreed, tasks + 1)
    )


@given(tasks=st.integers(1, 60), data=st.data(), confidence=st.sampled_from([0.8, 0.95, 0.99]))
def test_the_lower_end_is_where_as_many_would_be_just_as_unlikely(
    tasks: int, data: st.DataObject, confidence: float
) -> None:
    agreed = data.draw(st.integers(1, tasks))
    low = lower_end(agreed, tasks, confidence)
    assert chance(agreed, tasks, low) == pytest.approx(1 - confidence, rel=1e-6)
    assert lower_end(0, tasks, confidence) == 0.0


def test_59_tasks_without_an_exception_show_95_per_cent() -> None:
    # 0.95 ** 58 = 0.0510, 0.95 ** 59 = 0.0485.
    assert not found(58, 0, 0.95).holds
    assert found(58, 0, 0.95).more == 1
    assert found(59, 0, 0.95).holds
    assert found(59, 0, 0.95).more == 0


@pytest.mark.parametrize(
    ("right", "wrong", "at_least"), [(3, 0, 0.8), (9, 1, 0.8), (7, 2, 0.6), (19, 2, 0.8)]
)
def test_as_many_more_tasks_as_it_says_are_the_fewest_that_would_do(
    right: int, wrong: int, at_least: float
) -> None:
    tasks = right + wrong
    sizes = range(tasks + 1, tasks + 300)
    enough = (n for n in sizes if chance(n * right // tasks, n, at_least) <= 0.05)
    assert found(right, wrong, at_least).more == next(enough) - tasks


def test_no_number_of_tasks_shows_what_is_not_so() -> None:
    assert found(8, 2, 0.8).more is None
    assert found(1, 9, 0.8).more is None


def test_a_number_beyond_all_reason_is_not_worked_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agreement, "MOST", 5000)
    close = found(9, 1, 0.899)
    assert close.more is None
    assert "it is so close to that that 5,000 tasks would not show it" in close.sentence()


def test_a_tie_of_people_is_no_agreement_and_a_failure_is_no_task() -> None:
    told = sheet({"ann": "yyyy", "ben": "yyyn"})
    (card,) = agreements(sheet({"gpt": "yn.y"}), told, at_least=0.5)
    assert (card.tasks, card.agreed, card.tied, card.failures) == (3, 1, 1, 1)
    assert "1 task counts as disagreement because people are tied there" in card.sentence()


def test_of_several_verdicts_on_a_task_all_have_to_agree() -> None:
    said = {"task": ["t1", "t1", "t2"], "worker": ["gpt"] * 3, "label": ["y", "n", "y"]}
    (card,) = agreements(said, people(2), at_least=0.5)
    assert (card.tasks, card.agreed) == (2, 1)


def test_every_judge_is_held_to_it_unless_one_is_named() -> None:
    said = sheet({"gpt": "y" * 40, "mini": "n" * 40})
    both = agreements(said, people(40), at_least=0.8)
    assert [(each.judge, each.holds) for each in both] == [("gpt", True), ("mini", False)]
    assert not held(both)
    assert held(agreements(said, people(40), at_least=0.8, judge="gpt"))


def test_the_sentence_has_share_end_and_need() -> None:
    assert found(57, 3, 0.9).sentence() == (
        "gpt agrees with people on 95.0% of 60 tasks, and with 95% confidence on at least 87.5%: "
        "90.0% is not reached; with the same share, about 56 more tasks would show it."
    )
    assert found(57, 3, 0.8).sentence().endswith("on at least 87.5%: 80.0% is reached.")
    assert "agrees less often than that" in found(5, 5, 0.9).sentence()


def test_a_judge_without_a_task_that_people_answered_does_not_pass() -> None:
    said = {"task": ["t1", "t9"], "worker": ["gpt", "mini"], "label": ["y", "y"]}
    none = agreements(said, people(1), at_least=0.5, judge="mini")[0]
    assert (none.tasks, none.holds, none.more) == (0, False, None)
    assert none.sentence().startswith("mini has no verdict on a task that people answered")


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("at_least", 1.0, "between 0 and 1"),
        ("at_least", 80, "between 0 and 1"),
        ("at_least", "0.8", "between 0 and 1"),
        ("confidence", 0.5, "between 0.5 and 1"),
        ("judge", "gpt5", "did you mean 'gpt'?"),
    ],
)
def test_bad_settings_are_refused(field: str, value: Any, words: str) -> None:
    with pytest.raises(AskwiseError) as refused:
        found(3, 1, **{"at_least": 0.5, field: value})
    assert refused.value.field == field
    assert words in str(refused.value)
