"""``askwise demo`` and ``askwise demo-live``: see it work, on this machine and without a key."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from askwise.cli import output
from askwise.cli.examples import examples
from askwise.cli.extras import extra, need
from askwise.cli.options import Port, option
from askwise.cli.progress import spoken
from askwise.core.checks import whole
from askwise.core.errors import InvalidParameter


class DemoKind(StrEnum):
    """What there is to see."""

    labels = "labels"
    market = "market"


@examples("askwise demo --out demo-out", "askwise demo market", run=False)
def demo(
    what: Annotated[
        DemoKind,
        typer.Argument(
            help="labels: messages labelled by model judges, people and an expert, and certified. "
            "market: six policies spend a budget on freelancers of unknown quality."
        ),
    ] = DemoKind.labels,
    out: Path = option(Path("demo-out"), "DIR", "Write the files here."),
    seed: int | None = option(None, "S", "Random seed of the messages; 1 by default."),
) -> None:
    """Run a demonstration on this machine and write its report."""
    if seed is not None:
        whole(seed, "seed", least=0, most=2**31 - 1)
    need("lab")
    with extra("judges"):
        if what == DemoKind.market:
            if seed is not None:
                raise InvalidParameter(
                    "seed draws the messages of the labelling demo: leave it out of market",
                    field="seed",
                )
            from askwise.demo.market import run_market_demo

            with spoken() as say:
                run_market_demo(out, output.console(), say=say)
        else:
            need("judges")
            from askwise.demo.label_demo import SEED, run_label_demo

            with spoken() as say:
                run_label_demo(out, output.console(), seed=SEED if seed is None else seed, say=say)


@examples("askwise demo-live --speed 50", run=False)
def demo_live(
    port: Port = 8000,
    speed: float = option(
        20.0, "N", "How many times faster than people the simulated workers answer."
    ),
    tasks: int = option(120, "N", "Number of messages to sort."),
) -> None:
    """Serve a campaign that judges, people and an expert answer while you watch, until Ctrl-C."""
    if not 0 < speed <= 10_000:
        raise InvalidParameter(f"speed is {speed:g}: give 1 to 10000", field="speed")
    if not 20 <= tasks <= 10_000:
        raise InvalidParameter(f"tasks is {tasks}: give 20 to 10000", field="tasks")
    with extra("service"):
        from askwise.demo.live import serve_live

        serve_live(port, speed, tasks)
