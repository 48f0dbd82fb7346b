"""What a store keeps of studies on Prolific. Every record changes only from what it was.

A step is written down before it is taken where it could not be found out afterwards whether it was
taken, and after it where it may be taken twice.
"""

import json
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, Self, TypeVar

from askwise.core.errors import Conflict
from askwise.sources.prolific import Prolific
from askwise.store import Change, Store
from askwise.store.records import (
    STUDIES,
    STUDY_BONUSES,
    STUDY_DOORS,
    STUDY_EVENTS,
    STUDY_SESSIONS,
    STUDY_WORKERS,
)

BatchState = Literal["planned", "created", "paying", "sent", "paid", "dropped"]
"""Of a batch of bonuses: as we mean it; set up at Prolific; told to be paid, which may or may not
have been heard; paid by Prolific; marked as paid in the log; given up unpaid."""

ENDED: tuple[BatchState, ...] = ("paid", "dropped")


class _JsonBody:
    """Written as JSON."""

    def written(self) -> str:
        """As a record holds it."""
        return json.dumps(asdict(self), sort_keys=True)  # type: ignore[call-overload]

    @classmethod
    def read(cls, body: str) -> Self:
        """Read what a record holds."""
        return cls(**json.loads(body))


K = TypeVar("K", bound=_JsonBody)


@dataclass(frozen=True)
class KeptStudy(_JsonBody):
    """A study of a campaign.

    Attributes
    ----------
    campaign, number : str, int
        Which one of which campaign, from 1.
    door : str
        What the address ends with at which its participants land; hard to guess.
    code : str
        The completion code.
    marker : str
        The study's internal name on Prolific, by which it is found again.
    terms : mapping
        What it offers: the parameters of :class:`~askwise.sources.prolific.Prolific`.
    study : str
        Its id on Prolific; empty until that is known.
    paused : bool
        Whether it was paused by us, and may be started by us.
    ended : bool
        Whether it takes no participants any more.
    """

    campaign: str
    number: int
    door: str
    code: str
    marker: str
    terms: dict[str, Any]
    study: str = ""
    paused: bool = False
    ended: bool = False

    @property
    def source(self) -> Prolific:
        """What it offers."""
        return Prolific(**self.terms)


@dataclass(frozen=True)
class StudySession(_JsonBody):
    """One participant's turn: a submission on Prolific, a worker here.

    Attributes
    ----------
    submission, worker : str
        Who it is: there and here. The worker's id is the participant's.
    study : int
        The number of the campaign's study.
    landed : float
        When they came first, in seconds since 1970.
    landings : int
        How often they came.
    answered, handed, earned : int
        What they had answered, been handed and earned (in millionths) in the campaign before.
    finished : float or None
        When they were first shown the completion code.
    closed : bool
        Whether the submission was returned, timed out or otherwise ended without approval.
    booked : bool
        Whether the log has the reward as paid.
    """

    submission: str
    worker: str
    study: int
    landed: float
    landings: int = 1
    answered: int = 0
    handed: int = 0
    earned: int = 0
    finished: float | None = None
    closed: bool = False
    booked: bool = False


@dataclass(frozen=True)
class BonusBatch(_JsonBody):
    """Bonuses that are paid together.

    Attributes
    ----------
    number : int
        Which one of the campaign's, from 1.
    study : str
        The study's id on Prolific.
    rows : list of [submission, worker, millionths]
        Who gets how much.
    before : mapping of a submission to millionths
        What Prolific had paid as bonuses before.
    state : str
        How far it is.
    batch : str
        Its id on Prolific.
    """

    number: int
    study: str
    rows: list[list[Any]]
    before: dict[str, int] = field(default_factory=dict)
    state: BatchState = "planned"
    batch: str = ""

    @property
    def total(self) -> int:
        """Millionths in all."""
        return sum(amount for _, _, amount in self.rows)


class StudyBook:
    """The studies, sessions and bonuses of one campaign.

    Parameters
    ----------
    store : Store
        The campaign's.
    campaign : str
        Its name.
    """

    def __init__(self, store: Store, campaign: str) -> None:
        self.store = store
        self.campaign = campaign

    # Studies.

    def studies(self) -> list[KeptStudy]:
        """All of them, oldest first."""
        found = self.store.records(STUDIES, prefix=f"{self.campaign}/")
        kept = [KeptStudy.read(each.body) for each in found]
        return sorted(kept, key=lambda each: each.number)

    def latest(self) -> KeptStudy | None:
        """The newest; None if there never was one."""
        return next(reversed(self.studies()), None)

    def keep_study(self, study: KeptStudy) -> bool:
        """Keep a new one, and the way in; false if another process keeps one at this moment."""
        way = json.dumps({"campaign": self.campaign, "number": study.number})
        return self.store.change(
            [
                Change(STUDIES, self._id(study.number), None, study.written()),
                Change(STUDY_DOORS, study.door, None, way),
            ]
        )

    def change_study(self, number: int, **fields: Any) -> KeptStudy:
        """Change what is kept of one."""
        return self._change(KeptStudy, STUDIES, self._id(number), fields)

    # Sessions.

    def session(self, submission: str) -> StudySession | None:
        """The session of a submission."""
        return self._read(StudySession, STUDY_SESSIONS, self._id(submission))

    def session_of(self, worker: str) -> StudySession | None:
        """The last session of a worker."""
        found = self.store.record(STUDY_WORKERS, self._id(worker))
        return None if found is None else self.session(json.loads(found.body))

    def sessions(self) -> dict[str, StudySession]:
        """All sessions by submission."""
        found = self.store.records(STUDY_SESSIONS, prefix=f"{self.campaign}/")
        kept = [StudySession.read(each.body) for each in found]
        return {each.submission: each for each in kept}

    def keep_session(self, session: StudySession) -> StudySession:
        """Keep a new session, the worker's own from now on; one that is there stays."""
        key = self._id(session.submission)
        self.store.change([Change(STUDY_SESSIONS, key, None, session.written())])
        kept = self.session(session.submission)
        assert kept is not None
        while True:
            found = self.store.record(STUDY_WORKERS, self._id(kept.worker))
            before = None if found is None else found.body
            after = json.dumps(kept.submission)
            change = Change(STUDY_WORKERS, self._id(kept.worker), before, after)
            if before == after or self.store.change([change]):
                return kept

    def change_session(self, submission: str, **fields: Any) -> StudySession:
        """Change what is kept of one."""
        return self._change(StudySession, STUDY_SESSIONS, self._id(submission), fields)

    # Bonuses.

    def batches(self) -> list[BonusBatch]:
        """All batches of bonuses, oldest first."""
        found = self.store.records(STUDY_BONUSES, prefix=f"{self.campaign}/")
        kept = [BonusBatch.read(each.body) for each in found]
        return sorted(kept, key=lambda each: each.number)

    def move_batch(self, before: BonusBatch | None, after: BonusBatch) -> BonusBatch:
        """Write a batch's next state, from the one that we know.

        Raises
        ------
        Conflict
            Another process has moved it meanwhile.
        """
        body = None if before is None else before.written()
        change = Change(STUDY_BONUSES, self._id(after.number), body, after.written())
        if not self.store.change([change]):
            raise Conflict(
                f"bonuses of campaign {self.campaign!r} are being paid by another process",
                field="name",
                reason="already_running",
            )
        return after

    # Records.

    def _id(self, which: object) -> str:
        return f"{self.campaign}/{which}"

    def _read(self, kind: type[K], records: str, id: str) -> K | None:
        found = self.store.record(records, id)
        return None if found is None else kind.read(found.body)

    def _change(self, kind: type[K], records: str, id: str, fields: dict[str, Any]) -> K:
        while True:
            found = self.store.record(records, id)
            assert found is not None, f"{records} {id} is gone"
            after = replace(kind.read(found.body), **fields)  # type: ignore[type-var]
            change = Change(records, id, found.body, after.written())
            if after.written() == found.body or self.store.change([change]):
                return after


def study_at(store: Store, door: str) -> KeptStudy | None:
    """The study to which an address leads."""
    found = store.record(STUDY_DOORS, door)
    if found is None:
        return None
    way = json.loads(found.body)
    kept = store.record(STUDIES, f"{way['campaign']}/{way['number']}")
    return None if kept is None else KeptStudy.read(kept.body)


def hear_event(store: Store, event: str) -> None:
    """Note that Prolific has told something, so that recruiters look at once."""
    found = store.record(STUDY_EVENTS, "last")
    # Who is not the last to write need not write: it was noted.
    before = None if found is None else found.body
    store.change([Change(STUDY_EVENTS, "last", before, json.dumps(event))])


def last_event(store: Store) -> str:
    """What was heard last; empty if nothing."""
    found = store.record(STUDY_EVENTS, "last")
    return "" if found is None else found.body
