"""Recorded answers by hand, and a replay of them."""

from __future__ import annotations

from typing import Any

from askwise import Worker
from askwise.data.labels import LabelTable
from askwise.lab.replaying.replay import Replay, replay

ANSWERS = """
t0 ann yes, t0 bob yes, t0 eve no,
t1 ann no, t1 bob yes,
t2 eve no,
t3 ann yes, t3 eve yes
"""
GOLD = {"t0": "yes", "t1": "no", "t2": "yes", "t9": "no"}
"""Right by majority, tied, wrong; t3 has none, and t9 no answer."""

PRICES = [Worker("ann", 1), Worker("bob", 2), Worker("eve", "0.5"), Worker("zoe", 9)]

Make = Any


def run(table: LabelTable, gold: Any = None, **more: Any) -> Replay:
    raw: dict[str, Any] = {"against": ["random-pairs"], "budget": 4, "runs": 2, **more}
    return replay(table, GOLD if gold is None else gold, **raw)
