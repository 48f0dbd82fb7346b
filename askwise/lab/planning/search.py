"""Where to put a stopping rule's dial so that its error, as simulated, is at most a target."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any, Literal

from askwise.core.errors import InvalidParameter
from askwise.core.json_types import JsonLimits, Word
from askwise.core.jsonable import Jsonable
from askwise.core.money import LARGEST, from_micro
from askwise.core.registry import from_label, label_of
from askwise.data import Beliefs
from askwise.policies import Policy
from askwise.stopping import KernelRule, StoppingRule, stopping

Value = int | float | str

DIRECT = ("error", "delta")
"""Dials that are an error themselves: where a rule guarantees it, it is set to the target."""

BOUNDED = ("n", "quorum")
"""Dials of rules that end every question by themselves, without a horizon."""

HORIZON = 1000
"""The most answers to a question where nobody says otherwise: a coin would be asked for ever."""


@dataclass(frozen=True, slots=True)
class Dial(Jsonable):
    """A rule's dial, where it was put, and how.

    Attributes
    ----------
    name : str
        The parameter of the rule.
    value : Value
        Where it was put; a string where the dial is money.
    chosen : "given", "target" or "searched"
        ``given`` (in the rule's label), ``target`` (the dial is an error itself) or ``searched``
        (by simulation).
    """

    name: Word
    value: Annotated[Value, JsonLimits(type=["number", "string"])]
    chosen: Literal["given", "target", "searched"]


@dataclass(frozen=True)
class Chosen:
    """A rule with its horizon; ``named`` are the parameters that its label sets.

    Of a composite, those of its single rule: it has the dial.
    """

    rule: StoppingRule
    named: frozenset[str]

    @property
    def inner(self) -> StoppingRule:
        """The rule that has the dial."""
        return getattr(self.rule, "inner", self.rule)

    @property
    def dial(self) -> str:
        """Name of the dial; empty if there is none."""
        # A gap that follows Theorem 1's schedule does not look at its quality.
        scheduled = self.inner.dial == "quality" and getattr(self.inner, "delta", None) is not None
        return "delta" if scheduled else self.inner.dial

    @property
    def given(self) -> bool:
        """Whether there is nothing to choose: the label sets the dial, or there is none."""
        return not self.dial or self.dial in self.named

    @property
    def direct(self) -> bool:
        """Whether the dial is an error that the rule keeps, whatever is asked about.

        Not a composite's, whose crowds add theirs up; nor that of a rule which keeps it on average
        over other questions than these.
        """
        return self.rule.guarantees and self.inner is self.rule and self.dial in DIRECT

    @property
    def value(self) -> Value:
        """Where the dial is."""
        return getattr(self.inner, self.dial)

    def turned(self, value: Value) -> StoppingRule:
        """The rule with its dial at a value."""
        changes: dict[str, Any] = {self.dial: value}
        if self.dial == "quorum" and isinstance(value, int):
            changes["of"] = self._of() or 2 * value - 1
        turned = replace(self.inner, **changes)
        composite: Any = self.rule
        return turned if self.inner is self.rule else replace(composite, rule=label_of(turned))

    def informed(self, beliefs: Beliefs) -> Chosen:
        """The rule told what is believed of crowds, if it can be and its label does not say.

        One that learns how good crowds are takes no accuracies.
        """
        known = {each.name for each in fields(self.rule)}
        if not {"accuracy", "kinds"} <= known or self.named & {"accuracy", "kinds"}:
            return self
        if getattr(self.rule, "learn", 0):
            return self
        ids = [crowd.id for crowd in beliefs.crowds]
        tables = [dict(zip(ids, ranges, strict=True)) for ranges in beliefs.ranges]
        rule: Any = self.rule
        if not beliefs.kinds:
            return replace(self, rule=replace(rule, accuracy=tables[0]))
        kinds = [
            {"share": share, "accuracy": table}
            for share, table in zip(beliefs.shares, tables, strict=True)
        ]
        return replace(self, rule=replace(rule, kinds=kinds))

    def settings(self, options: int, prices: Sequence[int]) -> list[Value]:
        """Values of the dial to search, from the boldest to the most careful."""
        horizon = getattr(self.rule, "horizon", None) or HORIZON
        if self.dial == "n":
            # With two options an even number of answers decides no more than one fewer.
            return list(range(1, horizon + 1, 2 if options == 2 else 1))
        if self.dial == "quorum":
            most = self._of() or horizon
            return list(range(1, (most + 1) // 2 + 1))
        if self.dial == "penalty":
            return [str(from_micro(each)) for each in _amounts(prices)]
        if self.dial not in _GRIDS:
            raise InvalidParameter(
                f"rule {self.rule.name!r} has the dial {self.dial!r}, which is not searched here: "
                f"set it yourself, as in {self.inner.name}({self.dial}=...)",
                field="rule",
            )
        return list(_GRIDS[self.dial])

    def begin(self, settings: Sequence[Value], target: float) -> int:
        """Where to begin: a dial that is an error is near the target, others at the bold end."""
        if self.dial not in DIRECT:
            return 0
        careful = [at for at, each in enumerate(settings) if float(each) <= target]
        return careful[0] if careful else len(settings) - 1

    def _of(self) -> int:
        """The answers out of which a quorum is wanted, where the label says so; else 0."""
        return getattr(self.inner, "of", 0) if "of" in self.named else 0


def _steps(first: float, last: float, step: float) -> tuple[float, ...]:
    return tuple(round(first + step * at, 4) for at in range(round((last - first) / step) + 1))


_SMALLER = tuple(
    float(f"{digits}e{power}")
    for power in (-1, -2, -3, -4, -5)
    for digits in (9, 8, 7.5, 7, 6.5, 6, 5.5, 5, 4.5, 4, 3.5, 3, 2.6, 2.3, 2, 1.8, 1.6, 1.4, 1.2, 1)
)

_GRIDS: dict[str, tuple[float, ...]] = {
    "quality": _steps(0.05, 8, 0.05),
    "lead": _steps(1, 100, 0.25),
    "beta": _steps(0.05, 20, 0.05),
    "error": _SMALLER,
    "delta": _SMALLER,
}


def _amounts(prices: Sequence[int]) -> list[int]:
    """Penalties of 1 to a million times the cheapest price."""
    unit = min((price for price in prices if price > 0), default=1_000_000)
    found = [
        unit * factor * 10**power // 10
        for power in range(6)
        for factor in (10, 12, 15, 18, 22, 26, 32, 40, 50, 60, 70, 80)
    ]
    return [amount for amount in found if amount <= LARGEST]


def read_rule(label: str, horizon: int | None) -> Chosen:
    """Read a rule's label; a rule that may go on for ever gets a horizon."""
    spec = from_label(label)
    rule = stopping.make(spec)
    chosen = Chosen(rule, _named(spec, rule))
    if not isinstance(rule, KernelRule):
        if horizon is not None:
            raise InvalidParameter(
                f"horizon is {horizon}, but rule {rule.name!r} takes none", field="horizon"
            )
        return chosen
    if horizon is not None and rule.horizon not in (None, horizon):
        raise InvalidParameter(
            f"horizon is {horizon}, but the rule says {rule.horizon}: give one of them",
            field="horizon",
        )
    if horizon is None and chosen.dial not in BOUNDED:
        horizon = rule.horizon or HORIZON
    return replace(chosen, rule=rule if horizon is None else replace(rule, horizon=horizon))


def _named(spec: str | dict[str, Any], rule: StoppingRule) -> frozenset[str]:
    if hasattr(rule, "inner"):
        spec = spec.get("rule", "") if isinstance(spec, dict) else ""
        spec = from_label(spec) if isinstance(spec, str) else spec
    return frozenset(spec) if isinstance(spec, dict) else frozenset()


def told(policy: Policy, dial: str, value: Value) -> Policy:
    """A policy that must know the rule's quality is told it."""
    knows = dial == "quality" and "quality" in {each.name for each in fields(policy)}
    changed: Any = policy
    return replace(changed, quality=value) if knows else policy


def first_within(
    count: int,
    error_at: Callable[[int], float],
    target: float,
    hopeless: Callable[[int], bool],
    begin: int = 0,
) -> int | None:
    """The first of ``count`` settings whose error is at most the target; None if there is none.

    Errors fall along the settings, and costs rise: so it goes from ``begin`` in steps that double,
    up while the error is above the target and else down, then halves the last of them.

    Examples
    --------
    >>> first_within(100, lambda at: 1 / (1 + at), 0.05, lambda at: False)
    19
    >>> first_within(100, lambda at: 1 / (1 + at), 0.05, lambda at: False, begin=40)
    19
    """
    below, at, step = -1, begin, 1
    if error_at(at) > target:
        while True:
            if at == count - 1 or hopeless(at):
                return None
            below, at, step = at, min(at + step, count - 1), 2 * step
            if error_at(at) <= target:
                break
    else:
        while at > 0:
            lower = max(at - step, 0)
            if error_at(lower) > target:
                below = lower
                break
            at, step = lower, 2 * step
    while at - below > 1:
        middle = (below + at) // 2
        if error_at(middle) <= target:
            at = middle
        else:
            below = middle
    return at
