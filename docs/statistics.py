"""The figures of the page on statistics: ``python -m docs.statistics``.

``--measure`` runs the simulations behind them first (some minutes) and keeps their results in
``docs/assets/statistics/results.json``; without it what is kept is drawn.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit, logit
from scipy.stats import binom, hypergeom

from askwise.aggregation import aggregation
from askwise.auditing.limits import fewest_audits, limit_at_once
from askwise.figures.looks import ACCENT, COLOURS, INK, dashed, lay_out, settings
from askwise.figures.svg import render_svg, themed
from askwise.lab.papers.labels.studies.common import LabelsCell, LabelsExperiment
from askwise.lab.replaying.bench import Bench
from askwise.lab.runner import run
from askwise.lab.worlds.recorded import Recording

FOLDER = Path(__file__).resolve().parent / "assets" / "statistics"
KEPT = FOLDER / "results.json"
BROWN, ORANGE, GREEN = COLOURS[:3]

SKILL = 0.8
"""How often each judge is right, over all tasks."""

ON_HARD = 0.3
"""And on hard tasks, on which they err together."""

JUDGES = (1, 3, 5, 7, 9, 11, 15, 21, 31, 51)
HARD = (0.0, 0.1, 0.2)


# Judges who err together.


def on_easy(hard: float) -> float:
    """How often a judge is right on easy tasks, so that it is SKILL over all."""
    return (SKILL - hard * ON_HARD) / (1.0 - hard)


def majority_right(judges: int, hard: float) -> float:
    """The chance that most of an odd number of judges are right on a random task.

    Examples
    --------
    >>> round(majority_right(1, 0.2), 3), round(majority_right(3, 0.0), 3)
    (0.8, 0.896)
    """
    shares = ((hard, ON_HARD), (1.0 - hard, on_easy(hard)))
    return float(sum(share * binom.sf(judges // 2, judges, right) for share, right in shares))


def verdicts(tasks: int, judges: int, hard: float, seed: int) -> tuple[Any, Any]:
    """A table of verdicts and the truth of each task, in a world with hard tasks."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, tasks)
    chance = np.where(rng.random(tasks) < hard, ON_HARD, on_easy(hard))
    right = rng.random((tasks, judges)) < chance[:, None]
    labels = np.where(right, truth[:, None], 1 - truth[:, None])
    table = {
        "task": np.repeat(np.arange(tasks), judges).tolist(),
        "worker": [f"judge-{each}" for each in range(judges)] * tasks,
        "label": labels.ravel().tolist(),
    }
    return table, truth


def reliability() -> dict[str, Any]:
    """How often labels are right by how sure they are said to be, three ways."""
    tasks, judges = 4000, 7
    table, truth = verdicts(tasks, judges, 0.2, 1)
    kinds = {"worker": [f"judge-{each}" for each in range(judges)], "kind": ["model"] * judges}
    known = {int(task): int(truth[task]) for task in np.random.default_rng(2).choice(tasks, 50)}
    ways = {
        "as the model of workers finds it": (
            aggregation.make({"name": "one-coin", "temper": 0}),
            None,
        ),
        "tempered agreement": (aggregation.make("one-coin"), None),
        "calibrated by 50 truths": (aggregation.make("one-coin"), known),
    }
    found = {}
    for name, (method, gold) in ways.items():
        fitted = method.fit(table, gold=gold, workers=kinds)
        others = [task for task in range(tasks) if gold is None or task not in gold]
        sure = np.array([fitted.confidence_[task] for task in others])
        right = np.array([fitted.labels_[task] == truth[task] for task in others])
        # One point for each number of verdicts that agree: they share a confidence, nearly.
        votes = np.reshape(table["label"], (tasks, judges)).sum(axis=1)[others]
        lead = np.maximum(votes, judges - votes)
        found[name] = [
            [float(sure[lead == each].mean()), float(right[lead == each].mean()), int(n)]
            for each in np.unique(lead)
            if (n := (lead == each).sum()) >= 30
        ]
        found[name].append([float(sure.mean()), float(right.mean()), len(others)])
    return found


# Certificates.


def certified(wrong: int, audits: int) -> float:
    """The chance that audits of 2,000 labels certify that at most 5% of them are wrong.

    Examples
    --------
    >>> round(certified(0, 44), 3), certified(0, 43)
    (1.0, 0.0)
    """
    most = limit_at_once(2000, 101, audits, 0.1)
    return float(hypergeom.cdf(most, 2000, wrong, audits)) if most >= 0 else 0.0


# Bandits.


@dataclass(frozen=True)
class Spread(LabelsExperiment):
    """Eight workers for 200 yes-or-no tasks, who are alike or differ."""

    policies: tuple[str, ...] = ("hem", "uniform with one-coin", "uniform")
    budgets: tuple[float, ...] = (1.0, 2.0, 3.0, 5.0, 8.0)

    PANELS = {"all alike": 0.0, "they differ": 0.8, "they differ much": 1.6}  # noqa: RUF012

    def cells(self) -> list[LabelsCell]:
        """A cell a spread."""
        return [LabelsCell(panel, 0.0, (panel,), self.budgets) for panel in self.PANELS]

    def number(self, panel: str, replication: int) -> int:
        """The same draws for all spreads: the workers of a replication differ by nothing else."""
        return replication

    def bench(self, panel: str, seed: int, number: int) -> Bench:
        """Skills with a mean log-odds of 70%, spread evenly and shuffled."""
        rng = np.random.default_rng([seed, number])
        steps = np.linspace(-1.0, 1.0, 8) * self.PANELS[panel]
        skills = expit(logit(0.7) + rng.permutation(steps))
        truth = rng.integers(0, 2, 200)
        right = rng.random((200, 8)) < skills
        labels = np.where(right, truth[:, None], 1 - truth[:, None]).astype(np.int64)
        return Bench(Recording.complete(labels, truth, 2, np.zeros(200, np.int64)))


def bandits(reps: int = 40) -> list[dict[str, Any]]:
    """Accuracy by budget of asking whom it helps most, and of asking in turn."""
    rows = run(Spread(), reps=reps, seed=1).rows
    return [
        {key: getattr(row, key) for key in ("panel", "series", "x", "mean", "ci_low", "ci_high")}
        for row in rows
        if row.metric == "accuracy"
    ]


# Pictures.


@contextmanager
def picture(name: str, width: float = 6.4, height: float = 3.6) -> Iterator[Any]:
    """A figure in the house's looks, saved when it was drawn."""
    from matplotlib.figure import Figure

    with settings({"font.size": 11, "axes.labelsize": 11, "legend.fontsize": 10}):
        figure = Figure(figsize=(width, height))
        yield figure
        lay_out(figure)
        (FOLDER / f"{name}.svg").write_bytes(themed(render_svg(figure)))


def draw_together() -> None:
    """The share of right majorities against the number of judges."""
    with picture("together") as figure:
        axes = figure.add_subplot()
        names = ("no task is hard", "10% of the tasks are hard", "20% of the tasks are hard")
        for hard, colour, name in zip(HARD, (BROWN, GREEN, ORANGE), names, strict=True):
            shares = [100 * majority_right(each, hard) for each in JUDGES]
            axes.plot(JUDGES, shares, color=colour, marker="o", markersize=4, label=name)
        axes.set_xlabel("judges, each right on 80% of the tasks")
        axes.set_ylabel("right majorities, %")
        axes.set_ylim(72, 101)
        axes.legend(loc="lower right")


def draw_reliability(found: dict[str, Any]) -> None:
    """How often labels are right against how sure they are said to be."""
    with picture("confidence", height=4.4) as figure:
        axes = figure.add_subplot()
        axes.plot([50, 100], [50, 100], label="what it says is what is", **dashed(INK))
        looks = zip(found.items(), (ORANGE, GREEN, ACCENT), ("s", "^", "o"), strict=True)
        for (name, points), colour, marker in looks:
            said, right = np.array(points)[:-1, :2].T * 100
            axes.plot(said, right, color=colour, marker=marker, label=name)
        axes.set_xlabel("confidence, %")
        axes.set_ylabel("labels right, %")
        axes.legend(loc="upper left")


def draw_certificates() -> None:
    """The chance of a certificate against how many labels are wrong."""
    with picture("certificates") as figure:
        axes = figure.add_subplot()
        shares = np.arange(0, 10.01, 0.25)
        for audits, colour in ((50, BROWN), (100, GREEN), (200, ORANGE), (400, INK)):
            chances = [100 * certified(int(20 * share), audits) for share in shares]
            axes.plot(shares, chances, color=colour, label=f"{audits} audits")
        axes.axvline(5, **dashed(INK))
        axes.plot([5, 10], [10, 10], **dashed(INK))
        axes.text(7.4, 13, "false: at most 10%", ha="center")
        axes.set_xlabel("labels that are wrong in truth, %")
        axes.set_ylabel("draws that certify “at most 5%”, %")
        axes.legend(loc="upper right")


def draw_audits() -> None:
    """Audits without an error that a statement needs, by the error that it allows."""
    with picture("audits") as figure:
        axes = figure.add_subplot()
        errors = np.arange(1, 21)
        for doubt, colour in ((0.01, ORANGE), (0.05, GREEN), (0.1, BROWN)):
            needed = [fewest_audits(2000, 20 * int(each) + 1, doubt) for each in errors]
            axes.plot(errors, needed, color=colour, marker="o", markersize=4,
                      label=f"{100 - 100 * doubt:g}% confidence")  # fmt: skip
        axes.set_xlabel("wrong labels that the statement allows, %")
        axes.set_ylabel("audits, none of them wrong")
        axes.set_xticks([1, 5, 10, 15, 20])
        axes.set_yscale("log")
        axes.set_yticks([10, 20, 50, 100, 200, 500], ["10", "20", "50", "100", "200", "500"])
        axes.minorticks_off()
        axes.legend(loc="upper right")


def draw_bandits(found: list[dict[str, Any]]) -> None:
    """Accuracy against budget, in a panel for each crowd."""
    names = {
        "hem": "askwise chooses (hem)",
        "uniform with one-coin": "in turn, answers weighted by skill",
        "uniform": "in turn, majority",
    }
    panels = list(dict.fromkeys(row["panel"] for row in found))
    with picture("bandit", width=9.0, height=3.8) as figure:
        every = figure.subplots(1, len(panels), sharey=True)
        for axes, panel in zip(every, panels, strict=True):
            for (series, name), colour in zip(names.items(), (ACCENT, GREEN, BROWN), strict=True):
                rows = [r for r in found if (r["panel"], r["series"]) == (panel, series)]
                mean = np.array([row["mean"] for row in rows])
                ends = [
                    mean - [row["ci_low"] for row in rows],
                    [row["ci_high"] for row in rows] - mean,
                ]
                axes.errorbar([row["x"] for row in rows], 100 * mean, 100 * np.array(ends),
                              color=colour, marker="o", markersize=4, label=name)  # fmt: skip
            axes.set_title(panel)
            axes.set_xticks([1, 2, 3, 5, 8])
        every[0].set_ylabel("labels right, %")
        every[1].set_xlabel("answers bought for each task, of the 8 that can be had")
        handles, labels = every[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=3)


MEASURED: dict[str, Callable[[], Any]] = {
    "reliability": reliability,
    "bandits": bandits,
}


def main(arguments: list[str]) -> None:
    """Measure if told to; draw."""
    if arguments == ["--measure"]:
        results = {name: measure() for name, measure in MEASURED.items()}
        KEPT.write_text(json.dumps(results) + "\n", encoding="utf-8")
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    draw_together()
    draw_reliability(kept["reliability"])
    draw_certificates()
    draw_audits()
    draw_bandits(kept["bandits"])


if __name__ == "__main__":
    main(sys.argv[1:])
