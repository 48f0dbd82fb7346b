"""A program as a source: it reads questions and writes responses, one line of JSON each."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shlex
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from askwise.core.checks import real
from askwise.core.errors import InvalidParameter
from askwise.core.registry import example
from askwise.sources.base import (
    OPERATIONAL,
    FixedPrice,
    Outage,
    Question,
    Response,
    read_response,
    sources,
)

LONGEST_LINE = 2**24
"""Bytes of a line that a program may write."""

MOST_CRASHES = 3
"""A program that ends so often in a row, without an answer between, is not started again."""

GRACE = 2.0
"""Seconds that a program has to end by itself when its input ends."""


@sources.register("command")
@dataclass(eq=False)
class Command(FixedPrice):
    """A program that is kept running: it reads a question per line and writes a response per line.

    A question is an object with ``id``, ``task``, ``worker``, ``draw``, ``options``, ``payload``
    and ``content``. A response is the answer alone (``"yes"``) or an object (``{"value": "yes",
    "cost": "0.002"}``; or ``{"failure": "refused"}``), see
    :func:`askwise.sources.base.read_response`. If it repeats the question's ``id``, that must fit.

    One that ends or breaks off is started again for the next question; after three times in a row
    it is not. One that takes too long is killed, with all that it has started. Both fail at the
    full price, as their cost is unknown.

    Parameters
    ----------
    command : str or sequence of str
        The program and its arguments. No shell reads them.
    price : amount of money
        The most that an answer costs, and what it costs unless its response says less.
    timeout : float
        Maximum number of seconds for an answer.
    slots : int
        How many copies run at a time; each has one question.
    """

    command: str | Sequence[str] = field(metadata=example('command = "python judge.py"'))
    timeout: float = field(default=60.0, metadata=OPERATIONAL)

    def __post_init__(self) -> None:
        super().__post_init__()
        real(self.timeout, "timeout", "seconds above 0", least=1e-3, most=1e6)
        try:
            words = shlex.split(self.command) if isinstance(self.command, str) else self.command
        except ValueError as error:
            raise InvalidParameter(
                f"command is {self.command!r}: {error}", field="command"
            ) from None
        if (
            not isinstance(words, Sequence)
            or not words
            or not all(isinstance(word, str) for word in words)
        ):
            raise InvalidParameter(
                f"command is {self.command!r}: give a program and its arguments", field="command"
            )
        self._words = list(words)
        self._idle: list[_Program] = []
        self._crashes = 0
        self._last = ""

    def outage(self) -> Outage | None:
        """Whether it ended too often."""
        if self._crashes < MOST_CRASHES:
            return None
        return Outage(f"{self._words[0]} ended {self._crashes} times in a row: {self._last}")

    async def answer(self, question: Question) -> Response:
        """Write the question, read the response."""
        out = self.outage()
        if out is not None:
            return Response(failure="unavailable", detail=out.why)
        price = self.ceiling(question)
        try:
            program = self._idle.pop() if self._idle else await _Program.start(self._words)
        except OSError as error:
            self._crashed(f"it can't be started ({error.strerror})")
            return Response(failure="unavailable", detail=self._last)
        line = json.dumps(question.to_json(), ensure_ascii=False).encode() + b"\n"
        try:
            async with asyncio.timeout(self.timeout):
                said = await program.ask(line)
        except TimeoutError:
            await program.kill()
            detail = f"no answer after {self.timeout:g} s"
            return Response(failure="timed_out", cost=price, estimated=True, detail=detail)
        except _Ended as error:
            await program.kill()
            self._crashed(str(error))
            return Response(failure="error", cost=price, estimated=True, detail=self._last)
        except BaseException:
            # The next call would read the answer to this question.
            await program.kill()
            raise
        self._idle.append(program)
        self._crashes = 0
        return _read_line(said, question, price)

    async def aclose(self) -> None:
        """End the programs."""
        while self._idle:
            await self._idle.pop().close()

    def _crashed(self, why: str) -> None:
        self._crashes += 1
        self._last = why


def _read_line(line: bytes, question: Question, price: int) -> Response:
    try:
        said: Any = json.loads(line)
    except (ValueError, RecursionError):
        detail = f"it wrote {line[:80]!r}, which is not JSON"
        return Response(failure="unreadable", cost=price, detail=detail)
    if isinstance(said, dict) and said.get("id", question.assignment) != question.assignment:
        detail = f"it answered {str(said['id'])[:80]!r}, and was asked {question.assignment!r}"
        return Response(failure="unreadable", cost=price, detail=detail)
    return read_response(said, question, price)


class _Ended(Exception):
    """A program is no more, or writes what is not a line."""


class _Program:
    """A running program, and the last line that it wrote to its standard error."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._complaint = b""
        self._listening = asyncio.create_task(self._listen())

    @classmethod
    async def start(cls, words: list[str]) -> _Program:
        pipe = asyncio.subprocess.PIPE
        return cls(
            await asyncio.create_subprocess_exec(
                *words,
                stdin=pipe,
                stdout=pipe,
                stderr=pipe,
                limit=LONGEST_LINE,
                start_new_session=sys.platform != "win32",
            )
        )

    async def ask(self, line: bytes) -> bytes:
        """Write a line, read a line."""
        reading, writing = self._process.stdout, self._process.stdin
        assert reading is not None
        assert writing is not None
        try:
            writing.write(line)
            await writing.drain()
            said = await reading.readline()
        except (BrokenPipeError, ConnectionResetError):
            said = b""
        except ValueError:
            raise _Ended(f"it wrote a line of more than {LONGEST_LINE} bytes") from None
        if said.endswith(b"\n"):
            return said
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GRACE):
                await self._process.wait()
                await self._listening
        complaint = self._complaint.decode(errors="replace").strip()[:200]
        raise _Ended(
            f"it ended with code {self._process.returncode}"
            + (f": {complaint}" if complaint else "")
        )

    async def close(self) -> None:
        """End its input, and wait for it to end; not for ever."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GRACE):
                await self._process.wait()
        await self.kill()

    async def kill(self) -> None:
        """End it, and what it has started."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            if sys.platform == "win32":
                self._process.kill()
            else:
                os.killpg(self._process.pid, signal.SIGKILL)
        # Until its pipes end, as they would otherwise outlive the loop.
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(GRACE):
                await self._process.wait()
                while self._process.stdout is not None and await self._process.stdout.read(65536):
                    pass
                await self._listening
        self._listening.cancel()

    async def _listen(self) -> None:
        errors = self._process.stderr
        assert errors is not None
        # By pieces and not by lines: nobody says that there are any.
        tail = b""
        while piece := await errors.read(4096):
            tail = (tail + piece)[-4096:]
            lines = [line for line in tail.splitlines() if line.strip()]
            self._complaint = lines[-1] if lines else b""
