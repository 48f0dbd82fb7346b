"""Whether a cascade keeps its error on recorded answers, and what it costs (beyond 002)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar, NamedTuple

import numpy as np

from askwise.core.arrays import Array
from askwise.core.checks import between, real, whole
from askwise.core.errors import InvalidParameter
from askwise.core.money import MICRO, Amount, to_micro
from askwise.figures import Row
from askwise.lab.experiment import Cell, Figure, experiments
from askwise.lab.papers.labels.studies.methods import OnSets
from askwise.lab.papers.labels.studies.sets import about_sets, named_set
from askwise.lab.replaying.bench import Bench, contender, final_answers
from askwise.lab.results import measured_row
from askwise.lab.simulate import simulate
from askwise.lab.worlds import Recording
from askwise.ledger import columns as c
from askwise.policies.labels.cascade import thresholds
from askwise.policies.labels.cascade.policy import CascadePolicy

CASCADE, ALONE = "cascade", "the trusted alone"

MEASURES = ("false", "cost", "wrong", "trusted_share")
"""Of a draw: whether too many labels are wrong, the money per task, the share of wrong labels, and
the share of the tasks that the trusted source answers."""


class StageVotes(NamedTuple):
    """Recorded answers as a cascade sees them.

    Attributes
    ----------
    votes : int array
        Tasks x stages x options.
    truths : int array
        Of each task.
    costs : array
        Of putting each task to each stage.
    """

    votes: Array
    truths: Array
    costs: Array


class Walked(NamedTuple):
    """What a cascade makes of each task: the stage that settles it (-1: the trusted), what that
    says, and what it costs."""

    stage: Array
    named: Array
    cost: Array


def stages_of(recording: Recording, prices: Array) -> StageVotes:
    """The answers to tasks whose truth is known, by price."""
    levels, stage = np.unique(prices, return_inverse=True)
    votes = np.zeros((recording.tasks, len(levels), recording.options), np.int64)
    np.add.at(votes, (recording.task, stage[recording.worker], recording.label), 1)
    known = recording.truth >= 0
    return StageVotes(votes[known], recording.truth[known], votes[known].sum(axis=2) * levels)


def walk(
    table: StageVotes, weights: Array, threshold: float, lots: Array, sample: Array, expert: float
) -> Walked:
    """Put all tasks through a cascade; the sample to all stages and to the trusted."""
    standing = thresholds.standings(table.votes, weights)
    tasks, stages, options = table.votes.shape
    scores, named = thresholds.scores_of(standing, np.full(tasks, stages), lots)
    stage = thresholds.settled_by(scores, threshold)
    last = np.where(stage >= 0, stage, stages - 1)
    for at in range(stages, 0, -1):
        before = standing[:, at - 2] if at > 1 else np.zeros((tasks, options))
        stopped = ~thresholds.within_reach(before, weights[at - 1 :], threshold)
        last = np.where(stopped & (stage < 0), at - 2, last)
    last[sample], stage[sample] = stages - 1, -1
    spent = np.concatenate([np.zeros((tasks, 1)), np.cumsum(table.costs, axis=1)], axis=1)
    rows = np.arange(tasks)
    cost = spent[rows, last + 1] + expert * (stage < 0)
    return Walked(stage, named[rows, stage], cost)


def draw_cascade(
    table: StageVotes, policy: CascadePolicy, expert: float, seed: int
) -> tuple[float, ...]:
    """Draw a sample, calibrate a cascade by it, and put all other tasks through it."""
    tasks = len(table.truths)
    rng = np.random.default_rng(seed)
    sample, lots = rng.permutation(tasks)[: policy.truths], rng.random(tasks)
    found = thresholds.calibrate(
        *(table.votes[sample], np.full(len(sample), table.votes.shape[1])),
        *(table.truths[sample], lots[sample]),
        tasks=tasks,
        error=policy.error,
        confidence=policy.confidence,
    )
    walked = walk(table, found.weights, found.threshold, lots, sample, expert)
    by_judges = walked.stage >= 0
    wrong = int((walked.named != table.truths)[by_judges].sum())
    false = wrong >= thresholds.too_many(policy.error, tasks)
    return false, float(walked.cost.mean()), wrong / tasks, float(1.0 - by_judges.mean())


@experiments.register("judges-cascade")
@dataclass(frozen=True)
class JudgesCascade(OnSets):
    """Cascades on recorded answers with gold: how often they keep their error, and what they cost.

    Parameters
    ----------
    errors : numbers
        Shares of wrong labels that are allowed.
    confidence : number
        How sure the error is to be kept.
    truths : int
        Tasks in the sample; the trusted source answers them for its price.
    expert : number
        Price of the trusted source, which knows the gold.
    prices : name=price
        Of judges, by the beginning of their names; others are left out. Without any, those of the
        set's workers.csv, or 1 each: then all judges are one stage.
    policies : names
        Held beside it, such as ``hem``, with the trusted source as a worker and the truths of as
        many tasks told, at its price; each is given the allowed share as its ``target``.
    sets : names
        Which sets of the folder; every one by default.
    data : folder
        As in ``labels-real``.
    most_tasks : int
        Tasks used of a larger set, those with gold first; 0 for all.
    """

    errors: tuple[float, ...] = (0.05, 0.1, 0.2)
    confidence: float = 0.9
    truths: int = 100
    expert: float = 20.0
    prices: tuple[str, ...] = ()
    policies: tuple[str, ...] = ()
    sets: tuple[str, ...] = ()
    data: str = ""
    most_tasks: int = 0

    reps: ClassVar[int] = 300
    chunk: ClassVar[int] = 20
    title: ClassVar[str] = "Cascades of judges (beyond 002)"
    reproduces: ClassVar[str] = "beyond 002"
    summary: ClassVar[str] = (
        "Cheap judges first, expensive ones where those are unsure, a trusted source last. How "
        "often are more labels wrong than allowed, over random draws of the tasks whose truth sets "
        "the threshold, and what does a label cost?"
    )
    figures: ClassVar[tuple[Figure, ...]] = (
        Figure(
            "cost",
            "share of wrong labels allowed",
            "money per task",
            "What a label costs averaged over the draws, truths included, with 95% intervals.",
        ),
        Figure(
            "false",
            "share of wrong labels allowed",
            "share of draws",
            "Draws after which more labels are wrong than allowed.",
        ),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        real(self.expert, "expert", "a price of 0 or more", least=0)
        whole(self.most_tasks, "most_tasks", least=0)
        for error in self.errors:
            between(error, "errors", 0, 1)
            CascadePolicy(error, self.confidence, self.truths)
            for label in self.policies:
                contender(_aiming(label, error))
        _price_rules(self.prices)

    @property
    def series(self) -> tuple[str, ...]:
        """The cascade, those beside it, and what it costs to trust no judge."""
        return (CASCADE, *self.policies, ALONE)

    def sample(self, cell: Cell, seed: int, replication: int) -> Array:
        """For each error and series the measures of a draw."""
        if not cell.panel:
            return np.zeros(0)
        recording = judged(self.data, cell.panel, self.most_tasks, self.prices)
        prices = np.array([to_micro(each, "price") / MICRO for each in recording.prices])
        table = stages_of(recording, prices)
        found: list[float] = []
        for error in self.errors:
            policy = CascadePolicy(error, self.confidence, self.truths)
            found += draw_cascade(table, policy, self.expert, seed * 1_000_003 + replication)
            for label in self.policies:
                found += self.beside(recording, _aiming(label, error), error, seed, replication)
            found += [0.0, self.expert, 0.0, 1.0]
        return np.array(found, np.float64)

    def beside(
        self, recording: Recording, label: str, error: float, seed: int, number: int
    ) -> list[float]:
        """What another policy makes of the same judges, the trusted source and truths."""
        each = contender(label)
        bench = Bench(with_expert(recording, self.expert)).in_another_order(
            seed, number, min(self.truths, recording.tasks)
        )
        problem, ledger = bench.campaign(None)
        outcome = simulate(
            *(each.policy, problem, bench.world),
            seed=seed,
            replication=number,
            ledger=ledger,
            truths=bench.truths,
        )
        answers = final_answers(each, problem, outcome, seed, number)
        wrong = int((answers != bench.recording.truth).sum())
        experts = bench.recording.trusted
        asked = sum(int(outcome.ledger.book.workers[at, c.ANSWERED]) for at in experts)
        tasks, told = recording.tasks, len(bench.truths)
        cost = (outcome.spent + told * self.expert) / tasks
        false = wrong >= thresholds.too_many(error, tasks)
        return [false, cost, wrong / tasks, (asked + told) / tasks]

    def rows(self, cell: Cell, samples: Array, seed: int) -> list[Row]:
        """Means over the draws."""
        if not cell.panel:
            return [row for each in self.label_sets() for row in each.notes()]
        shape = (len(samples), len(self.errors), len(self.series), len(MEASURES))
        measured = samples.reshape(shape)
        return [
            measured_row(
                measured[:, at, place, column],
                panel=cell.panel,
                series=series,
                x=error,
                metric=name,
            )
            for at, error in enumerate(self.errors)
            for place, series in enumerate(self.series)
            for column, name in enumerate(MEASURES)
        ]

    def differences(self, rows: Sequence[Row]) -> list[str]:
        """What was used, how often the error was not kept, and what a label costs."""
        said = about_sets(rows)
        for panel in dict.fromkeys(row.panel for row in rows if row.panel):
            for error in self.errors:
                of = {
                    (row.series, row.metric): row.mean
                    for row in rows
                    if (row.panel, row.x) == (panel, error)
                }
                told = [
                    f"{name} costs {of[name, 'cost']:.2f} per task, the trusted source answers "
                    f"{of[name, 'trusted_share']:.0%}, {of[name, 'wrong']:.1%} of the labels are "
                    f"wrong, and too many in {of[name, 'false']:.1%} of the draws"
                    for name in self.series[:-1]
                    # A set that failed has no rows.
                    if {(name, metric) for metric in MEASURES} <= of.keys()
                ]
                if told:
                    said.append(
                        f"{panel}, at most {error:g} wrong (too many in {1 - self.confidence:.0%} "
                        f"of the draws are allowed): {'; '.join(told)}."
                    )
        return said


def _aiming(label: str, error: float) -> str:
    """A policy that has a target, with this one."""
    return f"{label.partition('(')[0]}(target={error!r})"


def _price_rules(prices: Sequence[str]) -> dict[str, Amount]:
    """Prices by the beginning of a judge's name."""
    found: dict[str, Amount] = {}
    for each in prices:
        name, _, price = each.rpartition("=")
        if not name:
            raise InvalidParameter(
                f"prices has {each!r}: give the beginning of a name and a price, name=price",
                field="prices",
            )
        to_micro(price, "prices")
        found[name] = price
    return found


@lru_cache(maxsize=32)
def judged(data: str, name: str, most_tasks: int, prices: tuple[str, ...]) -> Recording:
    """The answers of judges who have a price, to tasks whose truth is known."""
    found = named_set(data, name, most_tasks, priced=True)
    recording, rules = found.recording, _price_rules(prices)
    assert recording is not None
    of = dict(zip(found.workers, recording.prices or (1,) * recording.workers, strict=True))
    if rules:
        of = {
            worker: rules[max((rule for rule in rules if worker.startswith(rule)), key=len)]
            for worker in found.workers
            if any(worker.startswith(rule) for rule in rules)
        }
    if not of:
        raise InvalidParameter(
            f"prices names nobody of the set {name!r}, which has {found.workers[0]!r}",
            field="prices",
        )
    kept = np.array([worker in of for worker in found.workers])
    known = recording.truth >= 0
    rows = np.flatnonzero(kept[recording.worker] & known[recording.task])
    return replace(
        recording,
        task=(np.cumsum(known) - 1)[recording.task[rows]],
        worker=(np.cumsum(kept) - 1)[recording.worker[rows]],
        label=recording.label[rows],
        tasks=int(known.sum()),
        workers=len(of),
        truth=recording.truth[known],
        contexts=None if recording.contexts is None else recording.contexts[known],
        prices=tuple(of[worker] for worker in found.workers if worker in of),
    )


def with_expert(recording: Recording, price: Amount) -> Recording:
    """The same answers, and a trusted worker who knows the truth of every task."""
    tasks, expert = np.arange(recording.tasks), recording.workers
    return replace(
        recording,
        task=np.concatenate([recording.task, tasks]),
        worker=np.concatenate([recording.worker, np.full(len(tasks), expert)]),
        label=np.concatenate([recording.label, recording.truth]),
        workers=expert + 1,
        prices=(*recording.prices, price),
        trusted=(expert,),
    )
