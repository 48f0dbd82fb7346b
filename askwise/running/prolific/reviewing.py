"""Submissions: those whose participants did the work are approved and booked, none is rejected."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from askwise.campaign import Campaign
from askwise.core.errors import Conflict, OverBudget
from askwise.core.jsonable import Jsonable
from askwise.core.money import from_micro
from askwise.running.prolific.records import ENDED, KeptStudy, StudyBook, StudySession
from askwise.running.prolific.standing import has_worked, owed_to, standing_of
from askwise.sources.prolific import ProlificApi, ProlificRefused, Submission

BY = "prolific"
"""Who marks things as paid in the log."""

UNDER_WAY = frozenset({"RESERVED", "ACTIVE"})
WAITING = "AWAITING REVIEW"
APPROVED = "APPROVED"
TAKEN = UNDER_WAY | {WAITING, APPROVED, "PARTIALLY APPROVED", "SCREENED OUT"}
"""Statuses of submissions that hold a place of the study."""

Matter = Literal[
    "never_landed", "unfinished", "little_work", "no_money", "refused", "ended_unpaid",
    "approved_elsewhere", "bonus_elsewhere", "bonus_unclear", "bonus_refused", "study_refused",
    "reward_changed", "overpaid",
]  # fmt: skip
"""What a person has to decide: somebody waits for review who was never here, did not finish, or
answered nothing or less than half; the budget does not have the reward; Prolific refuses the
approval; somebody answered and then returned their submission or ran out of time; was approved by
hand without ever being here; was paid a bonus that the log does not know; it is not known whether
bonuses were paid, or Prolific refuses them; Prolific refuses to publish, pause or enlarge the
study; the reward there is not the one that was made; Prolific has paid somebody more than the log
still owed them."""


@dataclass(frozen=True)
class OpenMatter(Jsonable):
    """Something that is left to a person.

    Attributes
    ----------
    what : str
        The kind of matter.
    submission : str
        The submission on Prolific, or the batch of bonuses.
    worker : str
        Whose it is; empty where it is of several.
    detail : str
        What to do about it.
    """

    what: Matter
    submission: str
    worker: str
    detail: str


class Reviewer:
    """Looks through the submissions of a study.

    Parameters
    ----------
    campaign : Campaign
        Whose workers the participants are.
    study : KeptStudy
        The study.
    api : ProlificApi
        Prolific.
    """

    def __init__(self, campaign: Campaign, study: KeptStudy, api: ProlificApi) -> None:
        self.campaign, self.study, self.api = campaign, study, api
        self.book = StudyBook(campaign.store, campaign.name)
        self.base = study.source.base
        self.approved = 0
        """How many were approved."""
        self.matters: list[OpenMatter] = []
        """What is left to a person."""

    def review(self, submissions: Iterable[Submission], *, approving: bool = True) -> None:
        """Approve, book and let go, each as it stands; without ``approving``, only let go."""
        sessions = self.book.sessions()
        for each in submissions:
            session = sessions.get(each.id)
            if each.status in (WAITING, APPROVED) and not approving:
                continue
            if each.status == WAITING:
                self._decide(each, session)
            elif each.status == APPROVED:
                self._approved_before(each, session)
            elif each.status not in UNDER_WAY and session is not None:
                self._close(each, session)

    def _decide(self, submission: Submission, session: StudySession | None) -> None:
        if session is None:
            self._leave("never_landed", submission, "never came here: ask them, or decide")
            return
        if session.finished is None:
            self._leave("unfinished", submission, "submitted before they were shown the code")
            return
        with self.campaign.reading() as state:
            found = standing_of(state, session.worker)
        if found is None or not has_worked(session, found):
            self._leave("little_work", submission, "answered less than half of their questions")
            return
        if not self._has_reward(submission, session):
            return
        try:
            self.api.approve(submission.id)
        except ProlificRefused as error:
            self._leave("refused", submission, str(error))
            return
        self.approved += 1
        self._book(submission, session)

    def _approved_before(self, submission: Submission, session: StudySession | None) -> None:
        """Book the reward of one that a person approved, or we did and were cut off."""
        if session is None:
            self._leave("approved_elsewhere", submission, "was approved, and never came here")
        elif not session.booked and self._has_reward(submission, session):
            self._book(submission, session)

    def _has_reward(self, submission: Submission, session: StudySession) -> bool:
        """Add to what they have earned what the reward is above it, if the budget has that."""
        missing = self.base - self._owed(session.worker)
        # What they are owed after the reward was paid is not what the reward has to cover.
        if missing <= 0 or self._is_booked(session):
            return True
        try:
            self.campaign.bonus(
                session.worker,
                from_micro(missing),
                "The part of your reward for taking part that exceeds what your answers earned.",
                by=BY,
                key=f"prolific:{session.submission}:reward:{missing}",
            )
        except OverBudget:
            self._leave(
                "no_money",
                submission,
                f"the reward needs {from_micro(missing)} more than the budget has: top it up",
            )
            return False
        return True

    def _book(self, submission: Submission, session: StudySession) -> None:
        """Mark the reward as paid; the second time changes nothing."""
        if not self._is_booked(session):
            due = min(self.base, max(0, owed_to(self.campaign).get(session.worker, 0)))
            if due < self.base:
                self._leave(
                    "overpaid",
                    submission,
                    f"Prolific has paid the reward of {from_micro(self.base)}, of which the log "
                    f"still owes only {from_micro(due)}: the rest is not marked as paid",
                )
            if due:
                self.campaign.pay(
                    session.worker,
                    from_micro(due),
                    by=BY,
                    reference=session.submission,
                    key=f"prolific:{session.submission}",
                )
        let_go(self.campaign, session.worker)
        self.book.change_session(session.submission, booked=True)

    def _is_booked(self, session: StudySession) -> bool:
        """Whether the log has the reward as paid, noted or not."""
        paid = self.campaign.payouts(session.worker)
        return session.booked or any(each.reference == session.submission for each in paid)

    def _owed(self, worker: str) -> int:
        """What they are owed, apart from what a batch of bonuses is about to pay."""
        promised = sum(
            amount
            for batch in self.book.batches()
            if batch.state not in ENDED
            for _, who, amount in batch.rows
            if who == worker
        )
        return owed_to(self.campaign).get(worker, 0) - promised

    def _close(self, submission: Submission, session: StudySession) -> None:
        """Let somebody go who returned, ran out of time or was rejected by a person."""
        if not session.closed and not session.booked:
            latest = self.book.session_of(session.worker)
            if latest is None or latest.submission == session.submission:
                let_go(self.campaign, session.worker)
            self.book.change_session(session.submission, closed=True)
        if session.booked:
            return
        owed = self._owed(session.worker)
        if owed > 0:
            self._leave(
                "ended_unpaid",
                submission,
                f"is {submission.status.lower()}; their answers earned {from_micro(owed)}",
            )

    def _leave(self, what: Matter, submission: Submission, detail: str) -> None:
        self.matters.append(OpenMatter(what, submission.id, submission.participant, detail))


def let_go(campaign: Campaign, worker: str) -> None:
    """Let a worker leave, if they have not: what they have out is released."""
    with campaign.reading() as state:
        found = standing_of(state, worker)
    if found is not None and found.here:
        with suppress(Conflict):  # they have left in between, or the campaign is archived
            campaign.leave(worker)
