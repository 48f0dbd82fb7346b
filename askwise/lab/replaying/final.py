"""What is said of each task in the end: options, and how sure.

A campaign says the same; see :mod:`askwise.campaign.views.answers`.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np

from askwise.aggregation.answers import Answers, answers_in, code_answers
from askwise.aggregation.base import LabelAggregator
from askwise.core import draws
from askwise.core.compiling import bind
from askwise.core.labels import Label, as_label
from askwise.core.problem import Problem
from askwise.core.scoring import ScoredLabels, spread
from askwise.kernels import Array, Draw
from askwise.kernels.votes import leading_option
from askwise.lab.replaying.contenders import Contender
from askwise.lab.simulate import Outcome
from askwise.ledger import columns as c
from askwise.ledger.ledger import Ledger
from askwise.ledger.queries import idle
from askwise.policies import LabelsItself
from askwise.stopping import StoppingRule


def final_answers(
    each: Contender, problem: Problem, outcome: Outcome, seed: int, number: int
) -> Array:
    """The option that each task is given in the end; -1 where there is none.

    The vote's ties are named by a draw.
    """
    if each.rule is not None:
        return final_labels(each, problem, outcome, seed, number).named
    draw = Draw(*draws.stream(seed, draws.AGGREGATION, number), 0)
    ledger, tasks = outcome.ledger, range(len(problem.tasks))
    if isinstance(each.aggregator, LabelAggregator) and each.split:
        return by_context(each.aggregator, ledger, len(tasks))
    if each.aggregator is not None:
        named = each.aggregator.labels(problem, ledger, tasks, draw, outcome.state)
    elif isinstance(each.policy, LabelsItself):
        named = each.policy.labels(problem, outcome.state, ledger, tasks, draw)
    else:
        options = np.zeros(len(problem.tasks), np.int64)
        _voting()(ledger.book.votes, ledger.book.tasks, len(problem.options), draw, options)
        return _told(options, ledger)
    return _told(_as_labels(named, len(problem.options)).named, ledger)


def _told(named: Array, ledger: Ledger) -> Array:
    """Options with the truths that were told in their place."""
    truths = ledger.book.tasks[: len(named), c.TRUTH]
    return np.where(truths >= 0, truths, named)


def by_context(aggregator: LabelAggregator, ledger: Ledger, tasks: int) -> Array:
    """Answers of an aggregator that is fitted to the tasks of each context alone."""
    named = np.full(tasks, -1)
    for answers, rows, options in _parts(ledger, split=True):
        named[rows] = options[aggregator.solve(answers).labels]
    return named


def _parts(ledger: Ledger, *, split: bool) -> Iterator[tuple[Answers, Array, Array]]:
    """What was answered, with the tasks and options behind the codes: at once, or by context."""
    found = answers_in(ledger)
    if found is None:
        return
    if not split:
        yield found
        return
    answers, rows, options = found
    task_of = np.repeat(np.arange(answers.tasks), answers.per_task)
    for context in np.unique(answers.contexts):
        mine = answers.contexts[task_of] == context
        places, coded = np.unique(task_of[mine], return_inverse=True)
        crowd, workers = np.unique(answers.workers[mine], return_inverse=True)
        truths = answers.truths[places]
        given = np.unique(np.concatenate([answers.labels[mine], truths[truths >= 0]]))
        part = code_answers(
            *(coded, workers, np.searchsorted(given, answers.labels[mine])),
            truths=np.where(truths >= 0, np.searchsorted(given, truths), -1),
            classes=len(given),
            kinds=answers.kinds[crowd],
            families=answers.families[crowd],
        )
        yield part, rows[places], options[given]


def final_labels(
    each: Contender, problem: Problem, outcome: Outcome, seed: int, number: int
) -> ScoredLabels:
    """What is said of each task in the end, and how sure.

    A truth that was told stands. An aggregator that is named speaks for all other tasks. Without
    one it is what a campaign says: where there is a rule, what that named when it closed the task,
    or would name if it had to; else what the policy says, or the vote with its shares.
    """
    labels = _labels(each, problem, outcome, seed, number)
    truths = outcome.ledger.book.tasks[: len(problem.tasks), c.TRUTH]
    known = np.flatnonzero(truths >= 0)
    labels.named[known], labels.confidence[known] = truths[known], 1.0
    labels.probabilities[known] = np.eye(len(problem.options))[truths[known]]
    return labels


def _labels(
    each: Contender, problem: Problem, outcome: Outcome, seed: int, number: int
) -> ScoredLabels:
    ledger, count, options = outcome.ledger, len(problem.tasks), len(problem.options)
    draw = Draw(*draws.stream(seed, draws.AGGREGATION, number), 0)
    if isinstance(each.aggregator, LabelAggregator):
        return _fitted(each.aggregator, each.split, ledger, count, options)
    if each.aggregator is not None:
        said = each.aggregator.labels(problem, ledger, range(count), draw, outcome.state)
        return _as_labels(said, options)
    if isinstance(each.policy, LabelsItself):
        said = each.policy.labels(problem, outcome.state, ledger, range(count), draw)
        labels = _as_labels(said, options)
    else:
        labels = _voted(ledger, count, options)
    if each.rule is None:
        return labels
    judging = Draw(*draws.stream(seed, draws.RULE, number), ledger.seq)
    ruled = _as_labels(_ruled(each.rule, problem, outcome, judging), options)
    by_rule = ruled.named >= 0
    return ScoredLabels(
        np.where(by_rule, ruled.named, labels.named),
        np.where(by_rule, ruled.confidence, labels.confidence),
        np.where(by_rule[:, None], ruled.probabilities, labels.probabilities),
    )


def _as_labels(said: Sequence[Label], options: int) -> ScoredLabels:
    labels = [as_label(label) for label in said]
    named = [-1 if label.value is None else int(label.value) for label in labels]
    sure = [np.nan if label.confidence is None else label.confidence for label in labels]
    return spread(np.array(named), np.array(sure, np.float64), options)


def _fitted(
    aggregator: LabelAggregator, split: bool, ledger: Ledger, count: int, options: int
) -> ScoredLabels:
    """Labels by the probabilities of an aggregator."""
    labels = spread(np.full(count, -1), np.full(count, np.nan), options)
    for answers, rows, given in _parts(ledger, split=split):
        fitted = aggregator.report(answers)
        labels.named[rows] = given[fitted.labels]
        labels.confidence[rows] = fitted.confidence
        labels.probabilities[rows] = 0.0
        labels.probabilities[np.ix_(rows, given)] = fitted.probabilities
    return labels


def _voted(ledger: Ledger, count: int, options: int) -> ScoredLabels:
    """Labels by the shares of the votes; which of tied options is named first does not matter."""
    votes = ledger.book.votes[:count, :options].astype(np.float64)
    labels = spread(np.full(count, -1), np.full(count, np.nan), options)
    heard = np.flatnonzero(votes.sum(axis=1) > 0)
    labels.probabilities[heard] = votes[heard] / votes[heard].sum(axis=1, keepdims=True)
    labels.named[heard] = labels.probabilities[heard].argmax(axis=1)
    labels.confidence[heard] = labels.probabilities[heard].max(axis=1)
    return labels


def _ruled(rule: StoppingRule, problem: Problem, outcome: Outcome, draw: Draw) -> list[Label]:
    """What a rule says: its verdict on tasks that it closed; on others, once nothing more can be
    asked, what it would name.
    """
    ledger = outcome.ledger
    code = idle(ledger.book, np.ones(ledger.total(c.WORKERS), np.int8))
    ran_out = code in (c.DONE_BUDGET, c.DONE_LIMITS, c.DONE_TASKS)
    said: list[Label] = []
    for task in range(len(problem.tasks)):
        option, why, sure = outcome.closing(task)
        if why == "open":
            option = sure = None
        # A rule in plain Python may close a task and name nothing.
        if option is None and (ran_out if why == "open" else why != "confident"):
            option, sure = rule.guess(problem, outcome.rule_state, ledger, task, draw)
        said.append(as_label((option, sure)))
    return said


def _leading_options(votes: Array, tasks: Array, options: int, draw: Draw, named: Array) -> None:
    """Name what the aggregator ``majority`` would name for each task, all in one go."""
    for task in range(len(named)):
        named[task] = -1
        if tasks[task, c.TASK_ANSWERED] > 0:
            named[task] = leading_option(votes, task, 0, options, draw, task)


@cache
def _voting() -> Any:
    return bind(_leading_options, "labels")
