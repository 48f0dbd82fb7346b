"""Learning from the truths of tasks that chance chose, and a watch on what is assured by that."""

import math
from dataclasses import dataclass

import numpy as np

from askwise.core.allocation import Watch
from askwise.core.checks import between, one_of, real
from askwise.core.errors import InvalidParameter
from askwise.core.problem import Problem
from askwise.kernels import Array, Draw
from askwise.ledger import Ledger
from askwise.ledger import columns as c
from askwise.policies.assured import common as a
from askwise.policies.assured.base import BoundingPolicy
from askwise.policies.assured.common import Params, State
from askwise.policies.capabilities import GoldRequest, SuggestsGold

TRUTHS = ("told", "audited")

SHARE, LEVEL = 0.1, 0.05
"""Of tasks that are audited, and of the watch, if nothing else is said."""


@dataclass(frozen=True)
class WatchedPolicy(BoundingPolicy, SuggestsGold):
    """Base of those to which the truth of every task may be told, or of a share of them."""

    truth: str = TRUTHS[0]
    audits: float | None = None
    alarm: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of(self.truth, "truth", TRUTHS)
        for field in ("audits", "alarm"):
            if not self.audited and getattr(self, field) is not None:
                raise InvalidParameter(
                    f"{field} is {getattr(self, field)!r}: leave it out, or set truth='audited'",
                    field=field,
                )
        if self.audits is not None:
            valid = "a share of the tasks above 0, at most 1"
            real(self.audits, "audits", valid, least=math.ulp(0.0), most=1)
        if self.alarm is not None:
            between(self.alarm, "alarm", 0, 1)

    @property
    def audited(self) -> bool:
        """Whether only truths of tasks that chance chose are learned from."""
        return self.truth == "audited"

    @property
    def share(self) -> float:
        """Of the tasks, how many are audited."""
        return SHARE if self.audits is None else float(self.audits)

    @property
    def level(self) -> float:
        """The most that an alarm is likely where all bounds hold."""
        return LEVEL if self.alarm is None else float(self.alarm)

    def params(self) -> Params:
        """As plain numbers."""
        params = super().params()
        if not self.audited:
            return params
        return params._replace(audits=self.share, alarm=self.level)

    def awaited(self, state: State, ledger: Ledger) -> list[int]:
        """With audits, the tasks that were drawn and have all their answers."""
        if not self.audited:
            return []
        waiting = state.tasks[: ledger.total(c.TASKS), a.WAITING]
        return np.flatnonzero(waiting == a.TRUTH_DUE).tolist()

    def needs_gold(
        self, problem: Problem, state: State, ledger: Ledger, draw: Draw
    ) -> list[GoldRequest]:
        """The truths that are due, where others would not do."""
        due = [ledger.tasks[task].id for task in self.awaited(state, ledger)]
        return [GoldRequest(None, due, "audit")] if due else []

    def watch(self, state: State, ledger: Ledger) -> Watch | None:
        """What audits say of the answers that are assured."""
        if not self.audited:
            return None
        count = ledger.total(c.TASKS)
        facts, sums = ledger.book.tasks[:count], state.watch
        drawn = state.tasks[:count, a.AUDITED] == 1
        failed = sums[a.ALARMS] > 0
        return Watch(
            state="failed" if failed else "holds",
            statement=self._failed(sums) if failed else self._holds(sums),
            drawn=int(drawn.sum()),
            due=len(self.awaited(state, ledger)),
            missing=int((drawn & (facts[:, c.CLOSED] == 1) & (facts[:, c.TRUTH] < 0)).sum()),
            judged=int(sums[a.WATCHED]),
            wrong=float(sums[a.WATCHED_WRONG]),
            allowed=float(sums[a.WATCHED_SAID] + sums[a.WATCHED_SLACK]),
            alarms=int(sums[a.ALARMS]),
            since=int(sums[a.SINCE]) if failed else None,
            widened=float(sums[a.SLACK]),
        )

    def _holds(self, sums: Array) -> str:
        """What there is to say before the first alarm."""
        judged, allowed = int(sums[a.WATCHED]), sums[a.WATCHED_SAID]
        if not judged:
            return "No alarm: no answer that was assured has been audited yet."
        return (
            f"No alarm: {_of(judged, sums[a.WATCHED_WRONG])}, where the bounds allow {allowed:.1f} "
            "on average."
        )

    def _failed(self, sums: Array) -> str:
        """What the last alarm was about, and what follows from it."""
        tasks = "1 task" if sums[a.SINCE] == 1 else f"{sums[a.SINCE]:.0f} tasks"
        again = "" if sums[a.ALARMS] == 1 else ", and again"
        found = (
            f"Assurance has failed after {tasks}{again}: "
            f"{_of(int(sums[a.FAILED]), sums[a.FAILED_WRONG])}, where the bounds allow "
            f"{sums[a.FAILED_SAID]:.1f} on average. If they held, this would come about with "
            f"probability {self.level:g} at most: workers err together, or more often on some "
            f"tasks than on others. Since then {sums[a.SLACK]:.3f} is added to every bound on an "
            "error"
        )
        if sums[a.SLACK] >= self.alpha:
            return f"{found}, which is more than alpha allows ({self.alpha:g}): nothing is assured."
        return f"{found}; what is assured is assured with that."


def _of(judged: int, wrong: float) -> str:
    """How many answers were wrong."""
    answers = "answer that was" if judged == 1 else "answers that were"
    were = "was" if wrong == 1.0 else "were"
    return f"of {judged} audited {answers} assured, {wrong:g} {were} wrong"
