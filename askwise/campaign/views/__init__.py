"""What can be read off a campaign: a file a view, its data beside the function that reads it.

A view is read off the state that ``Campaign.reading()`` lends, in O(tasks + workers + answers),
and changes nothing.
"""

from askwise.campaign.views.answers import Answer, KeptAnswers, answers, in_campaign
from askwise.campaign.views.assignments import Handed, assignment_id, handed, outstanding
from askwise.campaign.views.certificate import CampaignCertificate, certificate
from askwise.campaign.views.contested import Contested, contested
from askwise.campaign.views.explain import Candidate, Explanation, explain
from askwise.campaign.views.forecast import Forecast, forecast
from askwise.campaign.views.outcomes import OutcomeCount, Outcomes, outcomes
from askwise.campaign.views.payments import Payment, payments
from askwise.campaign.views.pilot import (
    FamilyAgreement,
    PilotProgress,
    PilotReport,
    PilotWorker,
    pilot,
)
from askwise.campaign.views.quality import Quality
from askwise.campaign.views.savings import Savings, savings
from askwise.campaign.views.status import NeedsGold, Status, over, status
from askwise.campaign.views.timeline import Series, Timeline
from askwise.campaign.views.workers import WorkerSummary, workers

__all__ = [
    "Answer",
    "CampaignCertificate",
    "Candidate",
    "Contested",
    "Explanation",
    "FamilyAgreement",
    "Forecast",
    "Handed",
    "KeptAnswers",
    "NeedsGold",
    "OutcomeCount",
    "Outcomes",
    "Payment",
    "PilotProgress",
    "PilotReport",
    "PilotWorker",
    "Quality",
    "Savings",
    "Series",
    "Status",
    "Timeline",
    "WorkerSummary",
    "answers",
    "assignment_id",
    "certificate",
    "contested",
    "explain",
    "forecast",
    "handed",
    "in_campaign",
    "outcomes",
    "outstanding",
    "over",
    "payments",
    "pilot",
    "savings",
    "status",
    "workers",
]
