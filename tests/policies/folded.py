"""What a policy knows, read from outside."""

from __future__ import annotations

from askwise import Campaign
from askwise.campaign.state import CampaignState
from askwise.testing.sessions import spec_of_campaign


def state_of(campaign: Campaign) -> CampaignState:
    """The campaign's log, folded anew."""
    state = CampaignState(spec_of_campaign(campaign))
    for event in campaign.log():
        state.fold(event)
    return state
