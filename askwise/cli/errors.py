"""What all commands share: errors in one line, exit codes, Ctrl-C, closed pipes."""

import difflib
import json
import logging
import os
import signal
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import typer
from typer.core import TyperGroup

from askwise.cli.exit_codes import ExitCode
from askwise.cli.helping import PlainHelp
from askwise.core.errors import AskwiseError
from askwise.core.reasons import Reason


class Trouble(NamedTuple):
    """An error as it is told: names for programs, a sentence for people, the input at fault."""

    code: str
    reason: Reason
    message: str
    field: str | None


class Frame(PlainHelp, TyperGroup):
    """The root command: runs a command and tells what went wrong, without a traceback."""

    def main(  # type: ignore[override]
        self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any
    ) -> Any:
        """Run, then exit."""
        given = sys.argv[1:] if args is None else list(args)
        extra["standalone_mode"] = False
        handler = _ToStderr()
        handler.setFormatter(_OneLine())
        # Of the root, so that a service, which sets up its own, takes its place.
        logging.getLogger().addHandler(handler)
        try:
            code = super().main(args=given, prog_name=prog_name or "askwise", **extra)
            sys.stdout.flush()
        except BrokenPipeError:
            _forget_output()
            code = ExitCode.CLOSED_PIPE
        except Exception as error:
            if type(error).__name__ == "Abort":
                # Ctrl-C, or the end of the input, at a question.
                print("\ninterrupted", file=sys.stderr)
                sys.exit(ExitCode.INTERRUPTED)
            trouble = _trouble(error, given)
            if trouble is None:
                raise
            tell(trouble, as_json="--json" in given)
            code = ExitCode.ERROR
        finally:
            logging.getLogger().removeHandler(handler)
        sys.exit(code if isinstance(code, int) else 0)

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override]
        """Run the command that was named."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            # A second Ctrl-C, while we tidy up, ends it at once.
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            print("interrupted", file=sys.stderr)
            raise typer.Exit(ExitCode.INTERRUPTED) from None
        except BrokenPipeError:
            _forget_output()
            raise typer.Exit(ExitCode.CLOSED_PIPE) from None


class _ToStderr(logging.Handler):
    """Prints what is logged, on whatever stderr is then: above a bar while one is shown."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            print(self.format(record), file=sys.stderr, flush=True)
        except Exception:  # as handlers of the library do: a log line ends no command
            self.handleError(record)


class _OneLine(logging.Formatter):
    """What is logged while a command runs, as errors are told: ``warning: ...``."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - of the library
        return f"{record.levelname.lower()}: {' '.join(record.message.split())}"


def tell(trouble: Trouble, *, as_json: bool) -> None:
    """Print an error as one line."""
    if as_json:
        print(json.dumps({"error": trouble._asdict()}), file=sys.stderr)
    else:
        print("error:", " ".join(trouble.message.split()), file=sys.stderr)


def trouble_of(error: AskwiseError) -> Trouble:
    """An error of ours as it is told."""
    return Trouble(error.code, error.reason, str(error), error.field)


def _trouble(error: Exception, given: Sequence[str]) -> Trouble | None:
    """Find the words for an error that is the user's; None for one that is ours."""
    if isinstance(error, AskwiseError):
        return trouble_of(error)
    if isinstance(error, OSError):
        return Trouble("file_error", "file_error", file_words(error), None)
    if hasattr(error, "format_message"):
        # Typer carries its own copy of Click: the class differs from version to version.
        context = getattr(error, "ctx", None)
        hint = f" (see {context.command_path} --help)" if context is not None else ""
        parameter = getattr(error, "param", None)
        message = _usage_words(error, given).rstrip(".")
        message = message[:1].lower() + message[1:]
        return Trouble("usage", "usage", message + hint, getattr(parameter, "name", None))
    return None


def file_words(error: OSError) -> str:
    """Which file could not be used, and why."""
    where = f"{error.filename}: " if error.filename is not None else ""
    return where + (error.strerror or str(error))


NO_NUMBER = {
    "Input should be a valid integer": "a whole number",
    "Input should be a valid number": "a number",
}
"""How the library of Typer says what would be valid, and how we say it."""


def _usage_words(error: Any, given: Sequence[str]) -> str:
    """What is wrong with a command line, in words of ours where Typer's are not for people."""
    message = str(error.format_message())
    possible = getattr(error, "possibilities", None)
    if possible:
        wrong = error.option_name
        near = difflib.get_close_matches(wrong, possible, n=len(possible), cutoff=0.0)
        return f"{error.message}: did you mean {' or '.join(near)}?"
    for theirs, ours in NO_NUMBER.items():
        before, found, _ = message.partition(f": {theirs}")
        if found:
            value = _value_of(getattr(error, "param", None), given)
            return f"{before}: {'this' if value is None else repr(value)} is not {ours}"
    return message


def _value_of(parameter: Any, given: Sequence[str]) -> str | None:
    """What an option was given last on a command line; None for an argument, which has no name."""
    value = None
    for name in getattr(parameter, "opts", ()):
        for at, word in enumerate(given):
            if word == name and at + 1 < len(given):
                value = given[at + 1]
            elif name.startswith("--") and word.startswith(f"{name}="):
                value = word.partition("=")[2]
    return value


def _forget_output() -> None:
    """Discard what is still buffered: the reader has gone."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
