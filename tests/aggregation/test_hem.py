"""The aggregator hem: what it never does, whatever the answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askwise.aggregation import aggregation
from tests.aggregation.tables import drawn, tables

CLASSES = "abcd"


def fitted(table: Any, temper: float | None = 0, **more: Any) -> Any:
    return aggregation.make({"name": "hem", "temper": temper}).fit(table, **more)


@settings(max_examples=40)
@given(
    said=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30),
    contexts=st.booleans(),
)
def test_the_only_answer_to_a_task_is_never_contradicted(
    said: list[tuple[int, int]], contexts: bool
) -> None:
    table = {
        "task": [f"t{at}" for at in range(len(said))],
        "worker": [f"w{worker}" for worker, _ in said],
        "label": [CLASSES[label] for _, label in said],
    }
    kinds = {f"t{at}": f"c{at % 3}" for at in range(len(said))} if contexts else None
    found = fitted(table, None, contexts=kinds)
    assert found.labels_.to_dict() == dict(zip(table["task"], table["label"], strict=True))


@pytest.mark.parametrize("share", [0.02, 0.2, 0.5])
def test_a_rare_class_is_not_swallowed_where_every_task_has_one_answer(share: float) -> None:
    rng = np.random.default_rng(3)
    labels = np.where(rng.random(400) < share, "rare", "common")
    table = {"task": range(400), "worker": rng.integers(8, size=400), "label": labels}
    assert (fitted(table).labels_.to_numpy() == labels).all()


@settings(max_examples=30)
@given(table=tables(repeats=False), shift=st.integers(1, 3))
def test_renamed_classes_have_renamed_results(table: Any, shift: int) -> None:
    names = dict(zip(CLASSES, CLASSES[shift:] + CLASSES[:shift], strict=True))
    plain = fitted(table).probas_
    renamed = fitted(table.assign(label=table["label"].map(names))).probas_
    for label in plain.columns:
        np.testing.assert_allclose(renamed[names[label]], plain[label], rtol=0, atol=1e-9)


@settings(max_examples=30)
@given(table=tables(repeats=False), shift=st.integers(1, 5))
def test_renamed_workers_change_nothing(table: Any, shift: int) -> None:
    renamed = table["worker"].map(lambda name: f"w{(int(name[1:]) + shift) % 6}")
    plain, other = fitted(table).probas_, fitted(table.assign(worker=renamed)).probas_
    np.testing.assert_allclose(other.to_numpy(), plain.to_numpy(), rtol=0, atol=1e-9)


@settings(max_examples=20)
@given(order=st.permutations(range(40)))
def test_the_order_of_answers_does_not_matter(order: list[int]) -> None:
    table, _ = drawn(5, 10, 6, 3, 4)
    shuffled = fitted(table.iloc[order]).probas_.sort_index()
    np.testing.assert_array_equal(shuffled, fitted(table).probas_.sort_index())


@pytest.mark.parametrize("seed", range(3))
def test_a_vote_of_20_to_20_is_believed_with_seven_in_ten_at_most(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = [
        (task, worker, label)
        for task in range(30)
        for worker, label in enumerate(rng.permutation(["no", "yes"] * 20))
    ]
    table = dict(zip(("task", "worker", "label"), zip(*rows, strict=True), strict=True))
    assert fitted(table, None).confidence_.max() <= 0.7


def test_a_family_that_agrees_says_less_than_as_many_others() -> None:
    # Nine workers agree on 20 tasks; five of them on one more.
    rows = [(f"t{task}", f"w{worker}", "ab"[task % 2]) for task in range(20) for worker in range(9)]
    rows += [("t20", f"w{worker}", "a") for worker in range(5)]
    table = dict(zip(("task", "worker", "label"), zip(*rows, strict=True), strict=True))
    kin = {"worker": [f"w{worker}" for worker in range(5)], "family": ["one"] * 5}
    apart, together = fitted(table).probas_, fitted(table, workers=kin).probas_
    assert 0.5 < together.loc["t20", "a"] < apart.loc["t20", "a"]
    # Of what five say apart, a family says 1 / (1 + 4 * .4) in log-odds.
    logs = [np.log(each.loc["t20", "a"] / each.loc["t20", "b"]) for each in (together, apart)]
    assert logs[0] / logs[1] == pytest.approx(1 / 2.6, rel=0.1)


def test_it_says_how_long_it_took_and_whether_it_settled() -> None:
    table, _ = drawn(2, 60, 8, 3, 4)
    contexts = {task: f"c{task % 2}" for task in range(60)}
    whole = aggregation.make({"name": "hem", "max_iterations": 200}).fit(table, contexts=contexts)
    assert whole.converged_
    cut = aggregation.make({"name": "hem", "max_iterations": 1}).fit(table, contexts=contexts)
    assert (cut.iterations_, cut.converged_) == (2, False)
    close = aggregation.make({"name": "hem", "max_iterations": 200, "tolerance": 1e-9})
    assert close.fit(table, contexts=contexts).iterations_ > whole.iterations_
