"""The prior of ``map`` on labels: Bayes' rule by hand, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from askwise import Campaign, Worker
from askwise.core.errors import AskwiseError
from askwise.core.registry import stored_spec
from askwise.policies import policies


def campaign(**parameters: Any) -> Campaign:
    return Campaign.create(
        workers=[Worker("a", 1), Worker("b", 1), Worker("c", 1)],
        tasks=["t1", "t2"],
        options=["no", "yes"],
        budget=6,
        policy={"name": "b-kube", "inference": "map", **parameters},
        stopping={"name": "fixed", "n": 3},
        seed=1,
    )


def after_one_yes(**parameters: Any) -> tuple[str, float]:
    made = campaign(**parameters)
    made.tell(made.ask()[0].id, "yes")
    answer = made.answers()[0]
    return answer.value, answer.confidence


def test_the_prior_enters_as_in_bayes_rule() -> None:
    # An answer that agrees with itself: its giver is believed at (1 + 1.5) / (1 + 2) = 5/6.
    assert after_one_yes() == ("yes", pytest.approx(5 / 6))
    # Odds of 5 to 1 for yes, and of 1 to 3 beforehand.
    assert after_one_yes(label_prior=[0.75, 0.25]) == ("yes", pytest.approx(5 / 8))


def test_a_strong_prior_outweighs_an_answer() -> None:
    # Against 9 to 1 the answer is judged wrong: (0 + 1.5) / (1 + 2) = 1/2 is no evidence at all.
    assert after_one_yes(label_prior=[0.9, 0.1]) == ("no", pytest.approx(0.9))


def test_equal_shares_change_nothing() -> None:
    logs = []
    for parameters in ({}, {"label_prior": [0.5, 0.5]}):
        made = campaign(**parameters)
        while batch := made.ask(limit=2):
            for each in batch:
                made.tell(each.id, "yes" if each.worker != "b" else "no")
        logs.append([(e.kind, e.task, e.worker, e.value) for e in made.log()])
    assert logs[0] == logs[1]


def test_it_is_written_only_where_it_is_set() -> None:
    assert "label_prior" not in stored_spec(policies.make("b-kube"))
    spec = {"name": "b-kube", "inference": "map", "label_prior": [0.9, 0.1]}
    assert policies.make(stored_spec(policies.make(spec))) == policies.make(spec)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"inference": "majority", "label_prior": [0.5, 0.5]}, "only 'map' has a prior"),
        ({"label_prior": [0.9, 0.9]}, "label_prior sums to 1.8: give shares that sum to 1"),
        ({"label_prior": [1.0, 0.0]}, "label_prior is 0.0: give a number above 0"),
        ({"label_prior": 0.9}, "label_prior is 0.9: give a number for each label"),
        ({"label_prior": [0.2, 0.3, 0.5]}, "label_prior has 3 shares: give one for each of the 2"),
    ],
    ids=str,
)
def test_what_is_wrong_is_said(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(AskwiseError) as caught:
        campaign(**parameters)
    assert message in str(caught.value)
    assert caught.value.field == "label_prior"
