"""The recruiter: looks at a study now and then, and does what is to be done about it."""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal

from askwise.campaign import Campaign
from askwise.core.errors import UnknownName
from askwise.core.jsonable import Jsonable
from askwise.core.money import from_micro
from askwise.running.claims import RENEWAL, RunClaim
from askwise.running.prolific.bonuses import BonusPayer, settle_batch
from askwise.running.prolific.places import Course, PlaceKeeper
from askwise.running.prolific.records import BonusBatch, KeptStudy, StudyBook, last_event
from askwise.running.prolific.reviewing import OpenMatter, Reviewer
from askwise.sources.prolific import ProlificApi, ProlificUnclear, ProlificUnreachable

log = logging.getLogger(__name__)

EVERY = 60.0
"""Seconds between two looks."""

HEARD = 1.0
"""Seconds between looks for an event that the service has heard."""


@dataclass(frozen=True)
class RecruitingReport(Jsonable):
    """A study at one look.

    Attributes
    ----------
    study : str
        Its id on Prolific.
    status : str
        Its status there, before the look.
    course : str
        ``recruiting``, ``waiting``, ``full`` (more people are wanted, but neither money nor places
        are left) or ``done``.
    places, taken, under_way : int
        All places, those that are taken, and participants who are at it.
    added, approved : int
        Places that were added, and submissions that were approved, at this look.
    bonuses : Decimal
        What was paid as bonuses at this look.
    matters : tuple of OpenMatter
        What is left to a person.
    settled : bool
        Whether nothing is under way: no participant, no bonus.
    """

    study: str
    status: str
    course: Course
    places: int
    taken: int
    under_way: int
    added: int
    approved: int
    bonuses: Decimal
    matters: tuple[OpenMatter, ...]
    settled: bool

    @property
    def is_over(self) -> bool:
        """Whether there is nothing more to do but what is left to a person."""
        return self.settled and self.course in ("full", "done")


class Recruiter:
    """Runs the study of a campaign.

    One at a time runs it, on whatever machine. Killed anywhere and started again it goes on: no
    place is added, nobody approved and no bonus paid twice.

    Parameters
    ----------
    campaign : Campaign
        The campaign.
    api : ProlificApi
        Prolific.

    Raises
    ------
    UnknownName
        It has no study.
    """

    def __init__(self, campaign: Campaign, api: ProlificApi) -> None:
        self.campaign, self.api = campaign, api
        self.book = StudyBook(campaign.store, campaign.name)
        self.claim = RunClaim(campaign.store, f"{campaign.name}/prolific")
        self._study()

    def _study(self) -> KeptStudy:
        study = self.book.latest()
        if study is None or not study.study:
            raise UnknownName(
                f"campaign {self.campaign.name!r} has no study on Prolific: make one with "
                "`askwise prolific create`",
                field="name",
            )
        return study

    def step(self) -> RecruitingReport:
        """Look once: approve, book, pay bonuses, add places."""
        with self._claimed(threading.Event()):
            return self._look()

    def run(
        self,
        *,
        every: float = EVERY,
        watch: Callable[[RecruitingReport], None] | None = None,
        stop: threading.Event | None = None,
    ) -> RecruitingReport | None:
        """Look again and again until there is nothing more to do.

        Parameters
        ----------
        every : float
            Seconds between two looks; an event that the service hears from Prolific brings the next
            look forward.
        watch : callable
            Told of each look.
        stop : threading.Event
            Ends it early.

        Returns
        -------
        RecruitingReport or None
            The last look; None if it was ended before the first.
        """
        ending = stop or threading.Event()
        report: RecruitingReport | None = None
        with self._claimed(ending):
            while not ending.is_set():
                heard = last_event(self.campaign.store)
                try:
                    report = self._look()
                except (ProlificUnreachable, ProlificUnclear) as error:
                    log.warning("%s: looking again in %g s", error, every)
                else:
                    if watch is not None:
                        watch(report)
                    if report.is_over:
                        break
                self._pause(every, heard, ending)
        return report

    def stop(self) -> None:
        """Take no participants any more, for good; who is at it may finish and is paid."""
        study = self._study()
        status = str(self.api.study(study.study).get("status")).upper()
        # A draft that was never published is left as it is.
        if status not in ("COMPLETED", "UNPUBLISHED"):
            self.api.transition_study(study.study, "STOP")
        self.book.change_study(study.number, ended=True)

    def settle(self, *, paid: bool) -> BonusBatch:
        """Say whether bonuses were paid of which that is not known."""
        self.claim.take()
        try:
            return settle_batch(self.campaign, paid=paid)
        finally:
            self.claim.release()

    def _look(self) -> RecruitingReport:
        study = self._study()
        raw = self.api.study(study.study)
        status = str(raw.get("status") or "").upper()
        submissions = {each.id: each for each in self.api.submissions(study.study)}
        # Before anybody is approved: a study of which all are approved is complete.
        keeper = PlaceKeeper(self.campaign, study, self.api)
        found = keeper.keep(raw, submissions)
        reviewer = Reviewer(self.campaign, study, self.api)
        reviewer.review(submissions.values(), approving=not keeper.is_reward_changed)
        payer = BonusPayer(self.campaign, study, self.api, lambda: self.claim.is_held)
        payer.pay(submissions)
        return RecruitingReport(
            study=study.study,
            status=status,
            course=keeper.course,
            places=found.total,
            taken=found.taken,
            under_way=found.under_way,
            added=keeper.added,
            approved=reviewer.approved,
            bonuses=from_micro(payer.paid),
            matters=(*reviewer.matters, *payer.matters, *keeper.matters),
            settled=not found.under_way and not payer.is_open,
        )

    def _pause(self, every: float, heard: str, ending: threading.Event) -> None:
        until = time.monotonic() + every
        while (left := until - time.monotonic()) > 0 and not ending.wait(min(HEARD, left)):
            if last_event(self.campaign.store) != heard:
                return

    @contextmanager
    def _claimed(self, ending: threading.Event) -> Iterator[None]:
        """Hold the claim, renewed for as long as it takes; ``ending`` is set when it is lost."""
        self.claim.take()
        over = threading.Event()
        renewer = threading.Thread(target=self._keep_claim, args=(over, ending), daemon=True)
        renewer.start()
        try:
            yield
        finally:
            over.set()
            renewer.join()
            self.claim.release()

    def _keep_claim(self, over: threading.Event, ending: threading.Event) -> None:
        while not over.wait(RENEWAL):
            try:
                self.claim.renew()
            except Exception as error:
                log.warning("%s", error)
                ending.set()
                return
