"""Hierarchical EM with context sharing, on answers that are all there."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from askwise.aggregation.answers import Answers
from askwise.aggregation.base import Iterative, aggregation
from askwise.aggregation.fitted import Fitted
from askwise.aggregation.steps import fitted_softly, sized, work_of
from askwise.kernels import Array, hem


@aggregation.register("hem")
@dataclass(frozen=True)
class HemAggregator(Iterative):
    """Learn who is right on what by EM with partially pooled accuracies.

    A worker's accuracy is that of the crowd until their own answers say otherwise. Their accuracy
    in a context leans on that in the others, their accuracy on a class deviates from both as far as
    answers demand. Only answers that something else judges count: another answer to the task, or
    its truth. So the only answer to a task is never contradicted. The page on how ``hem`` works
    derives the model.

    Parameters
    ----------
    max_iterations : int
        The most rounds of EM. With contexts it runs twice, so many rounds at the most each time.
    tolerance : float
        It stops when no probability changes by more.
    temper : float, optional
        How dependent answers are on each other; see :class:`LabelAggregator`. 0 takes them for
        independent.

    Assumes that answers are independent given the truth, and that most workers are right more
    often than not in most contexts. Give the ``contexts`` of tasks if there are any.

    Not for workers who agree on what is wrong: give some truths, which overrule the workers.

    References
    ----------
    The model of A. Dawid, A. Skene, *Maximum likelihood estimation of observer error-rates using
    the EM algorithm*, 1979, with pooled accuracies; the policy ``hem`` asks by the same beliefs.

    Examples
    --------
    >>> from askwise.aggregation import aggregation
    >>> table = {
    ...     "task": ["t1"] * 3 + ["t2"] * 3 + ["t3"] * 3,
    ...     "worker": ["ann", "bob", "cleo"] * 3,
    ...     "label": ["a", "a", "b", "b", "b", "a", "a", "a", "a"],
    ... }
    >>> aggregation.make("hem").fit_predict(table).tolist()
    ['a', 'b', 'a']
    """

    max_iterations: int = hem.FULL_ROUNDS
    tolerance: float = hem.SETTLED
    paper: ClassVar[str] = "ours"
    uses_contexts: ClassVar[bool] = True

    def solve(self, answers: Answers) -> Fitted:
        """Run EM from the votes."""
        by_skill, worker, place = answers_by_skill(answers)
        beliefs = hem.new_beliefs(
            len(worker), answers.crowd, answers.classes, int(answers.contexts.max()) + 1,
            answers.tasks,
        )._replace(worker=worker, place=place)  # fmt: skip
        run = sized(hem.fit, work_of(answers))
        rounds, settled = run(by_skill, beliefs, self.max_iterations, self.tolerance, False)
        return fitted_softly(
            answers, beliefs.posterior, iterations=int(rounds), converged=bool(settled)
        )


def answers_by_skill(answers: Answers) -> tuple[hem.SkillAnswers, Array, Array]:
    """The answers, each with its skill; worker and context of each skill."""
    places = np.repeat(answers.contexts.astype(np.int64), answers.per_task)
    pairs = places * answers.crowd + answers.workers
    known, skill = np.unique(pairs, return_inverse=True)
    labels, contexts, truths = (
        each.astype(np.int64) for each in (answers.labels, answers.contexts, answers.truths)
    )
    by_skill = hem.SkillAnswers(answers.starts, skill, labels, answers.weights, contexts, truths)
    return by_skill, known % answers.crowd, known // answers.crowd
