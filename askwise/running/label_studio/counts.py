"""What keeping Label Studio in step has done so far, and what it could not do."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

DEEDS: Final = (
    *("told", "revised", "withdrawn", "declined", "failed", "handed_over", "joined", "asked"),
    *("expired", "imported", "opened", "closed", "verdicts", "labels", "copies"),
)
"""What may be counted: answers that were taken, changed, withdrawn; skips; annotations that hold no
answer; questions that another answered; workers who joined; questions that were asked and given
back; tasks imported, opened for another answer and closed; predictions written; copies removed."""


@dataclass(frozen=True)
class Untaken:
    """An annotation that is not an answer of the campaign, and why.

    Attributes
    ----------
    annotation : int
        Its number in Label Studio.
    task : str
        The campaign's task.
    worker : str or None
        Who annotated; None if nobody of the campaign.
    why : str
        A reason of the campaign, or ``unasked``: nobody has asked for one more answer. It is taken
        once somebody does; or ``stranger``, ``unreadable``, ``changed_by_hand``.
    detail : str
        The same in words.
    """

    annotation: int
    task: str
    worker: str | None
    why: str
    detail: str


@dataclass
class SyncCounts:
    """What was done since the start, and what is not taken at the moment."""

    done: Counter[str] = field(default_factory=Counter)
    untaken: dict[int, Untaken] = field(default_factory=dict)

    def count(self, deed: str, times: int = 1) -> None:
        """Count something that was done."""
        assert deed in DEEDS
        self.done[deed] += times

    def to_json(self) -> dict[str, Any]:
        """As JSON: every deed, and what is not taken."""
        why = Counter(each.why for each in self.untaken.values())
        return {
            **{deed: self.done[deed] for deed in DEEDS},
            "untaken": dict(sorted(why.items())),
        }
