"""Every source in the registry keeps the contract, and the suite finds those that do not."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from askwise.core.errors import AskwiseError, Conflict
from askwise.sources import Question, Response, Source, sources
from askwise.sources.chat import Chat
from askwise.sources.command import Command
from askwise.sources.function import Function
from askwise.sources.people import People
from askwise.sources.replay import Recorded
from askwise.testing import sources as suite
from askwise.testing.chat_server import ChatServer
from askwise.testing.sources import CHECKS, Check, check_source, sample_questions
from tests.sources.chat.stubs import PRICE

QUESTIONS = sample_questions()

PROGRAM = """
import json, sys
for line in sys.stdin:
    q = json.loads(line)
    print(json.dumps({"id": q["id"], "value": q["options"]["rain" not in str(q["payload"])]}))
    sys.stdout.flush()
"""


def about_rain(question: Question) -> str:
    return question.options["rain" not in str(question.payload)]


@pytest.fixture(scope="module")
def server() -> Iterator[ChatServer]:
    with ChatServer(lambda asked: "yes" if "rain" in asked.item else "no", price=PRICE) as made:
        yield made


@pytest.fixture
def make(request: pytest.FixtureRequest, tmp_path: Path, server: ChatServer) -> Any:
    (tmp_path / "program.py").write_text(PROGRAM)
    rows = [f"{each.task},judge,{about_rain(each)}" for each in QUESTIONS]
    (tmp_path / "answers.csv").write_text("\n".join(["task,worker,label", *rows]))
    program = [sys.executable, str(tmp_path / "program.py")]
    kinds: dict[str, Callable[[], Source]] = {
        "function": lambda: Function(about_rain, price="0.01", slots=5),
        "command": lambda: Command(program, price="0.01", slots=2),
        "replay": lambda: Recorded(str(tmp_path / "answers.csv")),
        "chat": lambda: Chat("m", server.url, PRICE, slots=5, cache={}),
    }
    return kinds[request.param]


KINDS = ["function", "command", "replay", "chat"]


def test_all_that_are_called_are_checked() -> None:
    ours = {name for name in sources.names() if sources.get(name).called}
    assert ours == set(KINDS)


@pytest.mark.parametrize("make", KINDS, indirect=True)
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_a_source_keeps_the_contract(check: Check, make: Callable[[], Source]) -> None:
    check(make, QUESTIONS)


@dataclass(eq=False)
class Careless(Source):
    """Answers as it should, but for one mistake."""

    async def answer(self, question: Question) -> Response:
        await asyncio.sleep(0)
        return Response(question.options[0], cost=5)

    def ceiling(self, question: Question) -> int:
        return 10


class Dear(Careless):
    """Costs more than it said."""

    async def answer(self, question: Question) -> Response:
        return Response(question.options[0], cost=11)


class Inventive(Careless):
    """Answers what nobody asked."""

    async def answer(self, question: Question) -> Response:
        return Response("perhaps", cost=5)


class Bare(Careless):
    """Gives the answer itself."""

    async def answer(self, question: Question) -> Any:
        return question.options[0]


class Rising(Careless):
    """Has another ceiling each time."""

    def ceiling(self, question: Question) -> int:
        self.looks = getattr(self, "looks", 10) + 1
        return self.looks


class Unique(Careless):
    """Has a digest of the object."""

    def digest(self) -> str:
        return f"{id(self):016x}"


class Mixed(Careless):
    """Confuses questions that are asked at a time."""

    slots: int = 2

    def __post_init__(self) -> None:
        self.slots, self.busy = 2, 0

    async def answer(self, question: Question) -> Response:
        self.busy += 1
        await asyncio.sleep(0)
        value = question.options[self.busy > 1]
        self.busy -= 1
        return Response(value)


class Forgetful(Careless):
    """Says that repetitions are free, and charges for them."""

    @property
    def repeat_is_free(self) -> bool:
        return True


class Fragile(Careless):
    """Breaks on what it does not expect."""

    async def answer(self, question: Question) -> Response:
        self.broken = getattr(self, "broken", False) or isinstance(question.payload, dict)
        failed = Response(failure="error", cost=5)
        return failed if self.broken else await super().answer(question)


class Once(Careless):
    """Can be closed once."""

    async def aclose(self) -> None:
        assert not getattr(self, "closed", False), "closed already"
        self.closed = True


@pytest.mark.parametrize(
    ("mistake", "check"),
    [
        (Dear, suite.every_question_gets_a_response_within_its_ceiling),
        (Inventive, suite.every_question_gets_a_response_within_its_ceiling),
        (Bare, suite.every_question_gets_a_response_within_its_ceiling),
        (Rising, suite.looking_changes_nothing),
        (Unique, suite.what_is_made_alike_has_the_same_digest),
        (Mixed, suite.as_many_as_it_has_slots_may_ask_at_a_time),
        (Forgetful, suite.a_repetition_is_free_where_it_is_said_to_be),
        (Fragile, suite.a_question_that_can_not_be_put_harms_no_other),
        (Once, suite.closing_twice_is_no_mistake),
    ],
)
def test_a_mistake_is_found(mistake: type[Careless], check: Check) -> None:
    kept: list[Source] = []

    def make() -> Source:
        kept.append(mistake())  # so that no other object gets its place in memory
        return kept[-1]

    with mock.patch.dict(sources._entries, {"careless": Careless}):
        Careless.name = "careless"
        check_source(Careless, QUESTIONS)
        with pytest.raises((AssertionError, AskwiseError)):
            check(make, QUESTIONS)


def test_one_that_is_not_registered_is_found() -> None:
    with pytest.raises(AskwiseError, match="is not known"):
        suite.it_is_registered_and_takes_questions(Dear, QUESTIONS)


def test_people_are_not_called() -> None:
    people = People(price="0.05")
    assert people.ceiling(QUESTIONS[0]) == 50_000
    with pytest.raises(Conflict, match="answered on a page"):
        asyncio.run(people.answer(QUESTIONS[0]))
