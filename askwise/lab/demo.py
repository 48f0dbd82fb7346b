"""The demonstration: real campaigns on the embedded store, with simulated workers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from askwise import figures
from askwise.campaign import Campaign
from askwise.core.events import Event, Kind
from askwise.core.money import MICRO
from askwise.figures import Row
from askwise.lab import report
from askwise.lab.results import Results
from askwise.lab.worlds import Market, answer, freelancer_market

if TYPE_CHECKING:
    from rich.console import Console

SEED = 6
BUDGET = 500
OURS = ("thompson-knapsack", "knowledge-gradient")
POLICIES = ("random", "uniform", "trialsourcing", "bounded-epsilon-first", *OURS)


def run_demo(out: Path, console: Console) -> None:
    """Run one campaign a policy on the same crowd, print a table, write a page.

    Each campaign lives in a SQLite file, is closed half-way and goes on from the file.
    """
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    out.mkdir(parents=True, exist_ok=True)
    file = out / "demo.sqlite"
    for leftover in out.glob("demo.sqlite*"):
        leftover.unlink()
    market = freelancer_market(np.random.default_rng(SEED), cap=30, candidates=12)
    best, _ = market.optimum(BUDGET * MICRO)
    console.print(
        f"{len(market.prices)} workers ask ${market.prices.min() / MICRO:.0f} to "
        f"${market.prices.max() / MICRO:.0f} an hour; nobody knows yet how good they are. "
        f"The budget is ${BUDGET}.",
        soft_wrap=True,
    )
    logs: dict[str, list[Event]] = {}
    columns = (
        TextColumn("{task.description:<22}"),
        BarColumn(),
        TextColumn("${task.completed:.0f} spent"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as bars:
        for policy in POLICIES:
            bar = bars.add_task(policy, total=BUDGET)

            def spent(amount: float, bar: Any = bar) -> None:
                bars.update(bar, completed=amount)

            logs[policy] = run_campaign(policy, market, f"sqlite:///{file}", spent)
    campaign = Campaign.open(f"sqlite:///{file}", POLICIES[-1])
    results = results_of(logs, market, best)
    page = write_page(out, results, explanation_of(campaign))
    print_table(console, results)
    console.print(f"The report lies at {page}", soft_wrap=True)
    console.print(
        f"The campaigns lie in {file}: try  askwise status {POLICIES[-1]} --store sqlite:///{file}",
        soft_wrap=True,
    )


def run_campaign(
    policy: str, market: Market, store: str, spent: Callable[[float], None]
) -> list[Event]:
    """Ask and tell until the policy is done; half-way the campaign is reopened from its file."""
    problem = market.problem(BUDGET * MICRO)
    campaign = Campaign.create(
        workers=problem.workers,
        outcome="utility",
        budget=BUDGET,
        policy=policy,
        store=store,
        seed=SEED,
        name=policy,
    )
    world = market.answering(SEED, 0)
    asked: Counter[int] = Counter()
    reopened = False
    while batch := campaign.ask():
        for each in batch:
            at = int(each.worker.removeprefix("w"))
            campaign.tell(each.id, float(answer(world, at, asked[at], 0.0)))
            asked[at] += 1
        amount = float(campaign.status().spent)
        spent(amount)
        if not reopened and amount > BUDGET / 2:
            campaign, reopened = Campaign.open(store, policy), True
    return campaign.log()


def results_of(logs: dict[str, list[Event]], market: Market, best: float) -> Results:
    """Utility, spending and share of the optimum; and utility along the spending."""
    rows = _final("optimum", best, BUDGET, best)
    for policy, log in logs.items():
        paid, earned, next_mark = 0.0, 0.0, 0.0
        for event in log:
            if event.kind == Kind.ANSWER:
                assert event.price is not None
                paid, earned = paid + event.price / MICRO, earned + float(event.value or 0.0)
                if paid >= next_mark:
                    rows.append(_row(policy, paid, "utility so far", earned))
                    next_mark = paid + BUDGET / 50
        rows += _final(policy, earned, paid, best)
    params = {"budget": BUDGET, "workers": len(market.prices)}
    return Results("demo", SEED, 1, params, tuple(rows))


def _final(series: str, earned: float, paid: float, best: float) -> list[Row]:
    values = {"utility": earned, "spent": paid, "share_of_optimum": earned / best}
    return [_row(series, BUDGET, metric, value) for metric, value in values.items()]


def _row(series: str, x: float, metric: str, value: float) -> Row:
    return Row("", series, x, metric, value, value, value, 1)


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


def write_page(out: Path, results: Results, explanation: str) -> Path:
    """The report with two figures."""
    sofar = [row for row in results.rows if row.metric == "utility so far"]
    final = [row for row in results.rows if row.metric != "utility so far"]
    curve = report.draw(
        out,
        "Utility collected as the budget is spent.",
        sofar,
        title="What the money bought",
        metric="utility so far",
        x_label="spent",
        y_label="utility so far",
        highlight=OURS,
    )
    bars = figures.draw(
        [row for row in final if row.series != "optimum"],
        title="Share of what full information could have bought",
        metric="share_of_optimum",
        x_label="budget",
        y_label="share of the optimum",
        kind="bars",
        highlight=OURS,
    )
    return report.write_report(
        out,
        Results("demo", results.seed, 1, results.params, tuple(final)),
        title="Six ways to spend the same budget on the same crowd",
        summary=(
            "Each policy ran a real campaign on an SQLite file against the same simulated "
            "workers, one answer at a time, and was reopened from the file half-way. One run "
            "each: a demonstration, not a comparison; the lab's experiments repeat it hundreds "
            "of times. " + explanation
        ),
        figures=[
            curve,
            ("Share of the optimum at the end.", figures.svg_text(bars)),
        ],
        command="make demo",
        x_label=lambda metric: "budget",
    )


def print_table(console: Console, results: Results) -> None:
    """Policy, utility, spent, share of the optimum."""
    from rich.table import Table

    found = {(row.series, row.metric): row.mean for row in results.rows}
    table = Table("policy", title=None)
    for name in ("utility", "spent", "share of the optimum"):
        table.add_column(name, justify="right")
    for policy in (*POLICIES, "optimum"):
        utility, spent = found[policy, "utility"], found[policy, "spent"]
        share = found[policy, "share_of_optimum"]
        table.add_row(policy, f"{utility:.1f}", f"${spent:.0f}", f"{share:.3f}")
    console.print(table)
