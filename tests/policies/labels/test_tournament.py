"""The tournament over tasks, against sorting."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from askwise.core.problem import make_problem
from askwise.ledger.ledger import Ledger
from askwise.policies.labels.tournament import build_tree, first_task, new_tree, rekey

KEYS = st.sampled_from([0.0, 0.5, 1.0, 2.5, -1.0, math.inf])


def ledger_of(tasks, workers=2, named=()):
    return Ledger(
        make_problem(
            workers=[{"id": f"w{at}", "price": 1} for at in range(workers)],
            tasks=[
                {"id": f"t{at}", "workers": ["w0"] if at in named else None} for at in range(tasks)
            ],
            options=["a", "b"],
        )
    )


@given(st.lists(KEYS, min_size=1, max_size=20), st.lists(st.tuples(st.integers(0, 19), KEYS)))
def test_the_winner_has_the_lowest_key_and_the_lowest_number(keys, changes):
    keys = np.array(keys)
    tree = new_tree(len(keys))
    build_tree(tree, keys, len(keys))
    for task, key in changes:
        rekey(tree, keys, task % len(keys), key)
        assert tree[1] == int(np.argmin(keys))


@given(st.lists(KEYS, min_size=1, max_size=12), st.data())
def test_the_first_task_is_the_lowest_that_somebody_may_do(keys, data):
    named = {at for at in range(len(keys)) if data.draw(st.booleans())}
    ledger = ledger_of(len(keys), named=named)
    array = np.array(keys)
    tree = new_tree(len(keys))
    build_tree(tree, array, len(keys))
    for available in ([1, 1], [0, 1], [1, 0], [0, 0]):
        fit = [
            (key, at)
            for at, key in enumerate(keys)
            if key < math.inf and (available[0] or (available[1] and at not in named))
        ]
        found = first_task(ledger.book, tree, array, 10**9, np.array(available, np.int8))
        assert found == (min(fit)[1] if fit else -1)


def test_nobody_is_found_whom_the_money_does_not_pay():
    ledger = ledger_of(3)
    keys = np.zeros(3)
    tree = new_tree(3)
    build_tree(tree, keys, 3)
    everyone = np.ones(2, np.int8)
    assert first_task(ledger.book, tree, keys, 10**6 - 1, everyone) == -1
    assert first_task(ledger.book, tree, keys, 10**6, everyone) == 0
