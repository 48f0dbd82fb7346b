"""What may be believed of labels and of those who gave them, by tasks that were audited."""

from askwise.auditing.alternative import AgainstHuman, AlternativeTest
from askwise.auditing.ballots import Sources
from askwise.auditing.cards import ReportCard, check
from askwise.auditing.cascades import Cascade
from askwise.auditing.intervals import Interval
from askwise.auditing.judges import ClassRates, Flips, JudgeCard
from askwise.auditing.needs import AuditNeed, audit_needs
from askwise.auditing.panels import Contribution, PanelCard
from askwise.auditing.people import PeopleCard
from askwise.auditing.shares import ClassShare, ppi_mean

__all__ = [
    "AgainstHuman",
    "AlternativeTest",
    "AuditNeed",
    "Cascade",
    "ClassRates",
    "ClassShare",
    "Contribution",
    "Flips",
    "Interval",
    "JudgeCard",
    "PanelCard",
    "PeopleCard",
    "ReportCard",
    "Sources",
    "audit_needs",
    "check",
    "ppi_mean",
]
