"""Run experiments again and hold them against the results that the documentation keeps.

``python -m docs.reproduce NAME ...`` (``make reproduce NAME=...``) runs each experiment with the
parameters, replications and seed of its kept results, and fails unless every row is the same, but
for the last digits of a float. With ``--seed`` the replications are others, and every mean has to
be within four joint standard errors. ``--renew`` keeps what comes out where rows differ, after a
change that was meant to move them, or where nothing says how they were made; ``--keep`` runs an
experiment in full and keeps what comes out.

All of them take hours. With ``--record FILE`` those that agreed are noted; without names, those on
record are left out unless code that they rest on, or their kept results, have changed.
"""

from __future__ import annotations

import argparse
import math
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from askwise.core.errors import AskwiseError, InvalidParameter
from askwise.core.version import __version__
from askwise.figures import Row
from askwise.lab import runner
from askwise.lab.experiment import Experiment, experiments, with_settings
from askwise.lab.results import Results
from docs.agreements import AgreementRecord, Foundation

KEPT = Path(__file__).resolve().parent / "assets" / "reproductions"

FAR = 4.0
"""Joint standard errors that two runs with different seeds may differ by."""

ROUNDING = 1e-9
"""Relative difference up to which two floats are the same: sums are taken in other orders where
work is divided otherwise, and by other processors.
"""

_QUANTILE = 1.959964
"""What half of a 95% interval is in standard errors, but for Student's few."""


@dataclass(frozen=True)
class Difference:
    """One row in which two runs do not agree; one of them may not have it."""

    row: Row | None
    found: Row | None
    far: float = math.inf

    def __str__(self) -> str:
        row = self.row or self.found
        assert row is not None
        place = f"{row.metric} of {row.series} at {row.x:g}"
        place += f" ({row.panel})" if row.panel else ""
        if self.row is None or self.found is None:
            return f"{place}: {'missing' if self.found is None else 'not among those kept'}"
        by = f", {self.far:.1f} joint standard errors" if math.isfinite(self.far) else ""
        kept, now = (
            # Where the means are the same, something else differs.
            f"{each.mean!r} [{each.ci_low!r}, {each.ci_high!r}] of {each.n}"
            if self.row.mean == self.found.mean
            else f"{each.mean!r}"
            for each in (self.row, self.found)
        )
        return f"{place}: kept {kept}, now {now}{by}"


def differences(kept: Sequence[Row], found: Sequence[Row], *, same_seed: bool) -> list[Difference]:
    """Rows that are not what they were; with another seed, those that are too far from it.

    With another seed a row may be missing that rests on some of the replications only: what it is
    about may not have happened.
    """
    now = {_place(row): row for row in found}
    least = 0 if same_seed else max((row.n for row in kept), default=0)
    gone = [Difference(row, None) for row in kept if _place(row) not in now and row.n >= least]
    least = 0 if same_seed else max((row.n for row in found), default=0)
    pairs = [(row, now[_place(row)]) for row in kept if _place(row) in now]
    before = {_place(row) for row in kept}
    came = [row for row in found if _place(row) not in before and row.n >= least]
    added = [Difference(None, row) for row in came]
    if same_seed:
        return [*gone, *added, *(Difference(*pair) for pair in pairs if not _same(*pair))]
    measured = [Difference(row, other, _far(row, other)) for row, other in pairs]
    return [*gone, *added, *(each for each in measured if each.far > FAR)]


def _place(row: Row) -> tuple[str, str, float, str]:
    return row.panel, row.series, row.x, row.metric


def _same(one: Row, other: Row) -> bool:
    """Whether two rows of one place are equal but for rounding."""
    numbers = zip(_numbers(one), _numbers(other), strict=True)
    return one.n == other.n and all(
        math.isclose(a, b, rel_tol=ROUNDING) or (math.isnan(a) and math.isnan(b))
        for a, b in numbers
    )


def _numbers(row: Row) -> tuple[float, float, float]:
    return row.mean, row.ci_low, row.ci_high


def _far(one: Row, other: Row) -> float:
    """How far two means are from each other, in their joint standard error."""
    apart = abs(one.mean - other.mean)
    # The half that faces the other mean: an interval of a rate near 0 or 1 is lopsided.
    lower, upper = sorted((one, other), key=lambda row: row.mean)
    joint = math.hypot(lower.ci_high - lower.mean, upper.mean - upper.ci_low) / _QUANTILE
    if math.isclose(one.mean, other.mean, rel_tol=ROUNDING):
        return 0.0
    return apart / joint if joint > 0 else math.inf


def as_kept(results: Results, settings: Mapping[str, str]) -> Experiment:
    """The experiment behind kept results, with what stands elsewhere on this machine set again."""
    entry = experiments.get(results.experiment)
    params = {key: tuple(v) if isinstance(v, list) else v for key, v in results.params.items()}
    if params.get("data") and "data" not in settings and not Path(params["data"]).is_dir():
        raise InvalidParameter(
            f"{results.experiment} ran on recorded data: give its folder, --set data=FOLDER",
            field="data",
        )
    given = vars(with_settings(results.experiment, settings))
    return entry(**{**params, **{key: given[key] for key in settings}})


def check(
    name: str, args: argparse.Namespace, settings: Mapping[str, str], foundation: Foundation
) -> bool:
    """Run one experiment as it was kept and say whether the rows agree."""
    kept = Results.read_json(KEPT / f"{name}.json")
    seed = kept.seed if args.seed is None else args.seed
    reps = kept.reps if args.reps is None else args.reps
    experiment = as_kept(kept, settings)
    results, seconds = _run(experiment, reps, seed, args.jobs)
    same_seed = (seed, reps) == (kept.seed, kept.reps)
    found = differences(kept.rows, results.rows, same_seed=same_seed)
    for each in found[:20]:
        print(f"  {each}")
    if len(found) > 20:
        print(f"  and {len(found) - 20} more")
    law = "the same" if same_seed else f"within {FAR:g} joint standard errors"
    right = len(kept.rows) - sum(1 for each in found if each.row is not None)
    print(
        f"{name}: {right} of {len(kept.rows)} rows {law} (seed {seed}, {reps} replications, ",
        end="",
    )
    print(f"{seconds:.0f} s)", flush=True)
    if args.renew and (found or not kept.made) and not results.failures:
        _write(name, experiment, results, seconds, foundation.sources[name])
        print(f"{name}: kept again", flush=True)
        return True
    return not found and not results.failures


def keep(
    name: str, args: argparse.Namespace, settings: Mapping[str, str], foundation: Foundation
) -> bool:
    """Run one experiment and keep its rows and its first figure."""
    experiment = with_settings(name, settings)
    reps = experiment.reps if args.reps is None else args.reps
    seed = 1 if args.seed is None else args.seed
    results, seconds = _run(experiment, reps, seed, args.jobs)
    _write(name, experiment, results, seconds, foundation.sources[name])
    for failure in results.failures:
        print(f"  {failure}")
    print(f"{name}: kept {len(results.rows)} rows (seed {seed}, {reps} replications, ", end="")
    print(f"{seconds:.0f} s)", flush=True)
    return not results.failures


def _write(
    name: str, experiment: Experiment, results: Results, seconds: float, sources: str
) -> None:
    """Keep results and their first figure."""
    params = dict(results.params)
    if params.get("data"):
        # Where recorded data are is not the same on any two machines.
        params["data"] = "data"
    made = {"version": __version__, "seconds": round(seconds), "sources": sources[:12]}
    results = replace(results, params=params, made=made)
    KEPT.mkdir(parents=True, exist_ok=True)
    results.write_json(KEPT / f"{name}.json")
    with tempfile.TemporaryDirectory() as place:
        runner.write(experiment, results, Path(place), f"askwise lab run {name}")
        drawing = Path(place) / name / "figure.svg"
        if drawing.is_file():
            shutil.copyfile(drawing, KEPT / f"{name}.svg")


def _run(experiment: Experiment, reps: int, seed: int, jobs: int) -> tuple[Results, float]:
    print(f"{experiment.name}: {reps} replications of {len(experiment.cells())} points", flush=True)
    said = time.monotonic()

    def tell(what: str, done: int, of: int) -> None:
        nonlocal said
        if time.monotonic() - said > 30:
            said = time.monotonic()
            print(f"  {what}: {done} of {of}", flush=True)

    start = time.monotonic()
    results = runner.run(experiment, reps=reps, seed=seed, jobs=jobs, progress=tell)
    return results, time.monotonic() - start


def main(argv: Sequence[str] | None = None) -> int:
    """Check or keep the experiments that are named; without a name, all that are kept."""
    parser = argparse.ArgumentParser(prog="python -m docs.reproduce", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="all that are kept by default")
    parser.add_argument("--seed", type=int, help="the kept one by default, 1 with --keep")
    parser.add_argument("--reps", type=int, help="replications of each point")
    parser.add_argument("--jobs", type=int, default=1, help="processes at a time")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", dest="settings")
    keeping = parser.add_mutually_exclusive_group()
    keeping.add_argument("--keep", action="store_true", help="keep the results")
    keeping.add_argument("--renew", action="store_true", help="keep those that differ")
    parser.add_argument("--record", type=Path, help="leave out what agreed before, note what does")
    parser.add_argument("--fresh", action="store_true", help="leave nothing out")
    args = parser.parse_args(argv)
    if args.renew and (args.seed is not None or args.reps is not None):
        parser.error("--renew keeps the seed and the replications: use --keep to change them")
    settings = dict(each.split("=", 1) for each in args.settings)
    names = args.names or sorted(path.stem for path in KEPT.glob("*.json"))
    wrong: list[str] = []
    record, how = AgreementRecord(args.record), f"seed {args.seed} reps {args.reps}"
    foundation = Foundation.now(KEPT)
    for name in names:
        kept = name in foundation.kept
        before = (
            None
            if args.names or args.keep or args.fresh
            else record.commit_of(name, how, foundation)
        )
        if before is not None:
            print(f"{name}: agreed before, at {before}", flush=True)
            continue
        begun = time.monotonic()
        try:
            fitting = _that_fit(name, settings, given_to_all=len(names) > 1)
            if args.keep:
                right = keep(name, args, fitting, foundation)
            elif not kept:
                raise InvalidParameter(f"no results of {name} are kept", field="names")
            else:
                right = check(name, args, fitting, foundation)
                # Of results that are kept again this is not the digest: they have not agreed yet.
                record.note(name, how, foundation if right else None, time.monotonic() - begun)
        except AskwiseError as error:
            print(f"{name}: {error}", flush=True)
            right = False
        if not right:
            wrong.append(name)
        foundation = Foundation.now(KEPT)
    print(f"{len(names) - len(wrong)} of {len(names)} experiments agree" if not args.keep else "")
    if wrong:
        print("not: " + ", ".join(wrong), file=sys.stderr)
    return 1 if wrong else 0


def _that_fit(name: str, settings: Mapping[str, str], *, given_to_all: bool) -> dict[str, Any]:
    """Of settings for many experiments, and of a folder of data, what this experiment has."""
    known = vars(experiments.get(name)())
    shared = settings if given_to_all else {"data"}
    return {key: value for key, value in settings.items() if key in known or key not in shared}


if __name__ == "__main__":
    raise SystemExit(main())
