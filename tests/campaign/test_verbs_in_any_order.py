"""Laws of campaigns to which everything may happen in any order."""

from __future__ import annotations

import io
import json
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from askwise import Campaign, Worker
from askwise.campaign.forgetting import forget_worker
from askwise.campaign.revisions import changes_in, substitutes
from askwise.campaign.state import CampaignState
from askwise.campaign.views.answers import answers, in_campaign
from askwise.core.choices import Batch
from askwise.core.errors import AskwiseError, PolicyFault, StoreError
from askwise.core.event_columns import EventColumns
from askwise.core.events import Kind
from askwise.ledger.entries import REMOVED
from askwise.service.exports import EXPORTS, export
from askwise.store import MemoryStore
from askwise.store.backup import file as backups
from tests.campaign.machines import CampaignMachine

SCREENING = {"qualify": 5, "pass_share": 0.6, "rate": 0.5, "warn_below": 0.9, "pause_below": 0.8}
CERTIFY = {"error": 0.4, "confidence": 0.6, "by": ["vet"], "share": 0.5}
TERMS: dict[str, dict[str, Any]] = {
    "screened": {"policy": "random-pairs", "stopping": "lead", "screening": SCREENING},
    "certified": {"policy": "random-pairs", "stopping": "lead", "certify": CERTIFY},
    "both": {"policy": "random-pairs", "screening": SCREENING, "certify": CERTIFY},
    "neither": {"policy": "hem"},
}
GOLD, TASKS = [f"g{at}" for at in range(7)], [f"t{at}" for at in range(4)]
PEOPLE = ("ann", "bob", "cid")

whom = st.integers(0, 2)
which = st.integers(0, 99)
says = st.sampled_from(("no", "yes"))


class Everything(CampaignMachine):
    """A campaign on which all verbs are called, with a referee who follows its log."""

    @initialize(terms=st.sampled_from([*TERMS]), budget=st.sampled_from((16, 60)))
    def begin(self, terms: str, budget: int) -> None:
        self.people, self.tasks, self.made = [*PEOPLE], [*GOLD, *TASKS], 0
        self.gone: list[str] = []
        vet = [Worker("vet", 2, trusted=True)] if "certify" in TERMS[terms] else []
        campaign = self.create(
            workers=[*(Worker(one, 1, kind="person") for one in PEOPLE), *vet],
            tasks=self.tasks,
            options=["no", "yes"],
            budget=budget,
            **TERMS[terms],
        )
        if "screening" in TERMS[terms]:
            campaign.truths(dict.fromkeys(GOLD, "yes"))
            self.look()

    # Work.

    @rule(limit=st.integers(1, 6))
    def ask(self, limit: int) -> None:
        batch = self._do("ask", limit)
        if isinstance(batch, Batch):
            self.known += [each.id for each in batch]

    @rule(limit=st.integers(1, 6), value=says)
    def answer(self, limit: int, value: str) -> None:
        for each in self._do("ask", limit) or ():
            self.known.append(each.id)
            self._do("tell", each.id, value)

    @rule(value=says)
    def work_on(self, value: str) -> None:
        """Answer all that is asked, up to what somebody has to wait for."""
        for _ in range(12):
            batch = self._do("ask", 6)
            if not isinstance(batch, Batch):
                break
            for each in batch:
                self.known.append(each.id)
                self._do("tell", each.id, value)

    @precondition(lambda self: self.known)
    @rule(at=which, value=says)
    def tell(self, at: int, value: str) -> None:
        self._do("tell", self._out(at), value)

    @precondition(lambda self: self.known)
    @rule(at=which, verb=st.sampled_from(("fail", "decline", "expire", "renew", "flag")))
    def give_back(self, at: int, verb: str) -> None:
        said = {"fail": ("error",), "flag": ("It is blank.",)}.get(verb, ())
        self._do(verb, self._out(at), *said)

    @precondition(lambda self: self.known)
    @rule(at=which, value=says)
    def revise(self, at: int, value: str) -> None:
        self._do("revise", self._out(at), value)

    @precondition(lambda self: self.known)
    @rule(at=which)
    def withdraw(self, at: int) -> None:
        self._do("withdraw", self._out(at), "It was a slip.")

    # What the requester does.

    @rule(at=which, value=says, verb=st.sampled_from(("truth", "set_label", "close", "remove")))
    def decide(self, at: int, value: str, verb: str) -> None:
        task = self.tasks[at % len(self.tasks)]
        if verb == "truth":
            self._do("truth", task, value)
        elif verb == "set_label":
            self._do("set_label", task, value, by="eve", truth=bool(at % 2))
        else:
            self._do(verb, task)

    @rule(at=whom, verb=st.sampled_from(("suspend", "reinstate", "leave", "come", "pay", "bonus")))
    def manage(self, at: int, verb: str) -> None:
        worker = self.people[at]
        if verb == "come":
            self._do("add", workers=[Worker(worker, 1, kind="person")])
        elif verb == "leave":
            self._do("leave", worker)
        elif verb == "bonus":
            self._do("bonus", worker, "0.5", why="Quick.", by="eve")
        else:
            self._do(verb, worker, by="eve")

    @rule(verb=st.sampled_from(("pause", "resume", "archive", "unarchive", "top_up", "add", "pay")))
    def run(self, verb: str) -> None:
        if verb == "add":
            self.made += 1
            self.tasks.append(f"n{self.made}")
            self._do("add", tasks=[self.tasks[-1]])
        elif verb == "pay":
            self._do("pay_all", by="eve", reference="r1")
        else:
            self._do(verb, *((2,) if verb == "top_up" else ()))

    @rule(at=whom)
    def forget(self, at: int) -> None:
        old = self.people[at]
        self.made += 1
        self.people[at] = f"w{self.made}"
        forget_worker(self.store, "cats", old, self.now, self.people[at])
        self.gone.append(old)
        self.follow()

    # What holds at all times.

    @invariant()
    def views_agree_with_the_log(self) -> None:
        if self.campaign is None:
            return
        campaign = self.campaign
        with campaign.reading() as state:
            ledger = state.ledger
            fresh = in_campaign(answers(state))
            removed = [ledger.tasks[at].id for at in sorted(ledger.removed)]
        assert campaign.answers() == fresh
        assert not {answer.task for answer in fresh} & set(removed)
        closed = [each for each in campaign.log() if each.kind == Kind.CLOSED]
        assert removed == sorted(
            {each.task or "" for each in closed if each.outcome == REMOVED}, key=self.tasks.index
        )
        assert sum(answer.count for answer in fresh) == campaign.status().answers

    def check_end(self, campaign: Campaign) -> None:
        self.check_folds(campaign)
        self._check_folds_one_by_one(campaign)
        self._check_views(campaign)
        self._check_copies(campaign)
        log = campaign.log()
        for old in self.gone:
            assert f'"{old}"' not in json.dumps([each.to_json() for each in log])
        for each in log:
            if each.kind == Kind.ASKED:
                assert campaign.explain(f"cats:{each.seq}").reproduced

    def _check_folds_one_by_one(self, campaign: Campaign) -> None:
        log = campaign.log()
        with campaign.reading() as state:
            restored = CampaignState.restore(state.spec, state.snapshot())
            anew = CampaignState(state.spec)
            anew.substitutes = substitutes(changes_in(EventColumns.of(log)))
            for event in log:
                anew.fold(event)
            assert anew.snapshot() == state.snapshot() == restored.snapshot()

    def _check_views(self, campaign: Campaign) -> None:
        status, results = campaign.status(), campaign.results()
        assert status.budget is not None
        assert status.spent + status.reserved <= status.budget
        assert campaign.agreement().tasks <= results.tasks
        campaign.judges()
        for summary, payment in zip(campaign.workers(), campaign.payments(), strict=True):
            assert summary.id == payment.worker
            assert campaign.worker(payment.worker).worker == summary
            campaign.standing(payment.worker)
        assert results.tasks == len(campaign.answers())
        for what in EXPORTS:
            written = b"".join(export(campaign, what))
            assert not any(f'"{old}"'.encode() in written for old in self.gone)

    def _check_copies(self, campaign: Campaign) -> None:
        written = io.BytesIO()
        backups.backup(self.store, written, self.now)
        written.seek(0)
        copy = MemoryStore()
        backups.restore(copy, written)
        assert Campaign.open(copy, "cats").log() == campaign.log()

    # Helpers.

    def _out(self, at: int) -> str:
        return self.known[at % len(self.known)]

    def _do(self, verb: str, *given: Any, **more: Any) -> Any:
        assert self.campaign is not None
        archived, before = self.campaign.status().archived, self.seen
        found = None
        try:
            found = getattr(self.campaign, verb)(*given, **more)
        except (PolicyFault, StoreError):
            raise
        except AskwiseError:
            pass  # it may not be in the state for it
        self.look()
        if archived and verb != "unarchive":
            assert self.seen == before, f"{verb} has changed an archived campaign"
        return found


TestEverything = Everything.TestCase
TestEverything.settings = settings(max_examples=8, stateful_step_count=25, deadline=None)
