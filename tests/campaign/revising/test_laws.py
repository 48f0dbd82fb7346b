"""Laws of changed answers: the log is folded as if each had been given so from the start."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from askwise import Campaign, Worker
from askwise.campaign.state import CampaignState
from askwise.core.choices import Batch
from askwise.core.errors import AskwiseError
from askwise.core.events import Event, Kind
from askwise.ledger import columns as c
from askwise.testing.sessions import spec_of_campaign
from tests.campaign.machines import CampaignMachine

CHANGES = (Kind.REVISED, Kind.WITHDRAWN)
OPTIONS = ["no", "yes", "maybe"]
POLICIES = {
    "random-pairs": {"stopping": {"name": "lead"}},
    "hem": {},
    "bbta": {},
    "b-kube": {"stopping": {"name": "fixed", "n": 2}},
    "virt-ucb": {"stopping": {"name": "fixed", "n": 6, "cap": 9}},
    "optkg": {},
    "bounded-kube": {},
}


def last_words(log: list[Event]) -> dict[int, Event]:
    """The event that decides what each question was answered with."""
    found = {}
    for event in log:
        if event.kind in (Kind.ANSWER, *CHANGES):
            found[event.assignment or 0] = event
    return found


def by_hand(campaign: Campaign, log: list[Event]) -> CampaignState:
    """Fold a log in which every answer was given as it was changed last."""
    state, last = CampaignState(spec_of_campaign(campaign)), last_words(log)
    for event in log:
        if event.kind in CHANGES:
            state.ledger.seq = event.seq
            continue
        if event.kind == Kind.ANSWER:
            word = last[event.assignment or 0]
            if word.kind == Kind.WITHDRAWN:
                event = replace(event, kind=Kind.FAILED, value=None, why="withdrawn")
            else:
                event = replace(event, value=word.value)
        state.fold(event)
    return state


def parts(state: CampaignState) -> dict[str, Any]:
    names = json.loads(state.ledger.names())
    del names["changes"], names["withdrawn"]
    kept = state.spec.policy.used(state.beliefs, state.ledger)
    rule = state.rule_state._asdict() if state.rule_state else {}
    return {"names": names, **state.ledger.arrays(), **kept, **rule}


def same(one: CampaignState, other: CampaignState) -> None:
    here, there = parts(one), parts(other)
    assert here.keys() == there.keys()
    for name, part in here.items():
        np.testing.assert_array_equal(part, there[name], err_msg=name)


def check_votes(campaign: Campaign) -> None:
    """Votes and answers as counted from the log."""
    log = campaign.log()
    last = [event for event in last_words(log).values() if event.kind != Kind.WITHDRAWN]
    votes = Counter((event.task, event.value) for event in last)
    with campaign.reading() as state:
        ledger = state.ledger
        assert ledger.total(c.ANSWERS) == len(last)
        if ledger.problem.options:
            for at, task in enumerate(ledger.tasks):
                due = [votes[task.id, option] for option in ledger.problem.options]
                assert ledger.book.votes[at].tolist() == due
        else:
            said = sum(float(event.value or 0.0) for event in last)
            assert ledger.utility == pytest.approx(said)
        spent = sum(event.price or 0 for event in log if event.kind in (Kind.ANSWER, Kind.FAILED))
        assert ledger.total(c.SPENT) == spent
        assert spent + ledger.reserved <= (ledger.budget or spent + ledger.reserved)


class Revisions(CampaignMachine):
    """A campaign whose answers are given, changed and withdrawn at random."""

    @initialize(policy=st.sampled_from([*POLICIES]), budget=st.sampled_from((11, 40)))
    def begin(self, policy: str, budget: int) -> None:
        crowds, utility = policy == "virt-ucb", policy == "bounded-kube"
        kind = None if crowds or utility else "model"
        what: dict[str, Any] = {"outcome": "utility"}
        if not utility:
            what = {
                "tasks": ["t1", "t2", "t3"],
                "options": OPTIONS[: 2 if policy in ("b-kube", "optkg") else 3],
            }
        self.create(
            workers=[Worker("a", 1, limit=9, kind=kind), Worker("b", 2, kind=kind), Worker("c", 1)],
            budget=budget,
            policy=policy,
            **what,
            **POLICIES[policy],
        )
        self.values: list[Any] = what.get("options") or [0.0, 0.25, 1.0]

    @rule(limit=st.integers(1, 4))
    def ask(self, limit: int) -> None:
        assert self.campaign is not None
        batch = self.campaign.ask(limit)
        self.look()
        if isinstance(batch, Batch):
            self.known += [each.id for each in batch]

    @precondition(lambda self: self.known)
    @rule(which=st.integers(0, 99), value=st.integers(0, 2), cost=st.sampled_from((None, 0, 3)))
    def tell(self, which: int, value: int, cost: int | None) -> None:
        self._do("tell", which, self._value(value), cost=cost)

    @precondition(lambda self: self.known)
    @rule(which=st.integers(0, 99), value=st.integers(0, 2))
    def revise(self, which: int, value: int) -> None:
        self._do("revise", which, self._value(value))

    @precondition(lambda self: self.known)
    @rule(which=st.integers(0, 99))
    def withdraw(self, which: int) -> None:
        self._do("withdraw", which, "It was deleted.")

    @precondition(lambda self: self.known)
    @rule(which=st.integers(0, 99))
    def decline(self, which: int) -> None:
        self._do("decline", which)

    @invariant()
    def votes_and_money_are_those_of_the_log(self) -> None:
        if self.campaign is not None:
            check_votes(self.campaign)

    def check_end(self, campaign: Campaign) -> None:
        log = campaign.log()
        self.check_folds(campaign)
        again = Campaign.open(self.store, "cats", clock=lambda: self.now)
        with campaign.reading() as state, again.reading() as resumed:
            same(state, by_hand(campaign, log))
            same(state, resumed)
        for event in log:
            if event.kind in CHANGES:
                same(
                    campaign._writer.state_at(event.seq - 1),
                    by_hand(campaign, log[: event.seq - 1]),
                )
            elif event.kind == Kind.ASKED:
                assert campaign.explain(f"cats:{event.seq}").reproduced

    def _value(self, which: int) -> Any:
        return self.values[which % len(self.values)]

    def _do(self, verb: str, which: int, *given: Any, **more: Any) -> None:
        assert self.campaign is not None
        with suppress(AskwiseError):  # it may not be in the state for it
            getattr(self.campaign, verb)(self.known[which % len(self.known)], *given, **more)
        self.look()


TestRevisions = Revisions.TestCase
TestRevisions.settings = settings(max_examples=20, stateful_step_count=25)
