"""What may be believed of labels and of those who gave them, by tasks that were audited."""

from askwise.auditing.agreement import JudgeAgreement, agreements, held
from askwise.auditing.alternative import AgainstHuman, AlternativeTest
from askwise.auditing.ballots import Sources
from askwise.auditing.cards import ReportCard, check
from askwise.auditing.cascades import Cascade
from askwise.auditing.certificates import Certificate, certificate_of, certify
from askwise.auditing.climbs import AuditedSet, Climb
from askwise.auditing.draws import COLUMNS, AuditDraw, Labels, draw, draw_order, drawn_before
from askwise.auditing.intervals import Interval
from askwise.auditing.judges import ClassRates, Flips, JudgeCard
from askwise.auditing.needs import AuditNeed, audit_needs, audits_for_any_set
from askwise.auditing.panels import Contribution, PanelCard
from askwise.auditing.people import PeopleCard
from askwise.auditing.plans import AuditPlan, plan_audits
from askwise.auditing.shares import ClassShare, ppi_mean

__all__ = [
    "COLUMNS",
    "AgainstHuman",
    "AlternativeTest",
    "AuditDraw",
    "AuditNeed",
    "AuditPlan",
    "AuditedSet",
    "Cascade",
    "Certificate",
    "ClassRates",
    "ClassShare",
    "Climb",
    "Contribution",
    "Flips",
    "Interval",
    "JudgeAgreement",
    "JudgeCard",
    "Labels",
    "PanelCard",
    "PeopleCard",
    "ReportCard",
    "Sources",
    "agreements",
    "audit_needs",
    "audits_for_any_set",
    "certificate_of",
    "certify",
    "check",
    "draw",
    "draw_order",
    "drawn_before",
    "held",
    "plan_audits",
    "ppi_mean",
]
