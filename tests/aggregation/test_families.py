"""Kinds and families of workers: evidence counted once, in tables and in campaigns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from askwise import Campaign, Worker
from askwise.aggregation import aggregation, code_answers
from askwise.aggregation.answers import Kin, code_workers
from askwise.core.errors import InvalidParameter, InvalidProblem
from askwise.ledger import columns as c
from tests.aggregation.tables import METHODS, drawn

by_method = pytest.mark.parametrize("method", METHODS)
COUNTING = ("dawid-skene", "majority", "one-coin", "weighted-majority")
"""Methods in which answers of a family count less."""


def quick(method: str, **more: Any) -> Any:
    few = {"mace": {"restarts": 2, "max_iterations": 5}, "glad": {"max_iterations": 3}}
    return aggregation.make({"name": method, **few.get(method, {}), **more})


@by_method
def test_without_families_nothing_changes(method: str) -> None:
    table, _ = drawn(2, tasks=30, crowd=8, classes=3, each=4)
    plain = quick(method, temper=0).fit(table)
    said = {"worker": list(range(8)), "kind": ["person"] * 4 + ["model"] * 2 + ["crowd"] * 2}
    kinds = quick(method, temper=0).fit(table, workers=said)
    assert kinds.probas_.to_numpy().tolist() == plain.probas_.to_numpy().tolist()
    alone = {"worker": list(range(8)), "family": [f"f{at}" for at in range(8)]}
    families = quick(method, temper=0).fit(table, workers=alone)
    assert families.probas_.to_numpy().tolist() == plain.probas_.to_numpy().tolist()


@pytest.mark.parametrize("method", COUNTING)
def test_copies_of_one_worker_do_not_outvote_two_others(method: str) -> None:
    # Three copies against two workers of their own, on tasks where all five are as good.
    rows, rng = [], np.random.default_rng(1)
    for task in range(60):
        copied, first, second = rng.random(3) < 0.7
        rows += [(task, f"copy{at}", int(copied)) for at in range(3)]
        rows += [(task, "ann", int(first)), (task, "bob", int(second))]
    table = pd.DataFrame(rows, columns=["task", "worker", "label"])
    said = {"worker": [f"copy{at}" for at in range(3)], "family": ["copies"] * 3}
    split = table.pivot_table(index="task", columns="worker", values="label")
    against = split.index[(split["ann"] == split["bob"]) & (split["ann"] != split["copy0"])]
    assert len(against) > 5
    plain, counted = quick(method).fit(table), quick(method).fit(table, workers=said)
    assert (plain.labels_[against] == split["copy0"][against]).all()
    sure = [found.confidence_[against].mean() for found in (plain, counted)]
    told = (counted.labels_[against] == split["ann"][against]).mean()
    assert told > 0.5 or sure[1] < sure[0]


def test_a_family_of_one_maker_counts_as_its_mean_and_a_little_more() -> None:
    table = {"task": [1] * 5, "worker": list("abcde"), "label": [0, 0, 0, 1, 1]}
    said = {"worker": list("abc"), "family": ["f"] * 3}
    found = quick("majority").fit(table, workers=said)
    # 3 / (1 + 2 * .4) = 5/3 votes against 2.
    assert found.probas_.loc[1].tolist() == pytest.approx([5 / 11, 6 / 11])


@by_method
def test_models_are_believed_less_than_persons(method: str) -> None:
    if quick(method).finds_shares:
        return
    table, _ = drawn(5, tasks=40, crowd=6, classes=2, each=5, low=0.7)
    sure = {}
    for kind in ("person", "model", "crowd"):
        said = {"worker": list(range(6)), "kind": [kind] * 6}
        sure[kind] = quick(method).fit(table, workers=said).confidence_.mean()
    assert sure["model"] < sure["person"] == sure["crowd"]


def test_what_a_table_says_of_workers_reaches_the_answers() -> None:
    said = {"ann": Kin("person"), "gpt-a": Kin("model", "gpt"), "gpt-b": Kin("model", "gpt")}
    kinds, families = code_workers(["ann", "bob", "gpt-a", "gpt-b"], said)
    assert kinds.tolist() == [c.PERSON, c.UNSAID, c.MODEL, c.MODEL]
    assert families.tolist() == [-1, -1, 0, 0]
    tasks = np.zeros(4, int)
    answers = code_answers(tasks, np.arange(4), tasks, kinds=kinds, families=families)
    assert answers.weights.tolist() == pytest.approx([1.0, 1.0, 1 / 1.4, 1 / 1.4])
    assert answers.evidence.tolist() == pytest.approx([2 + 2 / 1.4])
    assert code_answers(tasks, np.arange(4), tasks, kinds=kinds).weights.tolist() == [1.0] * 4


@pytest.mark.parametrize(
    ("said", "field", "words"),
    [
        ({"worker": ["ann"], "kind": ["robot"]}, "kind", "'robot'"),
        ({"worker": ["ann", "ann"], "kind": ["person", "model"]}, "worker", "'ann' twice"),
        ({"name": ["ann"], "kind": ["person"]}, "name", "did you mean"),
        ({"kind": ["person"]}, "worker", "no column 'worker'"),
        ({"worker": ["zoe"], "kind": ["person"]}, "workers", "nobody in common"),
        ({"worker": ["ann"], "family": ["a\nb"]}, "family", "printable"),
        (["ann"], "workers", "give a DataFrame"),
    ],
)
def test_a_table_of_workers_is_checked(said: Any, field: str, words: str) -> None:
    table = {"task": [1, 1], "worker": ["ann", "bob"], "label": ["a", "b"]}
    with pytest.raises((InvalidParameter, InvalidProblem)) as refused:
        quick("majority").fit(table, workers=said)
    assert refused.value.field == field
    assert words in str(refused.value) or field == "name"


def test_empty_cells_say_nothing() -> None:
    table = {"task": [1, 1], "worker": ["ann", "bob"], "label": ["a", "b"]}
    said = pd.DataFrame({"worker": ["ann", "bob"], "kind": [None, ""], "family": [np.nan, None]})
    found = quick("one-coin").fit(table, workers=said)
    assert (
        found.probas_.to_numpy().tolist()
        == quick("one-coin").fit(table).probas_.to_numpy().tolist()
    )


@pytest.mark.parametrize("method", ["one-coin", "majority"])
def test_kinds_and_families_of_a_campaign_count(method: str) -> None:
    workers = [Worker(f"gpt-{at}", 1, kind="model", family="gpt") for at in range(3)]
    workers += [Worker(f"p{at}", 1, kind="person") for at in range(2)]
    campaign = Campaign.create(
        workers=workers,
        tasks=[f"t{at}" for at in range(6)],
        options=["no", "yes"],
        policy="uniform",
        aggregation=method,
        seed=1,
    )
    rows = []
    for each in campaign.ask(limit=30):
        said = "no" if each.worker.startswith("gpt") else "yes"
        rows.append((each.task, each.worker, said))
        campaign.tell(each.id, said)
    table = pd.DataFrame(rows, columns=["task", "worker", "label"])
    kin = {
        "worker": [each.id for each in workers],
        "kind": [each.kind for each in workers],
        "family": [each.family for each in workers],
    }
    found = quick(method).fit(table, workers=kin)
    for answer in campaign.answers():
        assert answer.value == found.labels_[answer.task]
        assert answer.confidence == pytest.approx(found.confidence_[answer.task], abs=1e-12)
    if method == "majority":
        assert set(found.labels_) == {"yes"}
