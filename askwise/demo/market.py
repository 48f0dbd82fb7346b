"""``askwise demo market``: six policies spend the same budget on the same freelancers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from askwise import figures
from askwise.campaign import Campaign
from askwise.core.events import Event, Kind
from askwise.core.money import MICRO
from askwise.core.scoring import NORMAL
from askwise.figures import Dot, Row
from askwise.lab import report
from askwise.lab.results import Results
from askwise.lab.worlds import Market, answer, freelancer_market
from askwise.store import MemoryStore, Store

if TYPE_CHECKING:
    from rich.console import Console

SEED = 1
"""Of the first market; the others have the numbers after it."""

MARKETS = 20
BUDGET = 500
POLICIES = (
    *("random", "uniform", "trialsourcing", "bounded-epsilon-first"),
    *("thompson-knapsack", "knowledge-gradient"),
)
METRIC = "share_of_optimum"


def run_market_demo(
    out: Path,
    console: Console,
    *,
    markets: int = MARKETS,
    say: Callable[[str], None] = lambda what: None,
) -> list[Row]:
    """Run one campaign for each policy and market, print a table, write a page.

    What goes on is told to ``say``, for where the console is no terminal and shows no bar.

    The campaigns of the first market live in an SQLite file, are closed half-way and go on from
    the file; the others are in memory.
    """
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    out.mkdir(parents=True, exist_ok=True)
    file = out / "market.sqlite"
    for leftover in out.glob("market.sqlite*"):
        leftover.unlink()
    console.print(
        f"Twelve freelancers ask $3 to $30 an hour; you don't know yet how good each is. Six "
        f"policies spend ${BUDGET} on them, in {markets} simulated markets.",
        soft_wrap=True,
    )
    shares: dict[str, list[float]] = {policy: [] for policy in POLICIES}
    columns = (TextColumn("{task.description:<22}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as bars:
        bar = bars.add_task("campaigns", total=markets * len(POLICIES))
        for number in range(markets):
            market = market_of(number)
            best, _ = market.optimum(BUDGET * MICRO)
            store: str | Store = MemoryStore() if number else f"sqlite:///{file}"
            for policy in POLICIES:
                say(f"market {number + 1} of {markets}: {policy}")
                log = run_campaign(policy, market, store, seed=SEED + number, reopen=not number)
                shares[policy].append(earned(log) / best)
                bars.advance(bar)
    rows = [_row(policy, np.array(each)) for policy, each in shares.items()]
    campaign = Campaign.open(f"sqlite:///{file}", POLICIES[-1])
    page = write_market_page(out, rows, explanation_of(campaign))
    print_table(console, rows)
    console.print(f"Report: {page}  Campaigns of the first market: {file}", soft_wrap=True)
    console.print(
        f"Try next:  askwise status {POLICIES[-1]} --store sqlite:///{file}", soft_wrap=True
    )
    return rows


def market_of(number: int) -> Market:
    """One of the markets, from 0."""
    return freelancer_market(np.random.default_rng(SEED + number), cap=30, candidates=12)


def run_campaign(
    policy: str, market: Market, store: str | Store, *, seed: int, reopen: bool = False
) -> list[Event]:
    """Ask and tell until the policy is done; with ``reopen`` from its file, half-way."""
    campaign = Campaign.create(
        workers=market.problem(BUDGET * MICRO).workers,
        outcome="utility",
        budget=BUDGET,
        policy=policy,
        store=store,
        seed=seed,
        name=policy,
    )
    world = market.answering(seed, 0)
    asked: Counter[int] = Counter()
    while batch := campaign.ask():
        for each in batch:
            at = int(each.worker.removeprefix("w"))
            campaign.tell(each.id, float(answer(world, at, asked[at], 0.0)))
            asked[at] += 1
        if reopen and campaign.status().spent > BUDGET / 2:
            campaign, reopen = Campaign.open(store, policy), False
    return campaign.log()


def earned(log: list[Event]) -> float:
    """The utility of all answers."""
    return sum(float(event.value or 0.0) for event in log if event.kind == Kind.ANSWER)


def _row(policy: str, shares: np.ndarray) -> Row:
    """The mean share with its 95% interval over markets."""
    mean = float(shares.mean())
    half = NORMAL * standard_error(shares)
    return Row("", policy, BUDGET, METRIC, mean, mean - half, mean + half, len(shares))


def standard_error(shares: np.ndarray) -> float:
    """Of the mean over markets; 0 for a single one."""
    return float(shares.std(ddof=1) / np.sqrt(len(shares))) if len(shares) > 1 else 0.0


def explanation_of(campaign: Campaign) -> str:
    """One decision of the campaign in words."""
    asked = [event for event in campaign.log() if event.kind == Kind.ASKED]
    middle = asked[len(asked) // 2]
    why = campaign.explain(f"{campaign.name}:{middle.seq}")
    top = ", ".join(
        f"{each.worker} ({each.index:.3f} a dollar)"
        for each in why.candidates[:3]
        if each.index is not None
    )
    return (
        f"Every decision can be explained from the log. Assignment {why.assignment} went to "
        f"{why.worker} at ${why.price} with ${why.budget_left} left. The rule of {why.policy}: "
        f"{why.rule}. Its best candidates then, by what it believed a dollar would earn: {top}."
    )


def write_market_page(out: Path, rows: list[Row], explanation: str) -> Path:
    """The report with its figure."""
    dots = [Dot(row.series, "mean", row.mean, row.ci_low, row.ci_high) for row in rows]
    drawn = figures.draw_dots(
        dots,
        title="Share of what full information could have bought",
        x_label="share of the optimum, mean over markets",
    )
    caption = "Mean over the markets, with a 95% interval."
    markets = rows[0].n
    return report.write_report(
        out,
        Results("demo market", SEED, markets, {"budget": BUDGET, "workers": 12}, tuple(rows)),
        title="Six ways to spend the same budget on the same freelancers",
        summary=(
            f"Each policy ran a campaign in each of {markets} simulated markets of twelve "
            "freelancers, one answer at a time. The campaigns of the first market were on an "
            "SQLite file and were reopened from it half-way. All policies met the same "
            "freelancers, so they differ by less from one another than the intervals suggest. "
            "The optimum knows everybody's quality beforehand.\n\n" + explanation
        ),
        figures=[(caption, figures.save_and_embed(drawn, out, "figure"))],
        command="askwise demo market",
        x_label=lambda metric: "budget",
    )


def print_table(console: Console, rows: list[Row]) -> None:
    """Policy, mean share of the optimum, standard error."""
    from rich.table import Table

    table = Table("policy")
    for name in ("share of the optimum", "standard error"):
        table.add_column(name, justify="right")
    for row in rows:
        error = (row.ci_high - row.mean) / NORMAL
        table.add_row(row.series, f"{row.mean:.3f}", f"{error:.3f}")
    console.print(table)
