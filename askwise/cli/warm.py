"""``askwise warm``: compile ahead what live campaigns run, as they never compile themselves."""

import sys
from collections.abc import Callable
from functools import partial
from typing import Annotated

from askwise.cli import output
from askwise.cli.completing import completes
from askwise.cli.examples import examples
from askwise.cli.options import AsJson, argument
from askwise.cli.progress import progress, spoken


@examples('askwise warm hem "b-kube"')
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
    with (
        progress(quiet=as_json, compiles=False, aloud=False) as tell,
        spoken(quiet=as_json) as say,
    ):
        for number, (name, run) in enumerate(parts):
            tell("warming", number, len(parts))
            here = f"warmed: {number} of {len(parts)}"
            found.append((name, _compiled(run, partial(_tell_kernel, name, here, tell, say))))
            if not as_json and not output.for_people():
                output.line(*_told(*found[-1]))
                sys.stdout.flush()
        tell("warming", len(parts), len(parts))
    if as_json:
        output.show_json([{"name": name, "compiled": count} for name, count in found])
    elif output.for_people():
        output.show_records(("name", "kernels compiled"), [_told(*each) for each in found])


def _compiled(run: Callable[[], None], tell: Callable[[str, int, bool], None]) -> int:
    """Run a part and count the kernels that are compiled for it; tells which, and if it begins."""
    from askwise.core import compiling

    begun: list[str] = []

    def count(kernel: str, begins: bool) -> None:
        if begins:
            begun.append(kernel)
        tell(kernel, len(begun), begins)

    with compiling.watched(count), compiling.forced():
        run()
    return len(begun)


def _tell_kernel(
    name: str,
    here: str,
    tell: Callable[[str, int, int], None],
    say: Callable[[str], None],
    kernel: str,
    number: int,
    begins: bool,
) -> None:
    """Tell which kernel of a part the compiler is at: it takes seconds each."""
    tell(f"{name}: compiling {kernel}", int(not begins), 1)
    say(f"{name}: compiling {kernel}, its kernel {number}; {here}")


def _told(name: str, compiled: int) -> tuple[str, int | str]:
    return name, compiled or "there already"
