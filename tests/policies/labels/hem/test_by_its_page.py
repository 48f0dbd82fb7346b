"""hem in whole campaigns, against a second reading of the page that derives it."""

from __future__ import annotations

import numpy as np
import pytest

from askwise import Task, Worker
from askwise.campaign.state import CampaignState
from askwise.core.choices import Batch
from askwise.kernels.hem import JUDGED, MEAN, RIGHT
from askwise.testing.sessions import spec_of_campaign
from tests.policies.labels.campaigns import campaign_of
from tests.policies.labels.hem.reading import LiveReading

NEAR = 1e-9


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("seed", "classes", "places", "tasks", "workers", "budget", "told"),
    [
        (1, 2, 1, 12, 6, 70, 0), (2, 2, 2, 20, 5, 110, 3), (3, 3, 2, 14, 6, 90, 0),
        (4, 5, 1, 12, 7, 100, 4), (5, 10, 2, 10, 6, 60, 2), (6, 2, 3, 30, 4, 29, 0),
    ],
)  # fmt: skip
def test_a_whole_campaign_is_that_of_the_page(
    seed: int, classes: int, places: int, tasks: int, workers: int, budget: int, told: int
) -> None:
    rng = np.random.default_rng(seed)
    contexts = [task % places for task in range(tasks)]
    truth = rng.integers(classes, size=tasks)
    right = rng.random((tasks, workers)) < rng.uniform(0.4, 0.95, size=(places, workers))[contexts]
    said = np.where(right, truth[:, None], rng.integers(classes, size=(tasks, workers)))
    prices = [1 + int(w % 3 == 2) for w in range(workers)]
    families = [0 if w in (1, 2) else None for w in range(workers)]
    staff = [
        Worker(f"w{w}", prices[w], family=None if families[w] is None else "kin")
        for w in range(workers)
    ]
    options = [f"o{c}" for c in range(classes)]
    campaign = campaign_of(
        staff, [Task(f"t{t}", context=f"c{contexts[t]}") for t in range(tasks)],
        options=options, budget=budget, seed=seed,
    )  # fmt: skip
    page = LiveReading(contexts, classes, prices, budget, families)
    state = CampaignState(spec_of_campaign(campaign))
    given = 0
    while isinstance(batch := campaign.ask(), Batch):
        task, worker = int(str(batch[0].task)[1:]), int(batch[0].worker[1:])
        page.check(task, worker, NEAR)
        campaign.tell(batch[0].id, options[said[task, worker]])
        page.take(task, worker, int(said[task, worker]))
        given += 1
        if told and given % 13 == 5:
            told -= 1
            campaign.truth(f"t{3 * told}", options[truth[3 * told]])
            page.tell(3 * told, int(truth[3 * told]))
        for event in campaign.log(after=state.seq):
            state.fold(event)
        same_beliefs(state.beliefs, page)
    assert page.fits >= int(budget > 40)
    assert told == 0
    assert page.spent() > budget - max(prices) or len(page.given) + tasks > tasks * workers


def same_beliefs(state: object, page: LiveReading) -> None:
    """Posteriors and counts of the policy are those of the page."""
    beliefs: dict[str, np.ndarray] = state._asdict()  # type: ignore[attr-defined]
    classes = range(page.classes)
    for task, row in page.q.items():
        np.testing.assert_allclose(beliefs["posterior"][task], row, rtol=0, atol=NEAR)
    assert beliefs["crowd"][MEAN] == pytest.approx(page.m, abs=NEAR)
    tables = {
        "right": page.right_on, "seen": page.judged_on, "wrong": page.wrong, "alone": page.alone,
        "due": page.due_on,
    }  # fmt: skip
    for w in range(len(page.prices)):
        expected = [page.right[w], page.judged[w]]
        found = beliefs["totals"][w, [RIGHT, JUDGED]]
        np.testing.assert_allclose(found, expected, rtol=0, atol=NEAR)
        for name, table in tables.items():
            expected = [table[w, c] for c in classes]
            # Masses below 1e-9 are not counted class by class.
            np.testing.assert_allclose(beliefs[name][w], expected, rtol=0, atol=1e-7, err_msg=name)
