"""What is said about workers, and how good they seem."""

from __future__ import annotations

import json
from collections import Counter
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import beta, binom

from askwise import Batch, Campaign, Worker
from askwise.campaign import views
from askwise.campaign.views import quality
from tests.campaign.views.voting import OPTIONS, state_of, votes
from tests.mechanisms.cheapest import known, make


def workers(campaign: Campaign) -> dict[str, views.WorkerSummary]:
    return {each.id: each for each in views.workers(state_of(campaign))}


def test_a_worker_is_counted_by_what_became_of_their_work() -> None:
    now = [0.0]
    campaign = Campaign.create(
        workers=[Worker("ann", "0.50", limit=5), Worker("bob", 2)],
        tasks=[f"t{at}" for at in range(6)],
        options=OPTIONS,
        budget=50,
        policy="random-pairs",
        lease=10,
        seed=1,
        clock=lambda: now[0],
    )
    batch = campaign.ask(limit=5, workers=["ann"])
    assert isinstance(batch, Batch)
    campaign.tell(batch[0].id, "no")
    campaign.tell(batch[1].id, "yes")
    campaign.decline(batch[2].id)
    campaign.expire(batch[3].id)
    campaign.expire(batch[4].id)
    campaign.tell(batch[4].id, "no")
    again = campaign.ask(workers=["bob"])
    assert isinstance(again, Batch)
    campaign.leave("bob")
    ann, bob = views.workers(state_of(campaign))
    assert (ann.joined, ann.price, ann.limit, ann.asked) == (True, Decimal("0.5"), 5, 5)
    assert (ann.answered, ann.out, ann.expired, ann.declined) == (3, 0, 1, 1)
    assert (ann.paid, ann.share) == (Decimal("1.5"), 1.0)
    assert (bob.joined, bob.limit, bob.asked, bob.paid) == (False, None, 1, 0)
    # Leaving hands back what is out.
    assert (bob.out, bob.expired) == (0, 1)
    assert (bob.quality, bob.agreement, bob.share) == (None, None, 0.0)
    assert json.loads(json.dumps(ann.to_json()))["paid"] == "1.5"


def test_agreement_leaves_out_tasks_that_nobody_else_answered() -> None:
    campaign = votes(
        {
            "ann": {"t": "yes", "u": "yes", "alone": "no"},
            "bob": {"t": "yes", "u": "no"},
            "cleo": {"t": "yes", "u": "no"},
        }
    )
    found = workers(campaign)
    assert [found[name].agreement for name in ("ann", "bob", "cleo")] == [0.5, 1.0, 1.0]
    # Against the others alone: ann is outvoted on u, and so are bob and cleo one by one there
    # where the other two are split.
    ann, bob = found["ann"].quality, found["bob"].quality
    assert ann is not None
    assert bob is not None
    assert (ann.value, ann.answers, ann.basis) == (0.5, 2, "agreement")
    assert (bob.value, bob.answers) == (1.0, 1)


def test_enough_truths_take_the_place_of_agreement() -> None:
    tasks = [f"t{at}" for at in range(12)]
    table = {
        "ann": dict.fromkeys(tasks, "no"),
        "bob": dict.fromkeys(tasks, "yes"),
        "cleo": dict.fromkeys(tasks, "yes"),
    }
    campaign = votes(table)
    for told, task in enumerate(tasks):
        ann = workers(campaign)["ann"].quality
        assert ann is not None
        enough = told >= quality.ENOUGH_TRUTHS
        assert ann.basis == ("truth" if enough else "agreement")
        assert (ann.value, ann.answers) == ((1.0, told) if enough else (0.0, 12))
        campaign.truth(task, "no")


def test_few_truths_are_better_than_nothing() -> None:
    campaign = votes({"ann": {"t": "yes", "u": "no"}})
    assert workers(campaign)["ann"].quality is None
    campaign.truth("t", "yes")
    found = workers(campaign)["ann"].quality
    assert found is not None
    # With one right of one the 97.5% point from below is q for which q = 0.025.
    assert (found.value, found.basis, found.answers) == (1.0, "truth", 1)
    assert (found.low, found.high) == (pytest.approx(0.025), 1.0)


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 5), st.integers(0, 2)), max_size=60),
    st.lists(st.integers(-1, 2), min_size=6, max_size=6),
)
@settings(max_examples=40)
def test_shares_equal_those_counted_one_by_one(
    said: list[tuple[int, int, int]], truths: list[int]
) -> None:
    campaign = Campaign.create(
        workers=[Worker(f"w{at}", 1) for at in range(5)],
        tasks=[f"t{at}" for at in range(6)],
        options=OPTIONS,
        policy="round-robin",
        repeat=True,
        seed=1,
    )
    kept: list[tuple[str, str, str]] = []
    for worker, _, option in said:
        batch = campaign.ask(workers=[f"w{worker}"])
        assert isinstance(batch, Batch)
        assert batch[0].task is not None
        campaign.tell(batch[0].id, OPTIONS[option])
        kept.append((f"w{worker}", batch[0].task, OPTIONS[option]))
    truth = {f"t{at}": OPTIONS[option] for at, option in enumerate(truths) if option >= 0}
    for task, option in truth.items():
        campaign.truth(task, option)
    present = {each.task: each.value for each in campaign.answers()}
    for one in views.workers(state_of(campaign), campaign.answers()):
        mine = [(task, option) for worker, task, option in kept if worker == one.id]
        shared, backed, right = [], [], []
        for task, option in mine:
            others = Counter(o for w, t, o in kept if t == task and w != one.id)
            if others and present[task] is not None:
                shared.append(option == present[task])
            ranked = [*others.most_common(), ("", 0), ("", 0)]
            if ranked[0][1] > ranked[1][1]:
                backed.append(option == ranked[0][0])
            if task in truth:
                right.append(option == truth[task])
        assert one.answered == len(mine)
        assert one.agreement == (sum(shared) / len(shared) if shared else None)
        due = right if len(right) >= quality.ENOUGH_TRUTHS or not backed else backed
        if not due:
            assert one.quality is None
            continue
        assert one.quality is not None
        assert one.quality.basis == ("truth" if due is right else "agreement")
        assert (one.quality.value, one.quality.answers) == (sum(due) / len(due), len(due))
        assert one.quality.low <= one.quality.value <= one.quality.high


def test_blocks_of_cells_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    table = {
        f"w{who}": {f"t{at}": OPTIONS[(at + who * at % 3) % 3] for at in range(9)}
        for who in range(4)
    }
    campaign = votes(table)
    whole = workers(campaign)
    monkeypatch.setattr(quality, "_BLOCK", 5)
    assert workers(campaign) == whole


def test_the_interval_of_a_share_is_clopper_and_pearsons() -> None:
    tries = np.repeat(np.arange(1, 30), 30)
    hits = np.tile(np.arange(30), 29)
    tries, hits = tries[hits <= tries], hits[hits <= tries]
    low, high = quality.clopper_pearson(hits, tries)
    some, most = hits > 0, hits < tries
    assert low[some] == pytest.approx(beta.ppf(0.025, hits[some], tries[some] - hits[some] + 1))
    assert high[most] == pytest.approx(beta.ppf(0.975, hits[most] + 1, tries[most] - hits[most]))
    assert (low[~some] == 0).all()
    assert (high[~most] == 1).all()
    # At its lower end so many hits or more have just the probability of a tail.
    assert binom.sf(hits[some] - 1, tries[some], low[some]) == pytest.approx(0.025)


def test_the_interval_of_a_mean_covers_whatever_the_answers_are() -> None:
    # Exactly, for the answers that are hardest to bound: all at the ends of the range.
    for count in (1, 2, 5, 17, 60):
        hits = np.arange(count + 1)
        low, high = quality.chernoff(hits / count, np.full(count + 1, count))
        for chance in (0.0, 0.03, 0.2, 0.5, 0.77, 1.0):
            inside = (low <= chance) & (chance <= high)
            assert binom.pmf(hits, count, chance)[inside].sum() >= 0.95


def test_a_mean_utility_is_in_the_campaigns_range() -> None:
    campaign = Campaign.create(
        workers=[Worker("ann", 1), Worker("bob", 1), Worker("cleo", 1)],
        outcome={"kind": "utility", "low": 1, "high": 5},
        policy="uniform",
        budget=40,
        seed=1,
    )
    campaign.leave("cleo")
    said = {"ann": [5.0] * 20, "bob": [2.0, 4.0] * 10}
    while said["ann"] or said["bob"]:
        batch = campaign.ask()
        assert isinstance(batch, Batch)
        campaign.tell(batch[0].id, said[batch[0].worker].pop())
    found = workers(campaign)
    ann, bob = found["ann"].quality, found["bob"].quality
    assert ann is not None
    assert bob is not None
    assert (ann.value, ann.high, ann.basis, ann.answers) == (5.0, 5.0, "utility", 20)
    # All at the upper end: 20 log(1 / q) = log 40, so q = 40 ** (-1 / 20), scaled.
    assert ann.low == pytest.approx(1 + 4 * 40 ** (-1 / 20))
    assert bob.value == pytest.approx(3.0)
    assert bob.value - bob.low == pytest.approx(bob.high - bob.value)
    # Never wider than Hoeffding's.
    assert bob.high - 3.0 <= 4 * np.sqrt(np.log(40) / 40)
    assert found["cleo"].quality is None
    assert found["ann"].agreement is None


def test_no_price_is_shown_while_bids_are_sealed() -> None:
    with known():
        campaign = make({"name": "clarke", "c_max": 20})
        assert [each.price for each in workers(campaign).values()] == [None] * 4
        assert isinstance(campaign.ask(), Batch)
        assert None not in [each.price for each in workers(campaign).values()]
