"""``askwise demo``: label messages within a budget, certify the labels, and show what it cost."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from askwise.campaign import Campaign
from askwise.core.events import Kind
from askwise.demo import showing
from askwise.demo.comparing import ask_everybody
from askwise.demo.labelling import BUDGET, ERROR, NAME, label_messages
from askwise.demo.messages import OPTIONS, Message, make_messages
from askwise.demo.people import EXPERT, PEOPLE
from askwise.demo.stand_ins import STAND_INS, serving
from askwise.demo.summary import DemoSummary, summarise
from askwise.labelling import LabelProgress

if TYPE_CHECKING:
    from rich.console import Console

SEED = 1
"""Fixed beforehand, and not chosen for its result."""

MESSAGES = 400
FILES = ("demo.sqlite", "judges.toml", "labels.csv", "report.html")


def run_label_demo(
    out: Path,
    console: Console,
    *,
    count: int = MESSAGES,
    budget: str = BUDGET,
    seed: int = SEED,
    say: Callable[[str], None] = lambda what: None,
) -> DemoSummary:
    """Label messages in a campaign, hold the labels against other ways, write the files.

    What goes on is told to ``say``, for where the console is no terminal and shows no bar.
    """
    out.mkdir(parents=True, exist_ok=True)
    for leftover in (path for name in FILES for path in out.glob(f"{name}*")):
        leftover.unlink()
    messages = make_messages(count, seed)
    showing.say(
        console,
        f"{count} messages to a shop are to be sorted into {', '.join(OPTIONS[:-1])} and "
        f"{OPTIONS[-1]} for ${budget} at most, so that at most {ERROR:.0%} of the labels are "
        f"wrong. There are {len(STAND_INS)} model judges, {len(PEOPLE)} people and an expert at "
        f"${EXPERT.price} an answer, who audits.",
    )
    showing.say(console, showing.HONEST)
    cache: dict[str, str] = {}
    with serving() as servers:
        with _progress(console, float(budget), say) as watch:
            labelled = label_messages(
                messages, servers, out, cache=cache, watch=watch, seed=seed, budget=budget
            )
        comparing = "asking everybody about everything, to compare"
        say(comparing)
        with console.status(comparing):
            everybody = ask_everybody(messages, servers, out, cache)
    found = summarise(messages, labelled, everybody)
    labelled.found.write(out / "labels.csv")
    again = f"{called_by()} demo"
    showing.write_demo_page(out, found, _examples(labelled.campaign, messages), again)
    showing.show(console, found)
    _say_where(console, out, labelled.campaign, labelled.store)
    return found


@contextmanager
def _progress(
    console: Console, budget: float, say: Callable[[str], None]
) -> Iterator[Callable[[LabelProgress], None]]:
    """A bar that follows the money."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description:<10}"),
        BarColumn(),
        TextColumn("${task.completed:.2f} of ${task.total:.0f}, {task.fields[answers]} answers"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console) as bars:
        bar = bars.add_task("pilot", total=budget, answers=0)

        def watch(progress: LabelProgress) -> None:
            spent = f"${progress.spent:.2f} of ${budget:g}"
            say(f"{progress.phase}: {progress.answers} answers, {spent}")
            bars.update(
                bar,
                completed=float(progress.spent),
                description=progress.phase,
                answers=progress.answers,
            )

        yield watch


def _examples(campaign: Campaign, messages: list[Message]) -> list[tuple[Message, str]]:
    """A message of each manner with the label that it got, a wrong label if there is one."""
    labels = {str(answer.task): str(answer.value) for answer in campaign.answers()}
    found: dict[str, tuple[Message, str]] = {}
    for message in messages:
        label = labels[message.id]
        if message.manner not in found or (
            label != message.truth and found[message.manner][1] == found[message.manner][0].truth
        ):
            found[message.manner] = (message, label)
    return list(found.values())


def called_by() -> str:
    """What a shell calls this program: its name, or its path where that is not on the PATH."""
    if shutil.which("askwise") is not None or not sys.argv[0].endswith("askwise"):
        return "askwise"
    return os.path.relpath(sys.argv[0])


def _say_where(console: Console, out: Path, campaign: Campaign, store: str) -> None:
    """Where the files are, and what to try with them."""
    asked = [event for event in campaign.log() if event.kind == Kind.ASKED]
    people = {each.id for each in PEOPLE}
    one = next((event for event in asked if event.worker in people), asked[-1])
    program = called_by()
    for text in (
        f"Labels: {out / 'labels.csv'}  Report: {out / 'report.html'}  "
        f"Campaign: {out / 'demo.sqlite'}  Judges: {out / 'judges.toml'}",
        "Try next:",
        f"  {program} status {NAME} --store {store}",
        f"  {program} explain {NAME}:{one.seq} --store {store}",
        f"  {program} demo market                # buy work from freelancers of unknown quality",
        "  make demo-live                     # watch such a campaign run on the dashboard",
    ):
        console.print(text, soft_wrap=True, highlight=False, markup=False)
