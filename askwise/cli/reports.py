"""Files that a command writes: all together or none, with the command that gives them again."""

import os
import shlex
import shutil
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from askwise.cli.extras import extra
from askwise.core.errors import InvalidParameter


@contextmanager
def written_together(target: Path) -> Iterator[Path]:
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
    """A directory for a report whose files appear all together; None where none is wanted."""
    if target is None:
        yield None
        return
    with extra(), written_together(target) as place:
        # Missed now, not after the simulation.
        import jinja2  # noqa: F401
        import matplotlib  # noqa: F401

        yield place


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
