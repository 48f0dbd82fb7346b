"""A campaign at a glance."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, Self

from askwise.campaign.piloting import would_pilot
from askwise.campaign.state import CampaignState
from askwise.campaign.views.certificate import CampaignCertificate, certificate
from askwise.campaign.views.pilot import PilotProgress, progress
from askwise.core.allocation import Watch
from askwise.core.choices import Done
from askwise.core.jsonable import Jsonable
from askwise.core.money import from_micro
from askwise.ledger import columns as c
from askwise.policies import GoldFor, GoldRequest


@dataclass(frozen=True, slots=True)
class NeedsGold(Jsonable):
    """Tasks whose truth is wanted, and what for.

    With ``side``, answers alone can't tell who is right in the context, and these truths would.
    With ``calibration``, confidences rest on agreement alone; the tasks are drawn at random, and
    their truths turn agreement into a probability. With ``audit``, the tasks were drawn at random
    when they were begun, and the policy waits for these truths. ``count`` is how many truths are
    still wanted; there may be more of them than tasks listed, and the next tasks are named as
    truths come in.
    """

    context: str | None
    tasks: tuple[str, ...]
    why: GoldFor = "side"
    count: int = 1

    @classmethod
    def of(cls, request: GoldRequest) -> Self:
        """What a policy asks for."""
        wanted = len(request.tasks) if request.count is None else request.count
        return cls(request.context, tuple(request.tasks), request.why, wanted)


@dataclass(frozen=True, slots=True)
class Status(Jsonable):
    """A campaign at a glance. Money in whole units; ``budget`` and ``left`` None without a cap.

    ``failures`` counts the calls that brought no answer; what they cost is in ``spent``.
    ``unbooked`` is what calls were said to cost beyond their ceiling and beyond the budget.
    ``pilot`` is how far the pilot is, None without one.
    ``watch`` is what audits say of answers that are assured; None where none are audited.
    ``because`` is why the policy ``auto`` chose ``policy``; None where the policy was named.
    """

    name: str
    state: Literal["running", "paused", "stopped"]
    policy: str
    budget: Decimal | None
    spent: Decimal
    reserved: Decimal
    left: Decimal | None
    workers: int
    tasks: int
    open_tasks: int
    decisions: int
    answers: int
    pending: int
    utility: float | None
    seq: int
    failures: int = 0
    unbooked: Decimal = Decimal(0)
    needs_gold: tuple[NeedsGold, ...] = ()
    certificate: CampaignCertificate | None = None
    watch: Watch | None = None
    because: str | None = None
    pilot: PilotProgress | None = None


def status(name: str, state: CampaignState) -> Status:
    """Counts and money of a campaign."""
    ledger, problem, policy = state.ledger, state.spec.problem, state.spec.policy
    total = ledger.total
    budget, spent = ledger.budget, total(c.SPENT)
    return Status(
        name=name,
        state="stopped" if total(c.STOPPED) else "paused" if total(c.PAUSED) else "running",
        policy=policy.name,
        budget=None if budget is None else from_micro(budget),
        spent=from_micro(spent),
        reserved=from_micro(ledger.reserved),
        left=None if budget is None else from_micro(budget - spent - ledger.reserved),
        workers=int(state.available().sum() + state.auditors().sum()),
        tasks=0 if problem.taskless else total(c.TASKS),
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
    )


def over(state: CampaignState) -> Done | None:
    """Why nothing can be asked any more and nothing is out, if so."""
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
