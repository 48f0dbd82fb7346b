"""Campaigns: ask and tell, whatever happens in between."""

from askwise.campaign.campaign import Campaign
from askwise.campaign.views import Answer, Bonus, Candidate, Explanation, Payment, Payout, Status

__all__ = [
    "Answer",
    "Bonus",
    "Campaign",
    "Candidate",
    "Explanation",
    "Payment",
    "Payout",
    "Status",
]
