"""Programs as sources: one line of JSON in, one out."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from askwise.core.content import Content
from askwise.core.errors import InvalidParameter
from askwise.sources import Question, Response
from askwise.sources.command import MOST_CRASHES, Command

CONTENT = Content("Is it long?", options=["no", "yes"])


def asked(payload: Any = "text", id: str = "c/1") -> Question:
    return Question(CONTENT, "t1", payload, assignment=id)


@pytest.fixture
def program(tmp_path: Path) -> Callable[..., Command]:
    """A program whose loop does something with each question."""

    def make(line: str, *, before: str = "", **parameters: Any) -> Command:
        file = tmp_path / "program.py"
        file.write_text(
            "import json, os, sys, time\n"
            f"{before}\n"
            "for line in sys.stdin:\n"
            "    q = json.loads(line)\n"
            f"    {line}\n"
            "    sys.stdout.flush()\n"
        )
        return Command([sys.executable, str(file)], **parameters)

    return make


def run(source: Command, ask: Callable[[Command], Awaitable[Any]]) -> Any:
    async def all_of_it() -> Any:
        try:
            return await ask(source)
        finally:
            await source.aclose()

    return asyncio.run(all_of_it())


def answers(source: Command, *questions: Question) -> list[Response]:
    async def ask(source: Command) -> list[Response]:
        return [await source.answer(each) for each in questions]

    found: list[Response] = run(source, ask)
    return found


def test_a_program_reads_the_question_and_is_kept_alive(program: Callable[..., Command]) -> None:
    said = 'print(json.dumps({"value": q["options"][len(q["payload"]) > 5], "id": q["id"], '
    source = program(said + '"reference": str(os.getpid()), "cost": "0.001"}))', price=1)
    first, second = answers(source, asked(), asked("long text", "c/2"))
    assert (first.value, second.value) == ("no", "yes")
    assert (first.cost, second.cost) == (1000, 1000)
    assert first.reference == second.reference


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("print('hello')", "which is not JSON"),
        ("print('\"maybe\"')", "value is 'maybe'"),
        ('print(json.dumps({"value": "no", "id": "another"}))', "it answered 'another'"),
        ("print('[' * 100000)", "which is not JSON"),
    ],
)
def test_a_line_that_is_no_answer_is_unreadable_and_the_program_goes_on(
    line: str, said: str, program: Callable[..., Command]
) -> None:
    source = program(f"{line} if q['id'] == 'c/1' else print('\"no\"')", price="0.5")
    first, second = answers(source, asked(), asked(id="c/2"))
    assert (first.failure, first.cost) == ("unreadable", 500_000)
    assert said in (first.detail or "")
    assert second.value == "no"


def test_one_that_ends_is_started_again_and_says_its_last_words(
    program: Callable[..., Command],
) -> None:
    line = "print('\"no\"') if q['id'] == 'c/2' else sys.exit('out of luck')"
    first, second = answers(program(line), asked(), asked(id="c/2"))
    assert (first.failure, first.detail) == ("error", "it ended with code 1: out of luck")
    assert second.value == "no"


def test_one_that_ends_again_and_again_is_out(program: Callable[..., Command]) -> None:
    source = program("sys.exit(3)")
    found = answers(source, *[asked()] * (MOST_CRASHES + 1))
    assert [each.failure for each in found] == ["error"] * MOST_CRASHES + ["unavailable"]
    outage = source.outage()
    assert outage is not None
    assert "ended 3 times in a row: it ended with code 3" in outage.why


def test_a_program_that_is_not_there_costs_nothing() -> None:
    (response,) = answers(Command("/nowhere/to/be/found", price=1), asked())
    assert (response.failure, response.cost) == ("unavailable", 0)
    assert "can't be started (No such file" in (response.detail or "")


def test_one_that_takes_too_long_is_killed_with_what_it_started(
    program: Callable[..., Command],
) -> None:
    start = "child = os.spawnlp(os.P_NOWAIT, 'sleep', 'sleep', '60')"
    line = (
        "time.sleep(60) if q['id'] == 'c/2' else "
        'print(json.dumps({"value": "no", "reference": str(child)}))'
    )
    source = program(line, before=start)

    async def ask(source: Command) -> tuple[Response, Response, Response]:
        first = await source.answer(asked())
        source.timeout = 0.05
        second = await source.answer(asked(id="c/2"))
        source.timeout = 60.0
        return first, second, await source.answer(asked(id="c/3"))

    first, second, third = run(source, ask)
    assert (first.value, second.failure, third.value) == ("no", "timed_out", "no")
    state = Path(f"/proc/{first.reference}/stat")
    # Gone, or dead and not yet noticed by whoever inherited it.
    assert not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z"


def test_several_run_at_a_time_and_each_answers_its_own(program: Callable[..., Command]) -> None:
    line = 'print(json.dumps({"value": q["payload"], "id": q["id"]}))'

    async def ask(source: Command) -> list[Response]:
        each = [asked(CONTENT.names()[at % 2], f"c/{at}") for at in range(6)]
        return list(await asyncio.gather(*map(source.answer, each)))

    found = run(program(line, slots=3), ask)
    assert [each.value for each in found] == ["no", "yes"] * 3


def test_a_question_that_is_given_up_leaves_no_answer_for_the_next(
    program: Callable[..., Command],
) -> None:
    line = "(time.sleep(0.5), print('\"yes\"')) if q['id'] == 'c/1' else print('\"no\"')"

    async def ask(source: Command) -> Response:
        task = asyncio.create_task(source.answer(asked()))
        await asyncio.sleep(0.2)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return await source.answer(asked(id="c/2"))

    assert run(program(line), ask).value == "no"


@pytest.mark.parametrize("command", ["", "a 'b", [], [1]])
def test_a_command_is_a_program_and_its_arguments(command: Any) -> None:
    with pytest.raises(InvalidParameter, match="command is"):
        Command(command)
