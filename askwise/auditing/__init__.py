"""What may be believed of labels and of those who gave them, by tasks that were audited."""

from askwise.auditing.certificates import AuditedSet, Certificate, certificate_of, certify
from askwise.auditing.climbs import Climb
from askwise.auditing.draws import COLUMNS, AuditDraw, Labels, draw, drawn_before

__all__ = [
    "COLUMNS",
    "AuditDraw",
    "AuditedSet",
    "Certificate",
    "Climb",
    "Labels",
    "certificate_of",
    "certify",
    "draw",
    "drawn_before",
]
