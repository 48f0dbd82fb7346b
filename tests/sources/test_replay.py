"""Recorded answers as a source."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from askwise.core.content import Content
from askwise.core.errors import InvalidProblem
from askwise.sources import Question, Response, sources
from askwise.sources.replay import Recorded

CONTENT = Content("Cat?", options=["no", "yes"])


@pytest.fixture
def file(tmp_path: Path) -> str:
    table = "task,worker,label,cost\nt1,ann,yes,0.25\nt1,bob,no,\nt1,ann,no,\nt2,ann,perhaps,\n"
    (tmp_path / "answers.csv").write_text(table)
    return str(tmp_path / "answers.csv")


def ask(source: Recorded, task: str = "t1", worker: str = "ann", draw: int = 0) -> Response:
    return asyncio.run(source.answer(Question(CONTENT, task, worker=worker, draw=draw)))


def test_each_worker_says_again_what_they_said(file: str) -> None:
    source = Recorded(file, price=1)
    source.check()
    assert ask(source) == Response("yes", cost=250_000)
    assert ask(source, worker="bob") == Response("no", cost=1_000_000)
    assert ask(source, draw=1) == Response("no", cost=1_000_000)
    assert ask(Recorded(file, worker="bob", price=1)).value == "no"


def test_who_said_nothing_refuses_at_no_cost(file: str) -> None:
    for response in (
        ask(Recorded(file, price=1), worker="eve"),
        ask(Recorded(file, price=1), draw=2),
    ):
        assert (response.failure, response.cost) == ("refused", 0)
    assert ask(Recorded(file, price=1), "t2").failure == "unreadable"


def test_a_cost_above_the_price_is_refused(file: str) -> None:
    with pytest.raises(
        InvalidProblem, match=r"answers.csv, line 2: cost is 0.25: give at most the price, 0.1"
    ):
        Recorded(file, price="0.1").check()


def test_numbers_are_read_where_numbers_are_asked_for(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("task,worker,label\nt1,ann,0.5\nt2,ann,much\n")
    source, content = Recorded(str(tmp_path / "a.csv")), Content("How much?", range=(0, 1))
    found = [
        asyncio.run(source.answer(Question(content, task, worker="ann"))) for task in ("t1", "t2")
    ]
    assert [each.value or each.failure for each in found] == [0.5, "unreadable"]


def test_it_is_made_by_name(file: str) -> None:
    assert isinstance(sources.make({"name": "replay", "file": file}), Recorded)
