"""Which labels are audited, and in which order: on record before the first audit."""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from decimal import Decimal
from fractions import Fraction
from typing import Any, Self

import numpy as np

from askwise.core.arrays import Array
from askwise.core.checks import between, flag, real, whole
from askwise.core.errors import InvalidParameter

FIRST, LARGEST_FIRST = Fraction(1, 2), Fraction(9, 10)
"""The first set is this share of the labels, or all that share the best score up to the second."""

STEP, FINE_STEP = Fraction(1, 40), Fraction(1, 80)
"""Each further set is larger by this share of the labels; by the second with escalation, where each
label that is certified spares an answer."""

YES, NO = "yes", "no"
FLAGS = ("escalate", "at_once")
RECORD = ("error", "confidence", "audits", *FLAGS, "seed", "digest")
"""What a table of a draw says in each row."""

COLUMNS = ("order", "task", "rank", *RECORD)
"""Its columns: place in the order of the audits, task, place by score, and the record."""

Labels = Mapping[str, tuple[str, float]]
"""Label and score of each task; a higher score is a surer label."""


@dataclass(frozen=True, eq=False)
class AuditDraw:
    """What is put on record before an audit.

    Attributes
    ----------
    error, confidence : float
        The share of wrong labels that is allowed, and how sure the statement is to be.
    audits : int
        The most audits.
    escalate : bool
        Whether labels that are not certified will be replaced by answers of the trusted source.
    at_once : bool
        Whether all audits are made before anybody looks.
    seed : int
        Of the random orders.
    tasks : tuple of str
        All tasks in the order in which they are audited: a random one.
    ranks : array of int
        The place of each of them by score, 0 for the surest; ties are broken at random.
    sizes : tuple of int
        Each set holds this many of the surest labels.
    digest : str
        Of tasks, labels and scores: they must not change after the draw.
    """

    error: float
    confidence: float
    audits: int
    escalate: bool
    at_once: bool
    seed: int
    tasks: tuple[str, ...]
    ranks: Array
    sizes: tuple[int, ...]
    digest: str

    def columns(self) -> dict[str, list[Any]]:
        """The record as columns of a table, a row for each task in the order of the audits."""
        places = range(1, len(self.tasks) + 1)
        constant = {name: getattr(self, name) for name in RECORD}
        constant |= {name: YES if constant[name] else NO for name in FLAGS}
        return {
            "order": list(places),
            "task": list(self.tasks),
            "rank": [int(rank) + 1 for rank in self.ranks],
            **{name: [value] * len(self.tasks) for name, value in constant.items()},
        }

    def to_record(self) -> dict[str, Any]:
        """The draw as JSON, to be put on record."""
        raw = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            **raw,
            "tasks": list(self.tasks),
            "ranks": self.ranks.tolist(),
            "sizes": list(self.sizes),
        }

    @classmethod
    def from_record(cls, raw: Mapping[str, Any]) -> Self:
        """Read back what ``to_record`` wrote."""
        known = {field.name: raw[field.name] for field in fields(cls)}
        known |= {"tasks": tuple(raw["tasks"]), "sizes": tuple(raw["sizes"])}
        return cls(**{**known, "ranks": np.array(raw["ranks"], np.int64)})

    @property
    def doubt(self) -> float:
        """The probability with which the statement may be wrong."""
        return float(1 - exactly(self.confidence))

    @property
    def tested(self) -> int:
        """The first set of which anything has to be shown: smaller ones may be wrong throughout."""
        return next(at for at, size in enumerate(self.sizes) if size >= self.too_many(size))

    def too_many(self, size: int) -> int:
        """The fewest wrong labels that make the statement about a set false."""
        share = exactly(self.error)
        return math.floor(share * (len(self.tasks) if self.escalate else size)) + 1


def draw(
    labels: Labels,
    *,
    error: float = 0.05,
    confidence: float = 0.9,
    audits: int = 100,
    seed: int = 0,
    escalate: bool = False,
    at_once: bool = False,
) -> AuditDraw:
    """Draw the order in which labels are audited.

    Parameters
    ----------
    labels : mapping of a task to its label and score
        All labels the statement is to be about. Leave tasks out whose truth was known when the
        labels were made.
    error, confidence : float
        "At most this share of the labels is wrong, with this confidence".
    audits : int
        The most audits.
    seed : int
        Draw once: a draw that is repeated until its result pleases certifies nothing.
    escalate : bool
        Whether labels that are not certified will be replaced by answers of the trusted source; the
        statement is then about all labels.
    at_once : bool
        Whether all audits are made before anybody looks: this many, from the first, whatever they
        show. Otherwise audits are made one after the other and end when they can't show more,
        which certifies more labels with as many audits.

    Examples
    --------
    >>> drawn = draw({f"t{n}": ("yes", n) for n in range(40)}, error=0.1, audits=30, seed=1)
    >>> drawn.sizes[:3], len(drawn.tasks)
    ((20, 21, 22), 40)
    """
    if not labels:
        raise InvalidParameter("labels is empty: give at least one", field="labels")
    for task, (label, score) in labels.items():
        if not isinstance(task, str) or not isinstance(label, str) or not label:
            raise InvalidParameter(
                f"labels has {label!r} for task {task!r}: give texts, none of them empty",
                field="labels",
            )
        real(score, f"score of task {task!r}", "a finite number")
    names = sorted(labels)
    return draw_order(
        names,
        np.array([float(labels[name][1]) for name in names]),
        error=error,
        confidence=confidence,
        audits=audits,
        seed=seed,
        escalate=escalate,
        at_once=at_once,
        digest=digest_of(labels),
    )


def draw_order(
    tasks: Sequence[str],
    scores: Array,
    *,
    error: float,
    confidence: float,
    audits: int,
    seed: int,
    escalate: bool = False,
    at_once: bool = False,
    digest: str = "",
) -> AuditDraw:
    """Draw from tasks with their scores, as :func:`draw` does, but keep no digest of labels."""
    between(error, "error", 0, 1)
    between(confidence, "confidence", 0, 1)
    whole(audits, "audits", least=1)
    whole(seed, "seed", least=0, most=2**63 - 1)
    flag(escalate, "escalate")
    flag(at_once, "at_once")
    settings = [seed, digest, error, confidence, audits, escalate, at_once]
    random = np.random.Generator(np.random.Philox(key=_key(settings)))
    # Which labels share a rank must not depend on the order of the audits: two draws.
    surest_first = np.lexsort((random.random(len(tasks)), -scores))
    rank = np.empty(len(tasks), np.int64)
    rank[surest_first] = np.arange(len(tasks))
    order = np.argsort(random.random(len(tasks)), kind="stable")
    tied = int((scores == scores.max()).sum())
    return AuditDraw(
        error=error,
        confidence=confidence,
        audits=audits,
        escalate=escalate,
        at_once=at_once,
        seed=seed,
        tasks=tuple(tasks[at] for at in order),
        ranks=rank[order],
        sizes=_sizes(len(tasks), tied, error, escalate),
        digest=digest,
    )


def drawn_before(labels: Labels, columns: Mapping[str, Sequence[str]], source: str) -> AuditDraw:
    """The draw that a table records, if the labels are still those it was drawn from.

    It is drawn again and compared: a draw is settled by labels, settings and seed.
    """
    settings: dict[str, Any] = {}
    for name in RECORD:
        values = set(columns[name])
        if len(values) != 1:
            raise InvalidParameter(
                f"{source}: {name} differs between rows; give the draw as it was written",
                field=name,
            )
        settings[name] = values.pop()
        if name in FLAGS and settings[name] not in (YES, NO):
            raise InvalidParameter(
                f"{source}: {name} is {settings[name]!r}; give the draw as it was written",
                field=name,
            )
    if settings.pop("digest") != digest_of(labels):
        raise InvalidParameter(
            f"labels have changed since {source} was drawn: certify the labels that were drawn "
            "from, or draw again",
            field="labels",
        )
    try:
        again = draw(
            labels,
            error=float(settings["error"]),
            confidence=float(settings["confidence"]),
            audits=int(settings["audits"]),
            seed=int(settings["seed"]),
            **{name: settings[name] == YES for name in FLAGS},
        )
        same = {
            int(place): task for place, task in zip(columns["order"], columns["task"], strict=True)
        }
    except ValueError:
        raise InvalidParameter(
            f"{source}: a number can't be read; give the draw as it was written", field="draw"
        ) from None
    if same != dict(enumerate(again.tasks, 1)):
        raise InvalidParameter(
            f"{source} is not what seed {again.seed} draws from these labels: give the draw as it "
            "was written",
            field="draw",
        )
    return again


def _key(settings: list[Any]) -> int:
    """A key of random orders: other labels or settings, another order.

    Who draws again with the same seed, after labels were corrected or for another error, must not
    meet the tasks whose audits they know.
    """
    return int.from_bytes(hashlib.sha256(json.dumps(settings).encode()).digest()[:16])


def exactly(share: float) -> Fraction:
    """A share as it is written: 0.1 is a tenth."""
    return Fraction(Decimal(str(share)))


def digest_of(labels: Labels) -> str:
    """A digest of tasks, labels and scores, whatever their order."""
    told = hashlib.sha256()
    for task in sorted(labels):
        label, score = labels[task]
        told.update(json.dumps([task, label, float(score)]).encode() + b"\n")
    return told.hexdigest()


def smallest_set(tasks: int, error: float) -> tuple[int, int]:
    """The size of the first set of this many labels, and the fewest errors that make it false.

    Examples
    --------
    >>> smallest_set(200, 0.05)
    (100, 6)
    """
    size = math.ceil(FIRST * tasks)
    return size, math.floor(exactly(error) * size) + 1


def _sizes(tasks: int, tied: int, error: float, escalate: bool) -> tuple[int, ...]:
    """How many of the surest labels each set holds.

    With escalation the first may all be wrong, so nothing has to be shown of it.
    """
    if escalate:
        first = math.floor(exactly(error) * tasks)
    else:
        most = math.ceil(LARGEST_FIRST * tasks)
        first = max(math.ceil(FIRST * tasks), min(tied, most))
    sizes, step = [first], (FINE_STEP if escalate else STEP) * tasks
    while sizes[-1] < tasks:
        sizes.append(min(tasks, max(sizes[-1] + 1, math.ceil(first + len(sizes) * step))))
    return tuple(sizes)
