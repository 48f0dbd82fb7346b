"""The policy "auto": a policy, stopping rule and aggregation chosen by what a campaign is given.

A choice is made once, when a campaign is created. The store keeps what was chosen and why, so that
opening a campaign never chooses again.
"""

from askwise.campaign.choosing.preferences import PREFERENCES, choose_parts
from askwise.campaign.choosing.situation import Situation
from askwise.campaign.choosing.terms import AUTO, AutoTerms

__all__ = [
    "AUTO",
    "PREFERENCES",
    "AutoTerms",
    "Situation",
    "choose_parts",
]
