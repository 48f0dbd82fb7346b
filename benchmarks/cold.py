"""What a live campaign costs on a machine where nothing was compiled before.

It must not pay for the compiler: each policy runs in processes of its own, with an empty cache of
kernels, as it comes and without the compiler (``ASKWISE_JIT=0``).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.timing import quantity, table, want

TASKS, WORKERS = 400, 50
POLICIES = ("hem", "bbta", "ccb-ns")
SIZES = (600, 2_500)
MOST, LARGEST = 1.5, 0.5
"""Of the plain run's CPU time; CPU seconds of one call."""

ROOT = Path(__file__).resolve().parents[1]


def main(quick: bool) -> None:
    """Print the table."""
    print("live campaigns on an empty cache, CPU seconds")
    rows = []
    for policy in POLICIES:
        for answers in SIZES[:1] if quick else SIZES:
            plain, found = _measured(policy, answers, "0"), _measured(policy, answers, None)
            assert found["events"] == plain["events"]
            share = found["total"] / plain["total"]
            rows.append(
                [
                    *(f"{policy}, {found['answers']} answers", quantity(plain["total"])),
                    *(quantity(found["total"]), f"{share:.2f}x", *want(share, most=MOST)),
                    *(quantity(plain["largest"]), quantity(found["largest"])),
                    *want(found["largest"], most=LARGEST),
                ]
            )
    heads = ("plain", "default", "ratio", "wanted", "met", "largest call plain", "default")
    table(["", *heads, "wanted", "met"], rows)


def _measured(policy: str, answers: int, jit: str | None) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as cache:
        changed = {"XDG_CACHE_HOME": cache, "PYTHONPATH": str(ROOT)}
        changed |= {} if jit is None else {"ASKWISE_JIT": jit}
        left_out = ("ASKWISE_JIT", "NUMBA_CACHE_DIR", "NUMBA_DISABLE_JIT")
        kept = {name: value for name, value in os.environ.items() if name not in left_out}
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.cold", policy, str(answers)],
            cwd=ROOT,
            env={**kept, **changed},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def run(policy: str, answers: int) -> dict[str, Any]:
    """Ask and tell, one at a time; the CPU time of all calls, and of the most costly one."""
    from askwise import Batch, Campaign, Wait, Worker

    campaign = Campaign.create(
        workers=[Worker(f"w{at}", 1) for at in range(WORKERS)],
        tasks=[f"t{at}" for at in range(TASKS)],
        options=["no", "yes"],
        budget=10 * answers,
        policy=policy,
        seed=1,
    )
    largest, total, told, truths = 0.0, 0.0, 0, 0

    def timed(call: Any, *arguments: Any) -> Any:
        nonlocal largest, total
        begun = time.process_time()
        came = call(*arguments)
        spent = time.process_time() - begun
        largest, total = max(largest, spent), total + spent
        return came

    while told < answers:
        choice = timed(campaign.ask)
        if choice == Wait("truth"):
            timed(campaign.truth, f"t{truths}", "yes" if truths % 3 else "no")
            truths += 1
            continue
        if not isinstance(choice, Batch):
            break
        timed(campaign.tell, choice[0].id, "yes" if told % 7 else "no")
        told += 1
    timed(campaign.answers)
    return {"total": total, "largest": largest, "answers": told, "events": campaign.status().seq}


if __name__ == "__main__":
    json.dump(run(sys.argv[1], int(sys.argv[2])), sys.stdout)
