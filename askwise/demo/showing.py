"""The demonstration on the screen and as a page."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from askwise import figures
from askwise.auditing.intervals import Interval
from askwise.demo.messages import Message
from askwise.demo.summary import DemoSummary
from askwise.figures import Dot
from askwise.lab import report

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

WORKER_COLUMNS = (
    *("per 1,000", "answers", "failed"),
    *("by audits", "in truth", "of all"),
)
WAY_COLUMNS = ("labels right", "cost")
DROPPED = ("failed", "answers")
"""The columns that say least, and are in the report too."""

WIDTH = 96

WORKER_NOTE = (
    "By audits: the share of their answers to audited messages that the expert agrees with, with a "
    "95% interval. In truth: their true accuracy on the certified and audited messages that they "
    "answered. Of all: their true accuracy on all messages. Only the demonstration knows the truth."
)

HONEST = (
    "The four judges are rules that stand in for models, served on 127.0.0.1; the people and the "
    "expert are simulated. askwise calls them as it would call real ones, and knows no truths but "
    "the expert's answers."
)


def worker_cells(found: DemoSummary) -> list[tuple[str, tuple[str, ...]]]:
    """The table of workers."""
    return [
        (
            each.id,
            (
                f"${each.price:,.2f}",
                str(each.answers),
                str(each.failures),
                _span(each.card),
                "-" if each.certified_right is None else f"{each.certified_right:.0%}",
                f"{each.right:.0%}",
            ),
        )
        for each in found.workers
    ]


def way_cells(found: DemoSummary) -> list[tuple[str, tuple[str, ...]]]:
    """The table of ways to label."""
    return [(each.name, (f"{each.right:.1%}", f"${each.cost:.2f}")) for each in found.ways]


def show(console: Console, found: DemoSummary) -> None:
    """Print the tables and the certificate."""
    for first, columns, lines in (
        ("worker", WORKER_COLUMNS, worker_cells(found)),
        ("way to label", WAY_COLUMNS, way_cells(found)),
    ):
        console.print(_table(console, first, columns, lines))
        if first == "worker":
            say(console, WORKER_NOTE)
    for sentence in (*certificate_words(found), *bill_words(found)):
        say(console, sentence)


def _table(
    console: Console,
    first: str,
    columns: Sequence[str],
    lines: Sequence[tuple[str, tuple[str, ...]]],
) -> Table:
    """A table with whole names: where the terminal is too narrow, columns are left out."""
    from rich.measure import Measurement
    from rich.table import Table

    table = Table()
    table.add_column(first, no_wrap=True)
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    for name, cells in lines:
        table.add_row(name, *cells)
    needed = Measurement.get(console, console.options.update(max_width=1000), table).maximum
    spare = [column for column in DROPPED if column in columns]
    if needed <= console.width or not spare:
        return table
    at = columns.index(spare[0])
    fewer = [(name, (*cells[:at], *cells[at + 1 :])) for name, cells in lines]
    return _table(console, first, (*columns[:at], *columns[at + 1 :]), fewer)


def say(console: Console, text: str) -> None:
    """Print a paragraph in lines that fit."""
    console.print(textwrap.fill(text, min(WIDTH, console.width)), soft_wrap=True, highlight=False)


def certificate_words(found: DemoSummary) -> list[str]:
    """The statement, and how far it is true."""
    certificate = found.certificate
    words = [f"Certificate: {certificate.statement}"]
    if certificate.certified:
        wrong = found.certified_wrong
        words.append(
            f"In truth, {wrong} of the {certificate.certified} certified labels "
            f"{'is' if wrong == 1 else 'are'} wrong ({wrong / certificate.certified:.1%}). "
            "Only the demonstration can know that."
        )
        # Neither certified nor counted as replaced: audits found them among those that are.
        corrected = sum(block.certified for block in certificate.blocks) - certificate.certified
        if corrected > 0:
            words.append(
                f"{corrected} more {'was' if corrected == 1 else 'were'} found wrong by the audits "
                "and corrected."
            )
    return words


def bill_words(found: DemoSummary) -> tuple[str, str]:
    """What it cost, against everybody; what was booked for judges, against their own books."""
    ours, *_, everybody = found.ways
    same = "the same" if found.booked == found.billed else f"${found.billed / 1e6:.6f}"
    return (
        f"Spent: ${ours.cost:.2f} of ${found.budget:.0f}. Everybody on everything costs "
        f"${everybody.cost:.2f} at the same prices; it is always right because it buys the "
        "expert's answer to each message.",
        f"Booked for calls of judges: ${found.booked / 1e6:.6f}; by the endpoints' own books: "
        f"{same}.",
    )


def write_demo_page(
    folder: Path,
    found: DemoSummary,
    examples: Sequence[tuple[Message, str]],
    command: str = "askwise demo",
) -> Path:
    """Write ``report.html`` and its figures into the folder; ``command`` is what made them."""
    return report.write_page(
        folder,
        "demo.html",
        figures=[_ways_figure(folder, found), *_worker_figures(folder, found)],
        title=f"{found.messages} messages, labelled and certified",
        byline=f"{found.hard} of the messages are misleading on purpose",
        honest=HONEST,
        statement=certificate_words(found),
        worker_columns=WORKER_COLUMNS,
        workers=worker_cells(found),
        way_columns=WAY_COLUMNS,
        ways=way_cells(found),
        bill=bill_words(found),
        example_columns=("what it is", "askwise's label"),
        examples=[(message.text, (message.truth, label)) for message, label in examples],
        command=command,
    )


def _ways_figure(folder: Path, found: DemoSummary) -> tuple[str, str]:
    dots = [
        Dot(f"{each.name}, ${each.cost:.2f}", "labels right", each.right, each.right, each.right)
        for each in found.ways
    ]
    drawn = figures.draw_dots(
        dots, title="What each way to label gets right, and costs", x_label="share of labels right"
    )
    caption = (
        "Everybody on everything is right because it buys the expert's answer to every message. "
        "Which single judge is best is known only to the demonstration."
    )
    return caption, figures.save_and_embed(drawn, folder, "figure")


def _worker_figures(folder: Path, found: DemoSummary) -> Iterator[tuple[str, str]]:
    """How good the workers are; nothing where a run ended before anything was audited."""
    dots = []
    for each in found.workers:
        if each.card is not None and each.certified_right is not None:
            card, right = each.card, each.certified_right
            dots.append(Dot(each.id, "by the expert's audits", card.value, card.low, card.high))
            dots.append(Dot(each.id, "in truth", right, right, right))
            dots.append(Dot(each.id, "of all messages", each.right, each.right, each.right))
    if not dots:
        return
    drawn = figures.draw_dots(
        dots, title="How good the workers are", x_label="share of messages labelled correctly"
    )
    caption = (
        f"{WORKER_NOTE} People are asked where judges disagree, so they look worse than they are."
    )
    yield caption, figures.save_and_embed(drawn, folder, "workers")


def _span(interval: Interval | None) -> str:
    if interval is None:
        return "-"
    return f"{interval.value:.0%} [{100 * interval.low:.0f}, {100 * interval.high:.0f}]"
