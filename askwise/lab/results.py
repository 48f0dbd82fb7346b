"""What an experiment hands on: rows with 95% intervals, in files that are whole or absent.

Everything shown (figures, tables, reports) is made from these rows and nothing else, so a
figure can be redrawn from ``results.json`` years later without running anything.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
import scipy

from askwise.campaign.views.quality import clopper_pearson
from askwise.core.errors import InvalidParameter
from askwise.core.files import write_atomic
from askwise.figures.rows import Row, refuse

CONFIDENCE = 0.95
"""Level of every interval in the lab; the papers reproduced here use the same."""

_BLOCK = 1 << 21
"""Indices drawn at a time by the bootstrap: bounds its memory to a few tens of megabytes."""

_COLUMNS = tuple(column.name for column in fields(Row))


@dataclass(frozen=True)
class Results:
    """All rows of one run of an experiment, with what it takes to run it again.

    ``failures`` says of each cell that could not be computed why, ``made`` with which version and
    sources (a digest) and in how many seconds results that are kept were computed; where there is
    nothing to say, the file has neither.
    """

    experiment: str
    seed: int
    reps: int
    params: Mapping[str, Any] = field(default_factory=dict)
    rows: Sequence[Row] = ()
    failures: Sequence[str] = ()
    made: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> str:
        """One row per line: small differences between two runs stay small differences of text."""
        head = {name: getattr(self, name) for name in ("experiment", "seed", "reps")}
        head["params"] = dict(self.params)
        if self.failures:
            head["failures"] = list(self.failures)
        if self.made:
            head["made"] = dict(self.made)
        try:
            text = json.dumps(head, indent=2, ensure_ascii=False, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise InvalidParameter(
                f"params can't be written as JSON ({error}); use finite numbers, texts, "
                "true/false, null, lists and mappings",
                field="params",
            ) from error
        lines = [json.dumps(asdict(row), ensure_ascii=False) for row in self.rows]
        rows = "[\n    " + ",\n    ".join(lines) + "\n  ]" if lines else "[]"
        return text.removesuffix("\n}") + f',\n  "rows": {rows}\n}}\n'

    @classmethod
    def from_json(cls, text: str) -> Results:
        """The inverse of `to_json`; says which field is missing or wrong."""
        try:
            loaded = json.loads(text, parse_constant=_refuse_constant)
        except json.JSONDecodeError as error:
            raise InvalidParameter(f"results are not valid JSON: {error}") from error
        rest = loaded if isinstance(loaded, dict) else {}
        failures, made = rest.pop("failures", ()), rest.pop("made", {})
        head = _exactly(loaded, ("experiment", "seed", "reps", "params", "rows"), "results")
        rows = tuple(
            Row(**_exactly(row, _COLUMNS, f"rows[{at}]")) for at, row in enumerate(head["rows"])
        )
        facts = (head["experiment"], head["seed"], head["reps"], head["params"])
        return cls(*facts, rows, tuple(failures), made)

    def write_json(self, path: str | os.PathLike[str]) -> Path:
        """Write ``results.json``, whole or not at all."""
        return write_atomic(path, self.to_json())

    @classmethod
    def read_json(cls, path: str | os.PathLike[str]) -> Results:
        """Read what `write_json` wrote."""
        return cls.from_json(Path(path).read_text(encoding="utf-8"))

    def write_csv(self, path: str | os.PathLike[str]) -> Path:
        """Write the rows for a spreadsheet, whole or not at all."""
        buffer = io.StringIO(newline="")
        writer = csv.DictWriter(buffer, _COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(row) for row in self.rows)
        return write_atomic(path, buffer.getvalue())


def mean_row(values: npt.ArrayLike, *, series: str, x: float, metric: str, panel: str = "") -> Row:
    """The mean of per-replication values with Student's t interval.

    The values must be one a replication and independent of each other. With 10,000 of them
    the t and the normal interval agree to four digits; with 20 only the former is honest.
    A single value has no spread to estimate: its interval is the value itself, and ``n`` is
    there to say how little that means.

    Examples
    --------
    >>> row = mean_row([1, 2, 3], series="uniform", x=500, metric="utility")
    >>> row.mean, round(row.ci_low, 4), round(row.ci_high, 4)
    (2.0, -0.4841, 4.4841)
    """
    sample = _sample("values", values)
    n = sample.size
    mean = float(sample.mean())
    half = 0.0
    if n > 1:
        quantile = float(scipy.special.stdtrit(n - 1, 0.5 + CONFIDENCE / 2))
        half = quantile * float(sample.std(ddof=1)) / math.sqrt(n)
    return Row(panel, series, x, metric, mean, mean - half, mean + half, n)


def rate_row(values: npt.ArrayLike, *, series: str, x: float, metric: str, panel: str = "") -> Row:
    """The mean of values between 0 and 1, with an interval that stays there.

    Of values that are 0 or 1 it is Clopper and Pearson's, which is honest for none and for all; of
    others Student's, cut off at 0 and 1.

    Examples
    --------
    >>> row = rate_row([0, 0, 0, 0], series="uniform", x=500, metric="error")
    >>> row.mean, row.ci_low, round(row.ci_high, 4)
    (0.0, 0.0, 0.6024)
    """
    sample = _sample("values", values)
    outside = sample[(sample < 0) | (sample > 1)]
    if outside.size:
        refuse("values", float(outside[0]), "between 0 and 1")
    row = mean_row(sample, series=series, x=x, metric=metric, panel=panel)
    if row.n > 1 and np.isin(sample, (0.0, 1.0)).all():
        low, high = map(float, clopper_pearson(int(sample.sum()), row.n))
    else:
        low, high = max(0.0, row.ci_low), min(1.0, row.ci_high)
    return replace(row, ci_low=min(low, row.mean), ci_high=max(high, row.mean))


RATES = frozenset(
    {
        *("accuracy", "right", "reliability", "independent_accuracy"),
        *("error", "true_error", "raw_error", "rival_error", "wrong", "ece", "least_ece"),
        *("false", "false_again", "delivered_false", "delivered_false_again"),
        *("planned_false", "planned_false_again", "certified_share"),
        *("covered", "error_covered", "alarm", "assured", "low_confidence"),
        *("runs_in_violation", "share_of_jobs", "done_share"),
    }
)
"""Metrics whose values are chances, or shares of tasks, answers or runs.

Not a Brier score: with more than two options it reaches 2.
"""


def measured_row(
    values: npt.ArrayLike, *, series: str, x: float, metric: str, panel: str = ""
) -> Row:
    """The mean of what is measured: as ``rate_row`` if the metric is a rate, else ``mean_row``.

    Examples
    --------
    >>> row = measured_row([0.9, 1.0], series="uniform", x=500, metric="accuracy")
    >>> row.mean, round(row.ci_low, 4), row.ci_high
    (0.95, 0.3147, 1.0)
    """
    make = rate_row if metric in RATES else mean_row
    return make(values, series=series, x=x, metric=metric, panel=panel)


def ratio_row(
    numerator: npt.ArrayLike,
    denominator: npt.ArrayLike,
    *,
    series: str,
    x: float,
    metric: str,
    seed: int,
    panel: str = "",
    resamples: int = 1000,
) -> Row:
    """The ratio of two means (a share of the optimum) with a bootstrap percentile interval.

    Replications are resampled in pairs, because both values of a replication come from the
    same crowd and rise and fall together. The same seed draws the same replications for every
    series, so the intervals of two policies in one figure differ by what the policies did and
    not by luck. The interval is widened, if need be, to contain the ratio itself (rounding can
    put a ratio that is the same in every resample a hair outside). With a single replication
    every resample is that replication, and the interval is the ratio.

    Examples
    --------
    >>> row = ratio_row([3, 1], [4, 4], series="a", x=1, metric="share_of_optimum", seed=7)
    >>> row.mean, row.ci_low, row.ci_high
    (0.5, 0.25, 0.75)
    """
    above, below = _sample("numerator", numerator), _sample("denominator", denominator)
    if above.size != below.size:
        refuse("denominator", f"{below.size} values", f"{above.size}, as many as numerator")
    if resamples < 1:
        refuse("resamples", resamples, "1 or more")
    if below.sum() == 0:
        refuse("denominator", "values with mean 0", "values with a mean other than 0")
    n = above.size
    ratio = float(above.sum() / below.sum())
    ratios = np.empty(resamples)
    generator = np.random.default_rng(seed)
    step = max(1, _BLOCK // n)
    for start in range(0, resamples, step):
        stop = min(start + step, resamples)
        drawn = generator.integers(0, n, size=(stop - start, n), dtype=np.int32)
        totals = below[drawn].sum(axis=1)
        if not totals.all():
            refuse("denominator", "too many zeros: a resample has mean 0", "fewer zeros")
        ratios[start:stop] = above[drawn].sum(axis=1) / totals
    tail = (1 - CONFIDENCE) / 2
    low, high = (float(bound) for bound in np.quantile(ratios, (tail, 1 - tail)))
    return Row(panel, series, x, metric, ratio, min(low, ratio), max(high, ratio), n)


def _sample(name: str, values: npt.ArrayLike) -> npt.NDArray[np.float64]:
    sample = np.asarray(values, dtype=np.float64)
    if sample.ndim != 1 or sample.size == 0:
        refuse(name, f"an array of shape {sample.shape}", "one value a replication, at least one")
    bad = np.flatnonzero(~np.isfinite(sample))
    if bad.size:
        # Leaving a failed replication out would bias the mean without a trace.
        refuse(f"{name}[{bad[0]}]", sample[bad[0]], "a finite number")
    return sample


def _exactly(value: Any, names: Iterable[str], where: str) -> dict[str, Any]:
    names = tuple(names)
    if not isinstance(value, dict) or set(value) != set(names):
        got = ", ".join(sorted(value)) if isinstance(value, dict) else type(value).__name__
        refuse(where, got, "an object with exactly the fields " + ", ".join(names))
    return value


def _refuse_constant(name: str) -> NoReturn:
    refuse("results", name, "finite numbers only")
