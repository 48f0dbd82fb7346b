"""Replay: what a policy would have cost and got right on answers that were recorded."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np

from askwise.core.arrays import Array
from askwise.core.checks import whole
from askwise.core.compiling import allowed
from askwise.core.errors import InvalidParameter, InvalidProblem
from askwise.core.frames import told_by_task
from askwise.core.money import MICRO, Amount, from_micro, to_micro
from askwise.core.problem import Worker, as_worker, listed
from askwise.core.registry import from_label, label_of
from askwise.core.scoring import TIE
from askwise.data.labels import LabelTable, table_of
from askwise.data.recorded_workers import OF_WORKERS
from askwise.figures import Row
from askwise.lab.replaying.bench import ACCURACY, SPENT, Bench, Grade, KnownOutcomes
from askwise.lab.replaying.contenders import Contender, contender
from askwise.lab.replaying.measures import by_field, measures_of
from askwise.lab.replaying.outcome import EVERYTHING, Everything, Replay, Saving
from askwise.lab.replaying.remarks import remarks_on
from askwise.lab.results import mean_row, measured_row
from askwise.lab.simulate import Progress, check_budget, unseen
from askwise.lab.worlds import Recording
from askwise.stopping import stopping

__all__ = ["EVERYTHING", "Replay", "Saving", "recording_of", "replay"]

POINTS = 8
"""Budgets at which the curves are measured, evenly up to the one asked for."""

Doing = Callable[[str], None]
"""Called with what is run now, in words."""


def unheard(what: str) -> None:
    """Words that nobody wants to hear."""


def recording_of(
    table: LabelTable,
    gold: Mapping[str, str],
    contexts: Mapping[str, str] | None = None,
    prices: Sequence[Worker] | None = None,
    workers: Sequence[Worker] | None = None,
    *,
    needs_gold: bool = True,
) -> Recording:
    """Recorded answers as a world: of a worker who answered a task twice the first counts."""
    known, truth = table.knowing(gold)
    if needs_gold and (truth < 0).all():
        raise InvalidProblem(
            f"gold has no task in common with {table.source}, which has {table.task_names[0]!r}",
            field="gold",
        )
    if len(known.label_names) < 2:
        raise InvalidProblem(
            f"{table.source} has one label, {known.label_names[0]!r}: nothing to choose from",
            field="label",
        )
    pairs = known.tasks.astype(np.int64) * len(known.worker_names) + known.workers
    _, first = np.unique(pairs, return_index=True)
    kinds = None
    if contexts is not None:
        shown = [contexts.get(task, "") for task in known.task_names]
        number = {context: at for at, context in enumerate(dict.fromkeys(shown))}
        kinds = np.array([number[context] for context in shown])
    staff = _staff(known, prices, workers)
    codes = (known.tasks, known.workers, known.labels)
    task, worker, label = (column[first].astype(np.int64) for column in codes)
    names = (known.task_names, known.worker_names, known.label_names)
    tasks, crowd, options = (len(each) for each in names)
    right, costs = truth.astype(np.int64), tuple(each.price for each in staff)
    about = tuple({name: getattr(each, name) for name in OF_WORKERS} for each in staff)
    return Recording(task, worker, label, tasks, crowd, options, right, kinds, costs, about=about)


def _staff(
    table: LabelTable, prices: Sequence[Worker] | None, workers: Sequence[Worker] | None
) -> tuple[Worker, ...]:
    """The workers of the table and what is said of them; none where nothing is."""
    if prices is not None and workers is not None:
        raise InvalidParameter(
            "workers and prices both say what an answer costs: give one of them", field="workers"
        )
    given = prices if workers is None else workers
    if given is None:
        return ()
    by_name = {worker.id: worker for worker in given}
    for name in table.worker_names:
        if name not in by_name and workers is not None:
            raise InvalidProblem(
                f"workers: worker {name!r} of {table.source} is not among them; add a line",
                field="workers",
            )
        if name not in by_name:
            raise InvalidProblem(
                f"prices: worker {name!r} of {table.source} has none; add a line for them",
                field="prices",
            )
    return tuple(by_name[name] for name in table.worker_names)


def replay(
    table: Any,
    gold: Any,
    *,
    policy: str = "hem",
    against: Sequence[str] = ("bbta", "random-pairs"),
    budget: Amount,
    contexts: Any = None,
    prices: Any = None,
    workers: Any = None,
    truths: int = 0,
    stop: str | None = None,
    runs: int = 10,
    seed: int = 0,
    window: int = 1,
    progress: Progress = unseen,
    doing: Doing = unheard,
) -> Replay:
    """Run policies against recorded answers, each pair asked once at most.

    Parameters
    ----------
    table : LabelTable or data frame
        Who answered what; a frame has the columns ``task``, ``worker`` and ``label``.
    gold : mapping of task to label, Series or data frame
        What is right, in a frame in the columns ``task`` and ``label``; only these tasks are
        measured, all are asked about.
    policy, against : labels
        Whom to try, and what to hold it against: ``policy`` or ``policy with aggregator``, either
        perhaps followed by ``until rule``.
    budget : amount
        The most that may be spent; curves are measured at eighths of it.
    contexts : mapping of task to context, Series or data frame, optional
        Kinds of tasks; those not in it share one.
    prices : sequence of Worker or data frame, optional
        Prices of all workers, and limits where there are any; 1 each if not given.
    workers : sequence of Worker, optional
        The same, and what else is known of the workers; give this or ``prices``.
    truths : int
        How many tasks' truths are told at the start of each run: drawn at random, the same for all
        policies, half of those with gold at most. They are not measured.
    stop : label, optional
        The stopping rule of all that name none of their own.
    runs : int
        Runs of each, with tasks and workers in another order: intervals are over these.
    window : int
        How many questions may be out at a time.
    progress, doing : functions
        Told how much is done, and in words what comes next.
    """
    table = table if isinstance(table, LabelTable) else table_of(table, "table")
    gold = told_by_task(gold, "gold", "label")
    contexts = None if contexts is None else told_by_task(contexts, "contexts", "context")
    prices, workers = _workers(prices), _workers(workers)
    whole(runs, "runs", least=1, most=10_000)
    whole(window, "window", least=1, most=1_000_000)
    whole(seed, "seed", least=0, most=2**63 - 1)
    whole(truths, "truths", least=0)
    rule = None if stop is None else stopping.make(from_label(stop))
    contenders = [
        each if each.rule is not None else replace(each, rule=rule)
        for each in map(contender, (policy, *against))
    ]
    names = [each.series for each in contenders]
    for name in names:
        if names.count(name) > 1:
            raise InvalidParameter(f"against names {name!r} twice", field="against")
    doing("reading the recorded answers")
    recording = recording_of(table, gold, contexts, prices, workers)
    _check_truths(truths, recording)
    budgets = _budgets(budget, recording)
    micro, cost = budgets[-1], _cost(recording)
    most = [min(each, to_micro(cost, "cost")) for each in budgets]
    whole_bench = Bench(recording)
    problem, _ = whole_bench.campaign(from_micro(micro))
    for rival in contenders:
        rival.check(problem)
    values = np.zeros((runs, len(budgets), len(contenders), len(Grade._fields)))
    done, total = 0, values[..., 0].size
    progress("replaying", done, total)
    majority = []
    for run in range(runs):
        bench = whole_bench.in_another_order(seed, run, truths)
        majority.append(bench.measured.majority_accuracy())
        for at, each in enumerate(budgets):
            # One by one: a policy in plain Python may take seconds for a campaign.
            outcomes: KnownOutcomes = {}
            for place, rival in enumerate(contenders):
                money = from_micro(each)
                what = f"{rival.series} at a budget of {money}, run {run + 1} of {runs}"
                doing(f"{what} ({100 * done // total} % done)")
                # A rule or a target may end campaigns with money left; how much is unknown.
                spends_all = rival.rule is None and rival.target == 0
                following = sum(most[at:]) + (runs - 1 - run) * sum(most)
                with allowed("replay", following if spends_all else 0):
                    values[run, at, place] = bench.grade(rival, money, seed, run, window, outcomes)
                done += 1
                progress("replaying", done, total)
    rows = tuple(_rows(values, budgets, contenders))
    measured = int((recording.truth >= 0).sum()) - truths
    right = float(np.mean(majority)) if truths else recording.majority_accuracy()
    everything = Everything(right, cost)
    found = Replay(
        policy=names[0],
        budget=from_micro(micro),
        runs=runs,
        seed=seed,
        tasks=recording.tasks,
        workers=recording.workers,
        answers=len(recording.task),
        options=recording.options,
        measured=measured,
        rows=rows,
        everything=everything,
        savings=(),
        remarks=tuple(
            remarks_on(table, gold, contexts, recording, contenders, truths, micro, everything.cost)
        ),
        truths=truths,
        stop=None if rule is None else label_of(rule),
        measures=tuple(measures_of(values, budgets, contenders, measured)),
    )
    rights, spends = (values[..., at].mean(axis=0) for at in (ACCURACY, SPENT))
    savings = [
        _saving(
            *(rival, rights[:, 0], spends[:, 0]),
            *(float(rights[-1, place]), _money(spends[-1, place])),
            values[..., 0, ACCURACY] - values[:, -1:, place, ACCURACY],
        )
        for place, rival in enumerate(names[1:], 1)
    ]
    told = np.array(majority if truths else [right] * runs)[:, None]
    savings.append(
        _saving(
            *(EVERYTHING, rights[:, 0], spends[:, 0], *everything),
            values[..., 0, ACCURACY] - told,
        )
    )
    return replace(found, savings=tuple(savings))


def _workers(given: Any) -> list[Worker] | None:
    return None if given is None else [as_worker(each) for each in listed(given, "workers")]


def _budgets(budget: Amount, recording: Recording) -> list[int]:
    if to_micro(budget, "budget") == 0:
        raise InvalidParameter("budget is 0: give an amount above 0", field="budget")
    cheapest = min(to_micro(price, "price") for price in recording.prices or (1,))
    micro = check_budget(budget, cheapest, "worker")
    steps = {max(cheapest, micro * step // POINTS) for step in range(1, POINTS + 1)}
    return sorted(steps)


def _check_truths(truths: int, recording: Recording) -> None:
    known = int((recording.truth >= 0).sum())
    if truths > known // 2:
        raise InvalidParameter(
            f"truths is {truths}: {known} tasks have gold, and at least half of them are needed to "
            f"measure by; give {known // 2} at most",
            field="truths",
        )


def _cost(recording: Recording) -> Decimal:
    """What all recorded answers cost."""
    prices = [to_micro(price, "price") for price in recording.prices or (1,) * recording.workers]
    return from_micro(sum(prices[worker] for worker in recording.worker.tolist()))


def _rows(values: Array, budgets: list[int], contenders: list[Contender]) -> list[Row]:
    found = []
    for place, each in enumerate(contenders):
        for at, budget in enumerate(budgets):
            runs = by_field(values[:, at, place])
            for metric in ("accuracy", "spent"):
                sample, x = runs[metric], budget / MICRO
                found.append(measured_row(sample, series=each.series, x=x, metric=metric))
    return found


def _money(value: float) -> Decimal:
    return from_micro(round(value * MICRO))


def _saving(
    other: str, rights: Array, spends: Array, accuracy: float, cost: Decimal, ahead: Array
) -> Saving:
    """Read the policy's curve at an accuracy, by what it spent, between the points beside it.

    A point counts by the least accuracy from it on: somewhere passed by a curve that falls again,
    an accuracy is not what that money buys. ``ahead`` is by how much the policy is more accurate
    than the other: runs x points.
    """
    kept = np.minimum.accumulate(rights[::-1])[::-1]
    if kept[-1] < accuracy:
        return Saving(other, accuracy, cost, None, False, passed=bool((rights >= accuracy).any()))
    at = int(np.argmax(kept >= accuracy))
    sure = _surely_less(spends, cost, ahead)
    if at == 0:
        return Saving(other, accuracy, cost, _money(spends[0]), True, sure=sure)
    share = (accuracy - kept[at - 1]) / (kept[at] - kept[at - 1])
    spent = spends[at - 1] + share * (spends[at] - spends[at - 1])
    return Saving(other, accuracy, cost, _money(float(spent)), False, sure=sure)


def _surely_less(spends: Array, cost: Decimal, ahead: Array) -> bool:
    """Whether the policy is no less accurate from a point on that costs less than the other."""
    if len(ahead) < 2:
        # One run does not show how much runs differ.
        return False
    rows = [mean_row(column, series="", x=0, metric="ahead") for column in ahead.T]
    lows = np.array([row.ci_low for row in rows])
    kept = np.minimum.accumulate(lows[::-1])[::-1]
    return bool(((kept >= -TIE) & (spends < float(cost))).any())
