"""One instance of a single-crowd rule for each crowd, and one for all together (004)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, ClassVar, NamedTuple

from askwise.core.checks import flag
from askwise.core.compiling import bind
from askwise.core.errors import AskwiseError, InvalidParameter
from askwise.core.registry import from_label, label_of
from askwise.kernels import Array, Draw, uniform
from askwise.ledger import Book
from askwise.ledger import columns as c
from askwise.stopping.base import CONFIDENT, GO_ON, OPTION, SURE, KernelRule, StoppingRule, stopping
from askwise.stopping.single import SingleCrowdRule, bound, judge_source

_PICK = 2**32 - 1
"""Index of the draw between two instances that stop at once: no instance uses it."""


class Params(NamedTuple):
    """The single rule's parameters; whether the total crowd has an instance."""

    single: Any
    total: bool


def judge_each(book: Book, params: Params, task: int, draw: Draw, ruling: Array) -> int:
    """Judge the instances that received the last answer: its crowd's and the total crowd's."""
    own = judge_source(book, params.single, task, book.tasks[task, c.VOICE], draw, ruling)
    option, sure = ruling[OPTION], ruling[SURE]
    # Also without an instance of its own the total crowd says what to name in case of an end.
    total = judge_source(book, params.single, task, -1, draw, ruling)
    if own != CONFIDENT:
        # A crowd that gives up (no quorum within reach) does not end the question for others.
        return total if params.total else GO_ON
    # Several stop at once: uniformly among their options (004, footnote 5).
    if not params.total or total != CONFIDENT or uniform(draw, _PICK) < 0.5:
        ruling[OPTION] = option
        ruling[SURE] = sure
    return CONFIDENT


@cache
def bound_to(rule: type[SingleCrowdRule]) -> Callable[..., int]:
    """Bind the composite to the kernels of its single rule."""
    source = rule.source or bound(judge_source, rule)
    label = f"{rule.__module__}.{rule.name}"
    # The single kernel is not called by name: a rule from outside is compiled again by its file.
    return bind(judge_each, label, inline=True, judge_source=source, halts=rule.single)


@stopping.register("composite")
@dataclass(frozen=True)
class Composite(KernelRule):
    """Stop as soon as a single-crowd rule stops for some crowd, or for all crowds together.

    Each crowd has an instance that sees its answers only; the total crowd has one that sees
    all. After an answer the instances that received it are judged, each with draws of its own.
    If both stop, one of their options is taken by a draw.

    Parameters
    ----------
    rule : name, ``name(parameter=value)`` or mapping
        The single-crowd rule: ``gap``, ``lead``, ``fixed``, ``quorum``, ``posterior`` or
        ``e-process``.
    total : bool
        Whether the total crowd has an instance too.
    horizon, cap
        As in ``gap``, for the question as a whole.

    Assumes what the single rule assumes, and that all crowds have the same right option. It treats
    kinds and families as its single rule does: ``e-process`` counts a family's first answer to a
    question, for its crowd and for all together (so the answers of one family never end a
    question); ``posterior`` counts a family's answers for less; the other rules count every answer
    as an independent one.

    Not when crowds together say more than each alone: ``posterior`` joins their evidence.

    References
    ----------
    Paper 004, section 2 ("stopping rules for multiple crowds"), Eq. (4).

    Examples
    --------
    >>> from askwise.stopping import stopping
    >>> stopping.make({"name": "composite", "rule": {"name": "gap", "quality": 1.5}}).rule
    'gap(quality=1.5)'
    """

    rule: str | Mapping[str, Any] | SingleCrowdRule = "gap"
    total: bool = True
    paper: ClassVar[str] = "004"
    promise: ClassVar[str] = (
        "Trades error for cost as its single rule does. If that keeps an error of delta, so does "
        "the composite of (crowds + 1) times delta (Eq. 4). Families count as in its single rule: "
        "e-process and posterior regard them, the others count every answer."
    )
    dial: ClassVar[str] = "rule"

    def __post_init__(self) -> None:
        super().__post_init__()
        flag(self.total, "total")
        object.__setattr__(self, "rule", label_of(self.inner))
        for field in ("horizon", "cap"):
            if getattr(self.inner, field) is not None:
                raise InvalidParameter(
                    f"{field} is the composite's: set it there, not in its rule", field=field
                )

    @property
    def inner(self) -> SingleCrowdRule:
        """The single-crowd rule."""
        if not isinstance(self.rule, str | Mapping | StoppingRule):
            raise InvalidParameter(
                f"rule is {self.rule!r}: give the name of a rule on a single crowd", field="rule"
            )
        written = from_label(self.rule) if isinstance(self.rule, str) else self.rule
        try:
            rule = stopping.make(written)
        except AskwiseError as error:
            if error.field != "stopping":
                raise
            raise InvalidParameter(f"rule: {error}", field="rule") from None
        if not isinstance(rule, SingleCrowdRule):
            raise InvalidParameter(
                f"rule is {rule.name!r}: give a rule on a single crowd, such as gap or lead",
                field="rule",
            )
        rule.check_single()
        return rule

    def turned(self, value: float) -> StoppingRule:
        """Its single rule's dial is the one."""
        return replace(self, rule=label_of(self.inner.turned(value)))

    @property
    def judge(self) -> Callable[..., int]:
        """The rule on each crowd."""
        return bound_to(type(self.inner))

    def params(self) -> Params:
        """As plain numbers."""
        return Params(self.inner.params(), self.total)
