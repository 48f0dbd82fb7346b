"""The demonstration of markets: means over markets, and a campaign that is reopened half-way."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from askwise.core.events import Event
from askwise.core.money import MICRO
from askwise.demo import market
from askwise.store import MemoryStore


def facts(log: list[Event]) -> list[tuple[object, ...]]:
    return [(event.kind, event.worker, event.price, event.value) for event in log]


def test_means_and_standard_errors_are_over_markets(tmp_path: Path) -> None:
    screen = io.StringIO()
    rows = market.run_market_demo(tmp_path, Console(file=screen, width=100), markets=2)
    assert [row.series for row in rows] == list(market.POLICIES)
    shares = []
    for number in range(2):
        one = market.market_of(number)
        best, _ = one.optimum(market.BUDGET * MICRO)
        log = market.run_campaign("trialsourcing", one, MemoryStore(), seed=market.SEED + number)
        shares.append(market.earned(log) / best)
    row = next(row for row in rows if row.series == "trialsourcing")
    assert row.mean == pytest.approx(sum(shares) / 2)
    # Of two numbers, the standard deviation is their distance over the root of 2.
    assert market.standard_error(np.array(shares)) == pytest.approx(abs(shares[0] - shares[1]) / 2)
    assert "trialsourcing" in screen.getvalue()
    assert (tmp_path / "report.html").is_file()


def test_a_campaign_that_is_reopened_half_way_goes_on_as_if_it_was_not(tmp_path: Path) -> None:
    one = market.market_of(0)
    store = f"sqlite:///{tmp_path / 'market.sqlite'}"
    broken = market.run_campaign("thompson-knapsack", one, store, seed=1, reopen=True)
    whole = market.run_campaign("thompson-knapsack", one, MemoryStore(), seed=1)
    assert facts(broken) == facts(whole)
