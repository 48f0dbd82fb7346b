"""One pass: Label Studio and the campaign are brought in step with each other."""

import logging
import time
from collections.abc import Callable, Collection

from askwise.campaign import Campaign
from askwise.campaign.handing_over import check_hands_over
from askwise.core.choices import Batch
from askwise.core.errors import AskwiseError, InvalidProblem
from askwise.core.problem import Worker
from askwise.running.label_studio.board import ALL, Board, LabelStudioTask
from askwise.running.label_studio.campaign_view import CampaignMoment, read_moment
from askwise.running.label_studio.counts import SyncCounts
from askwise.running.label_studio.predictions import PredictionWriter
from askwise.running.label_studio.settling import REFUSALS, Settler
from askwise.sources.label_studio import LabelStudio, LabelStudioApi, LabelStudioForm

log = logging.getLogger(__name__)

UNNAMED = "label-studio-"
"""Before the number of an account, what its owner is called if the settings have no name."""


class Synchroniser:
    """Keeps the projects of a campaign in step with it.

    The campaign's log and Label Studio are all the state there is: created again after a kill, on
    whichever side, it goes on where the other was.

    Parameters
    ----------
    campaign : Campaign
        It must have content.
    settings : LabelStudio
        Where Label Studio is, and what people are paid.
    api : LabelStudioApi
        Requests to it.
    hold : callable
        Called before every write to the campaign; raises if somebody else has taken over.
    clock : callable
        Seconds now, by which grace is counted.
    """

    def __init__(
        self,
        campaign: Campaign,
        settings: LabelStudio,
        api: LabelStudioApi,
        *,
        hold: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if campaign.content is None:
            raise InvalidProblem(
                "content is missing: create the campaign with a question", field="content"
            )
        moment = read_moment(campaign)
        if not moment.tasks:
            raise InvalidProblem(
                "the campaign has no tasks that could be shown in Label Studio", field="tasks"
            )
        _check_asked_once(moment, settings)
        if not settings.one_project_per_worker:
            with campaign.reading() as state:
                check_hands_over(state.spec)
        self._campaign = campaign
        self._settings = settings
        self._api = api
        self._hold = hold
        self._clock = clock
        self.counts = SyncCounts()
        form = LabelStudioForm(campaign.content, moment.tasks.values())
        self.board = Board(api, settings, campaign, form)
        self._settler = Settler(campaign, form, self.counts, hold, api.has_annotation)
        self._predictions = PredictionWriter(campaign, api, form, self.counts)
        self._workers: dict[int, str] = {}
        """Workers by the number of their account."""
        self._left_out: set[str] = set()
        """Who could not join when they last tried."""
        self._closed_since: dict[str, float] = {}
        """When an assignment was first seen to be about a task that is closed."""

    def whole(self) -> None:
        """Read everything, and bring both sides in step."""
        self.board.find_projects()
        self._join(read_moment(self._campaign))
        if not self._settings.one_project_per_worker:
            self.board.need_project(ALL)
        self.board.read()
        self.counts.count("copies", self.board.drop_copies())
        self.counts.untaken = {}
        self._import_all()
        self._in_step()
        # After the rest: nobody waits for them.
        self._predictions.write(self.board, read_moment(self._campaign))
        if self._settings.show_verdicts:
            self._show_first_judge()

    def some(self, places: Collection[int]) -> None:
        """Read the tasks that something was heard of, and bring them in step."""
        self.board.read_some(places)
        self._in_step()

    def _in_step(self) -> None:
        newest = self._settler.newest(self.board.places.values(), self._workers)
        while True:
            moment = read_moment(self._campaign)
            self._settler.settle(newest, self.board.places, moment)
            # An annotation that nobody had asked for may be what was asked for now.
            if not self._ask():
                break
        moment = read_moment(self._campaign)
        self._give_back(moment)
        self._keep_leases(moment)
        moment = read_moment(self._campaign)
        self._import_asked(moment)
        self._set_overlaps(moment)

    # People.

    def _join(self, moment: CampaignMoment) -> None:
        """Let everybody of Label Studio join who is not in the campaign yet."""
        self._workers, new = {}, []
        for user in self._api.users():
            if user.get("active_organization", True) is None:
                continue  # an account that is in no organisation sees no project
            mail = str(user.get("email") or "").casefold()
            named = self._settings.workers.get(mail)
            worker = named or f"{UNNAMED}{user['id']}"
            if worker in moment.repeats:
                log.warning("%s is left out: give them kind 'person'", worker)
                continue  # they joined since, and one annotation can't answer every question
            if worker not in moment.workers:
                if named is None and self._settings.only_workers:
                    continue
                new.append(Worker(worker, self._settings.price, kind="person"))
            self._workers[int(user["id"])] = worker
        if new:
            self._hold()
            try:
                self._campaign.add(workers=new)
            except REFUSALS as refused:
                self._leave_out({worker.id for worker in new}, refused)
                return
            self.counts.count("joined", len(new))

    def _leave_out(self, refused: set[str], why: AskwiseError) -> None:
        """Go on without people whom the campaign does not take."""
        self._workers = {user: id for user, id in self._workers.items() if id not in refused}
        if refused != self._left_out:
            log.warning("%s can't join: %s", ", ".join(sorted(refused)), why)
            self._left_out = refused

    # Asking.

    def _ask(self) -> bool:
        """Ask for as many more answers as there are slots; tells whether any was asked for."""
        asked = False
        while True:
            moment = read_moment(self._campaign)
            people = {id for id in self._workers.values() if id in moment.here}
            held = dict.fromkeys(people, 0)
            for each in moment.out(people):
                held[each.assignment.worker] += 1
            free = {id: self._settings.slots - count for id, count in held.items()}
            free = {id: room for id, room in free.items() if room > 0}
            if not free:
                return asked
            self._hold()
            # No more than any of them takes: all of a batch may be for one.
            choice = self._campaign.ask(min(free.values()), sorted(free))
            if not isinstance(choice, Batch):
                return asked
            self.counts.count("asked", len(choice))
            asked = True

    def _give_back(self, moment: CampaignMoment) -> None:
        """Give back questions about tasks that are closed; what is on a screen has its grace."""
        now, opened = self._clock(), self._opened(moment)
        for each in moment.out(set(self._workers.values())):
            id, task = each.assignment.id, each.assignment.task or ""
            if task in moment.open_tasks or id in moment.personal:
                continue
            since = self._closed_since.setdefault(id, now)
            if id in opened and now - since < self._settings.grace:
                continue
            self._hold()
            try:
                self._campaign.expire(id)
            except REFUSALS as refused:
                log.warning("%s could not be given back: %s", id, refused)
                continue
            self.counts.count("expired")

    def _keep_leases(self, moment: CampaignMoment) -> None:
        """Renew what waits for an answer before it expires."""
        lease = self._campaign.spec.get("lease")
        if lease is None:
            return
        for each in moment.out(set(self._workers.values())):
            id, task = each.assignment.id, each.assignment.task or ""
            expires = each.assignment.expires
            waits = task in moment.open_tasks or id in moment.personal
            if expires is None or not waits:
                continue
            if expires - time.time() < float(lease) / 2:
                self._hold()
                try:
                    self._campaign.renew(id)
                except REFUSALS as refused:
                    log.warning("the lease of %s: %s", id, refused)

    # Tasks.

    def _opened(self, moment: CampaignMoment) -> dict[str, str]:
        """Assignments for which a task is open, and their tasks: one at a time for each task.

        Whether a second answer is worth its price is known when the first is there.
        """
        found: dict[str, str] = {}
        taken: set[str] = set()
        for each in moment.out(set(self._workers.values())):
            id, task = each.assignment.id, each.assignment.task or ""
            if id in moment.personal or task not in taken:
                found[id] = task
                taken.add(task)
        return found

    def _import_all(self) -> None:
        """Import what is not there, where all share a project."""
        if self._settings.one_project_per_worker:
            return
        project = self.board.need_project(ALL)
        there, moment = self.board.firsts()[project], read_moment(self._campaign)
        missing = {task: shown for task, shown in moment.tasks.items() if task not in there}
        if missing:
            self.board.import_tasks(project, missing)
            self.counts.count("imported", len(missing))

    def _import_asked(self, moment: CampaignMoment) -> None:
        """Import what is put to somebody, into their own project or that of all."""
        wanted: dict[str | None, dict[str, object]] = {}
        there = self.board.firsts()
        for each in moment.out(set(self._workers.values())):
            task, worker = each.assignment.task or "", each.assignment.worker
            owner = worker if self._settings.one_project_per_worker else ALL
            project = self.board.need_project(owner)
            if task not in there.get(project, ()):
                wanted.setdefault(owner, {})[task] = moment.tasks[task]
        for owner, tasks in wanted.items():
            self.board.import_tasks(self.board.projects[owner], tasks)
            self.counts.count("imported", len(tasks))

    def _set_overlaps(self, moment: CampaignMoment) -> None:
        """Open tasks for what is asked, and close all others."""
        firsts = self.board.firsts()
        more: dict[int, int] = {}
        opened = self._opened(moment)
        for each in moment.out(set(self._workers.values())):
            id, task = each.assignment.id, each.assignment.task or ""
            if id not in opened or (task not in moment.open_tasks and id not in moment.personal):
                continue
            own = self._settings.one_project_per_worker
            place = firsts[self.board.projects[each.assignment.worker if own else ALL]][task]
            more[place.id] = more.get(place.id, 0) + 1
        for place in list(self.board.places.values()):
            before, wanted = place.overlap, place.answered + more.get(place.id, 0)
            if self._open(place, wanted):
                self.counts.count("opened" if wanted > before else "closed")

    def _open(self, place: LabelStudioTask, overlap: int) -> bool:
        try:
            return self.board.open(place, overlap)
        except AskwiseError as error:
            if error.reason != "unknown_name":
                raise
            # It was deleted a moment ago: the next look finds that out.
            log.warning("task %r is gone from Label Studio", place.task)
            return False

    def _show_first_judge(self) -> None:
        """Let people see one judge's verdicts: Label Studio shows one version at a time."""
        judges = [
            id
            for id, worker in read_moment(self._campaign).workers.items()
            if worker.kind == "model"
        ]
        if judges:
            self.board.show_version(judges[0])


def _check_asked_once(moment: CampaignMoment, settings: LabelStudio) -> None:
    """Refuse workers of Label Studio who may be asked about a task again.

    There somebody annotates a task once, so a second question about it could not be answered.
    """
    named = set(settings.workers.values())
    for id in sorted(moment.repeats):
        if id in named or id.startswith(UNNAMED):
            raise InvalidProblem(
                f"worker {id!r} may be asked about a task again, and in Label Studio people "
                "annotate a task once: give them kind 'person', or create the campaign without "
                "repeat",
                field="workers",
            )
