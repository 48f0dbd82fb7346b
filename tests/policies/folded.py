"""What a policy knows, read from outside."""

from __future__ import annotations

from askwise import Campaign
from askwise.campaign.state import Engine
from askwise.testing.sessions import spec_of_campaign


def engine_of(campaign: Campaign) -> Engine:
    """The campaign's log, folded anew."""
    engine = Engine(spec_of_campaign(campaign))
    for event in campaign.log():
        engine.fold(event)
    return engine
