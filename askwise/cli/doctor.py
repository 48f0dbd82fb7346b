"""``askwise doctor``: what is installed here, what is set up, and whether it works."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from askwise.cli import output
from askwise.cli.examples import examples
from askwise.cli.exit_codes import ExitCode
from askwise.cli.options import DEFAULT_STORE, AsJson, StoreUrl

if TYPE_CHECKING:
    from askwise.cli.checkups import Checkup

SIGNS = {"ok": ("ok", "green"), "absent": ("-", "dim"), "problem": ("problem", "bold red")}


@examples("askwise doctor", "askwise doctor --store sqlite:////srv/askwise.sqlite --json")
def doctor(store: StoreUrl = DEFAULT_STORE, as_json: AsJson = False) -> None:
    """Check what is installed and set up here, and say what to do about what does not work.

    Looks at versions, extras, the store, the compiler's cache and keys. Creates no store, and never
    shows the value of a variable that may hold a secret. Exits with 1 if there is a problem.
    """
    from askwise.cli.checkups import examined

    found = examined(store)
    output.show_found(found, as_json, screen=_show, lines=_print_lines)
    if not found.well:
        raise typer.Exit(ExitCode.NOT_SO)


def _print_lines(found: Checkup) -> None:
    for each in found.findings:
        output.line(each.area, each.name, each.state, each.detail, each.advice or None)


def _show(found: Checkup) -> None:
    """Everything below its area, and what to do once more at the end."""
    from rich.text import Text

    findings = found.findings
    for area in dict.fromkeys(each.area for each in findings):
        rows = []
        for each in findings:
            if each.area == area:
                word, style = SIGNS[each.state]
                advice = f" ({each.advice})" if each.advice else ""
                rows.append((each.name, Text(word, style=style), each.detail + advice))
        output.show(output.table((area, "", ""), rows), "")
    problems = [each for each in findings if each.state == "problem"]
    if not problems:
        output.show("All that is set up works.")
    for each in problems:
        output.show(Text(f"{each.area} {each.name}: {each.advice}", style="bold"))
