"""The exit codes of all commands, in one place; the guide's table is checked against it."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """What a command's exit code says."""

    meaning: str
    """In words, as the guide has it."""

    def __new__(cls, code: int, meaning: str) -> ExitCode:
        """A code and what it means."""
        made = int.__new__(cls, code)
        made._value_ = code
        made.meaning = meaning
        return made

    OK = 0, "it is done; for `ask`: there is somebody to ask"
    NOT_SO = (
        1,
        "it ran, and the answer is no. `check --at-least`: a judge does not agree with people "
        "often enough, or too few tasks show it; `doctor`: something does not work; `lab run`: "
        "parts failed, which are named; `label`: you did not agree to the cost, or the certificate "
        "was not reached. Also, with a traceback, a defect of askwise",
    )
    ERROR = 2, "an error; nothing was changed"
    WAIT = 3, "only for `ask` and `label`: wait"
    DONE = 4, "only for `ask`: done, unless tasks, workers or money are added"
    INTERRUPTED = 130, "Ctrl-C; nothing was left half done"
    CLOSED_PIPE = 141, "the program that read the output has gone (`askwise log cats \\| head -1`)"
