"""A simulation of hem and bbta asks what a live campaign asks."""

from __future__ import annotations

import numpy as np
import pytest

from askwise import Campaign
from askwise.core.choices import Batch
from askwise.lab.simulate import simulate
from askwise.lab.worlds import Recording
from askwise.policies import policies
from tests.policies.labels.campaigns import BOTH


def recorded(seed: int, tasks: int = 9, workers: int = 5) -> Recording:
    """Some pairs of two contexts, two of three recorded."""
    rng = np.random.default_rng(seed)
    task, worker = np.nonzero(rng.random((tasks, workers)) < 0.67)
    truth = rng.integers(2, size=tasks)
    label = np.where(rng.random(len(task)) < 0.75, truth[task], 1 - truth[task])
    return Recording(task, worker, label, tasks, workers, 2, truth, np.arange(tasks) % 2)


@pytest.mark.parametrize("told", [(), (7, 0, 4)])
@pytest.mark.parametrize("window", [1, 3, 1000])
@pytest.mark.parametrize("policy", BOTH)
def test_a_simulation_asks_what_a_live_campaign_asks(
    policy: str, window: int, told: tuple[int, ...]
) -> None:
    recording = recorded(4)
    truths = [(task, int(recording.truth[task])) for task in told]
    for budget in (12, 1000):
        problem = recording.problem(budget)
        outcome = simulate(
            *(policies.make(policy), problem, recording.answering()),
            seed=3,
            window=window,
            truths=truths,
        )
        campaign = Campaign.create(**problem.to_json(), policy=policy, seed=3, name="x")
        for task, truth in truths:
            campaign.truth(f"t{task}", f"o{truth}")
        said = dict(zip(zip(recording.task, recording.worker, strict=True), recording.label,
                        strict=True))  # fmt: skip
        asked, ended = [], None
        while ended is None:
            out = campaign.assignments()
            choice = campaign.ask() if len(out) < window else None
            if isinstance(choice, Batch):
                asked.append((int(str(choice[0].task)[1:]), int(choice[0].worker[1:])))
            elif out:
                pair = int(str(out[0].task)[1:]), int(out[0].worker[1:])
                campaign.tell(out[0].id, f"o{said[pair]}")
            else:
                ended = choice
        found = outcome.ledger.book.assignments[: outcome.answers, :2]
        assert [tuple(pair) for pair in found.tolist()] == asked
        assert outcome.ended == ended
        assert outcome.ledger.seq == campaign.log()[-1].seq
        if not told:
            assert len(asked) == min(budget, len(recording.task))
        assert set(asked) <= set(said)
