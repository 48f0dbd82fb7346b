"""Aggregated labels as files: answers, workers, and a page."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from askwise.aggregation.fitted import CALIBRATED
from askwise.data.columns import column_writer
from askwise.data.written_labels import answer_columns, write_workers
from askwise.figures import Row
from askwise.kernels.grouping import slices
from askwise.lab import report
from askwise.lab.aggregating.labels import Aggregated, wilson
from askwise.lab.planning.pictures import count
from askwise.lab.planning.plan import interval, percent

SHOWN_TASKS, SHOWN_WORKERS = 100, 500
"""The most rows of the page's tables; the page says of how many."""

WRITTEN = 2**16
"""Rows that are put into words together, and written."""

EDGES = (0.0, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
"""Where the groups of tasks begin in which confidence is held against accuracy."""

SERIES, IDEAL = "labels", "as often right as confident"


def write_labels(found: Aggregated, path: Path) -> Path:
    """Write label, confidence and score of each task, and on what the confidence rests."""
    names, fitted, scores = found.table.label_names, found.fitted, found.sureness
    with column_writer(path) as add:
        for here in slices(len(fitted.labels), WRITTEN):
            tasks = found.table.task_names[here]
            labels = [names[at] for at in fitted.labels[here].tolist()]
            sure = fitted.confidence[here].tolist()
            rests_on = found.rests_on(tasks)
            add(answer_columns(tasks, labels, sure, rests_on, scores[here].tolist()))
    return path


def write_crowd(found: Aggregated, path: Path) -> Path:
    """Write the quality of each worker with its interval, and what the method estimates."""
    fitted = found.fitted
    low, high = fitted.interval
    measures = {"quality": fitted.quality, "low": low, "high": high, **fitted.of_workers}
    columns = {name: list(values) for name, values in measures.items()}
    return write_workers(path, found.worker_names, list(fitted.counts), columns)


def write_aggregate_page(found: Aggregated, directory: Path, command: str) -> Path:
    """Write report.html, figure.png and figure.svg; returns the page."""
    table = found.table
    tasks = count(len(table.task_names), "task")
    workers = count(len(found.worker_names), "worker")
    rows, caption = _calibration(found) if found.measured else _spread(found)
    lowest = min(row.x for row in rows)
    ideal = report.dashed(IDEAL, "share", (lowest, lowest), (1.0, 1.0))
    figure = report.draw(
        directory,
        caption,
        rows,
        title="How often a label is right" if found.measured else "How sure the labels are",
        metric="share",
        x_label="confidence",
        y_label="share that is right" if found.measured else "share of tasks with at most this",
        reference=ideal if found.measured else [],
        highlight=[SERIES],
    )
    shown_tasks = min(SHOWN_TASKS, len(table.task_names))
    shown_workers = min(SHOWN_WORKERS, len(found.worker_names))
    return report.write_page(
        directory,
        "aggregate.html",
        title=f"{tasks} labelled by {workers}",
        method=found.method,
        facts=list(facts(found)),
        remarks=list(found.remarks()),
        figures=[figure],
        tasks_note=f"The least sure first: {shown_tasks} of {tasks}.",
        task_columns=("label", "confidence", "answers"),
        tasks=list(_contested(found, shown_tasks)),
        workers_note=(
            "Quality is the probability that an answer is right, with a 95% interval that takes "
            f"the labels as known. The best first, by the lower end: {shown_workers} of {workers}."
        ),
        worker_columns=("answers", "quality", "95% interval", *found.fitted.of_workers),
        workers=list(_crowd(found, shown_workers)),
        command=command,
    )


def facts(found: Aggregated) -> Iterator[tuple[str, str]]:
    """What was read and what came out, in names and values."""
    table = found.table
    yield "file", table.source
    yield "tasks", str(len(table.task_names))
    yield "workers", str(len(table.worker_names))
    yield "answers", str(len(table))
    yield "labels", shortened(table.label_names)
    yield "duplicates", f"{table.duplicates}, {table.dropped} dropped"
    yield "method", f"{found.method}, {count(found.fitted.iterations, 'iteration')}"
    if found.learned is not None:
        yield "learned from", f"{count(len(found.learned.by_task), 'truth')}"
    if found.accuracy is not None:
        measured = count(len(found.measured), "task")
        yield "accuracy", "{} {}".format(*interval(found.accuracy)) + f" on {measured}"
    if found.scores is not None:
        scores = found.scores
        tied = count(scores.ties, "tie")
        yield "ties", f"{tied}, counted by share"
        if scores.ece is not None and scores.log_loss is not None and scores.brier is not None:
            told = f"{scores.ece:.3f}, log loss {scores.log_loss:.3f}, Brier {scores.brier:.3f}"
            yield "calibration error", told
    yield "confidence rests on", found.basis()
    yield "agreement", f"{percent(found.agreement)} of the answers are the label named"


def shortened(names: tuple[str, ...], most: int = 10) -> str:
    """Names, and how many more there are.

    Examples
    --------
    >>> shortened(("no", "yes")), shortened(tuple("abc"), most=2)
    ('no, yes', 'a, b and 1 more')
    """
    said = ", ".join(names[:most])
    return said if len(names) <= most else f"{said} and {len(names) - most} more"


def votes_text(votes: list[tuple[str, int]]) -> str:
    """Votes, as in "yes: 3, no: 2"."""
    return ", ".join(f"{label}: {number}" for label, number in votes)


def _contested(found: Aggregated, most: int) -> Iterator[tuple[str, tuple[str, ...]]]:
    for at in found.least_sure(most):
        label = found.table.label_names[found.fitted.labels[at]]
        sure = f"{found.fitted.confidence[at]:.3f}"
        yield found.table.task_names[at], (label, sure, votes_text(found.votes(at)))


def _crowd(found: Aggregated, most: int) -> Iterator[tuple[str, tuple[str, ...]]]:
    for at in found.ranked()[:most]:
        known = found.worker(at)
        more = (f"{known[name]:.3g}" for name in found.fitted.of_workers)
        span = f"[{known['low']:.3f}, {known['high']:.3f}]"
        yield known["worker"], (str(known["answers"]), f"{known['quality']:.3f}", span, *more)


def _calibration(found: Aggregated) -> tuple[list[Row], str]:
    """Accuracy in groups of tasks of similar confidence."""
    tasks = np.array(list(found.measured))
    right = np.array(list(found.measured.values()))
    sure = found.fitted.confidence[tasks]
    groups = np.searchsorted(EDGES, sure, side="right")
    rows = []
    for group in np.unique(groups):
        part = groups == group
        share = wilson(float(right[part].sum()), int(part.sum()))
        x = float(sure[part].mean())
        rows.append(Row("", SERIES, x, "share", share.mean, share.low, share.high, int(part.sum())))
    return rows, (
        f"Accuracy on {count(len(tasks), 'task')} with a known truth, in groups of similar "
        "confidence, with 95% intervals. On the dashed line labels are right as often as "
        f"they are confident; below it they are too sure. {rests_said(found)}"
    )


def _spread(found: Aggregated) -> tuple[list[Row], str]:
    """The distribution of confidence."""
    sure = np.sort(found.fitted.confidence)
    grid = np.linspace(0.0, 1.0, 51)
    shares = np.searchsorted(sure, grid + 1e-9, side="right") / len(sure)
    rows = [
        Row("", SERIES, float(x), "share", float(y), float(y), float(y), len(sure))
        for x, y in zip(grid, shares, strict=True)
    ]
    return rows, f"The share of tasks whose label has at most this confidence. {rests_said(found)}"


def rests_said(found: Aggregated) -> str:
    """A sentence about what confidences rest on."""
    if found.fitted.rests_on == CALIBRATED:
        return f"Confidences are calibrated by {count(found.truths, 'known truth')}."
    return "Confidences are agreement of answers under a model of workers, not probabilities."
