"""A campaign at a glance."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, Self

from askwise.campaign.piloting import would_pilot
from askwise.campaign.state import AS_WANTED, CampaignState
from askwise.campaign.views.certificate import CampaignCertificate, certificate
from askwise.campaign.views.pilot import PilotProgress, progress
from askwise.core.allocation import Watch
from askwise.core.choices import WHY_DONE, Done, DoneWhy
from askwise.core.json_types import Count, Id, Positive, Share
from askwise.core.jsonable import Jsonable
from askwise.core.money import from_micro
from askwise.ledger import columns as c
from askwise.policies import GoldFor, GoldRequest

CampaignPhase = Literal["running", "done", "paused", "stopped"]
"""The states of a campaign."""


@dataclass(frozen=True, slots=True)
class NeedsGold(Jsonable):
    """Tasks whose truth is wanted, and what for.

    Attributes
    ----------
    context : str or None
        The context of the tasks; None where it does not matter.
    tasks : tuple of str
        Tasks whose truth is wanted. There may be fewer than ``count``: the next ones are
        named as truths come in.
    why : GoldFor
        With ``side``, answers alone can't show who is right in the context, and these truths would.
        With ``calibration``, confidences rest on agreement alone; the tasks are drawn at random,
        and their truths turn agreement into a probability. With ``audit``, the tasks were drawn at
        random when they were begun, and the policy waits for these truths.
    count : int
        How many truths are still wanted.
    """

    context: str | None
    tasks: tuple[Id, ...]
    why: GoldFor = "side"
    count: Positive = 1

    @classmethod
    def of(cls, request: GoldRequest) -> Self:
        """What a policy asks for."""
        wanted = len(request.tasks) if request.count is None else request.count
        return cls(request.context, tuple(request.tasks), request.why, wanted)


@dataclass(frozen=True, slots=True)
class Status(Jsonable):
    """A campaign at a glance.

    Attributes
    ----------
    name : str
        The name of the campaign.
    state : CampaignPhase
        ``running``; ``done`` (there is nothing more to ask, and no assignment is open); ``paused``
        (nothing is handed out until it is resumed); or ``stopped`` for good.
    why : DoneWhy or None
        Why nothing more is asked, by the words of ``Done``; None while somebody is to be asked or
        assignments are open. A campaign that is paused may have a reason too: resumed, it is done.
    policy : str
        The name of the policy that decides whom to ask.
    budget : Decimal or None
        Maximum to spend; None without a cap.
    spent : Decimal
        What answers and failed calls have cost, and bonuses.
    reserved : Decimal
        What is reserved for open and planned assignments.
    left : Decimal or None
        The budget less what is spent and reserved; None without a cap.
    workers : int
        Workers who may be asked.
    tasks : int
        Tasks; 0 where units of work are bought.
    open_tasks : int
        Tasks that are not closed.
    settled : int
        Tasks that have their answer: they are closed, their truth was told, or they are as
        sure as the policy was told to make them. They are all tasks if ``why`` is ``target``
        or ``agreement``.
    decisions : int
        Decisions that the policy has made.
    answers : int
        Answers received.
    pending : int
        Open assignments.
    utility : float or None
        The sum of all answers; None in a campaign with options.
    seq : int
        The number of the last event of the log.
    failures : int
        Calls that gave no answer, and answers that were withdrawn; what they cost is in ``spent``.
    unbooked : Decimal
        What calls were said to cost beyond their ceiling and beyond the budget.
    needs_gold : tuple of NeedsGold
        Truths that are wanted, and what for.
    certificate : CampaignCertificate or None
        What audits have shown; None where nothing is to be certified.
    watch : Watch or None
        What audits say of answers that are assured; None where none are audited.
    because : str or None
        Why the policy ``auto`` chose ``policy``, and when the campaign ends; None where the
        policy was named.
    pilot : PilotProgress or None
        How far the pilot is; None without one.
    title : str or None
        What the campaign is called: the title that it was given last, or that of its content;
        None where it has neither, and goes by its name.
    archived : bool
        Whether the campaign is archived: it is not listed and can't be changed until it is
        unarchived.
    set_gap : float or None
        By what share the cheapest set of workers may cost less than the one to which all further
        tasks go; 0 if that is proved to be the cheapest. None as long as there is no such set, and
        where nothing is known.
    """

    name: Id
    state: CampaignPhase
    policy: str
    budget: Decimal | None
    spent: Decimal
    reserved: Decimal
    left: Decimal | None
    workers: Count
    tasks: Count
    open_tasks: Count
    decisions: Count
    answers: Count
    pending: Count
    utility: float | None
    seq: Count
    failures: Count = 0
    unbooked: Decimal = Decimal(0)
    why: DoneWhy | None = None
    settled: Count = 0
    needs_gold: tuple[NeedsGold, ...] = ()
    certificate: CampaignCertificate | None = None
    watch: Watch | None = None
    because: str | None = None
    pilot: PilotProgress | None = None
    title: str | None = None
    archived: bool = False
    set_gap: Share | None = None

    @property
    def set_statement(self) -> str | None:
        """``set_gap`` in words; None where there is nothing to be said."""
        if not self.set_gap:
            return None
        return (
            "The set that tasks go to is not proved to be the cheapest: the cheapest costs at most "
            f"{self.set_gap:.1%} less."
        )

    @property
    def chosen_because(self) -> str | None:
        """``because`` as it is now: once nothing more is asked, with why that is so."""
        if self.because is None or self.why is None:
            return self.because
        # What follows says when the campaign was going to end.
        chosen, _, _ = self.because.partition("; ")
        return f"{chosen}; ended because {WHY_DONE.get(self.why, self.why)}"


def status(name: str, state: CampaignState) -> Status:
    """Counts and money of a campaign."""
    ledger, problem, policy = state.ledger, state.spec.problem, state.spec.policy
    total = ledger.total
    budget, spent = ledger.budget, ledger.spent
    done = Done("stopped") if total(c.STOPPED) else None
    if done is None and total(c.ASSIGNMENTS):
        # Not before somebody was asked: the first decision of a policy may take long.
        done = over(state)
    return Status(
        name=name,
        state=_phase(state, done),
        policy=policy.name,
        budget=None if budget is None else from_micro(budget),
        spent=from_micro(spent),
        reserved=from_micro(ledger.reserved),
        left=None if budget is None else from_micro(budget - spent - ledger.reserved),
        workers=int(state.available().sum() + state.auditors().sum()),
        tasks=ledger.task_count,
        open_tasks=0 if problem.taskless else total(c.OPEN),
        decisions=total(c.DECISIONS),
        answers=total(c.ANSWERS),
        pending=total(c.PENDING),
        utility=None if problem.options else ledger.utility,
        seq=state.seq,
        failures=int(ledger.book.workers[: total(c.WORKERS), c.FAILURES].sum()),
        unbooked=from_micro(sum(overrun.unbooked for overrun in ledger.overruns.values())),
        needs_gold=tuple(NeedsGold.of(request) for request in state.needs_gold()),
        certificate=None if problem.certify is None else certificate(state),
        watch=state.watch(),
        because=state.spec.because,
        pilot=progress(state),
        why=None if done is None else done.why,
        settled=0 if problem.taskless else settled_tasks(state, done),
        title=state.title,
        archived=ledger.archived,
        set_gap=state.set_gap(),
    )


def _phase(state: CampaignState, done: Done | None) -> CampaignPhase:
    """What is to be said of a campaign in a word: what was done by hand comes first."""
    if state.ledger.total(c.STOPPED):
        return "stopped"
    if state.ledger.total(c.PAUSED):
        return "paused"
    return "running" if done is None else "done"


def settled_tasks(state: CampaignState, done: Done | None) -> int:
    """How many tasks have their answer.

    A policy that can't tell of which tasks it is sure is taken at its word when it is done.
    """
    if done in AS_WANTED:
        return state.ledger.task_count
    # To policies a task that was removed is closed.
    return int(state.settled().sum()) - len(state.ledger.removed)


def over(state: CampaignState) -> Done | None:
    """Why nothing can be asked any more and nothing is out, if so."""
    if state.known_end is None or state.known_end[0] != state.seq:
        state.known_end = state.seq, _find_end(state)
    return state.known_end[1]


def _find_end(state: CampaignState) -> Done | None:
    ledger = state.ledger
    if ledger.total(c.PENDING):
        return None
    if ledger.total(c.STOPPED):
        return Done("stopped")
    audits = state.certification
    if audits is not None and audits.blocks:
        step = audits.next_step(ledger, state.auditors())
        if not isinstance(step, Done) or not ledger.total(c.OPEN):
            return step if isinstance(step, Done) else None
    if would_pilot(state.spec.pilot, ledger, state.pilot, state.available(), state.spec.seed):
        return None
    if (ledger.book.plan[: ledger.total(c.PLAN_ROWS), c.PLAN_COUNT] > 0).any():
        return None
    choice = state.choose(state.available())
    if not isinstance(choice, Done) or (audits is not None and audits.may_draw(ledger)):
        return None
    return choice
