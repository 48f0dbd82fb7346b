"""What state machines of hypothesis that play with a campaign have in common."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from askwise import Campaign
from askwise.campaign import cached, loading
from askwise.campaign.folding import fold_long
from askwise.campaign.revisions import changes_in, substitutes
from askwise.campaign.state import CampaignState
from askwise.core.event_columns import EventColumns
from askwise.store import MemoryStore
from askwise.testing.referee import Referee
from askwise.testing.sessions import spec_of_campaign

LEASE = 10.0


class CampaignMachine(RuleBasedStateMachine):
    """A campaign with leases and a clock of its own, of which snapshots are taken often."""

    def __init__(self) -> None:
        super().__init__()
        self.usual = cached.FIRST_SNAPSHOT, loading.APART
        cached.FIRST_SNAPSHOT, loading.APART = 8, 3
        self.campaign: Campaign | None = None
        self.now, self.store = 1000.0, MemoryStore()
        self.known: list[str] = []
        """The assignments that were handed out."""
        self.seen = 0
        """The last event that the referee has seen."""

    def create(self, **what: Any) -> Campaign:
        """Create the campaign."""
        self.campaign = Campaign.create(
            lease=LEASE, seed=1, clock=lambda: self.now, store=self.store, name="cats", **what
        )
        self.follow()
        return self.campaign

    def follow(self) -> None:
        """Have a referee follow the log from its beginning: it may have been rewritten."""
        assert self.campaign is not None
        self.seen = 0
        self.campaign.status()
        self.referee = Referee(spec_of_campaign(self.campaign).problem)
        self.look()

    def look(self) -> None:
        """Have the referee look at what is new in the log, and at the ledger."""
        assert self.campaign is not None
        for event in self.campaign.log(after=self.seen):
            self.referee.see(event)
            self.seen = event.seq
        with self.campaign.reading() as state:
            self.referee.compare(state.ledger)

    @rule(seconds=st.sampled_from((1.0, LEASE + 1.0)))
    def wait(self, seconds: float) -> None:
        """Let time pass, perhaps more than a lease."""
        self.now += seconds

    def teardown(self) -> None:
        """Take snapshots as usual, and look at what the campaign has come to."""
        cached.FIRST_SNAPSHOT, loading.APART = self.usual
        if self.campaign is not None:
            self.check_end(self.campaign)

    def check_folds(self, campaign: Campaign) -> None:
        """Object if a campaign is another when it is opened again, or folded in one loop."""
        again = Campaign.open(self.store, "cats", clock=lambda: self.now)
        log = campaign.log()
        with campaign.reading() as state, again.reading() as resumed:
            assert state.snapshot() == resumed.snapshot()
            if state.in_kernels and log:
                at_once, columns = CampaignState(state.spec), EventColumns.of(log)
                at_once.substitutes = substitutes(changes_in(columns))
                fold_long(at_once, columns)
                assert at_once.snapshot() == state.snapshot()

    def check_end(self, campaign: Campaign) -> None:
        """Object to what may not be in the end."""
        raise NotImplementedError
