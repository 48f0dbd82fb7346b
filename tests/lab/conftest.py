"""Whatever a test runs of an experiment, however few replications: rates stay between 0 and 1."""

from __future__ import annotations

from typing import Any

import pytest

from askwise.lab import runner
from askwise.lab.results import RATES, Results


@pytest.fixture(autouse=True)
def rates_stay_between_0_and_1(monkeypatch: pytest.MonkeyPatch) -> None:
    def checked(name: str, seed: int, reps: int, params: Any, rows: Any, failures: Any) -> Results:
        for row in rows:
            if row.metric in RATES:
                assert 0.0 <= row.ci_low <= row.mean <= row.ci_high <= 1.0, (name, row)
        return Results(name, seed, reps, params, rows, failures)

    monkeypatch.setattr(runner, "Results", checked)
