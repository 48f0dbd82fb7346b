"""The kinds of events as plain numbers, for kernels: ``from askwise.ledger import kinds as k``."""

from askwise.core.events import Kind

(DECIDED, ASKED, ANSWER, TRUTH, EXPIRED, DECLINED, CLOSED, ADDED, JOINED, LEFT, BID, QUOTED, PAID,
 TOPPED_UP, PAUSED, RESUMED, STOPPED, DRAWN, FAILED, RENEWED,
 LABELLED, FLAGGED, COMMENTED, BONUS, WARNED, SUSPENDED, REINSTATED, QUALIFIED,
 ARCHIVED, UNARCHIVED, RETITLED, RENAMED, REVISED, WITHDRAWN) = map(int, Kind)  # fmt: skip
