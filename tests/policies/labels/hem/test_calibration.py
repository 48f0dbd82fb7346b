"""hem's map of confidences: which fits known truths are compared with."""

from __future__ import annotations

import numpy as np
import pytest

from askwise.kernels import calibration
from askwise.kernels.hem import FULL_ROUNDS
from askwise.policies.labels.hem.beliefs import ROUNDS
from askwise.policies.labels.hem.confidence import confidence_in, fit_all
from askwise.policies.labels.hem.state import MAPPED
from tests.policies.folded import state_of
from tests.policies.labels.campaigns import campaign_of, run

TOLD = 7


def fits_of(
    monkeypatch: pytest.MonkeyPatch, rounds: int, flipped: int
) -> list[tuple[list[float], list[float]]]:
    """Scores and rightness that each map is learned from, with one truth told the other way round.

    ``flipped`` is its place among the truths, -1 for none.
    """
    rng = np.random.default_rng(4)
    truth = rng.integers(2, size=24)
    right = rng.random((24, 6)) < rng.uniform(0.55, 0.9, size=6)
    campaign = campaign_of(6, 24, budget=100)
    run(
        campaign,
        lambda task, worker: ("no", "yes")[
            int(truth[int(task[1:])] ^ (not right[int(task[1:]), int(worker[1:])]))
        ],
    )
    state = state_of(campaign)
    heard = state.beliefs.order[:24].tolist()
    for at, task in enumerate(heard[:TOLD]):
        campaign.truth(f"t{task}", ("no", "yes")[truth[task] ^ (at == flipped)])
    state = state_of(campaign)
    learned: list[tuple[list[float], list[float]]] = []
    fit_map = calibration.fit_map

    def noted(scores: np.ndarray, how_right: np.ndarray) -> calibration.ConfidenceMap:
        learned.append((scores.tolist(), how_right.tolist()))
        return fit_map(scores, how_right)

    monkeypatch.setattr(calibration, "fit_map", noted)
    fit_all(state.ledger.book, state.beliefs, rounds)
    monkeypatch.undo()
    assert state.beliefs.map.tolist() == list(fit_map(*map(np.array, learned[0])))
    return learned


@pytest.mark.sampled(1)
@pytest.mark.parametrize("flipped", [0, 2, 6])
def test_a_whole_fit_compares_a_truth_with_what_is_found_while_its_half_is_hidden(
    monkeypatch: pytest.MonkeyPatch, flipped: int
) -> None:
    # Every other truth is hidden: the first, third, fifth and seventh, then the others.
    (scores, right), _ = fits_of(monkeypatch, FULL_ROUNDS, -1)
    (others, wrong), _ = fits_of(monkeypatch, FULL_ROUNDS, flipped)
    assert len(scores) == TOLD
    assert scores[:4] == others[:4], "no truth has a part in what its half is judged by"
    assert [a != b for a, b in zip(right[:4], wrong[:4], strict=True)] == [
        at == flipped // 2 for at in range(4)
    ]
    assert scores[4:] != others[4:], "the other half is judged by it"


def test_between_decisions_one_fit_has_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(fits_of(monkeypatch, ROUNDS, -1)) == 1


def test_without_truths_the_map_of_a_whole_fit_changes_nothing() -> None:
    campaign = campaign_of(4, 6, budget=20)
    run(campaign, lambda task, worker: "yes" if worker != "w0" else "no")
    state = state_of(campaign)
    fit_all(state.ledger.book, state.beliefs, FULL_ROUNDS)
    assert state.beliefs.map.tolist() == [0.5, 0.0, 0.0, 0.0, 0.0, 0.0]


def test_a_label_of_which_truths_make_nothing_is_no_tie() -> None:
    campaign = campaign_of(2, 2, budget=4)
    run(campaign, lambda task, worker: "yes" if (task, worker) != ("t1", "w1") else "no")
    state = state_of(campaign)
    book, beliefs = state.ledger.book, state.beliefs
    fit_all(book, beliefs, FULL_ROUNDS)
    beliefs.blind[1] = 0.5
    # Twelve truths by which labels are hardly ever right.
    beliefs.map[:], beliefs.meta[MAPPED] = (0.0, -5.0, 0.0, 0.0, 0.0, 0.0), 12
    assert confidence_in(book, beliefs, 0) == pytest.approx(0.5 + 1e-6, abs=1e-9)
    assert confidence_in(book, beliefs, 1) == 0.5
    beliefs.meta[MAPPED] = 0
    assert confidence_in(book, beliefs, 0) == 0.5, "without truths nothing is lifted"
