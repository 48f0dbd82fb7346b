"""What no plan can know."""

from askwise.kernels.calibration import LEAST_TRUTHS
from askwise.lab.rehearsing.worlds import (
    GUESS_WORTH,
    GuessedWorlds,
    PossibleWorlds,
    RecordedWorlds,
)


def cannot_know(worlds: PossibleWorlds, truths: int) -> tuple[str, ...]:
    """What no simulation tells, in sentences."""
    found = []
    if isinstance(worlds, GuessedWorlds):
        low, high = worlds.correlation
        found.append(
            "How good the workers are is a guess. The ranges allow for that: a single number "
            f"counts as {GUESS_WORTH} known answers would, a range as equally probable throughout, "
            "and half of what guesses are off by is common to all."
        )
        found.append(
            f"Errors of any two workers are taken to have a correlation of {low:g} to {high:g}, "
            f"within a family {worlds.family_correlation:g}. That is unknown before answers "
            "and truths are there: record some answers and plan with --answers."
        )
    elif isinstance(worlds, RecordedWorlds):
        found.append(
            f"Tasks are taken to be like the {worlds.recording.tasks} recorded ones, and workers "
            "to stay as they were."
        )
        if worlds.beliefs is not None:
            found.append(
                "Not all truths of the recorded tasks are known: where workers agree on what is "
                "wrong, the error is larger than the plan says. Give --gold."
            )
    if truths < LEAST_TRUTHS:
        found.append(
            "Without truths a campaign can't tell whether its error is within the target; audits "
            "can."
        )
    return tuple(found)
