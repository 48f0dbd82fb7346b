"""Annotations as answers: told, changed and withdrawn until both sides say the same.

Nothing here depends on how a difference came about. What was submitted is held against what the
campaign has, so a repeated, late or lost notice, or a kill anywhere, changes nothing.
"""

import logging
import math
from collections.abc import Callable, Iterable, Mapping
from functools import partial

from askwise.campaign import Campaign
from askwise.campaign.views import Handed
from askwise.core.errors import Conflict, InvalidAnswer, InvalidProblem, OverBudget
from askwise.running.label_studio.board import LabelStudioTask, SubmittedAnnotation
from askwise.running.label_studio.campaign_view import (
    BY,
    CampaignMoment,
    Origin,
    Origins,
    is_closed,
    seq_in,
)
from askwise.running.label_studio.counts import SyncCounts, Untaken
from askwise.sources.label_studio import LabelStudioForm

log = logging.getLogger(__name__)

REFUSALS = (Conflict, InvalidAnswer, InvalidProblem, OverBudget)
"""What a campaign says no with; anything else is a fault and not an answer's."""

Newest = dict[tuple[str, str], SubmittedAnnotation]
"""What counts of a worker's submissions about a task."""


class Settler:
    """Makes answers of what people have submitted.

    Parameters
    ----------
    hold : callable
        Called before every write: makes certain that nobody else keeps this campaign in step.
    exists : callable
        Whether an annotation is still there, by its number.
    """

    def __init__(
        self,
        campaign: Campaign,
        form: LabelStudioForm,
        counts: SyncCounts,
        hold: Callable[[], None],
        exists: Callable[[int], bool],
    ) -> None:
        self._campaign = campaign
        self._form = form
        self._counts = counts
        self._hold = hold
        self._exists = exists
        self.origins = Origins(campaign)

    def newest(self, places: Iterable[LabelStudioTask], worker_of: Mapping[int, str]) -> Newest:
        """What each worker says of each task: what they submitted or changed last."""
        found: Newest = {}
        for place in places:
            for each in place.submissions:
                worker = None if each.user is None else worker_of.get(each.user)
                if worker is None:
                    self._pass_over(
                        each, place.task, None, "stranger", "not a worker of the campaign"
                    )
                    continue
                other = found.get((place.task, worker))
                if other is None or _rank(other) < _rank(each):
                    found[place.task, worker] = each
        return found

    def settle(
        self, newest: Newest, places: Mapping[int, LabelStudioTask], moment: CampaignMoment
    ) -> bool:
        """Bring the campaign in line with what was submitted; tells whether anything changed."""
        self.origins.catch_up()
        changed = False
        for (task, worker), each in sorted(newest.items(), key=partial(_turn, moment)):
            if task in moment.tasks and worker in moment.workers:
                opened = moment.out_of(task)[:1]
                if self._settle_one(task, worker, each, newest, moment):
                    self._give_back_rest(task, opened, moment)
                    changed = True
        for (task, worker), handed in list(moment.pairs.items()):
            if handed.state == "answered" and (task, worker) not in newest:
                changed |= self._withdraw_deleted(handed, places)
        return changed

    def _settle_one(
        self,
        task: str,
        worker: str,
        each: SubmittedAnnotation,
        newest: Newest,
        moment: CampaignMoment,
    ) -> bool:
        handed = moment.pairs.get((task, worker))
        value, unreadable = self._value(each)
        waits = handed is None or handed.state in ("out", "expired")
        if waits and value is not None and self.origins.is_used(each.id):
            # Each annotation is paid once, whatever becomes of workers, accounts and questions.
            detail = "it is already the answer to another question"
            self._pass_over(each, task, worker, "annotation_used", detail)
            return False
        try:
            if handed is None or handed.state == "expired":
                if value is None:
                    return False  # nobody waits for it
                return self._take_over(task, worker, each, value, handed, newest, moment)
            if handed.state == "out":
                self._settle_out(handed, each, value)
            elif handed.state in ("answered", "withdrawn"):
                if not self._change(handed, each, value):
                    return False
            elif value is not None:
                self._pass_over(
                    each,
                    task,
                    worker,
                    f"assignment_{handed.state}",
                    f"it was {handed.state} before",
                )
                return False
            else:
                return False
        except REFUSALS as refused:
            self._pass_over(each, task, worker, refused.reason, str(refused))
            return False
        self._note(handed, moment)
        if unreadable:
            self._pass_over(each, task, worker, "unreadable", unreadable)
        else:
            self._counts.untaken.pop(each.id, None)
        return True

    def _value(self, each: SubmittedAnnotation) -> tuple[str | float | None, str]:
        """What a submission says; else None, and why if it is not a skip."""
        if each.skipped:
            return None, ""
        try:
            return self._form.value(each.result), ""
        except InvalidAnswer as error:
            return None, str(error)

    def _settle_out(
        self, handed: Handed, each: SubmittedAnnotation, value: str | float | None
    ) -> None:
        """Settle a question that was put to the one who answered."""
        id = handed.assignment.id
        self._hold()
        if value is not None:
            reference = str(Origin(each.place, each.id))
            self._campaign.tell(id, value, key=f"{reference}:{id}", reference=reference)
            self._counts.count("told")
        elif each.skipped:
            self._campaign.decline(id)
            self._counts.count("declined")
        else:
            self._campaign.fail(id, "unreadable", reference=str(Origin(each.place, each.id)))
            self._counts.count("failed")

    def _take_over(
        self,
        task: str,
        worker: str,
        each: SubmittedAnnotation,
        value: str | float,
        expired: Handed | None,
        newest: Newest,
        moment: CampaignMoment,
    ) -> bool:
        """Take an answer of somebody else than the one who was chosen."""
        waiting = [
            other
            for other in moment.out_of(task)
            # Who has answered it gets it.
            if (task, other.assignment.worker) not in newest
        ]
        # What was reserved for the most expensive has room for everybody else.
        waiting.sort(key=lambda other: -other.assignment.price)
        reference = str(Origin(each.place, each.id))
        self._hold()
        if waiting:
            given = waiting[0].assignment
            own = self._campaign.hand_over(given.id, worker, key=f"{reference}:{given.id}")
            self._counts.count("handed_over")
            self._campaign.tell(own.id, value, key=f"{reference}:{own.id}", reference=reference)
            self._counts.count("told")
            self._note(waiting[0], moment)
            moment.put(self._campaign.assignment(own.id))
        elif expired is not None:
            # They were asked, and it took them longer than the lease.
            id = expired.assignment.id
            self._campaign.tell(id, value, key=f"{reference}:{id}", reference=reference)
            self._counts.count("told")
            self._note(expired, moment)
        else:
            self._pass_over(each, task, worker, "unasked", "nobody has asked for another answer")
            return False
        self._counts.untaken.pop(each.id, None)
        return True

    def _change(self, handed: Handed, each: SubmittedAnnotation, value: str | float | None) -> bool:
        """Change an answer that was given before; tells whether it differs."""
        id = handed.assignment.id
        if handed.value == value:
            return False
        by_hand = self.origins.changed_by_hand(id)
        if by_hand is not None and by_hand >= each.updated:
            self._pass_over(
                each,
                handed.assignment.task or "",
                handed.assignment.worker,
                "changed_by_hand",
                "the answer has since been changed in the campaign, and that change stays",
            )
            return False
        self._hold()
        if value is None:
            why = "skipped" if each.skipped else "changed to something that is not an answer"
            self._campaign.withdraw(id, f"{why} in Label Studio", by=BY)
            self._counts.count("withdrawn")
        else:
            reference = str(Origin(each.place, each.id))
            self._campaign.revise(id, value, reference=reference, by=BY)
            self._counts.count("revised")
        return True

    def _withdraw_deleted(self, handed: Handed, places: Mapping[int, LabelStudioTask]) -> bool:
        """Withdraw an answer whose annotation was deleted."""
        origin, assignment = self.origins.of(handed.assignment.id), handed.assignment
        # Of a task that was deleted as a whole, or is elsewhere, answers stay.
        if origin is None or origin.place not in places or self._exists(origin.annotation):
            return False
        if self.origins.changed_by_hand(assignment.id) is not None:
            return False
        self._hold()
        try:
            self._campaign.withdraw(assignment.id, "deleted in Label Studio", by=BY)
        except REFUSALS as refused:
            log.warning("the answer to %s stays: %s", assignment.id, refused)
            return False
        self._counts.count("withdrawn")
        return True

    def _note(self, handed: Handed, moment: CampaignMoment) -> None:
        """Take into the moment what has become of an assignment."""
        moment.put(self._campaign.assignment(handed.assignment.id))

    def _give_back_rest(self, task: str, opened: list[Handed], moment: CampaignMoment) -> None:
        """Once a task is closed, release what was asked about it and was not open yet."""
        waiting = [each for each in moment.out_of(task) if each not in opened]
        if waiting and is_closed(self._campaign, task):
            for each in waiting:
                self._hold()
                try:
                    self._campaign.expire(each.assignment.id)
                    self._counts.count("expired")
                except REFUSALS as refused:
                    # Somebody else has settled it since the moment were read.
                    log.warning("%s could not be given back: %s", each.assignment.id, refused)
                self._note(each, moment)

    def _pass_over(
        self, each: SubmittedAnnotation, task: str, worker: str | None, why: str, detail: str
    ) -> None:
        if self._counts.untaken.get(each.id, None) is None:
            log.warning("annotation %d of task %r is not taken: %s", each.id, task, detail)
        self._counts.untaken[each.id] = Untaken(each.id, task, worker, why, detail)


def _turn(
    moment: CampaignMoment, item: tuple[tuple[str, str], SubmittedAnnotation]
) -> tuple[str, float, int]:
    """Task by task; first who has it open, then who else was asked, then those who were not."""
    (task, worker), each = item
    handed = moment.pairs.get((task, worker))
    is_out = handed is not None and handed.state == "out"
    return task, seq_in(handed.assignment.id) if handed and is_out else math.inf, each.id


def _rank(each: SubmittedAnnotation) -> tuple[bool, float, int]:
    """An answer counts before a skip, and what was changed last before what was before."""
    return not each.skipped, each.updated, each.id
