"""What is said of a task: an answer, a confidence, and what that confidence rests on."""

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

RestsOn = Literal["agreement", "calibrated", "certified", "truth"]
"""What a confidence is: ``agreement`` is what votes and a model of workers say, and no probability;
``calibrated`` is agreement that known truths have mapped to a probability; ``certified`` is the
share of labels that a certificate vouches for; ``truth`` means that the task's truth was told.
"""


class Label(NamedTuple):
    """A task's answer, how sure it is, and what that rests on; None where there is nothing to say.

    ``value`` is an option's index, or a utility.
    """

    value: float | None
    confidence: float | None
    rests_on: RestsOn | None = None


NO_LABEL = Label(None, None)
"""What is said of a task that nobody has answered."""


def told(option: int) -> Label:
    """The label of a task whose truth was told."""
    return Label(float(option), 1.0, "truth")


def as_label(said: Any) -> Label:
    """A label as a plug-in gives it, perhaps as a pair of value and confidence.

    A confidence of which nothing more is said rests on agreement.

    Examples
    --------
    >>> as_label((1.0, 0.9))
    Label(value=1.0, confidence=0.9, rests_on='agreement')
    >>> as_label((0.5, None)), as_label((1.0, 0.9, "calibrated")).rests_on
    (Label(value=0.5, confidence=None, rests_on=None), 'calibrated')
    """
    label = Label(*said)
    if label.rests_on is None and label.confidence is not None:
        return Label(label.value, label.confidence, "agreement")
    return label


def reported(said: Iterable[Any], truths: Iterable[int]) -> list[Label]:
    """Labels as they are reported: where a truth was told (-1: none), that is the answer.

    Examples
    --------
    >>> reported([(1.0, 0.9), (1.0, 0.9)], [-1, 0])[1]
    Label(value=0.0, confidence=1.0, rests_on='truth')
    """
    return [
        as_label(each) if truth < 0 else told(truth)
        for each, truth in zip(said, truths, strict=True)
    ]
