"""``askwise label-studio``: the people of a campaign answer in Label Studio."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from askwise.cli import output
from askwise.cli.examples import examples
from askwise.cli.exit_codes import ExitCode
from askwise.cli.extras import extra
from askwise.cli.opening import open_campaign
from askwise.cli.options import DEFAULT_STORE, AsJson, Name, StoreUrl, argument, option, switch
from askwise.core.choices import WHY_DONE
from askwise.core.errors import InvalidParameter

if TYPE_CHECKING:
    from askwise.campaign import Campaign
    from askwise.running.label_studio import LabelStudioBridge, SyncCounts
    from askwise.sources import Source


@examples(
    "askwise label-studio cats studio.toml",
    "askwise label-studio cats studio.toml --judges judges.toml --stay",
    run=False,
)
def label_studio(
    name: Name,
    settings: Path = argument(
        "SETTINGS.toml", "Where Label Studio is, what people are paid, which project."
    ),
    judges: Path | None = option(
        None, "judges.toml", "Models to call meanwhile; new ones join the campaign."
    ),
    once: bool = switch("--once", "Synchronize once, then exit."),
    stay: bool = switch(
        "--stay", "Keep running when the campaign is done, for answers changed later."
    ),
    store: StoreUrl = DEFAULT_STORE,
    as_json: AsJson = False,
) -> None:
    """Have people answer in Label Studio: open tasks there, take annotations here."""
    if once and (stay or judges is not None):
        raise InvalidParameter(
            "once synchronizes once: leave --stay and --judges out", field="once"
        )
    with extra("judges"):
        import httpx  # noqa: F401
    from askwise.running.label_studio import LabelStudioBridge
    from askwise.sources.label_studio import read_label_studio

    where = read_label_studio(settings)
    campaign = open_campaign(store, name)
    called = {} if judges is None else _judges(campaign, judges)
    shown = _PrintedChanges(quiet=as_json or not output.for_people())

    def watch(counts: SyncCounts) -> None:
        shown(counts, bridge.places)

    bridge = LabelStudioBridge(campaign, where, judges=called, watch=watch, stay=stay)
    if once:
        end, stopped = None, False
        bridge.once()
    else:
        with _signals(bridge):
            end = bridge.run()
        stopped = end is None
    _report(bridge.counts, as_json)
    if stopped:
        print("stopped; the same command continues", file=sys.stderr)
        raise typer.Exit(ExitCode.INTERRUPTED)
    if end is not None and output.for_people() and not as_json:
        print(f"done: {WHY_DONE[end.why]}")


def _judges(campaign: Campaign, path: Path) -> dict[str, Source]:
    """The judges of a file; those who are new join the campaign."""
    from askwise.sources import Question
    from askwise.sources.cache import StoreCache
    from askwise.sources.judges import read_judges

    found = read_judges(path, StoreCache(campaign.store))
    if campaign.content is None:
        raise InvalidParameter("the campaign has no question to ask judges", field="judges")
    with campaign.reading() as state:
        known = {worker.id for worker in state.ledger.workers}
        asked = [Question(campaign.content, task.id, task.payload) for task in state.ledger.tasks]
    new = [judge.worker(asked) for judge in found if judge.id not in known]
    if new:
        campaign.add(workers=new)
    return {judge.id: judge.source for judge in found}


class _PrintedChanges:
    """Says where people answer, and in a line what has changed since the last look."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._before = ""
        self._told: set[str] = set()

    def __call__(self, counts: SyncCounts, places: Sequence[str]) -> None:
        now = _in_words(counts)
        for place in places if not self._quiet else ():
            if place not in self._told:
                self._told.add(place)
                print(f"people answer at {place}: Label All Tasks", flush=True)
        if not self._quiet and now != self._before:
            print(now, flush=True)
        self._before = now


def _in_words(counts: SyncCounts) -> str:
    said = [f"{count} {deed.replace('_', ' ')}" for deed, count in counts.done.items() if count]
    if counts.untaken:
        said.append(f"{len(counts.untaken)} not taken")
    return ", ".join(said) or "nothing yet"


def _report(counts: SyncCounts, as_json: bool) -> None:
    if as_json:
        rows = [
            {"annotation": each.annotation, "task": each.task, "worker": each.worker}
            | {"why": each.why, "detail": each.detail}
            for each in counts.untaken.values()
        ]
        output.show_json(counts.to_json() | {"untaken": rows})
        return
    if not output.for_people():
        for deed, count in counts.to_json().items():
            if deed != "untaken":
                output.line(deed, count)
    for each in counts.untaken.values():
        output.line("untaken", each.annotation, each.task, each.worker, each.why, each.detail)


class _signals:  # noqa: N801
    """Lets Ctrl-C and SIGTERM end a bridge after what is under way."""

    def __init__(self, bridge: LabelStudioBridge) -> None:
        self._bridge = bridge
        self._on = threading.current_thread() is threading.main_thread()

    def __enter__(self) -> None:
        if self._on:
            self._before = {
                number: signal.signal(number, lambda *_: self._bridge.stop())
                for number in (signal.SIGINT, signal.SIGTERM)
            }

    def __exit__(self, *_: object) -> None:
        if self._on:
            for number, handler in self._before.items():
                signal.signal(number, handler)
