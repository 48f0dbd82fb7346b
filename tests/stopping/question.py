"""One question asked by hand: crowds answer in a given order, the rule is judged each time."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from askwise.core import draws
from askwise.core.draws import Draw
from askwise.core.events import Event, Kind, PlanRow
from askwise.core.problem import Worker, make_problem
from askwise.ledger.ledger import Ledger
from askwise.stopping import StoppingRule, Verdict, stopping

KEY = draws.stream(1, draws.RULE, 0)

Rule = str | Mapping[str, Any] | StoppingRule


class Question:
    """A task in a ledger of its own; the options are letters, so that answers are a word.

    Nothing closes the task: the rule may be asked beyond the answer at which it stops.
    """

    def __init__(
        self,
        rule: Rule,
        *,
        options: str = "xy",
        prices: Mapping[str, Any] | None = None,
        limits: Mapping[str, int] | None = None,
        tasks: tuple[str, ...] = ("t",),
        repeat: bool = True,
        kinds: Mapping[str, Any] | None = None,
        families: Mapping[str, str] | None = None,
    ) -> None:
        prices = {"a": 1, "b": 1, "c": 1} if prices is None else prices
        limits, kinds, families = limits or {}, kinds or {}, families or {}
        workers = [
            Worker(name, price, limits.get(name), kind=kinds.get(name), family=families.get(name))
            for name, price in prices.items()
        ]
        self.problem = make_problem(
            workers=workers, tasks=tasks, options=list(options), repeat=repeat
        )
        self.rule = stopping.make(rule)
        self.rule.check(self.problem)
        self.ledger = Ledger(self.problem)
        self.state = self.rule.start(self.problem, self.ledger)
        self.seq = 0

    def add(self, kind: Kind, **fields: Any) -> int:
        """Fold the next event."""
        self.seq += 1
        fact = self.ledger.apply(Event(kind, seq=self.seq, **fields))
        draw = Draw(*KEY, self.seq)
        self.rule.absorb(self.problem, self.state, self.ledger, fact, draw)
        return self.seq

    def ask(self, worker: str, task: str = "t") -> int:
        """Hand the task out; returns the assignment."""
        self.add(Kind.DECIDED, rows=(PlanRow(worker, task, 1),))
        price = self.ledger.workers[self.ledger.worker_at(worker)].micro
        return self.add(Kind.ASKED, worker=worker, task=task, price=price)

    def tell(self, assignment: int, worker: str, option: str, task: str = "t") -> Verdict | None:
        """Book an answer; returns what the rule says of the task ``t``."""
        self.add(Kind.ANSWER, assignment=assignment, worker=worker, value=option, task=task)
        return self.verdict()

    def say(self, worker: str, option: str, task: str = "t") -> Verdict | None:
        """Ask and let answer at once."""
        return self.tell(self.ask(worker, task), worker, option, task)

    def hear(self, worker: str, word: str) -> list[Verdict | None]:
        """Let one crowd say a word, letter by letter."""
        return [self.say(worker, option) for option in word]

    def verdict(self, number: int | None = None) -> Verdict | None:
        """Ask the rule now, with the draws of the last event or with those of a number."""
        draw = Draw(*KEY, self.seq if number is None else number)
        return self.rule.verdict(self.problem, self.state, self.ledger, 0, draw)

    def verdicts(self, many: int) -> list[Verdict | None]:
        """Ask the rule about the same votes with many draws."""
        return [self.verdict(number) for number in range(many)]

    def guess(self, number: int | None = None) -> tuple[int | None, float | None]:
        """What the rule would name now."""
        draw = Draw(*KEY, self.seq if number is None else number)
        return self.rule.guess(self.problem, self.state, self.ledger, 0, draw)


def first_stop(
    rule: Rule, word: str, crowds: str = "a", **question: Any
) -> tuple[int, Verdict] | None:
    """After how many answers a rule stops, and what it says; the crowds take turns."""
    asked = Question(rule, **question)
    for at, option in enumerate(word):
        verdict = asked.say(crowds[at % len(crowds)], option)
        if verdict is not None:
            return at + 1, verdict
    return None


def share(verdicts: list[Verdict | None]) -> float:
    """How many of the verdicts stop."""
    return sum(verdict is not None for verdict in verdicts) / len(verdicts)


def evidence(a: int, b: int, options: int = 2) -> Fraction:
    """M(a, b) exactly: the integral is a tail of the binomial distribution.

    The integral of p^a (1 - p)^b from 1/n to 1 is a! b! / (a+b+1)! times the probability of at
    most a successes in a + b + 1 trials of chance 1/n.
    """
    n, trials = options, a + b + 1
    # Weights of k successes, over n^trials; each follows from the one before.
    weight = (n - 1) ** trials
    tail = weight
    for k in range(a):
        weight = weight * (trials - k) // (k + 1) // (n - 1)
        tail += weight
    beta = Fraction(math.factorial(a) * math.factorial(b), math.factorial(trials))
    scale = Fraction(n ** (a + b), (n - 1) ** b) / (1 - Fraction(1, n))
    return scale * beta * Fraction(tail, n**trials)


def log(value: Fraction) -> float:
    """Logarithm of a fraction of whole numbers too large for floats."""
    return math.log(value.numerator) - math.log(value.denominator)
