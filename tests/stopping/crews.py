"""Crews of which some are families: what they said, asked one by one of a rule."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import strategies as st

from askwise.stopping.e_process import log_e_value
from tests.stopping.question import Question

Said = list[tuple[str, str]]

CREW = "abcdef"
FAMILIES = {"a": "f", "b": "f", "c": "g", "d": "g"}
"""Two families of two; e and f are on their own."""


def asked(rule: Any, said: Said, options: str = "xyz", **more: Any) -> Question:
    question = Question(rule, options=options, prices=dict.fromkeys(CREW, 1), **more)
    for worker, option in said:
        question.say(worker, option)
    return question


def capital(question: Question, option: int = 0, rival: int = 1) -> float:
    return math.exp(log_e_value(question.ledger.book, 0, option, rival))


SAID = st.lists(st.tuples(st.sampled_from(CREW), st.sampled_from("xyz")), min_size=1, max_size=14)
