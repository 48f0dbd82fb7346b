"""What ``askwise label`` shows: the order and its cost, how far it is, what came of it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from askwise.cli import output
from askwise.cli.outputs import spoken
from askwise.labelling import words
from askwise.labelling.words import money, money_in
from askwise.store.errors import without_password

if TYPE_CHECKING:
    from askwise.auditing import Interval
    from askwise.campaign.views import PilotReport, WorkerSummary
    from askwise.labelling import CostForecast, LabelJob, LabelOrder, LabelProgress, LabelResult
    from askwise.labelling.pages import PeoplePages


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
    _print(output.table(("who", ">an answer, about", ">at most", ">all items, about"), rows))
    print(f"Everything put to everybody would cost about {say(costs.everybody)}.", file=sys.stderr)
    if costs.audits:
        print(f"Up to {say(costs.audits)} is kept for audits.", file=sys.stderr)
    if costs.budget is not None:
        print(f"The budget is {say(costs.budget)}.", file=sys.stderr)


def show_choice(job: LabelJob) -> None:
    """Which policy decides, and why; and why there is no pilot, if one was left out."""
    spec = job.campaign.spec
    because = spec.get("auto", {}).get("because")
    if because:
        print(f"Policy {because}.", file=sys.stderr)
    if job.without_pilot is not None:
        print(f"There is no pilot: {job.without_pilot}", file=sys.stderr)


def show_pilot(found: PilotReport) -> None:
    """What the pilot has shown of judges."""
    cut = {"budget": ", as more might cost over a third of the budget"}.get(found.cut or "", "")
    print(f"Pilot: {len(found.tasks)} items put to every judge{cut}.", file=sys.stderr)
    columns = ("who", ">answers", ">failed", ">flips", ">an answer", "agrees", "right")
    rows = [
        (
            each.id,
            each.answers,
            each.failed,
            each.flips,
            "-" if each.cost_an_answer is None else money(each.cost_an_answer),
            _span(each.agreement),
            _span(each.accuracy) if each.truths else "no truths known",
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
    print("People answer here; each link is one person's own:", file=sys.stderr)
    for person, link in pages.links.items():
        print(f"  {person}  {link}", file=sys.stderr)
    key = f" (sign in with {pages.owner})" if pages.owner is not None else ""
    print(f"Dashboard: {pages.dashboard}{key}", file=sys.stderr)


@contextmanager
def watching(*, quiet: bool) -> Iterator[Callable[[LabelProgress], None]]:
    """A bar on a terminal; elsewhere a line every few seconds."""
    if quiet:
        yield lambda progress: None
        return
    if not sys.stderr.isatty():
        with spoken() as speak:
            yield lambda progress: speak(_sentence(progress))
        return
    from rich import progress as columns

    with columns.Progress(
        columns.TextColumn("{task.description}"),
        columns.BarColumn(),
        columns.TextColumn("{task.fields[note]}"),
        console=output.console(stderr=True),
        transient=True,
    ) as shown:
        bar = shown.add_task("labelling", total=None, note="")

        def update(progress: LabelProgress) -> None:
            shown.update(
                bar,
                description=progress.phase,
                total=progress.items,
                completed=progress.certified if progress.certified else progress.labelled,
                note=_sentence(progress),
            )

        yield update


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
    parts += [f"{judge} is out ({why})" for judge, why in progress.outages.items()]
    return ", ".join(parts)


def show_result(found: LabelResult, files: dict[str, Path], store: str) -> None:
    """What came of it."""
    say = money_in(found.currency)
    print(f"{words.headline(found)} ({words.ended(found.end)})")
    print(f"confidence: {words.confidences(found)}")
    if found.certificate is not None:
        print(found.certificate.statement)
    rows = [_row(each, say) for each in (*found.judges, *found.people)]
    columns = ("who", ">answers", ">failed", ">paid", ">an answer", "right", ">of")
    output.show_records(columns, rows)
    print(f"spent {words.bill(found, say)}")
    print(words.more_money(found, say))
    for judge, why in found.outages.items():
        print(f"{judge} could not be asked at the end: {why}")
    for what, path in files.items():
        print(f"{what}: {path}")
    print(f"campaign: {found.campaign.name} in {without_password(store)}")


def _row(worker: WorkerSummary, say: Callable[[Decimal], str]) -> tuple[Any, ...]:
    cost = "-" if worker.cost_an_answer is None else say(worker.cost_an_answer)
    quality = worker.quality
    right, of = "-", "-"
    if quality is not None:
        basis = "by truths" if quality.basis == "truth" else "agrees"
        right = f"{quality.value:.2f} [{quality.low:.2f}, {quality.high:.2f}] {basis}"
        of = str(quality.answers)
    return worker.id, worker.answered, worker.failed, say(worker.paid), cost, right, of


def _print(shown: Any) -> None:
    output.console(stderr=True).print(shown)
