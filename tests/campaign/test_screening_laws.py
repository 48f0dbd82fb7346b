"""Laws of screening: whatever happens, the log folds to the same and the referee agrees."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askwise import Batch, Campaign
from askwise.campaign.folding import fold_long
from askwise.campaign.screening import GoldTally
from askwise.campaign.state import CampaignState
from askwise.core.event_columns import EventColumns
from askwise.core.events import Kind
from askwise.testing.referee import Referee
from tests.campaign.screened import (
    GOLD,
    TASKS,
    create,
    run,
    says_right,
    truth_of,
    verdicts,
    wrong_about,
)

STEPS = st.lists(
    st.tuples(
        st.sampled_from(["right", "right", "wrong", "decline", "wait", "suspend", "reinstate"]),
        st.sampled_from(["ann", "bob"]),
        st.integers(1, 4),
    ),
    max_size=40,
)


def go(campaign: Campaign, steps: list[tuple[str, str, int]]) -> None:
    """Do what the steps say, as far as it is allowed."""
    for what, worker, limit in steps:
        if what in ("suspend", "reinstate"):
            suspended = campaign.workers()[("ann", "bob").index(worker)].standing
            is_so = suspended is not None and suspended.state == "suspended"
            if is_so == (what == "reinstate"):
                getattr(campaign, what)(worker, by="eve")
            continue
        found = campaign.ask(limit, [worker])
        for each in found if what != "wait" else ():
            task = each.task or ""
            if what == "decline":
                campaign.decline(each.id)
            else:
                campaign.tell(each.id, truth_of(task) if what == "right" else wrong_about(task))


@settings(max_examples=12, deadline=None)
@given(STEPS, st.booleans(), st.integers(3, 25))
def test_whatever_happens_the_log_folds_to_the_same_and_the_referee_agrees(
    steps: list[tuple[str, str, int]], paid: bool, tenths: int
) -> None:
    terms = {"qualify": 5, "rate": 0.5, "paid": paid, "warn_below": 0.9, "pause_below": 0.8}
    campaign = create(GOLD[:14], screening=terms, budget=str(tenths / 10))
    go(campaign, steps)
    state, events = campaign._writer.current(), campaign.log()
    referee = Referee(state.spec.problem)
    for event in events:
        referee.see(event)
    referee.compare(state.ledger)
    status = campaign.status()
    assert status.budget is not None
    assert status.spent + status.reserved <= status.budget
    one_by_one, at_once = CampaignState(state.spec), CampaignState(state.spec)
    for event in events:
        one_by_one.fold(event)
    fold_long(at_once, EventColumns.of(events))
    half = CampaignState(state.spec)
    for event in events[: len(events) // 2]:
        half.fold(event)
    half = CampaignState.restore(state.spec, half.snapshot())
    for event in events[len(events) // 2 :]:
        half.fold(event)
    for other in (one_by_one, at_once, half):
        assert other.ledger.names() == state.ledger.names()
        for name, array in state.ledger.arrays().items():
            assert np.array_equal(array, other.ledger.arrays()[name], equal_nan=True), name


@settings(max_examples=6, deadline=None)
@given(STEPS)
def test_the_same_steps_make_the_same_log_also_when_it_is_opened_anew_each_time(
    steps: list[tuple[str, str, int]],
) -> None:
    logs = []
    for reopens in (False, True):
        campaign = create(GOLD[:14], clock=lambda: 1.0)
        for step in steps:
            if reopens:
                campaign = Campaign.open(campaign.store, "cats", clock=lambda: 1.0)
            go(campaign, [step])
        logs.append(campaign.log())
    assert logs[0] == logs[1]


@pytest.mark.parametrize("name", ["hem", "optkg", "random-pairs"])
def test_every_policy_that_takes_questions_of_others_takes_gold(name: str) -> None:
    campaign = create(GOLD[:8], tasks=[*GOLD[:8], *TASKS[:8]], policy=name)
    run(campaign)
    referee = Referee(campaign._writer.current().spec.problem)
    for event in campaign.log():
        referee.see(event)
    assert verdicts(campaign) == [("QUALIFIED", "ann"), ("QUALIFIED", "bob")]
    asked = {event.task for event in campaign.log() if event.kind == Kind.ASKED}
    assert asked >= set(TASKS[:8])


def test_a_retry_of_an_answer_judges_nobody_twice() -> None:
    campaign = create()
    for at in range(5):
        batch = campaign.ask(workers=["bob"], key=f"ask-{at}")
        assert isinstance(batch, Batch)
        assert campaign.ask(workers=["bob"], key=f"ask-{at}") == batch
        for _ in range(2):
            campaign.tell(batch[0].id, wrong_about(batch[0].task or ""), key=f"tell-{at}")
    assert verdicts(campaign) == [("SUSPENDED", "bob")]


def test_a_good_worker_is_hardly_ever_suspended_and_a_guesser_is() -> None:
    """Twenty-five workers who are right 9 times in 10 and as many who guess, 200 answers each.

    At the line of 0.7 a guesser's 200 answers suffice unless 118 or more of them are right, which
    is 2.5 standard deviations off: 0.1 of 25 are expected to escape. At 0.9 the bound of 1 in 40
    for somebody at the line is far away: none of 25 is expected.
    """
    rng = np.random.default_rng(5)
    with create().reading() as state:
        assert state.screening is not None
        screening = state.screening
    counts = {}
    for accuracy in (0.9, 0.5):
        suspended = 0
        for _ in range(25):
            right = np.cumsum(rng.random(200) < accuracy)
            suspended += any(
                screening._verdict_of(GoldTally(at + 1, int(hits), 0), warned=True) is not None
                for at, hits in enumerate(right.tolist())
            )
        counts[accuracy] = suspended
    assert counts == {0.9: 0, 0.5: 25}


def test_nobody_is_suspended_who_answers_as_most_do() -> None:
    campaign = create(screening={"qualify": 5, "rate": 0.5})
    run(campaign, says_right)
    assert {kind for kind, _ in verdicts(campaign)} == {"QUALIFIED"}
