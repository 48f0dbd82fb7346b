"""Laws of pilots: money, order of the log, crashes, snapshots, and every policy that takes one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askwise import Campaign, Done, Wait, Worker
from askwise.campaign.folding import fold_long
from askwise.campaign.piloting import draw_pilot
from askwise.campaign.state import CampaignState
from askwise.core.errors import InvalidProblem
from askwise.core.event_columns import EventColumns
from askwise.core.events import Kind
from askwise.core.money import to_micro
from askwise.core.pilot import PilotTerms
from askwise.policies import TakesPilot, policies
from askwise.store import MemoryStore
from askwise.testing.referee import Referee
from askwise.testing.sessions import comparable
from tests.campaign.certified import said_by, truth_of
from tests.campaign.piloted import ANN, JUDGES, TASKS, create, run
from tests.policies.variants import NEEDED

RULE = {"name": "quorum", "quorum": 2, "of": 3}


def go_on(campaign: Campaign, limit: int) -> bool:
    """Answer what is out, each as its names say, and ask; False at the end."""
    for each in campaign.assignments():
        assert each.task is not None
        if (len(each.worker) + int(each.task[1:])) % 7 == 0:
            campaign.fail(each.id, "orders", "0.005")
        else:
            campaign.tell(each.id, said_by(each.worker, each.task), cost="0.008")
    return not isinstance(campaign.ask(limit), Wait | Done)


@settings(max_examples=5, deadline=None)
@given(
    cut=st.integers(0, 40),
    limit=st.integers(1, 5),
    known=st.integers(0, 8),
    policy=st.sampled_from(["random-pairs", "hem"]),
)
def test_a_campaign_that_is_reopened_anywhere_goes_on_to_the_same_log(
    cut: int, limit: int, known: int, policy: str
) -> None:
    logs = []
    for reopened in (False, True):
        store = MemoryStore()
        campaign = create(tasks=TASKS[:14], policy=policy, stopping=RULE, store=store, budget="1.5")
        for task in TASKS[:known]:
            campaign.truth(task, truth_of(task))
        for at in range(60):
            if reopened and at == cut:
                campaign = Campaign.open(store, "cats")
            if not go_on(campaign, limit):
                break
        logs.append(comparable(campaign.log()))
    assert logs[0] == logs[1]
    state = campaign._writer.current()
    restored = CampaignState.restore(state.spec, state.snapshot())
    folded = CampaignState(state.spec)
    for event in campaign.log():
        folded.fold(event)
    for other in (restored, folded):
        assert other.ledger.names() == state.ledger.names()
        for name, array in state.ledger.arrays().items():
            assert np.array_equal(array, other.ledger.arrays()[name], equal_nan=True), name


def test_a_long_fold_keeps_the_same_record_of_the_pilot() -> None:
    campaign = create(tasks=TASKS[:12], budget="1.5")
    while go_on(campaign, 3):
        pass
    state = campaign._writer.current()
    folded = CampaignState(state.spec)
    fold_long(folded, EventColumns.of(campaign.log()))
    assert folded.ledger.names() == state.ledger.names()
    assert folded.ledger.pilot == state.ledger.pilot


@settings(max_examples=6, deadline=None)
@given(
    budget=st.integers(60, 300),
    costs=st.lists(st.integers(0, 6), min_size=1, max_size=8),
    limit=st.integers(1, 30),
)
def test_no_money_is_spent_that_is_not_there(budget: int, costs: list[int], limit: int) -> None:
    campaign = create(tasks=TASKS[:12], budget=str(budget / 100))
    asked = 0
    for _ in range(40):
        status = campaign.status()
        assert status.left is not None
        assert status.left >= 0
        for each in campaign.assignments():
            asked += 1
            # Some calls cost more than their ceiling.
            campaign.tell(each.id, "yes", cost=f"0.0{costs[asked % len(costs)]}")
        if isinstance(campaign.ask(limit), Done):
            break
    status = campaign.status()
    assert status.spent <= status.budget  # type: ignore[operator]
    drawn = next(event for event in campaign.log() if event.kind == Kind.DRAWN)
    assert drawn.draw is not None
    # 0.04 a task at the ceilings: no more than a third of the budget.
    assert 3 * len(drawn.draw["tasks"]) * to_micro("0.04", "price") <= budget * 10_000


def test_the_draw_depends_on_the_seed_alone() -> None:
    drawn = []
    for seed, limit in ((3, 1), (3, 50), (4, 1)):
        campaign = create(seed=seed)
        campaign.ask(limit)
        event = next(each for each in campaign.log() if each.kind == Kind.DRAWN)
        assert event.draw is not None
        drawn.append(event.draw["tasks"])
    assert drawn[0] == drawn[1]
    assert drawn[0] != drawn[2]


def test_each_task_is_drawn_as_often_as_its_odds_say() -> None:
    campaign = create(tasks=TASKS[:10], pilot=5)
    for task in TASKS[:4]:
        campaign.truth(task, "yes")
    count = dict.fromkeys(TASKS[:10], 0)
    with campaign.reading() as state:
        for seed in range(300):
            drawn = draw_pilot(PilotTerms(5, ("gpt", "mini")), state.ledger, seed)
            assert drawn is not None
            assert drawn["odds"] == [0.5] * 5
            assert len(set(drawn["tasks"]) & set(TASKS[:4])) == 2
            for task in drawn["tasks"]:
                count[task] += 1
    # Two of four with a truth, three of six others: each with probability .5. The standard
    # deviation of 300 draws is 8.7; four of them are 35.
    assert all(abs(each - 150) < 35 for each in count.values())


NAMES = [name for name in policies.names() if name not in NEEDED]


@pytest.mark.parametrize("name", NAMES)
def test_every_policy_takes_a_pilot_or_refuses_it_by_name(name: str) -> None:
    takes = issubclass(policies.get(name), TakesPilot)
    changes = {"policy": name, "tasks": TASKS[:9], "budget": "2", "stopping": RULE, "pilot": 5}
    if not takes:
        with pytest.raises(InvalidProblem):
            create(**changes)
        return
    campaign = create(**changes)
    referee = Referee(campaign._spec.problem)
    assert isinstance(run(campaign, limit=3), Done)
    for event in campaign.log():
        referee.see(event)
    referee.compare(campaign._writer.current().ledger)
    assert campaign.pilot().done == 15
    asked = [event for event in campaign.log() if event.kind == Kind.ASKED]
    for event in (asked[0], asked[14], asked[-1]):
        assert campaign.explain(f"cats:{event.seq}").reproduced


def test_policies_that_count_on_their_own_questions_say_so() -> None:
    for name in ("cascade", "bbta", "crowdsense", "iethresh", "virt-ucb"):
        workers = [*JUDGES, ANN, Worker("vet", 1, trusted=True)]
        with pytest.raises(InvalidProblem, match="chosen every question itself") as refused:
            create(policy=name, workers=workers, repeat=False, tasks=TASKS)
        assert refused.value.field == "pilot"
        assert "hem" in str(refused.value)
