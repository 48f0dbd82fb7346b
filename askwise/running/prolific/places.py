"""Places: a study begins small and grows while the campaign wants more people and can pay them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from askwise.campaign import Campaign
from askwise.campaign.state import CampaignState
from askwise.campaign.views.status import over
from askwise.core.choices import Done, Wait
from askwise.core.money import from_micro
from askwise.ledger import columns as c
from askwise.running.prolific.records import KeptStudy, StudyBook, StudySession
from askwise.running.prolific.reviewing import TAKEN, UNDER_WAY, WAITING, OpenMatter
from askwise.running.prolific.standing import standing_of
from askwise.running.prolific.studies import unspent
from askwise.sources.prolific import (
    Prolific,
    ProlificApi,
    ProlificRefused,
    ProlificUnclear,
    ProlificUnreachable,
    Submission,
)
from askwise.sources.prolific.api import MINOR

Course = Literal["recruiting", "waiting", "full", "done"]
"""Where a study is: participants are at it or may come; nobody may come at the moment; more people
are wanted, but neither money nor places are left for them; the campaign has what it wants."""

MORE_PEOPLE = ("limits", "tasks")
"""Why there is nobody to ask who is there, though others could be."""


@dataclass(frozen=True)
class Occupation:
    """How the places of a study are taken.

    Attributes
    ----------
    total, taken : int
        All places, and those that somebody has.
    under_way : int
        Participants who are at it.
    committed : int
        Millionths that those who have a place may still cost, or have cost without the log.
    """

    total: int
    taken: int
    under_way: int
    committed: int

    @property
    def free(self) -> int:
        """Places that anybody may take."""
        return max(0, self.total - self.taken)


def can_use_people(state: CampaignState) -> bool:
    """Whether questions are open, no matter to whom they may be put."""
    ledger = state.ledger
    switched_off = ledger.total(c.STOPPED) or ledger.total(c.PAUSED) or ledger.archived
    if switched_off or (not state.spec.problem.taskless and not ledger.total(c.OPEN)):
        return False
    end = over(state)
    return end is None or end.why in MORE_PEOPLE


def wants_people(state: CampaignState) -> bool:
    """Whether questions are open that nobody who is there may answer."""
    if not can_use_people(state):
        return False
    end = over(state)
    choice = state.choose(state.available()) if end is None else end
    if isinstance(choice, Done):
        return choice.why in MORE_PEOPLE
    return isinstance(choice, Wait) and choice.what == "workers"


def still_to_pay(source: Prolific, session: StudySession, state: CampaignState) -> int:
    """The most that a session may still take out of the budget, in millionths."""
    if session.booked:
        return 0
    found = standing_of(state, session.worker)
    done = 0 if found is None else found.committed - session.earned
    most = source.base if session.finished is not None else source.most_for_one
    return max(0, most - done)


def occupation(
    campaign: Campaign, study: KeptStudy, total: int, submissions: Mapping[str, Submission]
) -> Occupation:
    """How the places are taken, and what that may still cost."""
    source, sessions = study.source, StudyBook(campaign.store, campaign.name).sessions()
    committed = under_way = taken = 0
    with campaign.reading() as state:
        for each in submissions.values():
            session = sessions.get(each.id)
            taken += each.status in TAKEN
            under_way += each.status in UNDER_WAY
            if session is not None:
                committed += still_to_pay(source, session, state) if each.status in TAKEN else 0
            elif each.status in UNDER_WAY or each.status == WAITING:
                committed += source.most_for_one
            elif each.status in TAKEN:
                # Paid there, and the log knows nobody to book it for: that money is gone.
                committed += source.base
    return Occupation(total, taken, under_way, committed)


class PlaceKeeper:
    """Opens and closes a study, and adds places to it.

    Parameters
    ----------
    campaign : Campaign
        For which people are wanted.
    study : KeptStudy
        The study.
    api : ProlificApi
        Prolific.
    """

    def __init__(self, campaign: Campaign, study: KeptStudy, api: ProlificApi) -> None:
        self.campaign, self.study, self.api = campaign, study, api
        self.book = StudyBook(campaign.store, campaign.name)
        self.added = 0
        """Places that were added."""
        self.course: Course = "waiting"
        """Where the study is."""
        self.is_reward_changed = False
        """Whether the reward on Prolific is not the one that the study was made with."""
        self.matters: list[OpenMatter] = []
        """What is left to a person."""

    def keep(self, raw: Mapping[str, Any], submissions: Mapping[str, Submission]) -> Occupation:
        """Open, close or enlarge the study, as its campaign and its money are."""
        status = str(raw.get("status") or "").upper()
        total = int(raw["total_available_places"])
        found = occupation(self.campaign, self.study, total, submissions)
        if status == "ACTIVE" and self.study.paused:
            # Started by a person: if it is paused next, it was not by us.
            self.study = self.book.change_study(self.study.number, paused=False)
        self.is_reward_changed = round(float(raw["reward"]) * MINOR) != self.study.source.base
        if self.is_reward_changed:
            self._halt(status, found)
            return found
        with self.campaign.reading() as state:
            usable, wants = can_use_people(state), wants_people(state)
            ended = over(state) is not None or not (usable or state.ledger.total(c.PAUSED))
        if self.study.ended or (status == "COMPLETED" and found.free):
            # Stopped for good, by us or by a person.
            usable, wants, ended = False, False, True
        try:
            found = self._kept(status, found, usable=usable, wants=wants)
        except ProlificRefused as error:
            self.matters.append(OpenMatter("study_refused", self.study.study, "", str(error)))
        if found.under_way or (found.free and usable and self._pays(found)):
            self.course = "recruiting"
        elif wants or (found.free and usable):
            self.course = "full"
        elif ended:
            self.course = "done"
        return found

    def _halt(self, status: str, found: Occupation) -> None:
        """Let nobody come for a reward that the budget was not planned for."""
        base = from_micro(self.study.source.base)
        detail = f"the reward on Prolific is no longer {base}: change it back; until then nobody "
        detail += "is let in by us, approved or booked"
        self.matters.append(OpenMatter("reward_changed", self.study.study, "", detail))
        if status == "ACTIVE" and found.free:
            try:
                self._move("PAUSE", paused=True)
            except ProlificRefused as error:
                self.matters.append(OpenMatter("study_refused", self.study.study, "", str(error)))
        if found.under_way:
            self.course = "recruiting"
        elif self.study.ended or status == "COMPLETED":
            self.course = "done"

    def _kept(self, status: str, found: Occupation, *, usable: bool, wants: bool) -> Occupation:
        source = self.study.source
        if found.free:
            if usable and self._pays(found):
                self._open(status)
            elif status == "ACTIVE":
                # Who came would come for nothing, or could not be paid.
                self._move("PAUSE", paused=True)
        elif wants and not found.under_way and status != "UNPUBLISHED":
            left = unspent(self.campaign) - found.committed
            fits = min(source.step, source.most - found.total, left // source.most_for_one)
            if fits > 0:
                self.api.set_places(self.study.study, found.total + fits)
                self.added = fits
                self._open(status)
                return replace(found, total=found.total + fits)
        return found

    def _pays(self, found: Occupation) -> bool:
        """Whether the budget can pay the people who take the free places."""
        most = found.free * self.study.source.most_for_one
        return unspent(self.campaign) - found.committed >= most

    def _open(self, status: str) -> None:
        if status == "UNPUBLISHED":
            self._move("PUBLISH", paused=False)
        elif status == "PAUSED" and self.study.paused:
            self._move("START", paused=False)

    def _move(self, action: str, *, paused: bool) -> None:
        # Written first: a study that we paused is one that we may start.
        before = self.study.paused
        self.study = self.book.change_study(self.study.number, paused=paused or before)
        try:
            self.api.transition_study(self.study.study, action)
        except ProlificUnclear:
            return  # the next look shows what it is
        except (ProlificRefused, ProlificUnreachable):
            self.study = self.book.change_study(self.study.number, paused=before)
            raise
        self.study = self.book.change_study(self.study.number, paused=paused)
