"""What can be read off a campaign: a file per view, its data beside the function that reads it.

A view is read off the state that ``Campaign.reading()`` lends, in O(tasks + workers + answers),
and changes nothing.
"""

from askwise.campaign.views.agreement import Agreement, agreement
from askwise.campaign.views.answers import Answer, KeptAnswers, answers, in_campaign
from askwise.campaign.views.assignments import Handed, assignment_id, handed, outstanding
from askwise.campaign.views.certificate import CampaignCertificate, certificate
from askwise.campaign.views.contested import Contested, contested
from askwise.campaign.views.explain import Candidate, Explanation, explain
from askwise.campaign.views.families import FamilyAgreement
from askwise.campaign.views.forecast import Forecast, forecast
from askwise.campaign.views.judges import JudgesReport, judges
from askwise.campaign.views.outcomes import Outcomes, outcomes
from askwise.campaign.views.pace import Paces
from askwise.campaign.views.payments import Bonus, DuePayout, Payment, Payout, payments
from askwise.campaign.views.pilot import PilotReport, PilotWorker, pilot
from askwise.campaign.views.quality import Quality
from askwise.campaign.views.results import CampaignResults, MeasuredAccuracy, results
from askwise.campaign.views.savings import Savings, savings
from askwise.campaign.views.standing import (
    OwnStanding,
    own_standing,
    standing,
)
from askwise.campaign.views.status import NeedsGold, Status, over, status
from askwise.campaign.views.timeline import Series, Timeline
from askwise.campaign.views.worker_pace import worker_pace
from askwise.campaign.views.worker_report import (
    ConfusionCount,
    WorkerReport,
    worker_report,
)
from askwise.campaign.views.workers import WorkerSummary, workers

__all__ = [
    "Agreement",
    "Answer",
    "Bonus",
    "CampaignCertificate",
    "CampaignResults",
    "Candidate",
    "ConfusionCount",
    "Contested",
    "DuePayout",
    "Explanation",
    "FamilyAgreement",
    "Forecast",
    "Handed",
    "JudgesReport",
    "KeptAnswers",
    "MeasuredAccuracy",
    "NeedsGold",
    "Outcomes",
    "OwnStanding",
    "Paces",
    "Payment",
    "Payout",
    "PilotReport",
    "PilotWorker",
    "Quality",
    "Savings",
    "Series",
    "Status",
    "Timeline",
    "WorkerReport",
    "WorkerSummary",
    "agreement",
    "answers",
    "assignment_id",
    "certificate",
    "contested",
    "explain",
    "forecast",
    "handed",
    "in_campaign",
    "judges",
    "outcomes",
    "outstanding",
    "over",
    "own_standing",
    "payments",
    "pilot",
    "results",
    "savings",
    "standing",
    "status",
    "worker_pace",
    "worker_report",
    "workers",
]
