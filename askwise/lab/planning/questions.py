"""Questions as they are believed to be: drawn once, asked with one rule after another."""

from dataclasses import dataclass

import numpy as np

from askwise.core.arrays import Array
from askwise.core.choices import Done
from askwise.core.errors import InvalidParameter
from askwise.core.problem import Problem, make_problem
from askwise.data import Beliefs
from askwise.lab.loop import CLOSED_CODE, CLOSED_OPTION
from askwise.lab.simulate import Progress, simulate, unseen
from askwise.lab.worlds import Survey
from askwise.ledger import columns as c
from askwise.policies import Policy
from askwise.stopping import StoppingRule
from askwise.stopping.base import CONFIDENT

_CHUNK = 500


@dataclass(frozen=True)
class Sample:
    """The result of every simulated question."""

    answers: Array
    """How many of each crowd: questions x crowds."""
    spent: Array
    """In micro-units."""
    wrong: Array
    confident: Array
    asked: Array
    """The crowds in the order in which they were asked, question by question."""

    @property
    def error(self) -> float:
        """Share of questions that ended with a wrong option."""
        return float(self.wrong.mean())


@dataclass(frozen=True)
class Drawn:
    """Questions with each crowd's accuracy drawn: the same for every rule that is tried."""

    beliefs: Beliefs
    kinds: Array
    accuracy: Array
    chunk: int
    seed: int

    def ask(
        self,
        policy: Policy,
        rule: StoppingRule,
        *,
        last: int | None = None,
        tell: Progress = unseen,
        what: str = "",
    ) -> Sample:
        """Ask every question (or those up to the last) until the rule closes it."""
        last = len(self.kinds) if last is None else last
        parts = []
        for first in range(0, last, self.chunk):
            tell(what, first, last)
            parts.append(self._part(policy, rule, first, min(first + self.chunk, last)))
        tell(what, last, last)
        return Sample(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))

    def _part(self, policy: Policy, rule: StoppingRule, first: int, last: int) -> tuple[Array, ...]:
        count, crowds = last - first, len(self.beliefs.crowds)
        right = self.accuracy[first:last, :, None]
        others = np.repeat((1 - right) / (self.beliefs.options - 1), self.beliefs.options - 1, 2)
        survey = Survey(np.concatenate([right, others], 2), self.beliefs.prices, shuffled=False)
        world = survey.answering(self.seed, first, count, np.arange(count))
        problem = problem_of(self.beliefs, count)
        done = simulate(policy, problem, world, rule=rule, seed=self.seed, replication=first)
        if done.ended != Done("tasks"):
            raise InvalidParameter(
                f"policy {policy.name!r} leaves questions open ({done.ended}): choose another, "
                "such as virt-ucb",
                field="policy",
            )
        book = done.ledger.book
        asked = book.assignments[: done.ledger.total(c.ASSIGNMENTS)]
        # A question's answers keep their order.
        asked = asked[np.argsort(asked[:, c.TASK], kind="stable")]
        cells = np.bincount(
            asked[:, c.TASK] * crowds + asked[:, c.WORKER], minlength=count * crowds
        )
        return (
            cells.reshape(count, crowds),
            book.tasks[:count, c.TASK_SPENT].copy(),
            done.closings[:, CLOSED_OPTION] != world.right,
            done.closings[:, CLOSED_CODE] == CONFIDENT,
            asked[:, c.WORKER].astype(np.int32),
        )


def draw_questions(
    beliefs: Beliefs,
    asking: tuple[Policy, StoppingRule],
    questions: int,
    runs: int,
    seed: int,
) -> Drawn:
    """Draw the kinds of questions and each crowd's accuracy on them."""
    rng = np.random.default_rng([seed, 0])
    # As many of each kind as its share says; mixed, as a policy may learn along the way.
    ends = np.cumsum(beliefs.shares)
    kinds = np.searchsorted(ends / ends[-1], (np.arange(runs) + 0.5) / runs)
    counts = np.bincount(kinds, minlength=len(ends))
    if not counts.all():
        rare = beliefs.kinds[int(np.argmin(counts))]
        raise InvalidParameter(
            f"runs is {runs}: too few for kind {rare.name!r} with a share of {rare.share:g}",
            field="runs",
        )
    kinds = rng.permutation(kinds)
    ranges = np.array(beliefs.ranges)[kinds]
    low, high = ranges[:, :, 0], ranges[:, :, 1]
    accuracy = low + (high - low) * rng.random(low.shape)
    # What crowds showed on other questions counts for such a policy or rule: a campaign at a time.
    policy, rule = asking
    learns = getattr(policy, "prior", 0) > 0 or getattr(rule, "learn", 0) > 0
    return Drawn(beliefs, kinds, accuracy, questions if learns else _CHUNK, seed)


def problem_of(beliefs: Beliefs, questions: int) -> Problem:
    """The campaign that a requester with this many questions sees."""
    return make_problem(
        workers=[{"id": crowd.id, "price": crowd.price} for crowd in beliefs.crowds],
        tasks=[f"q{at}" for at in range(questions)],
        options=[f"o{at}" for at in range(beliefs.options)],
        repeat=True,
    )
