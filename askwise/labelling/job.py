"""One job of labelling: its campaign made or found again, run to its end, and its result."""

from collections.abc import Callable
from typing import Any

from askwise.campaign import Campaign
from askwise.campaign.views import PilotReport
from askwise.core.choices import Done, Wait
from askwise.core.errors import Conflict, InvalidParameter
from askwise.core.money import from_micro, to_micro
from askwise.labelling.audit_money import with_audit_money
from askwise.labelling.beginning import Beginning, beginning_of
from askwise.labelling.costs import CostForecast, forecast
from askwise.labelling.keeping import KeptJob, job_to_resume, keep_job, kept_job
from askwise.labelling.orders import LabelOrder
from askwise.labelling.result import LabelResult
from askwise.labelling.watching import JobWatch, LabelProgress, LabelWatch, outages_of, progress_of
from askwise.running import run
from askwise.running.source_load import check_source
from askwise.store import Store, open_store

NAME = "label"
"""What the campaign is called, if not said otherwise."""


class LabelJob:
    """Labels items in a campaign of its own.

    Nothing is spent before :meth:`run`.

    Parameters
    ----------
    order : LabelOrder
        What is labelled, by whom, for how much.
    store : str or Store
        Where the campaign is kept.
    name : str
        What it is called there.
    resume : bool
        Whether to go on with a campaign that is there already.
    command : mapping, optional
        What a command was given, to be found again by :func:`kept_command`.

    Raises
    ------
    Conflict
        The store has a job of this name and ``resume`` is not set, or has one about other items or
        with other judges and people.
    UnknownName
        ``resume`` is set, and there is none.
    """

    def __init__(
        self,
        order: LabelOrder,
        store: str | Store = "memory",
        *,
        name: str = NAME,
        resume: bool = False,
        command: dict[str, Any] | None = None,
    ) -> None:
        self.order = order
        self.store = open_store(store)
        self.name = name
        self.without_pilot: str | None = None
        """Why there is no pilot, if one was left out."""
        self.replaces: str | None = None
        """The campaign of the job that was begun before under this name, and asked nobody."""
        items, begins = order.items, None
        if resume:
            job = job_to_resume(self.store, name, items.digest(), items.source)
        else:
            # What is refused must not take the place of a job that can be resumed.
            begins = self._begins()
            before = kept_job(self.store, name)
            job = keep_job(
                *(self.store, name, items.digest(), command),
                lambda campaign: begins.is_that_of(self.store, campaign),
            )
            if before is not None and before.campaign != job.campaign:
                self.replaces = before.campaign
        # A process may have been killed between keeping the job and creating its campaign.
        if job.campaign in self.store.names():
            self.campaign = Campaign.open(self.store, job.campaign)
        else:
            self.campaign = self._created(job, begins or self._begins())
        if resume:
            self._refuse_other_judges()

    @property
    def forecast(self) -> CostForecast:
        """What it is likely to cost."""
        return forecast(self.order)

    def raise_budget(self) -> None:
        """Add what the order's budget is above the campaign's; a lower one is refused."""
        if self.order.budget is None:
            return
        wanted, budget = to_micro(self.order.budget, "budget"), self.campaign.status().budget
        if budget is None or wanted == to_micro(budget, "budget"):
            return
        more = wanted - to_micro(budget, "budget")
        if more < 0:
            raise Conflict(
                f"budget is {self.order.budget}, but the campaign was given {budget} already: give "
                "as much or more",
                field="budget",
            )
        self.campaign.top_up(from_micro(more), key=f"budget:{wanted}")

    def run(
        self,
        *,
        watch: LabelWatch | None = None,
        on_pilot: Callable[[PilotReport], None] | None = None,
        wait: bool = False,
        grace: float = 30.0,
        pilot_only: bool = False,
    ) -> LabelResult:
        """Ask until there is nobody more to ask, or until Ctrl-C.

        Parameters
        ----------
        watch : callable
            Told a :class:`LabelProgress` now and then.
        on_pilot : callable
            Told what the pilot has shown, when it is over.
        wait : bool
            Whether to go on while only people, who are not called, can answer.
        grace : float
            Seconds for calls that are under way when it is stopped.
        pilot_only : bool
            Whether to stop when the pilot is over; a few questions more may have gone out by then.
        """
        if pilot_only and self.campaign.status().pilot is None:
            raise InvalidParameter(
                "pilot_only is set, but the job has no pilot: it takes two judges and five items "
                "or more, and a policy that allows it",
                field="pilot_only",
            )
        # Told before, the same truth changes nothing.
        self.campaign.truths(self.order.truths)
        sources = self.order.sources
        watching = JobWatch(
            self.campaign, sources, watch, on_pilot, pilot_only=pilot_only, may_wait=wait
        )
        with watching:
            found = run(
                self.campaign,
                sources,
                watch=watching.hear,
                wait=wait,
                grace=grace,
                stop=watching.stop,
                until=self._is_piloted if pilot_only else None,
            )
        progress = self.progress()
        begun = progress.answers or progress.spent
        if watching.hopeless or (isinstance(found.end, Wait) and progress.outages and not begun):
            out = watching.hopeless or progress.outages
            raise InvalidParameter(
                f"nobody can be asked: {'; '.join(f'{who}: {why}' for who, why in out.items())}; "
                "nothing was spent",
                field="judges",
                reason="judges_unavailable",
            )
        return self.result(found.end)

    def result(self, end: Done | Wait | None = None) -> LabelResult:
        """What has come of it so far."""
        outages = outages_of(self.order.sources)
        return LabelResult(self.campaign, self.order.items, end, outages)

    def progress(self) -> LabelProgress:
        """How far it is."""
        return progress_of(self.campaign, self.order.sources)

    def _is_piloted(self) -> bool:
        """Whether every question of the pilot has ended."""
        pilot = self.campaign.status().pilot
        return pilot is not None and pilot.phase == "done"

    def _refuse_other_judges(self) -> None:
        """Refuse judges that the job was not begun with, before anything of it is changed."""
        with self.campaign.reading() as state:
            known = {each.id: each for each in state.ledger.workers}
        names = [each.id for each in self.order.workers]
        for name in names:
            if name not in known:
                raise Conflict(
                    f"{name!r} is not among the judges and people that the job {self.name!r} was "
                    f"started with, which are {', '.join(known)}: take it out, or start another "
                    "job",
                    field="judges",
                )
        for name in known:
            if name not in names:
                raise Conflict(
                    f"the job {self.name!r} was started with {name!r}, who is missing now: restore "
                    "it, or start another job",
                    field="judges",
                )
        for name, source in self.order.sources.items():
            check_source(known[name], source)

    def _begins(self) -> Beginning:
        """What its campaign is made of, if it can be created."""
        self.order = with_audit_money(self.order)
        begins = beginning_of(self.order, self.store)
        self.without_pilot = begins.without_pilot
        return begins

    def _created(self, job: KeptJob, begins: Beginning) -> Campaign:
        return Campaign.create(store=self.store, name=job.campaign, **begins.fields)


def kept_command(store: Store, name: str = NAME) -> dict[str, Any] | None:
    """What the command was given that began a job; None if there is no such job."""
    kept = kept_job(store, name)
    return None if kept is None else kept.command
