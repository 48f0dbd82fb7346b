"""Campaigns: ask and tell, whatever happens in between."""

from askwise.campaign.campaign import Campaign
from askwise.campaign.views import Answer, Candidate, Explanation, Payment, Status

__all__ = ["Answer", "Campaign", "Candidate", "Explanation", "Payment", "Status"]
