"""Scores that rank labels: leads in votes, and agreement on labels of the same kind."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askwise.aggregation.ranking import agreement_by_kind, sureness


def votes_of(rows: list[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A vote for each letter of each row: ``aab`` are votes for 0, 0 and 1."""
    tasks = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    answers = np.array(["abc".index(letter) for row in rows for letter in row])
    return tasks, answers, np.ones(len(answers))


def test_a_unanimous_label_is_less_sure_where_workers_disagree_about_its_class():
    rows = ["aaa"] * 20 + ["bbb"] * 5 + ["bba"] * 15
    named = np.array([0] * 20 + [1] * 20)
    found = sureness(*votes_of(rows), named, 2)
    assert found[0] > found[20] > found[39]


def test_a_unanimous_label_is_less_sure_where_workers_disagree_in_its_context():
    rows = ["aaa", "bbb"] * 10 + ["aaa", "bbb"] * 3 + ["aab", "bba"] * 7
    named = np.array([0, 1] * 20)
    contexts = np.repeat([0, 1], 20)
    found = sureness(*votes_of(rows), named, 2, contexts)
    assert found[0] > found[20] > found[39]
    assert np.unique(sureness(*votes_of(rows), named, 2)).size == 2


def test_labels_stay_tied_where_chance_explains_how_kinds_differ():
    # 10 of 40 labels of one class are contradicted, 9 of 40 of the other.
    rows = ["aaa"] * 30 + ["aab"] * 10 + ["bbb"] * 31 + ["bba"] * 9
    named = np.repeat([0, 1], 40)
    assert np.unique(sureness(*votes_of(rows), named, 2)).size == 2


@pytest.mark.parametrize("kinds", [[0, 0, 0, 0], [0, 1, 2, 3]])
def test_one_kind_or_a_kind_a_task_tells_nothing(kinds):
    assert agreement_by_kind(np.array([1.0, 0.5, 0.75, 0.75]), np.array(kinds)) == pytest.approx(
        [0.75] * 4
    )


def test_kinds_without_any_spread_keep_their_means():
    found = agreement_by_kind(np.array([1.0, 1.0, 0.5, 0.5]), np.array([0, 0, 1, 1]))
    assert found == pytest.approx([1.0, 1.0, 0.5, 0.5])


@given(st.lists(st.tuples(st.integers(0, 3), st.floats(0, 1)), min_size=1, max_size=40))
def test_agreement_lies_between_the_mean_of_the_kind_and_of_all(tasks):
    kinds, shares = (np.array(each) for each in zip(*tasks, strict=True))
    found = agreement_by_kind(shares, kinds)
    own = np.array([shares[kinds == kind].mean() for kind in kinds])
    low, high = np.minimum(own, shares.mean()), np.maximum(own, shares.mean())
    assert (found >= low - 1e-12).all()
    assert (found <= high + 1e-12).all()


def test_what_the_other_tasks_of_other_kinds_are_called_does_not_matter():
    shares = np.array([1.0, 0.9, 0.4, 0.5, 0.7])
    kinds = np.array([0, 0, 1, 1, 2])
    assert (
        agreement_by_kind(shares, kinds).tolist() == agreement_by_kind(shares, 9 - kinds).tolist()
    )
