"""A replay as files and sentences: its numbers, a figure of accuracy against spend, a page."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from askwise.lab import report
from askwise.lab.planning.pictures import count
from askwise.lab.planning.plan import amount, percent
from askwise.lab.replaying.measures import Measures
from askwise.lab.replaying.replay import EVERYTHING, Replay, Saving

SURE = ("budget", "right", "ties", "ECE", "log loss", "done", "wrong of done")
"""Columns of what is said of confidences."""

MEANINGS = (
    "Right: a tie of k options counts 1/k. Ties: how many tasks. ECE: how far confidence and "
    "accuracy are apart on average, in ten bins of equal width. Log loss: the mean of -ln of the "
    "probability of the truth, which counts as 0.000001 at least; where only a confidence is "
    "reported, the rest is spread evenly over the other options. Done: closed as confident by a "
    "rule, or sure enough for the policy's target."
)


def write_replay(found: Replay, directory: Path, source: str, command: str) -> Path:
    """Write replay.json, figure.png, figure.svg and report.html; returns the page."""
    report.write_json(directory, "replay.json", found)
    picture = found.picture()
    figure = report.draw(
        directory,
        "Each point is a run to the end of a budget; the shaded bands are 95% intervals "
        f"over {count(found.runs, 'run')}. Dashed: everything recorded, by majority, for "
        f"{amount(found.everything[1])}.",
        picture.pop("results_rows"),
        **picture,
    )
    return report.write_page(
        directory,
        "replay.html",
        title=headline(found),
        byline=f"Recorded answers of {source}",
        sentences=sentences(found),
        figures=[figure],
        policies_note=f"At the budget of {found.budget}, means over {count(found.runs, 'run')}.",
        columns=("right", "95% interval", "spent"),
        lines=list(lines(found)),
        sure_note=f"Means over {count(found.runs, 'run')}. {MEANINGS}",
        sure_columns=SURE,
        sure_lines=list(sure_lines(found.measures)),
        facts=list(facts(found, source)),
        remarks=found.remarks,
        command=command,
    )


def headline(found: Replay) -> str:
    """The result in one line."""
    return found.headline


def sentences(found: Replay) -> list[str]:
    """What a person decides by."""
    return [saving_text(found.policy, saving) for saving in found.savings]


def saving_text(policy: str, saving: Saving) -> str:
    """What is saved at equal accuracy, in a sentence."""
    right = f"{100 * saving.accuracy:.1f}%"
    subject = "Of all recorded answers, by majority," if saving.other == EVERYTHING else ""
    there = (
        f"{subject} {right} are right for {amount(saving.other_cost)}"
        if subject
        else f"{saving.other} is right on {right} for {amount(saving.other_cost)}"
    )
    if saving.cost is None and saving.passed:
        return (
            f"{there}: {policy} is as good at smaller budgets only, and less accurate at the full "
            "one, so it saves nothing."
        )
    if saving.cost is None:
        return f"{there}: {policy} does not get there within the budget, so it saves nothing."
    least = "at most " if saving.at_most else ""
    reached = f"{there}: {policy} gets there for {least}{amount(saving.cost)}"
    if saving.share is None:
        return f"{reached}."
    change = percent(abs(saving.share))
    if saving.share < 0:
        return f"{reached}, which costs more by {change}."
    if saving.share == 0:
        return f"{reached}, which saves nothing."
    at_least = "at least " if saving.at_most else ""
    if not saving.sure:
        return (
            f"{reached}, {at_least}{change} less; that may be chance, which more runs would show."
        )
    return f"{reached}, which saves {at_least}{change}."


def lines(found: Replay) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each policy at the full budget, and everything recorded."""
    for series in found.series:
        row, spent = found.final(series), found.final(series, "spent").mean
        span = f"[{100 * row.ci_low:.1f}%, {100 * row.ci_high:.1f}%]"
        yield series, (f"{100 * row.mean:.1f}%", span, f"{spent:,.6g}")
    accuracy, cost = found.everything
    yield EVERYTHING, (f"{100 * accuracy:.1f}%", "", amount(cost))


def sure_lines(measures: Iterable[Measures]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """How sure policies are and how right that is, each at its budget."""
    for each in measures:
        yield (
            each.series,
            (
                f"{each.budget:,.6g}",
                f"{100 * each.accuracy:.1f}%",
                f"{each.ties:.1f}",
                "-" if each.ece is None else f"{each.ece:.3f}",
                "-" if each.log_loss is None else f"{each.log_loss:.3f}",
                "-" if each.done_share is None else f"{100 * each.done_share:.1f}%",
                "-" if each.done_error is None else f"{100 * each.done_error:.1f}%",
            ),
        )


def facts(found: Replay, source: str) -> Iterator[tuple[str, str]]:
    """What was read, in names and values."""
    yield "file", source
    yield "tasks", f"{found.tasks}, {found.measured + found.truths} of them with gold"
    yield "workers", str(found.workers)
    yield "answers", str(found.answers)
    yield "options", str(found.options)
    if found.truths:
        yield "truths told", f"{found.truths} in each run, {found.measured} tasks are measured"
    yield "runs", f"{found.runs}, seed {found.seed}"
