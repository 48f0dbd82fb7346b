"""Contenders: a policy, what makes answers of what it asked, and when it ends a task."""

from dataclasses import dataclass
from functools import cache

from askwise.aggregation import Aggregator, aggregation
from askwise.aggregation.base import LabelAggregator
from askwise.core.errors import InvalidParameter, InvalidProblem
from askwise.core.problem import Problem
from askwise.core.registry import from_label, label_of
from askwise.policies import NeedsStopping, Policy, policies
from askwise.stopping import StoppingRule, stopping

SPLIT, UNTIL = " by context", " until "


@dataclass(frozen=True)
class Contender:
    """A policy, and what makes answers of what it asked: itself, a rule, or an aggregator.

    Parameters
    ----------
    policy : Policy
        Whom to ask.
    aggregator : Aggregator, optional
        Without one the answers are those of a campaign: the rule's if there is one, else the
        policy's own, or the majority if it has none.
    split : bool
        Whether the aggregator learns in each context alone.
    rule : StoppingRule, optional
        Closes tasks.
    """

    policy: Policy
    aggregator: Aggregator | None = None
    split: bool = False
    rule: StoppingRule | None = None

    @property
    def series(self) -> str:
        """How it is called in tables and figures."""
        said = label_of(self.policy)
        if self.aggregator is not None:
            said += f" with {label_of(self.aggregator)}{SPLIT if self.split else ''}"
        return said if self.rule is None else f"{said}{UNTIL}{label_of(self.rule)}"

    @property
    def target(self) -> float:
        """The probability of being wrong at which the policy calls a task done; 0 if it never does.

        That is the parameter ``target`` of policies that have one.
        """
        return float(getattr(self.policy, "target", 0.0))

    def check(self, problem: Problem) -> None:
        """Refuse a problem that policy or rule can't work on, and a rule that is missing."""
        self.policy.check(problem)
        if self.rule is not None:
            self.rule.check(problem)
        elif isinstance(self.policy, NeedsStopping):
            name = self.policy.name
            raise InvalidParameter(
                f"stop is missing: policy {name!r} stays on a task until a stopping rule closes "
                "it; give --stop 'lead(lead=2)', for example, or write "
                f"'{name}{UNTIL}lead(lead=2)'",
                field="stop",
            )

    def fits(self, problem: Problem) -> bool:
        """Whether the policy can work on a problem: some take two options only."""
        try:
            self.policy.check(problem)
        except InvalidProblem:
            return False
        return True


@cache
def contender(label: str) -> Contender:
    """Read ``policy``, ``policy with aggregator`` or ``policy with aggregator by context``.

    Each may be followed by ``until rule``.

    Examples
    --------
    >>> contender("round-robin with majority").series
    'round-robin with majority'
    >>> contender("round-robin with one-coin by context").split
    True
    >>> contender("b-kube until lead(lead=2)").rule
    Lead(horizon=None, cap=None, lead=2)
    """
    asking, _, until = label.partition(UNTIL)
    rule = stopping.make(from_label(until.strip())) if until else None
    policy, _, naming = asking.partition(" with ")
    made = policies.make(from_label(policy.strip()))
    if not naming:
        return Contender(made, rule=rule)
    split = naming.rstrip().endswith(SPLIT)
    maker = aggregation.make(from_label(naming.strip().removesuffix(SPLIT)))
    if split and not isinstance(maker, LabelAggregator):
        raise InvalidParameter(
            f"policies has {label!r}: {maker.name!r} learns nothing that contexts could part",
            field="policies",
        )
    return Contender(made, maker, split, rule)
