"""What commands that simulate share: a bar while they run, files that appear all together.

Also the command that gives the same numbers again, which goes into those files.
"""

import importlib.util
import os
import shlex
import shutil
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from askwise.cli import output
from askwise.core.errors import InvalidParameter

NEEDS = {
    **{"client": ("httpx",), "dask": ("dask", "distributed"), "ray": ("ray",)},
    **{"postgres": ("psycopg", "psycopg_pool"), "tables": ("pandas", "pyarrow")},
    "uci": ("sklearn",),
    "judges": ("httpx", "jinja2", "markupsafe"),
    "mcp": ("httpx", "mcp", "pydantic"),
    "lab": ("jinja2", "joblib", "markupsafe", "matplotlib"),
    "service": (
        *("anyio", "httpcore", "httptools", "httpx", "jinja2", "matplotlib"),
        *("prometheus_client", "pydantic", "python_multipart", "starlette", "uvicorn", "uvloop"),
    ),
}
"""What the extras have beyond a plain install."""


EVERY = 4.0
"""Seconds between two lines on what is going on, where there is no terminal."""


@contextmanager
def extra(name: str = "lab") -> Iterator[None]:
    """Name the extra that is not installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in NEEDS[name]:
            raise
        raise InvalidParameter(
            f"this command needs {error.name}: pip install 'askwise[{name}]'", field=name
        ) from None


def need(name: str) -> None:
    """Complain now, and not after an hour's work, if an extra is not installed."""
    with extra(name):
        for module in NEEDS[name]:
            if importlib.util.find_spec(module) is None:
                raise ModuleNotFoundError(name=module)


@contextmanager
def workshop(target: Path) -> Iterator[Path]:
    """A directory to write in; its files appear in ``target`` all together at the end, or never.

    It bears the target's name.
    """
    if target.exists() and not target.is_dir():
        raise InvalidParameter(f"{target} is a file: give another directory", field="out")
    made = [path for path in (target, *target.parents) if not path.exists()]
    bench = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.mkdir(exist_ok=True)
        bench = Path(tempfile.mkdtemp(prefix=".", dir=target))
        place = bench / target.absolute().name
        place.mkdir()
        yield place
        with _undisturbed():
            for path in place.iterdir():
                os.replace(path, target / path.name)
    finally:
        with _undisturbed():
            if bench is not None:
                shutil.rmtree(bench, ignore_errors=True)
            for path in made:
                if path.is_dir() and not any(path.iterdir()):
                    path.rmdir()


@contextmanager
def pages(target: Path | None) -> Iterator[Path | None]:
    """A directory to write a report in, as a workshop is one; None where none is wanted."""
    if target is None:
        yield None
        return
    with extra(), workshop(target) as place:
        # Missed now, not after the simulation.
        import jinja2  # noqa: F401
        import matplotlib  # noqa: F401

        yield place


def show_found(
    found: Any,
    as_json: bool,
    *,
    screen: Callable[[Any], None],
    lines: Callable[[Any], None],
    files: Sequence[Path],
) -> None:
    """Print what was found, as JSON or for a screen or in lines, and where its files are."""
    if as_json:
        output.show_json(found.to_json())
        return
    (screen if output.for_people() else lines)(found)
    for path in files:
        print(path)


def command_line(*words: object, **options: object) -> str:
    """The command that gives these numbers again.

    Examples
    --------
    >>> command_line("lab", "run", "figure 1", reps=3, out=None, set=["a=1", "b=2"])
    "askwise lab run 'figure 1' --reps 3 --set a=1 --set b=2"
    """
    said = ["askwise", *map(str, words)]
    for name, value in options.items():
        for each in value if isinstance(value, list) else [value]:
            if each is not None:
                said += [f"--{name.replace('_', '-')}", str(each)]
    return shlex.join(said)


def settings_of(given: Sequence[str] | None) -> dict[str, str]:
    """Read what ``--set KEY=VALUE`` says."""
    chosen = {}
    for each in given or ():
        key, equals, value = each.partition("=")
        if not equals or not key.strip():
            raise InvalidParameter(f"set is {each!r}: give KEY=VALUE", field="set")
        chosen[key.strip()] = value
    return chosen


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Let Ctrl-C wait for the end of the block."""
    before = signal.getsignal(signal.SIGINT)
    asked: list[int] = []
    try:
        signal.signal(signal.SIGINT, lambda number, frame: asked.append(number))
    except ValueError:  # not in the main thread, where Ctrl-C does not arrive anyway
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if asked:
        raise KeyboardInterrupt


@contextmanager
def progress(
    *, quiet: bool = False, compiles: bool = True, aloud: bool = True
) -> Iterator[Callable[[str, int, int], None]]:
    """A bar with the time left, on a terminal; elsewhere a line every few seconds.

    There is also a line for each thing that is compiled: that takes long and comes first. Where
    nothing ``compiles``, the compiler is not loaded. A command that has better words than how many
    of how many tells them by `spoken`, and is not ``aloud`` here.
    """
    if quiet:
        yield lambda what, done, total: None
        return
    if not sys.stderr.isatty():
        with (
            _watched(say_compiling()) if compiles else nullcontext(),
            _speaker(EVERY) if aloud else nullcontext(lambda what: None) as say,
        ):
            yield lambda what, done, total: say(f"{what}: {done} of {total}")
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
def _speaker(every: float) -> Iterator[Callable[[str], None]]:
    """Print the latest of what is told to it, at intervals of ``every`` seconds."""
    latest: list[str] = []
    over = threading.Event()

    def speak() -> None:
        while not over.wait(every):
            if latest:
                print(latest[-1], file=sys.stderr, flush=True)

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


def say_compiling() -> Callable[[str, bool], None]:
    """What prints a line when something is compiled that was not before."""
    said: set[str] = set()

    def say(what: str, begins: bool) -> None:
        if begins and what not in said:
            said.add(what)
            print(f"compiling {what} ...", file=sys.stderr, flush=True)

    return say
