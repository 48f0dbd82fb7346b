"""Whether confidences mean what they say, before and after truths are known (beyond 002)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from askwise.aggregation import Answers, Fitted, LabelAggregator, code_answers
from askwise.core.arrays import Array
from askwise.core.compiling import allowed
from askwise.core.errors import InvalidParameter
from askwise.core.registry import from_label
from askwise.core.scoring import (
    BINS,
    ScoredLabels,
    brier_score,
    calibration_error,
    least_calibration_error,
    log_loss,
    reliability,
    right_shares,
)
from askwise.figures import Row
from askwise.lab.aggregating.labels import make_method
from askwise.lab.experiment import Cell, Figure, experiments
from askwise.lab.papers.labels.studies.common import curve_of
from askwise.lab.papers.labels.studies.methods import MethodsOnSets
from askwise.lab.papers.labels.studies.sets import (
    MOST_TASKS,
    about_sets,
    named_set,
)
from askwise.lab.results import measured_row, rate_row

LEAST = "least_ece"
"""What the calibration error would be by chance, if labels were right as often as they say."""

METRICS = ("ece", LEAST, "log_loss", "brier", "accuracy")

RELIABILITY = "reliability"

LEAST_LEFT = 50
"""Tasks with a known truth that must be left to measure on."""

RAW = "as found"
"""What a method says with temper=0."""


@experiments.register("labels-calibration")
@dataclass(frozen=True)
class LabelsCalibration(MethodsOnSets):
    """How far confidences are from how often labels are right, without truths and with some.

    Parameters
    ----------
    methods : names
        Aggregators.
    truths : numbers
        How many truths are told, drawn at random in each replication; what is left is measured.
    sets : names
        Which sets of the folder; every one by default.
    data : folder
        As in ``labels-real``.
    most_tasks : int
        Tasks used of a larger set, those with gold first; 0 for all.
    """

    methods: tuple[str, ...] = (
        "majority",
        "one-coin(prior=1)",
        "dawid-skene",
        "dawid-skene(prior=1)",
        "hem",
    )
    truths: tuple[int, ...] = (0, 20, 50, 100)
    sets: tuple[str, ...] = ()
    data: str = ""
    most_tasks: int = MOST_TASKS

    reps: ClassVar[int] = 10
    chunk: ClassVar[int] = 1
    title: ClassVar[str] = "Confidences that mean what they say (beyond 002)"
    reproduces: ClassVar[str] = "beyond 002"
    summary: ClassVar[str] = (
        "Models of workers treat answers as independent, and are too sure. How far is their "
        "confidence from how often they are right: as they find it, tempered as it is reported "
        "without any truth, and calibrated by 20, 50 and 100 truths of tasks drawn at random?"
    )
    figures: ClassVar[tuple[Figure, ...]] = (
        Figure(
            "ece",
            "truths told",
            "expected calibration error",
            "The mean distance of confidence and accuracy, in ten bins of equal width, over the "
            "tasks whose truth was not told; with 95% intervals. least_ece is what it would be by "
            "chance, if labels were right as often as they say.",
        ),
        Figure(
            RELIABILITY,
            "confidence",
            "share that is right",
            "How often labels of similar confidence are right, without truths and with the most.",
        ),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for told in self.truths:
            if told < 0:
                raise InvalidParameter(
                    f"truths is {told}: give numbers of truths, 0 or more", field="truths"
                )

    def sample(self, cell: Cell, seed: int, replication: int) -> Array:
        """Measures of each method as found, and after each number of truths; then reliability."""
        if not cell.panel:
            return np.zeros(0)
        recording = named_set(self.data, cell.panel, self.most_tasks).recording
        assert recording is not None
        coded = code_answers(
            *(recording.task, recording.worker, recording.label), classes=recording.options
        )
        known = np.random.default_rng((seed, replication)).permutation(
            np.flatnonzero(recording.truth >= 0)
        )
        found = []
        for label in self.methods:
            method = make_method(from_label(label))
            raw = _measured(replace(method, temper=0), coded, recording.truth, known, 0)
            told = [_measured(method, coded, recording.truth, known, n) for n in self.truths]
            found.append(np.concatenate([each for pair in (raw, *told) for each in pair]))
        return np.concatenate(found)

    def rows(self, cell: Cell, samples: Array, seed: int) -> list[Row]:
        """Means over the replications; what could not be measured is left out."""
        if not cell.panel:
            return [row for each in self.label_sets() for row in each.notes()]
        found: list[Row] = []
        shape = (len(samples), len(self.methods), 1 + len(self.truths), len(METRICS) + BINS)
        measured = samples.reshape(shape)
        for at, label in enumerate(self.methods):
            for place, told in enumerate((None, *self.truths)):
                series = f"{label}, {RAW}" if told is None else label
                block = measured[:, at, place]
                x = float(told or 0)
                for column, metric in enumerate(METRICS):
                    values = block[:, column]
                    if not np.isnan(values).any():
                        found.append(
                            measured_row(
                                values, panel=cell.panel, series=series, x=x, metric=metric
                            )
                        )
                if told in (0, max(self.truths)):
                    found += _reliability(cell.panel, f"{label}, {told} truths", block)
        return found

    def differences(self, rows: Sequence[Row]) -> list[str]:
        """What was used, and the mean over the sets."""
        said = about_sets(rows)
        for label in self.methods:
            parts = [f"as found {_means_of(rows, f'{label}, {RAW}', 0.0)}"]
            parts += [
                f"{told} truths {_means_of(rows, label, float(told))}" for told in self.truths
            ]
            said.append(
                f"{label}, mean of the sets: {'; '.join(parts)}. In brackets: what the calibration "
                "error would be by chance, if labels were right as often as they say."
            )
            said.append(_by_set(rows, label, self.truths))
        said.append(
            f"A set is measured after a number of truths if {LEAST_LEFT} tasks or more are left to "
            "measure on."
        )
        return said


def _measured(
    method: LabelAggregator, coded: Answers, truth: Array, known: Array, told: int
) -> tuple[Array, Array]:
    """The measures, and in each bin of confidence the share that is right."""
    left = known[told:]
    if len(left) < LEAST_LEFT:
        return np.full(len(METRICS), np.nan), np.full(BINS, np.nan)
    given = np.full(len(truth), -1)
    given[known[:told]] = truth[known[:told]]
    with allowed(method.name):
        fitted: Fitted = method.report(coded._replace(truths=given.astype(np.int32)))
    chances, sure = fitted.probabilities[left], fitted.confidence[left]
    right, _ = right_shares(ScoredLabels(fitted.labels[left], sure, chances), truth[left])
    scores = (
        calibration_error(sure, right),
        least_calibration_error(sure),
        log_loss(chances, truth[left]),
    )
    measures = [*scores, brier_score(chances, truth[left]), float(right.mean())]
    shares = np.full(BINS, np.nan)
    for each in reliability(sure, right):
        shares[min(BINS - 1, int(each.confidence * BINS))] = each.right
    return np.array(measures, np.float64), shares


def _reliability(panel: str, series: str, block: Array) -> list[Row]:
    """Shares that are right, in the bins that have tasks in some replication."""
    found = []
    for place in range(BINS):
        shares = block[:, len(METRICS) + place]
        shares = shares[~np.isnan(shares)]
        if len(shares):
            x = round((place + 0.5) / BINS, 2)
            found.append(rate_row(shares, panel=panel, series=series, x=x, metric=RELIABILITY))
    return found


def _means_of(rows: Sequence[Row], series: str, x: float) -> str:
    """Calibration error and log loss averaged over the sets, as words."""
    found = [
        [row.mean for row in rows if (row.series, row.x, row.metric) == (series, x, metric)]
        for metric in ("ece", LEAST, "log_loss")
    ]
    if not found[0]:
        return "not measured"
    error, least, loss = (float(np.mean(values)) for values in found)
    return f"calibration error {error:.3f} ({least:.3f}), log loss {loss:.3f}"


def _by_set(rows: Sequence[Row], label: str, truths: Sequence[int]) -> str:
    """Calibration errors of each set after each number of truths that it was measured after."""
    parts = []
    for panel in dict.fromkeys(row.panel for row in rows if row.panel):
        errors = curve_of(rows, panel, label, "ece")
        measured = [f"{errors[told].mean:.3f}" for told in truths if told in errors]
        if measured:
            parts.append(f"{panel} {', '.join(measured)}")
    listed = ", ".join(str(told) for told in truths)
    return f"{label}, calibration error with {listed} truths, by set: {'; '.join(parts)}."
