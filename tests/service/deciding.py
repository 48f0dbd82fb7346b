"""A policy whose decisions last until they are let go of, for tests of what happens meanwhile."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from askwise.core.arrays import Array
from askwise.core.choices import Done, Wait
from askwise.core.draws import Draw
from askwise.core.problem import Problem
from askwise.ledger.ledger import Ledger
from askwise.ledger.proposals import Proposal
from askwise.policies.labels.random_pairs import RandomPairs

PATIENCE = 60.0


@dataclass(frozen=True)
class Held(RandomPairs):
    """As ``random-pairs``, but a decision goes on until the file ``until`` is there.

    It loops in plain Python, as kernels do that are not compiled. ``until`` with ``.begun`` is made
    when a decision begins, with ``.done`` when it ends. ``most`` is for how many seconds it lasts
    at the most.
    """

    until: str = ""
    most: float = PATIENCE

    def choose(
        self, problem: Problem, state: Any, ledger: Ledger, draw: Draw, available: Array
    ) -> Proposal | Wait | Done:
        Path(f"{self.until}.begun").touch()
        deadline = time.monotonic() + self.most
        while not Path(self.until).exists() and time.monotonic() < deadline:
            sum(range(10_000))
        Path(f"{self.until}.done").touch()
        return super().choose(problem, state, ledger, draw, available)


def campaign(name: str, until: Path | None = None, **more: Any) -> dict[str, Any]:
    """A campaign to create; its decisions last until ``until`` is there, if that is given."""
    policy: Any = "random-pairs" if until is None else {"name": "held", "until": str(until), **more}
    return {
        "name": name,
        "workers": [{"id": f"w{at}", "price": "0.1"} for at in range(20)],
        "tasks": [f"t{at}" for at in range(50)],
        "options": ["yes", "no"],
        "budget": "1000",
        "policy": policy,
        "seed": 1,
    }


def install(directory: Path) -> dict[str, str]:
    """Make ``held`` known to processes; returns the environment in which they find it."""
    entry = directory / "held_policy-1.0.dist-info"
    entry.mkdir()
    (entry / "METADATA").write_text("Metadata-Version: 2.1\nName: held-policy\nVersion: 1.0\n")
    (entry / "entry_points.txt").write_text(f"[askwise.policies]\nheld = {__name__}:Held\n")
    root = Path(__file__).resolve().parents[2]
    return {"PYTHONPATH": f"{directory}:{root}"}


def wait_for(file: Path) -> None:
    """Wait until a file is there."""
    deadline = time.monotonic() + PATIENCE
    while not file.exists():
        assert time.monotonic() < deadline
        time.sleep(0.01)
