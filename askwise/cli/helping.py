"""Help texts that say more than a function's own words: examples, and options by their job."""

import inspect
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from askwise.cli.examples import examples_of

HEADING = "Examples:"

Groups = dict[str, tuple[str, ...]]
"""Options of a command by the heading that help shows them below."""

_TASKS = "What is asked"
_WORKERS = "Who answers"
_END = "How far it goes"
_COLUMNS = "Columns of the table"
_FILES = "What is written"

GROUPS: dict[str, Groups] = {
    "label": {
        _TASKS: ("question", "options", "content", "instructions"),
        _WORKERS: ("judges", "people", "policy", "host", "port"),
        _END: (
            *("budget", "target_error", "certify", "by", "escalate", "pilot", "pilot_only", "yes"),
            "resume",
        ),
        _COLUMNS: ("text", "pair", "id", "truth"),
        _FILES: ("out", "report", "store", "name", "as_json"),
    },
    "new": {
        _TASKS: ("question", "options", "option_", "title", "instructions"),
        _WORKERS: ("people", "price", "limit", "currency", "judges", "policy"),
        _END: ("budget", "target_error", "certify", "by", "escalate"),
        _COLUMNS: ("text", "id", "kind", "truth"),
        "Gold questions": (
            *("gold", "qualify", "pass_share", "unpaid", "gold_rate", "warn_below", "pause_below"),
        ),
    },
    "plan": {
        "What is known": ("answers", "gold", "truths", "correlation", "family_correlation"),
        "What is wanted": ("options", "tasks", "target_error", "budget", "lever", "policy"),
        "A certificate": ("certify", "confidence", "by", "audits"),
        "Questions to crowds": ("crowds", "questions", "rule", "horizon"),
        "The simulation": ("runs", "seed"),
        _FILES: ("out", "as_json"),
    },
    "serve": {
        "Where it is": ("store", "host", "port", "workers", "address", "proxies"),
        "What workers may do": ("most_out", "lease", "revise_within"),
        "What it calls": ("judges", "private_judges", "private_hooks", "secret"),
    },
    "aggregate": {
        "How": ("method", "settings", "duplicates", "backend", "scheduler"),
        "What else is known": ("gold", "learn_from", "contexts", "workers", "features"),
        _FILES: ("out", "workers_out", "page", "as_json"),
    },
}
"""Of commands with many options; those that are not named stay below "Options"."""


def explain(app: typer.Typer, path: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Give every command of an application its examples, and many options their headings.

    Returns the application's own: a group that was given none has the first of each command.
    """
    first = []
    for each in app.registered_commands:
        name = each.name or each.callback.__name__.replace("_", "-")  # type: ignore[union-attr]
        found = examples_of(each.callback)
        assert found is not None, f"askwise {' '.join((*path, name))} has no examples"
        each.help = _paragraphs(each.help or inspect.getdoc(each.callback) or "")
        each.epilog = _epilog(found.lines)
        first.append(found.lines[0])
        each.cls = _grouped({} if path else GROUPS.get(name, {}))
    for group in app.registered_groups:
        assert group.typer_instance is not None
        assert group.name
        group.cls = _Group
        group.epilog = _epilog(explain(group.typer_instance, (*path, group.name)))
    begins = app.registered_callback
    own = None if begins is None else examples_of(begins.callback)
    lines = tuple(first) if own is None else own.lines
    app.info.epilog = _epilog(lines)
    return lines


def _paragraphs(text: str) -> str:
    """A help text without the line breaks of its source: terminals are not as wide."""
    return "\n\n".join(" ".join(each.split()) for each in text.split("\n\n"))


def _epilog(lines: tuple[str, ...]) -> str:
    """Examples as help shows them: paragraphs, as lines of one would be joined."""
    return "\n\n".join((HEADING, *lines))


def examples_in(epilog: str) -> list[str]:
    """The lines of examples that help shows."""
    return epilog.split("\n\n")[1:]


class PlainHelp:
    """A command whose help does not say of a switch, such as ``--help``, that it takes a value."""

    def get_params(self, ctx: Any) -> list[Any]:
        """All arguments and options, those too that Typer adds."""
        found: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for each in found:
            if getattr(each, "is_flag", False):
                each.metavar = ""  # else it would be <bool>
        return found


class _Group(PlainHelp, TyperGroup):
    """A group of commands."""


def _grouped(groups: Groups) -> type[TyperCommand]:
    """The class of a command whose options stand below these headings."""
    panels = {name: panel for panel, names in groups.items() for name in names}

    class Grouped(PlainHelp, TyperCommand):
        def __init__(self, *words: Any, **settings: Any) -> None:
            super().__init__(*words, **settings)
            for each in self.params:
                if each.name in panels:
                    each.rich_help_panel = panels[each.name]  # type: ignore[attr-defined]

    return Grouped
