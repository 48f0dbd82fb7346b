"""What state machines of hypothesis that play with a campaign have in common."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from askwise import Campaign
from askwise.campaign import cached, loading
from askwise.store import MemoryStore

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

    def create(self, **what: Any) -> Campaign:
        """Create the campaign."""
        self.campaign = Campaign.create(
            lease=LEASE, seed=1, clock=lambda: self.now, store=self.store, name="cats", **what
        )
        return self.campaign

    @rule(seconds=st.sampled_from((1.0, LEASE + 1.0)))
    def wait(self, seconds: float) -> None:
        """Let time pass, perhaps more than a lease."""
        self.now += seconds

    def teardown(self) -> None:
        """Take snapshots as usual, and look at what the campaign has come to."""
        cached.FIRST_SNAPSHOT, loading.APART = self.usual
        if self.campaign is not None:
            self.check_end(self.campaign)

    def check_end(self, campaign: Campaign) -> None:
        """Object to what may not be in the end."""
        raise NotImplementedError
