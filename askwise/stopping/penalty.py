"""Stop when another answer costs more than the mistakes it would save."""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from askwise.core.checks import whole
from askwise.core.money import Amount, to_micro
from askwise.kernels import Array, Draw, kernel, step
from askwise.kernels.calibration import family_share
from askwise.ledger import Book, cell_of
from askwise.ledger import columns as c
from askwise.ledger.queries import may_come
from askwise.stopping import base
from askwise.stopping.base import CONFIDENT, GO_ON, KernelRule, stopping
from askwise.stopping.evidence import log_evidence
from askwise.stopping.families import family_answers, family_of
from askwise.stopping.posterior import weigh_crowds


class Params(NamedTuple):
    """What a mistake costs, in micro-units; how many answers to look ahead."""

    penalty: float
    ahead: int


@kernel
def error_after(a: int, b: int, rest: float, more: int) -> float:
    """Expected posterior error after ``more`` answers of one crowd.

    The crowd has a votes for the first option and b for the second; ``rest`` is what the other
    crowds say for the first against the second, in logarithms. Every outcome of the answers
    leaves as error the smaller of the two joint probabilities.
    """
    now_first = rest + log_evidence(a, b, 2)
    now_second = log_evidence(b, a, 2)
    top = max(now_first, now_second)
    scale = top + math.log(math.exp(now_first - top) + math.exp(now_second - top))
    log_ways = -more * math.log(2.0)
    error = 0.0
    for first in range(more + 1):
        joint_first = rest + log_evidence(a + first, b + more - first, 2)
        joint_second = log_evidence(b + more - first, a + first, 2)
        error += math.exp(log_ways + min(joint_first, joint_second) - scale)
        log_ways += math.log((more - first) / (first + 1.0)) if first < more else 0.0
    return error


@kernel
def error_after_in_family(
    a: int, b: int, rest: float, kin: float, answers: int, more: int
) -> float:
    """As ``error_after``, of a crowd in a family that has ``answers``, the crowd's among them.

    ``kin`` is what its relatives say for the first option against the second, ``rest`` what all
    others do. With every answer the family's count for less (see ``families``): beliefs so
    tempered are no probabilities, hence what may come is weighed relative to its sum.
    """
    share = family_share(answers + more)
    # Tempered, a family says no more than a few units: the others alone set the scale.
    scale = max(rest, 0.0)
    log_ways = 0.0
    error = total = 0.0
    for first in range(more + 1):
        said_first = kin + log_evidence(a + first, b + more - first, 2)
        said_second = log_evidence(b + more - first, a + first, 2)
        joint_first = math.exp(log_ways - more * math.log(2.0) + rest + share * said_first - scale)
        joint_second = math.exp(log_ways - more * math.log(2.0) + share * said_second - scale)
        error += min(joint_first, joint_second)
        total += joint_first + joint_second
        log_ways += math.log((more - first) / (first + 1.0)) if first < more else 0.0
    return error / total


@step
def said_by_kin(book: Book, task: int, worker: int) -> float:
    """What a worker's relatives say for the first option against the second, one by one."""
    cells, family = book.cells, book.workers[worker, c.FAMILY]
    total = 0.0
    cell = book.tasks[task, c.FIRST_CELL]
    while cell >= 0:
        if cells[cell, c.CELL_WORKER] != worker and family_of(book, cell) == family:
            a, b = cells[cell, c.VOTES], cells[cell, c.VOTES + 1]
            total += log_evidence(a, b, 2) - log_evidence(b, a, 2)
        cell = cells[cell, c.NEXT_CELL]
    return total


@kernel
def worth_asking(
    book: Book, task: int, worker: int, error: float, params: Params, ruling: Array
) -> bool:
    """Whether some number of answers of a crowd saves more than it costs."""
    cells = book.cells
    a = b = 0
    cell = cell_of(book, task, worker)
    if cell >= 0:
        a, b = cells[cell, c.VOTES], cells[cell, c.VOTES + 1]
    said = log_evidence(a, b, 2) - log_evidence(b, a, 2)
    family = book.workers[worker, c.FAMILY]
    kin, answers = 0.0, 0
    if family >= 0:
        kin, answers = said_by_kin(book, task, worker), family_answers(book, task, family)
        said = family_share(answers) * (kin + said)
    rest = ruling[base.SCRATCH] - ruling[base.SCRATCH + 1] - said
    price = float(book.workers[worker, c.PRICE])
    more = 1
    while more <= params.ahead and more * price < params.penalty * error:
        if family < 0:
            saved = error - error_after(a, b, rest, more)
        else:
            saved = error - error_after_in_family(a, b, rest, kin, answers, more)
        # Free answers are worth asking for as long as they may change anything to speak of.
        if params.penalty * saved > more * price and saved > 1e-9:
            return True
        # 1, 2, 3, 4, 6, 8, 12, ...: the saving is smooth in the number of answers.
        more += 1 if more < 4 else (more // 2 if (more & (more - 1)) == 0 else more // 3)
    return False


@step
def can_go_on(book: Book, task: int, worker: int) -> bool:
    """Whether the next answer may be this crowd's: there, within its limit, and in play.

    Where crowds are asked again and again, one that was never asked about the question while it
    got four answers a crowd is passed over by the policy, and no reason to go on; so is a person or
    model among them.
    """
    if not may_come(book, task, worker):
        return False
    if book.totals[c.REPEAT] == 0:
        return True
    young = book.tasks[task, c.TASK_ANSWERED] < 4 * book.totals[c.WORKERS]
    return young or cell_of(book, task, worker) >= 0


@kernel
def judge(book: Book, params: Params, task: int, draw: Draw, ruling: Array) -> int:
    """Go on while some crowd's further answers are worth their price."""
    error = weigh_crowds(book, task, draw, ruling)
    anybody = book.tasks[task, c.TASK_ASKED] > book.tasks[task, c.TASK_ANSWERED]
    for worker in range(book.totals[c.WORKERS]):
        if can_go_on(book, task, worker):
            anybody = True
            if worth_asking(book, task, worker, error, params, ruling):
                return GO_ON
    # With nobody left to ask it has not been weighed whether more would have been worth it.
    return CONFIDENT if anybody else base.LOW_CONFIDENCE


@stopping.register("penalty")
@dataclass(frozen=True)
class Penalty(KernelRule):
    """Stop when further answers would cost more than the mistakes they are expected to save.

    With ``posterior``'s beliefs it computes how far 1, 2, 3, 4, 6, 8, 12, ... further answers of
    a crowd are expected to lower the error; times the penalty that is what they save. It goes on
    while for some crowd in play and some number the saving exceeds the price. (One answer alone
    often saves nothing: it can't turn a lead of two.)

    Parameters
    ----------
    penalty : amount
        What a wrong answer costs you.
    ahead : int
        Maximum number of answers to look ahead.
    horizon, cap
        As in ``gap``.

    Assumes what ``posterior`` assumes, of families too, and two options.

    Not when a mistake has no price: give a target error to ``posterior`` instead.

    References
    ----------
    Paper 004, section 6, second extended model (a monetary penalty for a mistake).

    Examples
    --------
    >>> from askwise.stopping import stopping
    >>> stopping.make({"name": "penalty", "penalty": "2.50"}).penalty
    '2.5'
    """

    penalty: Amount = "100"
    ahead: int = 64
    most_options: ClassVar[int | None] = 2
    paper: ClassVar[str] = "beyond 004"
    promise: ClassVar[str] = (
        "Trades error for cost at the price you give, on average over questions as posterior "
        "assumes them; guarantees no error on a single one."
    )
    dial: ClassVar[str] = "penalty"
    kernel: ClassVar = judge

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "penalty", base.amount_above_0(self.penalty, "penalty"))
        whole(self.ahead, "ahead", least=1)

    def params(self) -> Params:
        """As plain numbers."""
        return Params(float(to_micro(self.penalty, "penalty")), self.ahead)
