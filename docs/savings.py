"""The figure of README: what choosing whom to ask saves, on recorded answers.

``python -m docs.savings FOLDER`` replays recorded answers (a folder as ``labels-real`` takes it)
and keeps the means in ``docs/assets/savings.json``; without a folder it draws what is kept.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from statistics import mean
from typing import Any

from askwise.figures import Row
from askwise.lab.results import mean_row

HERE = Path(__file__).resolve().parent
KEPT = HERE / "assets" / "savings.json"
PICTURE = HERE / "assets" / "savings.svg"

BUDGETS = (1.0, 2.0, 3.0, 5.0)
"""Answers per task."""

WAYS = {
    "hem": "askwise",
    "uniform with dawid-skene": "everybody in turn, Dawid-Skene",
    "uniform": "everybody in turn, majority vote",
}


def measure(folder: str) -> dict[str, Any]:
    """The accuracy of each way on the sets that have five answers for every task."""
    from askwise.lab.experiment import experiments
    from askwise.lab.runner import run

    settings = {"policies": tuple(WAYS), "budgets": BUDGETS, "most_tasks": 500, "data": folder}
    results = run(experiments.get("labels-real")(**settings), reps=4)
    found = {
        (row.series, row.panel, row.x): row.mean for row in results.rows if row.metric == "accuracy"
    }
    panels = sorted({panel for _, panel, _ in found})
    sets = [
        name for name in panels if all((way, name, x) in found for way in WAYS for x in BUDGETS)
    ]
    by_set = {way: {name: [found[way, name, x] for x in BUDGETS] for name in sets} for way in WAYS}
    means = {way: [mean(at) for at in zip(*by_set[way].values(), strict=True)] for way in WAYS}
    return {"sets": sets, "budgets": BUDGETS, "means": means, "by_set": by_set}


def saved(kept: dict[str, Any]) -> Row:
    """What two answers chosen by askwise are ahead of five that are put to a vote, over the sets.

    The sets are the sample: the interval says what to expect of another one like them.
    """
    ours, vote = (kept["by_set"][way] for way in ("hem", "uniform"))
    two, five = BUDGETS.index(2.0), BUDGETS.index(5.0)
    ahead = [ours[name][two] - vote[name][five] for name in kept["sets"]]
    return mean_row(ahead, series="hem", x=2, metric="ahead of a vote of five")


def draw(kept: dict[str, Any]) -> None:
    """Draw the means as all our figures look: ours in the accent's colour, labels at the lines."""
    from askwise.figures.looks import ACCENT, as_text, lay_out, settings
    from askwise.figures.picture import new_figure
    from askwise.figures.svg import render_svg, themed

    grey, budgets = "#707070", kept["budgets"]
    with settings({"font.size": 10.5}):
        figure = new_figure(6.0, 3.4)
        axes = figure.add_subplot()
        for way, label in WAYS.items():
            values = [100 * each for each in kept["means"][way]]
            ours = way == "hem"
            colour = ACCENT if ours else grey
            style = "--" if way == "uniform with dawid-skene" else "-"
            width = 2.8 if ours else 1.6
            axes.plot(budgets, values, style, color=colour, marker="o", linewidth=width)
            # The two lines below end close to each other.
            shift = {"hem": 4, "uniform with dawid-skene": 9, "uniform": -14}[way]
            axes.annotate(
                as_text(label, 18), (budgets[-1], values[-1]), (8, shift), va="center",
                textcoords="offset points", color=colour, annotation_clip=False,
                fontweight="bold" if ours else "normal",
            )  # fmt: skip
        first, vote = kept["means"]["hem"][1], kept["means"]["uniform"][-1]
        axes.plot([2, 5], [100 * first, 100 * vote], ":", color=ACCENT, linewidth=1.6)
        axes.set_xticks(budgets, [f"{each:g}" for each in budgets])
        axes.set_xlabel("answers bought for each task")
        axes.set_ylabel("labels right, %")
        axes.grid(visible=False, axis="x")
        PICTURE.write_bytes(themed(render_svg(lay_out(figure))))


def main(arguments: list[str]) -> None:
    """Measure if a folder is named; draw."""
    if arguments:
        KEPT.write_text(json.dumps(measure(arguments[0]), indent=2) + "\n", encoding="utf-8")
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    draw(kept)
    for way, label in WAYS.items():
        figures = ", ".join(f"{each:.3f}" for each in kept["means"][way])
        sys.stdout.write(f"{label}: {figures}\n")
    ahead = saved(kept)
    sys.stdout.write(
        f"two answers of askwise ahead of a vote of five: {ahead.mean:+.3f} "
        f"(95% interval over {ahead.n} sets {ahead.ci_low:+.3f} to {ahead.ci_high:+.3f})\n"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
