"""What a campaign saves against asking a fixed number of times about every task."""

from dataclasses import dataclass
from decimal import Decimal

from askwise.campaign.state import CampaignState
from askwise.core.checks import whole
from askwise.core.jsonable import Jsonable
from askwise.core.money import from_micro
from askwise.ledger import columns as c


@dataclass(frozen=True, slots=True)
class Savings(Jsonable):
    """What the tasks settled so far cost, and what a fixed number of answers each would have.

    ``saved`` below 0 says that the fixed number would have been cheaper; ``share`` is of the
    fixed cost. ``why`` says which tasks are counted and where the fixed number comes from.
    """

    fixed: int
    tasks: int
    answers: int
    price: Decimal
    cost: Decimal
    fixed_cost: Decimal
    saved: Decimal
    share: float | None
    why: str


def savings(state: CampaignState, fixed: int | None = None) -> Savings | None:
    """What was saved against asking every settled task ``fixed`` times.

    Settled are the tasks that were answered and closed, and all that were answered where none
    will be closed any more: without a stopping rule, or when nothing can be asked. An answer is
    counted at the mean price of all answers so far. None while there is nothing to compare.

    Parameters
    ----------
    fixed : int, optional
        The most answers that any closed task took, if not given: what a fixed number must be so
        that no task gets fewer than it got here.
    """
    if fixed is not None:
        whole(fixed, "fixed", least=1, most=10**6)
    ledger = state.ledger
    if state.spec.problem.taskless:
        return None
    rows = ledger.book.tasks[: ledger.total(c.TASKS)]
    answered, closed = rows[:, c.TASK_ANSWERED], rows[:, c.CLOSED] == 1
    if fixed is None:
        fixed = int(answered[closed].max(initial=0))
        chosen = "the most answers that a closed task took"
    else:
        chosen = "as given"
    settled, which = (answered > 0) & closed, "closed tasks"
    if state.spec.rule is None or ledger.total(c.STOPPED) or state.ran_out() != "open":
        settled, which = answered > 0, "answered tasks"
    tasks, count = int(settled.sum()), int(answered[settled].sum())
    if fixed == 0 or tasks == 0:
        return None
    spent, total = ledger.total(c.SPENT), ledger.total(c.ANSWERS)
    cost = int(rows[settled, c.TASK_SPENT].sum())
    fixed_cost = (2 * fixed * tasks * spent + total) // (2 * total)
    saved = fixed_cost - cost
    return Savings(
        fixed=fixed,
        tasks=tasks,
        answers=count,
        price=from_micro((2 * spent + total) // (2 * total)),
        cost=from_micro(cost),
        fixed_cost=from_micro(fixed_cost),
        saved=from_micro(saved),
        share=saved / fixed_cost if fixed_cost else None,
        why=f"{which}; fixed number: {chosen}",
    )
