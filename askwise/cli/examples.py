"""Examples of a command, written above it: shown at the end of its help and in the reference.

Those that need neither a service nor a person are run by a test, on files and campaigns of these
names; all of them are parsed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

Command = TypeVar("Command", bound=Callable[..., Any])

_ATTRIBUTE = "askwise_examples"


@dataclass(frozen=True)
class Examples:
    """What is shown of a command.

    Attributes
    ----------
    lines : tuple of str
        Each a whole command line.
    run : bool
        Whether they can be run: without a terminal, a model or a service, and in moments.
    """

    lines: tuple[str, ...]
    run: bool


def examples(*lines: str, run: bool = True) -> Callable[[Command], Command]:
    """Give a command its examples; above all that makes a command of a function."""

    def give(command: Command) -> Command:
        setattr(command, _ATTRIBUTE, Examples(lines, run))
        return command

    return give


def examples_of(command: Any) -> Examples | None:
    """What a command was given, or what Typer has made of it; a group may have none."""
    return getattr(command, _ATTRIBUTE, None)
