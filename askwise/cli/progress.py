"""What long commands say while they run: a bar on a terminal, elsewhere a line now and then."""

import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from askwise.cli import output

EVERY = 4.0
"""Seconds between two lines on what is going on, where there is no terminal."""


@contextmanager
def progress(
    *, quiet: bool = False, compiles: bool = True, aloud: bool = True
) -> Iterator[Callable[[str, int, int], None]]:
    """A bar with the time left, on a terminal; elsewhere a line every few seconds.

    While something is compiled, which takes long and comes first, the line says what, and which
    kernel of it that is; how many there will be is not known. Where nothing ``compiles``, the
    compiler is not loaded. A command that has better words than how many of how many tells them by
    `spoken`, and is not ``aloud`` here.
    """
    if quiet:
        yield lambda what, done, total: None
        return
    if not sys.stderr.isatty():
        compiling = _Compiling()
        with (
            _watched(compiling) if compiles else nullcontext(),
            _speaker(EVERY, compiling.now) as say,
        ):
            yield lambda what, done, total: say(f"{what}: {done} of {total}" if aloud else "")
        return
    from rich import progress as columns

    bars: dict[str, Any] = {}
    with columns.Progress(
        columns.TextColumn("{task.description}"),
        columns.BarColumn(),
        columns.TaskProgressColumn(),
        columns.TextColumn("{task.fields[note]}"),
        columns.TimeRemainingColumn(),
        console=output.console(stderr=True),
        transient=True,
    ) as shown:

        def tell(what: str, done: int, total: int) -> None:
            if what not in bars:
                # One step tells nothing of how far it is: the bar only shows that it lives.
                counted = total > 1
                bars[what] = shown.add_task(
                    what, total=total if counted else None, note="time left" if counted else ""
                )
            shown.update(bars[what], completed=done, visible=done < total)

        def tell_compiling(what: str, begins: bool) -> None:
            tell(f"compiling {what}", int(not begins), 1)

        with _watched(tell_compiling) if compiles else nullcontext():
            yield tell


@contextmanager
def spoken(*, quiet: bool = False) -> Iterator[Callable[[str], None]]:
    """What is told to it, as a line now and then where there is no terminal to show a bar on.

    The line comes again while one step takes longer; a command that ends sooner prints none.
    """
    if quiet or sys.stderr.isatty():
        yield lambda what: None
        return
    with _speaker(EVERY) as say:
        yield say


@contextmanager
def narrated(*, quiet: bool = False) -> Iterator[Callable[[str], None]]:
    """What is told to it: a line that is renewed on a terminal, elsewhere a line now and then."""
    if quiet:
        yield lambda what: None
    elif sys.stderr.isatty():
        with output.console(stderr=True).status("") as shown:
            yield shown.update
    else:
        with _speaker(EVERY) as say:
            yield say


@contextmanager
def _speaker(
    every: float, first: Callable[[], str] = lambda: ""
) -> Iterator[Callable[[str], None]]:
    """Print the latest of what is told to it, at intervals of ``every`` seconds.

    What ``first`` returns goes before that, unless it is empty.
    """
    latest: list[str] = []
    over = threading.Event()

    def speak() -> None:
        while not over.wait(every):
            if words := first() or "".join(latest):
                # In one piece: another line may be printed at the same time.
                print(f"{words}\n", end="", file=sys.stderr, flush=True)

    def say(what: str) -> None:
        latest[:] = [what]

    speaker = threading.Thread(target=speak, daemon=True)
    speaker.start()
    try:
        yield say
    finally:
        over.set()
        speaker.join()


def _watched(watcher: Callable[[str, bool], None]) -> AbstractContextManager[None]:
    from askwise.core.compiling import watched

    return watched(watcher)


class _Compiling:
    """Hears of each kernel that is compiled, and prints a line when it is the first of something.

    Kernels that are compiled as part of another are not counted.
    """

    def __init__(self) -> None:
        self._begun: Counter[str] = Counter()
        self._now = ""

    def __call__(self, what: str, begins: bool) -> None:
        self._begun[what] += begins
        self._now = f"compiling {what}, kernel {self._begun[what]}" if begins else ""
        if begins and self._begun[what] == 1:
            print(self._now, file=sys.stderr, flush=True)

    def now(self) -> str:
        """What is compiled at this moment; empty if nothing is."""
        return self._now
