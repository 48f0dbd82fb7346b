"""Files of recorded answers, of what is true, what answers cost and what tasks are about."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.replay.sheets import GOLD, SHEET, write


@pytest.fixture
def labels(workplace: Path) -> str:
    rows = [
        (task, f"w{at}", label)
        for task, given in SHEET.items()
        for at, label in enumerate(given, 1)
        if label != "-"
    ]
    return write("labels.csv", ("task", "worker", "label"), *rows)


@pytest.fixture
def gold(workplace: Path) -> str:
    return write("gold.csv", ("task", "label"), *GOLD.items())


@pytest.fixture
def prices(workplace: Path) -> str:
    rows = [("w1", "1"), ("w2", "0.5"), ("w3", "2"), ("w4", "1"), ("w9", "7")]
    return write("prices.csv", ("worker", "price"), *rows)


@pytest.fixture
def contexts(workplace: Path) -> str:
    return write("contexts.csv", ("task", "context"), ("t1", "x"), ("t2", "x"), ("t3", "y"))
