"""What an experiment hands on: rows with 95% intervals, and files that are whole or absent.

Everything shown (figures, tables, reports) is made from these rows and nothing else, so a
figure can be redrawn from ``results.json`` years later without running anything.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, NoReturn

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from askwise.core.errors import InvalidParameter

CONFIDENCE = 0.95
"""Level of every interval in the lab; the papers reproduced here use the same."""

_BLOCK = 1 << 21
"""Indices drawn at a time by the bootstrap: bounds its memory to a few tens of megabytes."""


@dataclass(frozen=True, slots=True)
class Row:
    """One point of one curve, or one cell of one table.

    Attributes
    ----------
    panel : str
        The sub-figure it belongs to; empty where there is only one.
    series : str
        Label of the policy (or other curve), such as ``bounded-epsilon-first(epsilon=0.15)``.
    x : float
        Where on the horizontal axis: a budget, a number of workers.
    metric : str
        What was measured, such as ``utility`` or ``share_of_optimum``.
    mean, ci_low, ci_high : float
        The estimate and its 95% interval.
    n : int
        Number of replications behind it; 0 if that is not known (a value out of a paper).
    """

    panel: str
    series: str
    x: float
    metric: str
    mean: float
    ci_low: float
    ci_high: float
    n: int

    def __post_init__(self) -> None:
        for name in ("panel", "series", "metric"):
            if not isinstance(getattr(self, name), str):
                _refuse(name, getattr(self, name), "a text")
        for name in ("x", "mean", "ci_low", "ci_high", "n"):
            # Rows are often built from NumPy scalars, which JSON does not know.
            object.__setattr__(self, name, _plain_number(name, getattr(self, name)))
        if not self.ci_low <= self.ci_high:
            _refuse("ci_low", self.ci_low, f"at most ci_high, {self.ci_high!r}")
        if not isinstance(self.n, int) or self.n < 0:
            _refuse("n", self.n, "a whole number, 0 or more")


@dataclass(frozen=True, slots=True)
class ReferenceRow(Row):
    """A value that was not measured here: a paper's figure, or a bound.

    Attributes
    ----------
    style : {"points", "line"}
        Hollow markers (values read out of a paper) or a dashed line (a bound).
    source : str
        Whose value it is, in words: another reading's, where a paper has no digits.
    """

    style: Literal["line", "points"] = "points"
    source: str = "the paper"

    @classmethod
    def at(
        cls,
        series: str,
        x: float,
        metric: str,
        mean: float,
        *,
        panel: str = "",
        half_width: float = 0.0,
        style: Literal["line", "points"] = "points",
        source: str = "the paper",
    ) -> ReferenceRow:
        """A value with the half width of its interval, as papers print it: ``59.88 (0.35)``."""
        low, high = mean - half_width, mean + half_width
        return cls(panel, series, x, metric, mean, low, high, 0, style, source)


_COLUMNS = tuple(column.name for column in fields(Row))


def source_of(rows: Iterable[Row]) -> str:
    """Whose values references are; those of an experiment have one source."""
    return next((row.source for row in rows if isinstance(row, ReferenceRow)), "the paper")


@dataclass(frozen=True)
class Results:
    """All rows of one run of an experiment, with what it takes to run it again."""

    experiment: str
    seed: int
    reps: int
    params: Mapping[str, Any] = field(default_factory=dict)
    rows: Sequence[Row] = ()

    def to_json(self) -> str:
        """One row a line: small differences between two runs stay small differences of text."""
        head = {
            "experiment": self.experiment,
            "seed": self.seed,
            "reps": self.reps,
            "params": dict(self.params),
        }
        try:
            text = json.dumps(head, indent=2, ensure_ascii=False, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise InvalidParameter(
                f"params can't be written as JSON ({error}); use finite numbers, texts, "
                "true/false, null, lists and mappings",
                field="params",
            ) from error
        lines = [json.dumps(_as_dict(row), ensure_ascii=False) for row in self.rows]
        rows = "[\n    " + ",\n    ".join(lines) + "\n  ]" if lines else "[]"
        return text.removesuffix("\n}") + f',\n  "rows": {rows}\n}}\n'

    @classmethod
    def from_json(cls, text: str) -> Results:
        """The inverse of `to_json`; says which field is missing or wrong."""
        try:
            loaded = json.loads(text, parse_constant=_refuse_constant)
        except json.JSONDecodeError as error:
            raise InvalidParameter(f"results are not valid JSON: {error}") from error
        head = _exactly(loaded, ("experiment", "seed", "reps", "params", "rows"), "results")
        rows = tuple(
            Row(**_exactly(row, _COLUMNS, f"rows[{at}]")) for at, row in enumerate(head["rows"])
        )
        return cls(head["experiment"], head["seed"], head["reps"], head["params"], rows)

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
        writer.writerows(_as_dict(row) for row in self.rows)
        return write_atomic(path, buffer.getvalue())


def write_atomic(path: str | os.PathLike[str], content: str | bytes) -> Path:
    """Write a file so that it is seen whole or not at all, also after Ctrl-C.

    The content goes to a temporary file in the same directory (a rename across file systems
    is not atomic), which then takes the place of the old file.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    data = content.encode() if isinstance(content, str) else content
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with open(temporary, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return path


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
        quantile = float(stdtrit(n - 1, 0.5 + CONFIDENCE / 2))
        half = quantile * float(sample.std(ddof=1)) / math.sqrt(n)
    return Row(panel, series, x, metric, mean, mean - half, mean + half, n)


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
        _refuse("denominator", f"{below.size} values", f"{above.size}, as many as numerator")
    if resamples < 1:
        _refuse("resamples", resamples, "1 or more")
    if below.sum() == 0:
        _refuse("denominator", "values with mean 0", "values with a mean other than 0")
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
            _refuse("denominator", "so many zeros that a resample has mean 0", "fewer zeros")
        ratios[start:stop] = above[drawn].sum(axis=1) / totals
    tail = (1 - CONFIDENCE) / 2
    low, high = (float(bound) for bound in np.quantile(ratios, (tail, 1 - tail)))
    return Row(panel, series, x, metric, ratio, min(low, ratio), max(high, ratio), n)


def _sample(name: str, values: npt.ArrayLike) -> npt.NDArray[np.float64]:
    sample = np.asarray(values, dtype=np.float64)
    if sample.ndim != 1 or sample.size == 0:
        _refuse(name, f"an array of shape {sample.shape}", "one value a replication, at least one")
    bad = np.flatnonzero(~np.isfinite(sample))
    if bad.size:
        # Leaving a failed replication out would bias the mean without a trace.
        _refuse(f"{name}[{bad[0]}]", sample[bad[0]], "a finite number")
    return sample


def _plain_number(name: str, value: Any) -> int | float:
    if isinstance(value, (bool, np.bool_)):
        _refuse(name, value, "a number")
    if isinstance(value, (int, np.integer)):
        return int(value)
    if not isinstance(value, (float, np.floating)) or not math.isfinite(value):
        _refuse(name, value, "a finite number")
    return float(value)


def _as_dict(row: Row) -> dict[str, Any]:
    values = asdict(row)
    return {name: values[name] for name in _COLUMNS}


def _exactly(value: Any, names: Iterable[str], where: str) -> dict[str, Any]:
    names = tuple(names)
    if not isinstance(value, dict) or set(value) != set(names):
        got = ", ".join(sorted(value)) if isinstance(value, dict) else type(value).__name__
        _refuse(where, got, "an object with exactly the fields " + ", ".join(names))
    return value


def _refuse_constant(name: str) -> NoReturn:
    _refuse("results", name, "finite numbers only")


def _refuse(name: str, value: object, valid: str) -> NoReturn:
    shown = value if isinstance(value, str) else repr(value)
    raise InvalidParameter(f"{name} is {shown}; it must be {valid}", field=name)
