"""A long log folded in one loop comes to what folding it event by event comes to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from askwise import Batch, Campaign, Worker
from askwise.campaign import cached, folding
from askwise.campaign.revisions import changes_in, substitutes
from askwise.campaign.spec import Spec
from askwise.campaign.state import CampaignState
from askwise.core.event_columns import EventColumns
from askwise.core.events import Event, Kind
from askwise.policies import policies
from askwise.policies.base import KernelPolicy
from askwise.store import MemoryStore
from askwise.store.event_rows import columns_of, pack
from askwise.testing.scenes import Scene, scenes_for
from askwise.testing.sessions import play, spec_of_campaign

CUT = ("random-pairs", "hem", "virt-ucb", "ccb-ns", "bbta", "knowledge-gradient", "uniform")

SCRIPT = [(7 * number + number // 5) % 61 for number in range(90)]


def same_state(one: CampaignState, other: CampaignState) -> None:
    policy = one.spec.policy
    for mine, theirs in (
        (one.ledger.arrays(), other.ledger.arrays()),
        (policy.used(one.beliefs, one.ledger), policy.used(other.beliefs, other.ledger)),
    ):
        assert mine.keys() == theirs.keys()
        for name in mine:
            np.testing.assert_array_equal(mine[name], theirs[name], err_msg=name)
    assert one.ledger.names() == other.ledger.names()
    assert one.soonest() == other.soonest()


def one_by_one(spec: Spec, log: list[Event]) -> CampaignState:
    state = CampaignState(spec)
    for event in log:
        state.fold(event)
    return state


def as_text(log: Sequence[Event]) -> EventColumns:
    """Columns as a store has them that keeps text."""
    return columns_of(pack(log, log[0].seq - 1))


def kernel_policies() -> list[str]:
    """Those that play somewhere without parameters."""
    made = [policies.make(name) for name in policies.names()]
    compiled = [each for each in made if isinstance(each, KernelPolicy) and each.compiles]
    return [each.name for each in compiled if scenes_for(each)]


@pytest.mark.usefixtures("plain_loops")
@pytest.mark.parametrize("name", kernel_policies())
def test_all_kinds_of_events_are_folded_alike(name: str) -> None:
    policy = policies.make(name)
    scene: Scene = scenes_for(policy)[-1]
    session = play(policy, scene, SCRIPT)
    spec, log = spec_of_campaign(session.campaign), session.campaign.log()
    due = one_by_one(spec, log)
    for columns in (EventColumns.of(log), as_text(log)):
        for stride in (len(log), 7):
            state = CampaignState(spec)
            for first in range(0, len(log), stride):
                folding.fold_long(state, columns.cut(first, first + stride))
            same_state(state, due)
    assert len({event.kind for event in log}) > 5


@pytest.mark.sampled(3)
@pytest.mark.usefixtures("plain_loops")
@pytest.mark.parametrize("name", CUT)
@given(
    st.lists(st.integers(0, 60), min_size=10, max_size=25),
    st.lists(st.tuples(st.integers(1, 30), st.sampled_from(["text", "events", "one by one"]))),
)
@settings(
    max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_any_cut_of_any_log_comes_to_the_same_bytes(
    name: str, script: list[int], cuts: list[tuple[int, str]]
) -> None:
    policy = policies.make(name)
    session = play(policy, scenes_for(policy)[-1], script)
    spec, log = spec_of_campaign(session.campaign), session.campaign.log()
    state, at = CampaignState(spec), 0
    for length, how in [*cuts, (len(log), "text")]:
        some = log[at : at + length]
        at += len(some)
        if how == "one by one":
            for event in some:
                state.fold(event)
        elif some:
            folding.fold_long(state, as_text(some) if how == "text" else EventColumns.of(some))
    due = one_by_one(spec, log)
    same_state(state, due)
    assert state.snapshot() == due.snapshot()


@pytest.mark.usefixtures("plain_loops")
@pytest.mark.parametrize("policy", ["random-pairs", "hem", "uniform"])
def test_answers_that_were_changed_are_folded_alike(policy: str) -> None:
    units = policy == "uniform"
    what: dict[str, Any] = {"tasks": ["t1", "t2", "t3"], "options": ["no", "yes"]}
    campaign = Campaign.create(
        workers=[Worker("a", 1), Worker("b", 1)],
        **({"outcome": "utility"} if units else what),
        stopping=None if units else {"name": "fixed", "n": 2},
        policy=policy,
        budget=20,
        seed=1,
    )
    ids = [each.id for each in campaign.ask(limit=6)]
    values: list[Any] = [0.25, 0.75] if units else ["no", "yes"]
    for at, id in enumerate(ids):
        campaign.tell(id, values[at % 2], cost=None if at % 3 else "0.5")
    for at, id in enumerate(ids[:4]):
        campaign.revise(id, values[(at + 1) % 2])
        if at % 2:
            campaign.withdraw(id, "Gone.")
    spec, log = spec_of_campaign(campaign), campaign.log()
    known = substitutes(changes_in(EventColumns.of(log)))
    due = CampaignState(spec)
    due.substitutes = dict(known)
    for event in log:
        due.fold(event)
    for columns in (EventColumns.of(log), as_text(log)):
        for stride in (len(log), 7):
            state = CampaignState(spec)
            state.substitutes = dict(known)
            for first in range(0, len(log), stride):
                folding.fold_long(state, columns.cut(first, first + stride))
            same_state(state, due)
    with campaign.reading() as state:
        same_state(state, due)


@pytest.mark.usefixtures("plain_loops")
def test_names_numbers_and_gaps_in_bodies_are_read_as_they_were_written() -> None:
    # Quotes and signs that JSON escapes, whole and long numbers, and what the kernel leaves.
    names = ['a"b', "\\", "über", "漢", "t]}", "{[,"]
    campaign = Campaign.create(
        workers=[Worker(each, 1) for each in names],
        tasks=[f"{each}{at}" for at, each in enumerate(names)],
        outcome="utility",
        repeat=False,
        policy="uniform",
        lease=1 / 3,
        clock=lambda: 1763400000.1234567,
        name="odd",
        seed=3,
    )
    for number, value in enumerate((0.1, 1, 1 / 3, 5e-324, 0.7000000000000001, 1e-7) * 3):
        batch = campaign.ask()
        assert isinstance(batch, Batch)
        if number % 5 == 4:
            campaign.decline(batch[0].id)
        else:
            campaign.tell(batch[0].id, value, **({"cost": "0.5"} if number % 7 == 6 else {}))
    log, spec = campaign.log(), spec_of_campaign(campaign)
    state = CampaignState(spec)
    folding.fold_long(state, as_text(log))
    same_state(state, one_by_one(spec, log))


def campaign_with_a_log(store: MemoryStore, answers: int) -> Campaign:
    campaign = Campaign.create(
        workers=[Worker(f"w{at}", 1) for at in range(5)],
        tasks=[f"t{at}" for at in range(40)],
        options=["no", "yes"],
        policy="random-pairs",
        stopping={"name": "lead", "lead": 2},
        lease=60,
        store=store,
        name="long",
        seed=3,
    )
    for number in range(answers):
        batch = campaign.ask(limit=2)
        assert isinstance(batch, Batch)
        campaign.tell(batch[0].id, "yes" if number % 3 else "no")
    return campaign


@pytest.mark.usefixtures("plain_loops")
def test_a_start_folds_a_long_log_in_one_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    store = MemoryStore()
    campaign = campaign_with_a_log(store, 40)
    stretches: list[int] = []
    fold_long = folding.fold_long

    def watched(state: CampaignState, columns: EventColumns) -> None:
        stretches.append(len(columns))
        fold_long(state, columns)

    monkeypatch.setattr(folding, "STRETCH", 50)
    monkeypatch.setattr(folding, "LONG", 50)
    monkeypatch.setattr(folding, "SHORT", 5)
    monkeypatch.setattr(folding, "fold_long", watched)
    again = Campaign.open(store, "long")
    assert again.status() == campaign.status()
    assert again.assignments() == campaign.assignments()
    end = campaign.status().seq
    assert stretches == [50] * (end // 50) + [end % 50] * (end % 50 >= 5)
    assert isinstance(again.ask(), Batch)
    with again.reading() as live:
        same_state(live, one_by_one(live.spec, again.log()))


def test_what_does_not_follow_is_found_out() -> None:
    store = MemoryStore()
    campaign = campaign_with_a_log(store, 3)
    spec, log = spec_of_campaign(campaign), campaign.log()
    answered = next(event for event in log if event.kind == Kind.ANSWER)
    state = CampaignState(spec)
    misfit = Event(Kind.ANSWER, 1, assignment=answered.seq, value="no")
    with pytest.raises(AssertionError, match="event 1 does not follow"):
        folding.fold_long(state, EventColumns.of([misfit]))
    with pytest.raises(AssertionError, match="gap"):
        folding.fold_long(CampaignState(spec), EventColumns.of([log[0], log[2]]))


@pytest.mark.usefixtures("plain_loops")
def test_the_loop_is_used_where_it_is_compiled_and_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    state = CampaignState(spec_of_campaign(campaign_with_a_log(MemoryStore(), 1)))
    monkeypatch.setattr(folding, "ready", lambda *_: False)
    assert not folding.pays(state, folding.LONG)
    monkeypatch.setattr(folding, "ready", lambda *_: True)
    assert not folding.pays(state, folding.LONG - 1)
    assert folding.pays(state, folding.LONG)
    assert folding.pays(state, folding.SHORT)
    assert not folding.pays(state, folding.SHORT - 1)
    assert cached.FIRST_SNAPSHOT > folding.SHORT
