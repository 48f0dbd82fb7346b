"""What ``askwise label`` shows: the order and its cost, its progress, the result."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from askwise.cli import output
from askwise.cli.progress import spoken
from askwise.labelling import words
from askwise.labelling.words import money, money_in
from askwise.store.errors import without_password

if TYPE_CHECKING:
    from askwise.auditing import Interval
    from askwise.campaign.views import PilotReport, WorkerSummary
    from askwise.labelling import CostForecast, LabelJob, LabelOrder, LabelProgress, LabelResult
    from askwise.labelling.pages import PeoplePages


RESULT_COLUMNS = (
    *("who", ">answers", ">failed", ">paid", ">per answer"),
    *(">right, or agrees", "judged by", ">of"),
)
"""Of those who answered: what agrees is not known to be right, and "judged by" says which it is."""

WAITING = "waiting for people"


def show_order(order: LabelOrder, costs: CostForecast) -> None:
    """What is about to be done, and what it may cost."""
    say = money_in(order.content.currency)
    shown = ", ".join(order.items.shown)
    known = f"; the truth of {len(order.items.truths)} is known" if order.items.truths else ""
    count = "1 item" if len(order.items) == 1 else f"{len(order.items)} items"
    print(f"{count} of {order.items.source}, shown: {shown}{known}", file=sys.stderr)
    rows = [
        (each.worker, say(each.likely), say(each.most), say(each.everything))
        for each in costs.workers
    ]
    _print(output.table(("who", ">per answer, about", ">at most", ">all items, about"), rows))
    print(
        f"Asking everybody about everything would cost about {say(costs.everybody)}.",
        file=sys.stderr,
    )
    if costs.audits:
        print(f"Up to {say(costs.audits)} is reserved for audits.", file=sys.stderr)
    if costs.replacements:
        print(
            f"Replacing every label by a trusted answer would cost {say(costs.replacements)}.",
            file=sys.stderr,
        )
    if not order.items.truths and order.certify is None and len(costs.workers) == 2:
        print(
            "Note: where two disagree and no truth is known, nothing tells which of them is right. "
            "A third judge, a person or a --truth column would.",
            file=sys.stderr,
        )
    if costs.budget is not None:
        print(f"The budget is {say(costs.budget)}.", file=sys.stderr)


def show_choice(job: LabelJob, store: str) -> None:
    """Which policy decides, and why; what was left out or left behind, and why."""
    spec = job.campaign.spec
    because = spec.get("auto", {}).get("because")
    if because:
        print(f"Policy {because}.", file=sys.stderr)
    if job.without_pilot is not None:
        print(f"Skipping the pilot: {job.without_pilot}", file=sys.stderr)
    if job.replaces is not None:
        where = shlex.join(["--store", without_password(store)])
        print(
            f"{job.replaces!r}, begun before with other settings or failed calls, has no answer "
            f"and is left as it is; this campaign is {job.campaign.name!r}. To look at the former: "
            f"askwise status {job.replaces} {where}",
            file=sys.stderr,
        )


def show_pilot(found: PilotReport) -> None:
    """What the pilot has shown of judges."""
    cut = {"budget": ", because more might cost over a third of the budget"}.get(
        found.cut or "", ""
    )
    print(f"Pilot: {len(found.tasks)} items labelled by every judge{cut}.", file=sys.stderr)
    columns = ("who", ">answers", ">failed", ">flips", ">per answer", ">agrees", ">right")
    rows = [
        (
            each.id,
            each.answers,
            each.failed,
            each.flips,
            "-" if each.cost_an_answer is None else money(each.cost_an_answer),
            _span(each.agreement),
            _span(each.accuracy) if each.truths else "-",
        )
        for each in found.workers
    ]
    _print(output.table(columns, rows))
    if found.panel is not None and found.panel.effective is not None:
        worth = found.panel.effective.value
        print(
            f"Together they are worth {worth:.1f} judges that err independently.", file=sys.stderr
        )
    for family in found.families:
        if family.suspicious:
            print(
                f"The family {family.family!r} agrees within itself more than with others "
                f"({family.within:.0%}, {family.across:.0%}): its judges may err together.",
                file=sys.stderr,
            )


def _span(found: Interval | None) -> str:
    return "-" if found is None else f"{found.value:.2f} [{found.low:.2f}, {found.high:.2f}]"


def show_pages(pages: PeoplePages) -> None:
    """The links of people."""
    from askwise.service.settings import works_here_only

    print("People answer here; each link is one person's own:", file=sys.stderr)
    for person, link in pages.links.items():
        print(f"  {person}  {link}", file=sys.stderr)
    if pages.owner is None:
        print("Links that were printed before still work at the same address.", file=sys.stderr)
    if works_here_only(pages.dashboard):
        print(
            "They work on this computer only; for other people give --host with its address in "
            "their network.",
            file=sys.stderr,
        )
    key = pages.owner or "the owner's key, which was printed the first time"
    print(f"Dashboard: {pages.dashboard} (sign in with {key})", file=sys.stderr)


@contextmanager
def watching(*, quiet: bool) -> Iterator[Callable[[LabelProgress], None]]:
    """A bar on a terminal; elsewhere a line every few seconds."""
    if quiet:
        yield lambda progress: None
        return
    outages = _OutageLines()
    if not sys.stderr.isatty():
        with spoken() as speak:

            def say(progress: LabelProgress) -> None:
                outages.tell(progress)
                speak(_sentence(progress))

            yield say
        return
    from rich import progress as columns
    from rich.table import Column

    # A narrow terminal folds the note; what is done now, or waited for, is never cut.
    with columns.Progress(
        columns.TextColumn(
            "{task.description}", table_column=Column(no_wrap=True, min_width=len(WAITING))
        ),
        columns.BarColumn(bar_width=20),
        columns.TextColumn("{task.fields[note]}", table_column=Column(ratio=1, overflow="fold")),
        console=output.console(stderr=True),
        transient=True,
    ) as shown:
        bar = shown.add_task("labelling", total=None, note="")

        def update(progress: LabelProgress) -> None:
            outages.tell(progress)
            shown.update(
                bar,
                description=WAITING if progress.waits else progress.phase,
                total=progress.items,
                completed=progress.certified if progress.certified else progress.labelled,
                note=_sentence(replace(progress, waits=False)),
            )

        yield update


class _OutageLines:
    """Says once of each judge that it can't be asked, and why."""

    def __init__(self) -> None:
        self._told: dict[str, str] = {}

    def tell(self, progress: LabelProgress) -> None:
        """Print a line for what is new."""
        for judge, why in progress.outages.items():
            if self._told.get(judge) != why:
                self._told[judge] = why
                print(f"{judge} can't be asked: {why}", file=sys.stderr)


def _sentence(progress: LabelProgress) -> str:
    """How far it is, in a line."""
    parts = [f"{progress.labelled} of {progress.items} labelled"]
    if progress.certified:
        parts.append(f"{progress.certified} certified")
    parts.append(f"{progress.answers} answers")
    if progress.failures:
        parts.append(f"{progress.failures} failed")
    parts.append(f"{money(progress.spent)} spent")
    if progress.left is not None:
        parts.append(f"{money(progress.left)} left")
    if progress.waits:
        parts.append(WAITING)
    if progress.outages:
        parts.append(f"out: {', '.join(progress.outages)}")
    return ", ".join(parts)


def show_result(found: LabelResult, files: dict[str, Path], store: str) -> None:
    """Show the result."""
    say = money_in(found.currency)
    print(f"{words.headline(found)} ({words.ended(found.end)})")
    print(f"confidence: {words.confidences(found)}")
    if undecided := words.undecided(found):
        print(undecided)
    if found.certificate is not None:
        print(found.certificate.statement)
    workers = (*found.judges, *found.people)
    rows = [_row(each, say, found.audits(each.id)) for each in workers]
    if not output.for_people():
        output.line(*(each.removeprefix(">") for each in RESULT_COLUMNS))
    output.show_records(RESULT_COLUMNS, rows)
    print(f"spent {words.bill(found, say)}")
    print(words.more_money(found, say))
    for wanted in words.wanted_truths(found):
        print(wanted)
    if found.uncertified:
        print(words.uncertified(found))
    for judge, why in found.outages.items():
        print(f"{judge} could not be asked at the end: {why}")
    for what, path in files.items():
        print(f"{what}: {path}")
    print(f"campaign: {found.campaign.name} in {without_password(store)}")


def _row(worker: WorkerSummary, say: Callable[[Decimal], str], audits: bool) -> tuple[Any, ...]:
    cost = "-" if worker.cost_an_answer is None else say(worker.cost_an_answer)
    quality = worker.quality
    right, basis, of = "-", "-", "-"
    if quality is not None and not audits:
        basis = "truths" if quality.basis == "truth" else "agreement"
        right = f"{quality.value:.2f} [{quality.low:.2f}, {quality.high:.2f}]"
        of = str(quality.answers)
    return worker.id, worker.answered, worker.failed, say(worker.paid), cost, right, basis, of


def _print(shown: Any) -> None:
    output.console(stderr=True).print(shown)
