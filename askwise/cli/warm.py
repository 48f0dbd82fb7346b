"""``askwise warm``: compile ahead what live campaigns run, as they never compile themselves."""

import sys
from collections.abc import Callable
from typing import Annotated

from askwise.cli import output
from askwise.cli.completing import completes
from askwise.cli.options import AsJson, argument
from askwise.cli.progress import progress


def warm(
    policies: Annotated[
        list[str] | None,
        argument(
            "[POLICY]...",
            "NAME or NAME(KEY=VALUE), see policies; all of them, with rules and aggregators, by "
            "default.",
            completes("policies"),
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compile what live campaigns run, so that they decide faster.

    A live campaign never compiles: it runs what was compiled before and is kept on disk, and
    plain Python otherwise. Do this once after installing, as the user who runs the campaigns.
    """
    from askwise.core import compiling

    if compiling.PLAIN:
        switched = "the compiler is switched off (ASKWISE_JIT=0 or NUMBA_DISABLE_JIT=1)"
        output.say([], as_json, f"nothing to do: {switched}")
        return
    from askwise.cli.warming import all_parts, policy_part

    parts = [policy_part(label) for label in policies] if policies else all_parts()
    found = []
    with progress(quiet=as_json) as tell:
        for number, (name, run) in enumerate(parts, start=1):
            tell("warming", number - 1, len(parts))
            found.append((name, _compiled(f"{name}, {number} of {len(parts)}", run)))
            if not as_json and not output.for_people():
                output.line(*_told(*found[-1]))
                sys.stdout.flush()
        tell("warming", len(parts), len(parts))
    if as_json:
        output.show_json([{"name": name, "compiled": count} for name, count in found])
    elif output.for_people():
        output.show_records(("name", "kernels compiled"), [_told(*each) for each in found])


def _compiled(what: str, run: Callable[[], None]) -> int:
    """Run a part and count the kernels that are compiled for it."""
    from askwise.core import compiling

    begun: list[str] = []

    def count(kernel: str, begins: bool) -> None:
        if begins:
            begun.append(kernel)

    with compiling.watched(count), compiling.forced(what):
        run()
    return len(begun)


def _told(name: str, compiled: int) -> tuple[str, int | str]:
    return name, compiled or "there already"
