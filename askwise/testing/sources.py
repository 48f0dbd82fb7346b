"""What every source does: run these checks on yours.

Each check takes a factory that makes a fresh source, and questions that it can answer; it calls the
factory, asks, and closes what it made. With pytest::

    @pytest.mark.parametrize("check", sources.CHECKS, ids=lambda check: check.__name__)
    def test_my_source_keeps_the_contract(check):
        check(lambda: MySource(), QUESTIONS)

Whether answers are any good is for tests of your own. People, who are not called, are not for this.
"""

import asyncio
import dataclasses
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from askwise.core.content import Content, Field, Option
from askwise.core.errors import AskwiseError
from askwise.sources.base import FAILURES, Question, Response, Source, read_value, sources
from askwise.testing.suite import Suite, same

T = TypeVar("T")
MakeSource = Callable[[], Source]
Check = Callable[[MakeSource, Sequence[Question]], None]

CHECKS = Suite[[MakeSource, Sequence[Question]]]()


def check_source(make: MakeSource, questions: Sequence[Question]) -> None:
    """Run all checks; the first that fails raises AssertionError.

    Parameters
    ----------
    make : callable
        Makes a fresh source each time, always the same. Its class must be registered.
    questions : sequence of Question
        Two or more of different tasks, which the source can answer.

    Examples
    --------
    >>> from askwise.core.content import Content
    >>> from askwise.sources.function import Function
    >>> content = Content("Is it long?", options=["no", "yes"])
    >>> check_source(
    ...     lambda: Function(lambda asked: "yes" if len(asked.payload) > 3 else "no"),
    ...     [Question(content, "t1", "long"), Question(content, "t2", "no")],
    ... )
    """
    assert len(questions) > 1, "give two questions or more"
    CHECKS.run(make, questions)


def _asking(make: MakeSource, ask: Callable[[Source], Awaitable[T]]) -> T:
    """Ask a fresh source, and close it."""

    async def run() -> T:
        source = make()
        try:
            return await ask(source)
        finally:
            await source.aclose()

    return asyncio.run(run())


def _check_response(response: object, question: Question, ceiling: int) -> None:
    assert isinstance(response, Response), f"{response!r} is no Response"
    if response.value is not None:
        read_value(response.value, question)
    else:
        assert response.failure in FAILURES, f"{response.failure!r} is no failure"
    assert type(response.cost) is int, f"the cost is {response.cost!r}: give whole millionths"
    assert 0 <= response.cost <= ceiling, f"it cost {response.cost}, the ceiling is {ceiling}"
    if response.cached:
        same(response.cost, 0, "what was paid for earlier")
    if response.probabilities is not None:
        same(set(response.probabilities), set(question.options), "options with a probability")
    json.dumps(response.to_json(), allow_nan=False)


@CHECKS
def it_is_registered_and_takes_questions(make: MakeSource, questions: Sequence[Question]) -> None:
    """It has a name under which it is found, and room for a question."""
    source = make()
    assert isinstance(source, Source), f"{source!r} is no Source"
    assert sources.get(source.name) is type(source), f"{source.name!r} is another source"
    assert source.called, "who is not called is not checked here"
    assert source.slots >= 1, f"slots is {source.slots}"
    source.check()


@CHECKS
def every_question_gets_a_response_within_its_ceiling(
    make: MakeSource, questions: Sequence[Question]
) -> None:
    """One of the options, or one of the failures, at no more than was said."""

    async def ask(source: Source) -> None:
        for question in questions:
            ceiling = source.ceiling(question)
            same(type(ceiling), int, "a ceiling in whole millionths")
            _check_response(await source.answer(question), question, ceiling)

    _asking(make, ask)


@CHECKS
def looking_changes_nothing(make: MakeSource, questions: Sequence[Question]) -> None:
    """Ceilings and digests are the same when asked for again, before and after an answer."""

    def seen(source: Source) -> list[object]:
        return [source.digest(), *map(source.ceiling, questions), source.slots]

    async def ask(source: Source) -> None:
        before = seen(source)
        same(seen(source), before, "the second look")
        await source.answer(questions[0])
        same(seen(source), before, "the look after an answer")

    _asking(make, ask)


@CHECKS
def what_is_made_alike_has_the_same_digest(make: MakeSource, questions: Sequence[Question]) -> None:
    """A digest is of what answers depend on, in hexadecimal, not of the object."""
    first, second = make().digest(), make().digest()
    same(first, second, "the digest of another one")
    assert len(first) >= 16, f"{first!r} is too short to tell sources apart"
    int(first, 16)


@CHECKS
def as_many_as_it_has_slots_may_ask_at_a_time(
    make: MakeSource, questions: Sequence[Question]
) -> None:
    """Each gets a response to its own question."""

    async def ask(source: Source) -> list[Response]:
        at_once = [questions[at % len(questions)] for at in range(min(source.slots, 8))]
        together = await asyncio.gather(*map(source.answer, at_once))
        for question, response in zip(at_once, together, strict=True):
            _check_response(response, question, source.ceiling(question))
        return list(together)

    async def one_by_one(source: Source) -> list[Response]:
        count = min(source.slots, 8)
        return [await source.answer(questions[at % len(questions)]) for at in range(count)]

    together, alone = _asking(make, ask), _asking(make, one_by_one)
    same([each.value for each in together], [each.value for each in alone], "answers at a time")


@CHECKS
def a_repetition_is_free_where_it_is_said_to_be(
    make: MakeSource, questions: Sequence[Question]
) -> None:
    """The same question of another assignment costs nothing, and has the same answer."""

    async def ask(source: Source) -> None:
        first = await source.answer(questions[0])
        if source.repeat_is_free and first.value is not None:
            other = dataclasses.replace(questions[0], assignment=f"{questions[0].assignment} again")
            again = await source.answer(other)
            same((again.value, again.cost), (first.value, 0), "the second response")

    _asking(make, ask)


@CHECKS
def a_question_that_can_not_be_put_harms_no_other(
    make: MakeSource, questions: Sequence[Question]
) -> None:
    """A payload of another shape is a failure or an answer; the next question is answered."""

    async def ask(source: Source) -> tuple[Response, Response]:
        asked = replace(questions[0].content, fields=(Field("nowhere to be found"),), examples=())
        odd = Question(asked, "odd", {"depth": [[[None]]]}, assignment="odd")
        try:
            ceiling: int | None = source.ceiling(odd)
        except AskwiseError:
            ceiling = None
        response = await source.answer(odd)
        if ceiling is not None:
            _check_response(response, odd, ceiling)
        return response, await source.answer(questions[1])

    odd, after = _asking(make, ask)
    assert isinstance(odd, Response), f"{odd!r} is no Response"
    same(after.value, _asking(make, lambda source: source.answer(questions[1])).value, "the next")


@CHECKS
def closing_twice_is_no_mistake(make: MakeSource, questions: Sequence[Question]) -> None:
    """Also for a source that was never asked."""

    async def close(source: Source) -> None:
        await source.aclose()

    _asking(make, close)


def sample_questions() -> list[Question]:
    """Short texts about which a question with two options is asked."""
    content = Content(
        "Is this text about the weather?",
        options=(
            Option("yes", meaning="It says how the weather is or will be."),
            Option("no", meaning="Anything else."),
        ),
    )
    texts = ("It rains in Rome.", "The train is late.", "Snow is expected.", "Dinner is ready.")
    return [
        Question(content, f"t{at}", text, assignment=f"sample/{at}", worker="judge")
        for at, text in enumerate(texts)
    ]
