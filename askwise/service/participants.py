"""Participants of studies on Prolific, who become workers: let in, shown their code, let go.

What an address says of a participant proves nothing: everybody who was in a study knows it, and may
write any id into it. So Prolific is asked about the submission before anybody is let in. Who is not
a participant of the study, at this moment, becomes no worker, answers nothing and earns nothing.
"""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from askwise.campaign import Campaign
from askwise.core.errors import AskwiseError, Conflict
from askwise.core.money import from_micro
from askwise.running.prolific.records import KeptStudy, StudyBook, StudySession, study_at
from askwise.running.prolific.reviewing import UNDER_WAY, WAITING, let_go
from askwise.running.prolific.standing import standing_of
from askwise.running.prolific.studies import participant
from askwise.service.open_campaigns import OpenCampaigns
from askwise.sources.prolific import Prolific, ProlificApi, ProlificRefused, Submission
from askwise.sources.prolific.api import is_id

log = logging.getLogger("askwise.service")

BACK = "https://app.prolific.com/submissions/complete?cc="
"""Where a participant hands in their completion code."""

PATIENCE = 180.0
"""Seconds after which somebody who was asked nothing is let go with their code."""

MOST_LANDINGS = 50
"""How often one submission may be opened: each time its browser is given a token."""

MARK = f"{Prolific.name}:"
"""What the source of a worker begins with who came from Prolific."""

Refusal = Literal["unknown", "ended", "over", "busy"]
"""Why somebody is not let in: they are no participant of this study; their submission has ended;
the campaign takes nobody any more; Prolific can't be asked at the moment."""

STATUSES: dict[Refusal, int] = {"unknown": 403, "ended": 410, "over": 410, "busy": 503}


class NotLetIn(Exception):
    """Somebody is not let in."""

    def __init__(self, why: Refusal) -> None:
        super().__init__(why)
        self.why: Refusal = why


@dataclass(frozen=True)
class StudyView:
    """What a participant's page says of the study.

    Attributes
    ----------
    questions : int
        How many questions they answer at most.
    reward : Decimal
        What they are paid at least.
    bonus : Decimal
        What they have earned above that.
    code, back : str
        The completion code and where it leads, once they are done; empty before.
    closed : bool
        Whether their submission has ended on Prolific without being paid.
    """

    questions: int
    reward: Decimal
    bonus: Decimal
    code: str
    back: str
    closed: bool


class Participants:
    """Lets participants in and out.

    Parameters
    ----------
    campaigns : OpenCampaigns
        The campaigns of the service.
    connect : callable, optional
        Makes the connection to Prolific, when it is first needed.
    """

    def __init__(
        self, campaigns: OpenCampaigns, connect: Callable[[], ProlificApi] | None = None
    ) -> None:
        self._campaigns = campaigns
        self._connect = connect or (_quick_api)
        self._api: ProlificApi | None = None
        self._lock = threading.Lock()

    def admit(self, door: str, person: str, study: str, session: str) -> tuple[str, str]:
        """Let somebody in who lands with these ids; returns the campaign's name and the worker.

        Raises
        ------
        NotLetIn
            They are not let in.
        """
        kept = study_at(self._campaigns.store, door)
        ids_fit = all(is_id(each) for each in (person, study, session))
        if kept is None or not ids_fit or kept.study != study:
            raise NotLetIn("unknown")
        found = self._submission(session)
        if found is None or (found.participant, found.study) != (person, study):
            raise NotLetIn("unknown")
        campaign = self._campaigns.get(kept.campaign)
        book = StudyBook(campaign.store, campaign.name)
        known = book.session(session)
        if found.status not in UNDER_WAY and not (found.status == WAITING and known is not None):
            raise NotLetIn("ended")
        if known is not None:
            if known.landings >= MOST_LANDINGS:
                raise NotLetIn("unknown")
            known = book.change_session(session, landings=known.landings + 1, closed=False)
        if known is None or known.finished is None:
            self._join(campaign, kept, book, found)
        return campaign.name, person

    def session(self, campaign: Campaign, worker: str) -> StudySession | None:
        """The session of a worker who came from Prolific; None for all others."""
        return StudyBook(campaign.store, campaign.name).session_of(worker)

    def view(
        self, campaign: Campaign, session: StudySession, state: str, now: float
    ) -> StudyView | None:
        """What their page says of the study; with the code from when they are done.

        ``state`` is what the page shows otherwise. None if the study is not known any more.
        """
        with campaign.reading() as folded:
            own = standing_of(folded, session.worker)
        book = StudyBook(campaign.store, campaign.name)
        kept = next((each for each in book.studies() if each.number == session.study), None)
        if kept is None or own is None:
            return None
        worked = own.answered > session.answered
        may_finish = session.finished is None and not session.closed
        if may_finish and _is_done(state, worked=worked, waited=now - session.landed):
            session = book.change_session(session.submission, finished=now)
        if session.finished is not None:
            # Also the second time: the first may have been cut off in between.
            let_go(campaign, session.worker)
        source = kept.source
        code = "" if session.finished is None else kept.code
        earned = own.committed - session.earned
        return StudyView(
            questions=source.questions,
            reward=from_micro(source.base),
            bonus=from_micro(max(0, earned - source.base)),
            code=code,
            back=BACK + code if code else "",
            closed=session.closed and session.finished is None,
        )

    def _submission(self, id: str) -> Submission | None:
        """A submission as Prolific knows it; None if it knows none."""
        try:
            with self._lock:
                self._api = self._api or self._connect()
            return self._api.submission(id)
        except ProlificRefused as error:
            if error.status in (400, 404):
                return None
            log.error("prolific", extra={"fields": {"message": str(error)}})
        except AskwiseError as error:
            log.error("prolific", extra={"fields": {"message": str(error)}})
        raise NotLetIn("busy")

    def _join(
        self, campaign: Campaign, kept: KeptStudy, book: StudyBook, found: Submission
    ) -> None:
        """Make a worker of a participant, or take one back; the same session is the same worker."""
        person, source = found.participant, kept.source
        with campaign.reading() as state:
            before = standing_of(state, person)
            if before is not None:
                ledger = state.ledger
                if not is_participant(ledger.workers[ledger.worker_at(person)].source):
                    # Somebody of the same name whom the requester has added.
                    raise NotLetIn("unknown")
        new = StudySession(found.id, person, kept.number, time.time())
        if before is not None:
            new = StudySession(
                found.id,
                person,
                kept.number,
                time.time(),
                answered=before.answered,
                handed=before.handed,
                earned=before.committed,
            )
        last = book.session_of(person)
        session = book.keep_session(new)
        if before is not None and before.here:
            if last is None or last.study == kept.number:
                return
            # Still here from a study before, with its price and its limit.
            let_go(campaign, person)
        try:
            campaign.add(workers=[participant(source, person, session.answered)])
        except Conflict as error:
            if error.reason == "worker_exists":  # another of their browsers was quicker
                return
            if before is None:
                # They have not begun: what they came for is over.
                raise NotLetIn("over") from None


def is_participant(source: str | None) -> bool:
    """Whether a worker of this source came from Prolific."""
    return (source or "").startswith(MARK)


def _quick_api() -> ProlificApi:
    """Prolific, for requests that a browser waits for."""
    return ProlificApi(pauses=(0.5,), timeout=10.0, longest_pause=2.0)


def _is_done(state: str, *, worked: bool, waited: float) -> bool:
    """Whether there is nothing more for them to do."""
    if state in ("over", "suspended", "left"):
        return True
    return state == "wait" and (worked or waited > PATIENCE)
