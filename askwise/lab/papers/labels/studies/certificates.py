"""Whether labels are as right as their certificate says, and what that costs (beyond 002)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

import numpy as np

from askwise.aggregation import code_answers
from askwise.aggregation.ranking import sureness
from askwise.auditing import Climb, draw_order, plan_audits
from askwise.core.arrays import Array
from askwise.core.checks import between, whole
from askwise.core.compiling import allowed
from askwise.core.registry import from_label
from askwise.core.scoring import vote_weights, weighted_lead
from askwise.figures import Row
from askwise.lab.aggregating.labels import make_method
from askwise.lab.experiment import Cell, Figure, experiments
from askwise.lab.papers.labels.studies.methods import MethodsOnSets
from askwise.lab.papers.labels.studies.sets import (
    about_sets,
    named_set,
)
from askwise.lab.results import measured_row

MEASURES = ("certified_share", "false", "audits")
"""Of a draw: share of the labels that are certified, whether the statement is false, audits."""

DELIVERY = ("trusted_share", "delivered_false")
"""Of a draw with escalation: trusted answers per task, and whether the statement is false."""

PLANNED = ("planned_share", "planned_false")
"""The same of a draw with escalation for as many audits as are planned."""

FALSE = {"false": "", "delivered_false": "escalate", "planned_false": "plan"}
"""Each metric of false statements, and what its draws are made with."""

AGAIN = "_again"
"""Ends the name of a metric of false statements where draws were made again."""

OWN = ("own_share", "own_error")
"""Of labels whose confidence is high enough by itself: their share, and how many are wrong."""


class Labelled(NamedTuple):
    """Labels of tasks whose truth is known: whether each is wrong, its score and confidence."""

    wrong: Array
    scores: Array
    confidence: Array


class Audited(NamedTuple):
    """The result of a draw.

    Attributes
    ----------
    kept : int
        Labels that are certified.
    wrong : int
        How many of them are wrong.
    audits : int
        Labels that were audited.
    trusted : int
        Answers of the trusted source if it gives all labels that are not certified.
    false : bool
        Whether the statement is false.
    """

    kept: int
    wrong: int
    audits: int
    trusted: int
    false: bool


@lru_cache(maxsize=64)
def planned(tasks: int, error: float, confidence: float) -> int:
    """As many audits as are planned."""
    return plan_audits(tasks, error=error, confidence=confidence).audits


def audit(
    labelled: Labelled, *, error: float, confidence: float, audits: int, seed: int, escalate: bool
) -> Audited:
    """Draw, and audit one label after the other."""
    tasks = [str(at) for at in range(len(labelled.wrong))]
    drawn = draw_order(
        tasks,
        labelled.scores,
        error=error,
        confidence=confidence,
        audits=audits,
        seed=seed,
        escalate=escalate,
    )
    wrong = labelled.wrong[np.array(drawn.tasks, np.int64)]
    climb = Climb(drawn)
    while wanted := climb.wanted():
        climb.hear(wanted[0], bool(wrong[wanted[0]]))
    inside = drawn.ranks < climb.size
    bad = int(wrong[inside].sum())
    outside = len(tasks) - climb.size
    extra = sum(bool(inside[place]) for place in climb.wrong)
    false = climb.size > 0 and bad >= drawn.too_many(climb.size)
    return Audited(climb.size, bad, len(climb.wrong), outside + extra, false)


@experiments.register("judges-honest")
@dataclass(frozen=True)
class JudgesHonest(MethodsOnSets):
    """Certificates on recorded answers with gold: how often they are false, how much they cover.

    Parameters
    ----------
    methods : names
        Aggregators that make the labels. Labels of ``majority`` are ordered by the share of votes,
        others by ``sureness``, as ``aggregate --out`` writes it.
    errors : numbers
        Shares of wrong labels that are allowed.
    confidence : number
        How sure the statements are.
    audits : int
        The most audits of a draw, where it is not planned.
    again : int
        Draws that are made again where more certificates are false than are allowed: by chance, or
        because certificates do not hold? 0 for none.
    sets : names
        Which sets of the folder; every one by default.
    data : folder
        As in ``labels-real``.
    most_tasks : int
        Tasks used of a larger set, those with gold first; 0 for all.
    """

    methods: tuple[str, ...] = ("hem", "one-coin(prior=1)", "majority")
    errors: tuple[float, ...] = (0.05, 0.1, 0.2)
    confidence: float = 0.9
    audits: int = 100
    again: int = 2000
    sets: tuple[str, ...] = ()
    data: str = ""
    most_tasks: int = 0

    reps: ClassVar[int] = 300
    chunk: ClassVar[int] = 20
    title: ClassVar[str] = "Labels that are certified by audits (beyond 002)"
    reproduces: ClassVar[str] = "beyond 002"
    summary: ClassVar[str] = (
        "Judges that err together are surer than they are right, and answers alone do not show it. "
        "Audits of labels drawn at random do. How often is a certificate false, how many labels "
        "does it cover, and what share of the tasks does the trusted source have to answer so that "
        "all labels can be delivered? Beside it, what confidences claim by themselves."
    )
    figures: ClassVar[tuple[Figure, ...]] = (
        Figure(
            "certified_share",
            "share of wrong labels allowed",
            "share of labels certified",
            "Labels certified with at most this many audits, averaged over the draws, with "
            "95% intervals.",
        ),
        Figure(
            "false",
            "share of wrong labels allowed",
            "share of draws",
            "Draws after which more labels are wrong than the certificate says.",
        ),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for error in self.errors:
            between(error, "errors", 0, 1)
        between(self.confidence, "confidence", 0, 1)
        whole(self.audits, "audits", least=1)
        whole(self.again, "again", least=0)

    def sample(self, cell: Cell, seed: int, replication: int) -> Array:
        """For each method and error: a draw, one with escalation, and one that is planned."""
        if not cell.panel:
            return np.zeros(0)
        found: list[float] = []
        for method in self.methods:
            labelled = labels_of(self.data, cell.panel, self.most_tasks, method)
            tasks = len(labelled.wrong)
            for error in self.errors:
                plain, *wholes = (
                    self._draw(labelled, error, made_with, seed, replication)
                    for made_with in FALSE.values()
                )
                found += [plain.kept / tasks, plain.false, plain.audits]
                for each in wholes:
                    found += [each.trusted / tasks, each.false]
        return np.array(found, np.float64)

    def _draw(
        self, labelled: Labelled, error: float, made_with: str, seed: int, number: int
    ) -> Audited:
        tasks = len(labelled.wrong)
        return audit(
            labelled,
            error=error,
            confidence=self.confidence,
            audits=planned(tasks, error, self.confidence) if made_with == "plan" else self.audits,
            seed=seed * 1_000_003 + number,
            escalate=bool(made_with),
        )

    def rows(self, cell: Cell, samples: Array, seed: int) -> list[Row]:
        """Means over the draws; draws made again where too many were false; what is claimed."""
        if not cell.panel:
            return [row for each in self.label_sets() for row in each.notes()]
        metrics = (*MEASURES, *DELIVERY, *PLANNED)
        measured = samples.reshape(len(samples), len(self.methods), len(self.errors), len(metrics))
        found = []
        for at, method in enumerate(self.methods):
            labelled = labels_of(self.data, cell.panel, self.most_tasks, method)
            for place, error in enumerate(self.errors):
                of: dict[str, Any] = {"panel": cell.panel, "series": method, "x": error}
                for column, metric in enumerate(metrics):
                    values = measured[:, at, place, column]
                    found.append(measured_row(values, **of, metric=metric))
                    if metric in FALSE and self.again and too_often(values, self.confidence):
                        # Draws of their own: those that were noticed are the unlucky ones.
                        anew = [
                            self._draw(labelled, error, FALSE[metric], seed, len(samples) + n).false
                            for n in range(self.again)
                        ]
                        found.append(measured_row(np.array(anew), **of, metric=metric + AGAIN))
                sure = labelled.confidence >= 1 - error
                claims = [float(sure.mean())]
                if sure.any():
                    claims.append(float(labelled.wrong[sure].mean()))
                for metric, value in zip(OWN, claims, strict=False):
                    found.append(
                        Row(cell.panel, method, error, metric, value, value, value, len(samples))
                    )
        return found

    def differences(self, rows: Sequence[Row]) -> list[str]:
        """What was used, how often a certificate was false, and what confidences claim."""
        said = about_sets(rows)
        for method in self.methods:
            for error in self.errors:
                mine = [row for row in rows if row.series == method and row.x == error]
                of = {
                    metric: [row for row in mine if row.metric == metric]
                    for metric in (*MEASURES, *DELIVERY, *PLANNED, *OWN)
                }
                means = {
                    m: float(np.mean([row.mean for row in each])) for m, each in of.items() if each
                }
                # Sets that failed have no rows; those of one set come together.
                if not means:
                    continue
                own, wrong = means["own_share"], means.get("own_error", 0.0)
                said.append(
                    f"{method}, at most {error:g} wrong: {means['certified_share']:.0%} of the "
                    "labels are certified averaged over the sets; a certificate is false in "
                    f"{most_often(mine)} ({1 - self.confidence:.0%} are allowed); to deliver all "
                    f"labels the trusted source gives {means['trusted_share']:.2f} answers "
                    f"per task, and {means['planned_share']:.2f} if that of audits is planned. "
                    f"By themselves, confidences claim {own:.0%} of the labels; {wrong:.0%} of "
                    "these are wrong."
                )
        return said


def too_often(false: Array, confidence: float) -> bool:
    """Whether more statements are false than are allowed."""
    return float(false.mean()) > 1 - confidence


def most_often(rows: Sequence[Row]) -> str:
    """The most often that statements are false; draws made again stand for those they replace."""
    anew = {
        (row.panel, row.series, row.x, row.metric.removesuffix(AGAIN)): row
        for row in rows
        if row.metric.endswith(AGAIN)
    }
    shares = [
        anew.get((row.panel, row.series, row.x, row.metric), row)
        for row in rows
        if row.metric in FALSE
    ]
    worst = max(shares, key=lambda row: row.mean)
    spread = math.sqrt(worst.mean * (1.0 - worst.mean) / worst.n)
    ways = {"delivered_false": ", with escalation", "planned_false": ", planned"}
    way = ways.get(worst.metric.removesuffix(AGAIN), "")
    return (
        f"{worst.mean:.1%} of {worst.n:,} draws at most (standard error {spread:.1%}; "
        f"{worst.panel}{way})"
    )


@lru_cache(maxsize=64)
def labels_of(data: str, name: str, most_tasks: int, method: str) -> Labelled:
    """Labels that a method makes of all answers of a set, at tasks whose truth is known."""
    recording = named_set(data, name, most_tasks).recording
    assert recording is not None
    made = make_method(from_label(method))
    contexts = recording.contexts if made.uses_contexts else None
    coded = code_answers(
        *(recording.task, recording.worker, recording.label),
        classes=recording.options,
        contexts=contexts,
    )
    with allowed(made.name):
        fitted = made.report(coded)
    votes = recording.task, recording.label
    if made.name == "majority":
        weights = np.ones(len(recording.task))
        scores = weighted_lead(*votes, weights, fitted.labels, recording.options)
        scores /= np.maximum(1, np.bincount(recording.task, minlength=recording.tasks))
    else:
        weights = vote_weights(fitted.quality, recording.options)[recording.worker]
        scores = sureness(*votes, weights, fitted.labels, recording.options, contexts)
    known = recording.truth >= 0
    return Labelled(
        (fitted.labels != recording.truth)[known],
        np.round(scores, 9)[known],
        fitted.confidence[known],
    )
