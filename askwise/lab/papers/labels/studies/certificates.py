"""Whether labels are as right as their certificate says, and what that costs (beyond 002)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, NamedTuple

import numpy as np

from askwise.aggregation import code_answers
from askwise.auditing import Climb, draw_order
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
from askwise.lab.results import mean_row

MEASURES = ("certified_share", "false", "audits")
"""Of a draw: share of the labels that are certified, whether the statement is false, audits."""

DELIVERY = ("trusted_share", "delivered_false")
"""Of a draw with escalation: trusted answers a task, and whether the statement is false."""

OWN = ("own_share", "own_error")
"""Of labels whose confidence is high enough by itself: their share, and how many are wrong."""


class Labelled(NamedTuple):
    """Labels of tasks whose truth is known: whether each is wrong, its score and confidence."""

    wrong: Array
    scores: Array
    confidence: Array


class Audited(NamedTuple):
    """What came of a draw.

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
        others by their lead in votes that count as their givers are good.
    errors : numbers
        Shares of wrong labels that are allowed.
    confidence : number
        How sure the statements are.
    audits : int
        The most audits of a draw.
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
            "Labels that are certified with at most so many audits, in the mean of the draws, with "
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

    def sample(self, cell: Cell, seed: int, replication: int) -> Array:
        """For each method and error: a draw, and a draw with escalation."""
        if not cell.panel:
            return np.zeros(0)
        found: list[float] = []
        for method in self.methods:
            labelled = labels_of(self.data, cell.panel, self.most_tasks, method)
            for error in self.errors:
                plain, whole_set = (
                    audit(
                        labelled,
                        error=error,
                        confidence=self.confidence,
                        audits=self.audits,
                        seed=seed * 1_000_003 + replication,
                        escalate=escalate,
                    )
                    for escalate in (False, True)
                )
                tasks = len(labelled.wrong)
                found += [plain.kept / tasks, plain.false, plain.audits]
                found += [whole_set.trusted / tasks, whole_set.false]
        return np.array(found, np.float64)

    def rows(self, cell: Cell, samples: Array, seed: int) -> list[Row]:
        """Means over the draws; and what confidences claim."""
        if not cell.panel:
            return [row for each in self.label_sets() for row in each.notes()]
        shape = (len(samples), len(self.methods), len(self.errors), len(MEASURES) + len(DELIVERY))
        measured = samples.reshape(shape)
        found = []
        for at, method in enumerate(self.methods):
            labelled = labels_of(self.data, cell.panel, self.most_tasks, method)
            for place, error in enumerate(self.errors):
                for column, metric in enumerate((*MEASURES, *DELIVERY)):
                    values = measured[:, at, place, column]
                    found.append(
                        mean_row(values, panel=cell.panel, series=method, x=error, metric=metric)
                    )
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
                    for metric in (*MEASURES, *DELIVERY, *OWN)
                }
                worst = max(of["false"], key=lambda row: row.mean)
                means = {
                    m: float(np.mean([row.mean for row in each])) for m, each in of.items() if each
                }
                own, wrong = means["own_share"], means.get("own_error", 0.0)
                said.append(
                    f"{method}, at most {error:g} wrong: {means['certified_share']:.0%} of the "
                    "labels are certified in the mean of the sets; a certificate is false in "
                    f"{worst.mean:.1%} of the draws at the most ({worst.panel}; "
                    f"{1 - self.confidence:.0%} are allowed); to deliver all labels the trusted "
                    f"source gives {means['trusted_share']:.2f} answers a task. By themselves "
                    f"confidences claim {own:.0%} of the labels, {wrong:.0%} of which are wrong."
                )
        return said


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
    weights = np.ones(len(recording.task))
    if made.name != "majority":
        weights = vote_weights(fitted.quality, recording.options)[recording.worker]
    scores = weighted_lead(
        *(recording.task, recording.label, weights, fitted.labels, recording.options)
    )
    if made.name == "majority":
        scores /= np.maximum(1, np.bincount(recording.task, minlength=recording.tasks))
    known = recording.truth >= 0
    return Labelled(
        (fitted.labels != recording.truth)[known],
        np.round(scores, 9)[known],
        fitted.confidence[known],
    )
