"""How ``hem`` stands against the others over all sets: where it is behind, and what it must not do.

Everything is told by rows: leads run by run, so that orders of tasks in which all do badly do not
count, and means of the sets on which both were measured.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from askwise.core.arrays import Array
from askwise.figures import Row
from askwise.lab.papers.labels.studies.common import (
    OURS,
    curve_of,
    series_in,
    standard_error,
)
from askwise.lab.replaying.contenders import Contender
from askwise.lab.results import mean_row

LEAD = "lead_of_hem"
"""By how much ``hem`` is more often right than another series, run by run."""

GAIN = "gain_of_everything"
"""By how much a series is more often right with all recorded answers than at a budget, run by run.
"""

VOTE = "random-pairs"
"""The plain vote over pairs drawn at random."""

LITTLE, LITTLE_WITH_TRUTHS, LITTLE_ALONE = 0.01, 0.02, 0.005
"""What does not count as being behind: two standard errors and this, in general and where truths
were told; this alone with one answer per task, against the vote."""


def leads(
    panel: str, accuracy: Array, xs: Sequence[float], contenders: Sequence[Contender]
) -> list[Row]:
    """Rows that say how far ours is ahead of each other policy; by run, place and contender."""
    return [
        mean_row(lead, panel=panel, series=other.series, x=x, metric=LEAD)
        for at, mine in enumerate(contenders)
        if mine.series in OURS
        for place, x in enumerate(xs)
        for theirs, other in enumerate(contenders)
        if other.policy.name not in OURS
        and not np.isnan(lead := accuracy[:, place, at] - accuracy[:, place, theirs]).any()
    ]


def gains(
    panel: str, accuracy: Array, xs: Sequence[float], contenders: Sequence[Contender]
) -> list[Row]:
    """Rows that say what all that was recorded, the last place, gains ours over smaller budgets."""
    return [
        mean_row(gain, panel=panel, series=mine.series, x=x, metric=GAIN)
        for at, mine in enumerate(contenders)
        if mine.series in OURS
        for place, x in enumerate(xs[:-1])
        if not np.isnan(gain := accuracy[:, -1, at] - accuracy[:, place, at]).any()
    ]


def behind(rows: Sequence[Row], little: float = LITTLE) -> list[str]:
    """At how many points hem is as good as the best of the others, and where it is not."""
    points: dict[tuple[str, float], list[Row]] = {}
    for row in rows:
        if row.metric == LEAD:
            points.setdefault((row.panel, row.x), []).append(row)
    if not points:
        return []
    least = [min(found, key=lambda row: row.mean) for found in points.values()]
    missed = [row for row in least if is_behind(row, little)]
    said = (
        f"hem against the best of the others at each set and budget, which is unknown "
        f"beforehand: within {little} and two standard errors of the difference, run by run, at "
        f"{len(least) - len(missed)} of {len(least)} ({1 - len(missed) / len(least):.1%})"
    )
    worst = min(least, key=lambda row: row.mean)
    if missed:
        said += f"; behind on {_listed(sorted(missed, key=lambda row: row.mean))}"
    if worst.mean < 0 and worst not in missed:
        said += f"; its lowest mean difference is on {_listed([worst])}"
    return [f"{said}."]


def is_behind(row: Row, little: float) -> bool:
    """Whether a difference is below 0 by more than a little and two standard errors."""
    return row.mean < -little - 2 * standard_error(row)


def _listed(rows: Iterable[Row]) -> str:
    return ", ".join(f"{row.panel} at {row.x:g} by {-row.mean:.3f} ({row.series})" for row in rows)


def means(rows: Sequence[Row], budgets: Sequence[float]) -> list[str]:
    """Mean accuracies of the sets at each budget and with everything, each beside that of hem."""
    panels = [panel for panel in dict.fromkeys(row.panel for row in rows) if panel]
    curves = {
        (panel, series): curve_of(rows, panel, series)
        for panel in panels
        for series in series_in(rows, panel)
    }
    others = [series for series in dict.fromkeys(each for _, each in curves) if series not in OURS]
    said = []
    for budget in (*budgets, None):
        parts = []
        for series in others:
            pairs = [
                (curves[panel, OURS[0]][x].mean, curves[panel, series][x].mean)
                for panel in panels
                if (x := _place(curves, panel, budget)) is not None
                and x in curves.get((panel, series), {})
            ]
            if pairs:
                mine, theirs = np.mean(pairs, axis=0)
                parts.append(f"{series} {theirs:.3f} (hem {mine:.3f}, sets: {len(pairs)})")
        where = "all recorded answers" if budget is None else f"{budget:g} N answers (N tasks)"
        if parts:
            said.append(f"Mean accuracy with {where}: {', '.join(parts)}.")
    return said


def _place(
    curves: dict[tuple[str, str], dict[float, Row]], panel: str, budget: float | None
) -> float | None:
    """Where hem's curve has a budget, everything if None; None where it does not have it."""
    mine = curves.get((panel, OURS[0]), {})
    if not mine:
        return None
    if budget is None:
        return max(mine)
    return budget if budget in mine else None


def laws(rows: Sequence[Row]) -> list[str]:
    """Whether one answer per task is worth less than its vote, and more answers less than fewer."""
    alone = [row for row in rows if (row.metric, row.series, row.x) == (LEAD, VOTE, 1.0)]
    gained = [row for row in rows if row.metric == GAIN]
    said = []
    if alone:
        less = [row for row in alone if row.mean < -LITTLE_ALONE]
        said.append(
            f"One answer per task: hem is within {LITTLE_ALONE} of the vote on "
            f"{len(alone) - len(less)} of {len(alone)} sets"
            + (f"; less on {_listed(less)}." if less else ".")
        )
    if gained:
        sets = {row.panel for row in gained}
        worse = [row for row in gained if is_behind(row, LITTLE)]
        fell = {row.panel for row in worse}
        fallen = ", ".join(f"at {row.x:g} by {-row.mean:.3f} on {row.panel}" for row in worse)
        said.append(
            f"More answers: with all that were recorded hem is within {LITTLE} and two standard "
            f"errors of its best smaller budget on {len(sets) - len(fell)} of {len(sets)} sets"
            + (f"; worse than {fallen}." if worse else ".")
        )
    return said
