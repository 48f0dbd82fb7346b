"""What the lab makes of a policy or a rule is what a live campaign makes of it: checks on yours.

They complete :mod:`askwise.testing`, which needs no lab. With pytest::

    def test_the_lab_runs_my_policy_as_a_campaign_does():
        check_in_lab(MyPolicy())
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np

from askwise.campaign import Campaign
from askwise.core.choices import Batch, Done, Wait
from askwise.core.compiling import in_bulk
from askwise.core.events import Event, Kind, PlanRow
from askwise.core.money import MICRO
from askwise.core.problem import Problem
from askwise.core.registry import parameters_of
from askwise.lab import worlds
from askwise.lab.loop import CLOSED_SEQ, REPLIES, TRUTH_SEQ, TRUTHS, AnyWorld
from askwise.lab.simulate import Outcome, simulate
from askwise.lab.worlds import Market, Recording, Survey, two_options
from askwise.lab.worlds.base import rated_world
from askwise.ledger import columns as c
from askwise.policies import AsksCrowds, AwaitsTruth, KernelPolicy, PlansForAll, Policy, policies
from askwise.stopping import StoppingRule, stopping
from askwise.testing.referee import Referee
from askwise.testing.scenes import LIMITS, PRICES, STARS, ending, plays_in
from askwise.testing.sessions import same_logs


def check_in_lab(entry: Policy | StoppingRule) -> None:
    """Run all checks that apply; the first that fails raises AssertionError.

    Examples
    --------
    >>> from askwise.policies import policies
    >>> check_in_lab(policies.make("uniform"))
    """
    if isinstance(entry, StoppingRule):
        a_rules_live_log_is_the_labs(entry)
        return
    the_live_log_is_the_labs(entry)
    if isinstance(entry, KernelPolicy) and entry.compiles:
        the_plain_log_is_the_compiled_one(entry)


def the_live_log_is_the_labs(policy: Policy) -> None:
    """A live campaign and the lab's loop agree to the last bit."""
    _live_is_the_labs(policy, lab_cases(policy))


def a_rules_live_log_is_the_labs(rule: StoppingRule) -> None:
    """A live campaign and the lab's loop agree to the last bit, no matter who is asked."""
    if "options" in rule.outcomes:
        _live_is_the_labs(policies.make("round-robin"), rule_cases(rule))


def _live_is_the_labs(policy: Policy, cases: Sequence[Case]) -> None:
    for seed, case in enumerate(cases):
        same_runs(live_run(policy, case, seed), lab_run(policy, case, seed), f"live, case {seed}")


def the_plain_log_is_the_compiled_one(*chosen: KernelPolicy) -> None:
    """A process without the compiler runs the lab's loop to the same logs; takes several."""
    for policy, runs in zip(chosen, in_plain_python(chosen), strict=True):
        for seed, case in enumerate(lab_cases(policy)):
            compiled = lab_run(policy, case, seed)
            same_runs(runs[seed], compiled, f"{policy} in plain Python, case {seed}")


@dataclass(frozen=True)
class Case:
    """A campaign and its world, on which live, compiled and plain runs are compared."""

    problem: Problem
    world: AnyWorld
    rule: dict[str, Any] | None = None


def lab_cases(policy: Policy) -> list[Case]:
    """List the cases that a policy can play in; the seed is the case's number.

    A plan may outlive a question: what the lab hands out then does not tell what was planned.
    """
    cases = _utility_cases()
    if isinstance(policy, AsksCrowds) and not isinstance(policy, PlansForAll):
        cases += _survey_cases()
    elif policy.outcomes == ("options",) and not isinstance(policy, PlansForAll):
        cases += _label_cases()
    elif isinstance(policy, AwaitsTruth):
        cases += _assured_cases()
    return [case for case in cases if plays_in(policy, case.problem)]


def _utility_cases() -> list[Case]:
    rng = np.random.default_rng(3)
    rated = rated_world(STARS)
    prices, limits = np.array(PRICES, np.int64) * MICRO, np.array(LIMITS, np.int64)
    small = Market(prices, limits, rated.means[:6], rated)
    markets = [
        (small, 90_000_000),
        (replace(small, limits=np.full(6, 400, np.int64)), 150_500_000),
        (worlds.freelancer_market(rng, cap=30, candidates=12), 260_000_000),
        (worlds.drifting_market(rng, cap=30, changes=3), 220_000_000),
        (worlds.correlation_market(rng, cap=30, variance=1.0, noise=1.0), 220_000_000),
    ]
    return [
        Case(market.problem(budget), market.answering(seed, 0))
        for seed, (market, budget) in enumerate(markets)
    ]


def _survey_cases() -> list[Case]:
    # One rule, so that each policy is compiled once; rules meet one policy in their own check.
    three = np.array([[[0.5, 0.3, 0.2], [0.4, 0.2, 0.4], [0.9, 0.05, 0.05]]])
    plain = {"name": "composite"}
    cases: list[tuple[Survey, int, int | None, dict[str, Any]]] = [
        (Survey(two_options(0.8, 0.6, 0.6)), 5, None, plain),
        (Survey(three, ("1", "0.5", "3")), 5, 90, {**plain, "horizon": 40, "total": False}),
        (Survey(three[:, :2], (0, 2)), 4, 40, {**plain, "cap": 12, "horizon": 30}),
        (Survey(two_options(0.5, 0.7)), 3, 50, {**plain, "rule": "gap(quality=1000)"}),
    ]
    return [
        Case(survey.problem(questions, budget), survey.answering(seed, 0, questions), rule)
        for seed, (survey, questions, budget, rule) in enumerate(cases)
    ]


def _label_cases() -> list[Case]:
    # One rule here as well: it ends some tasks, and in the last case none.
    rng = np.random.default_rng(5)
    cases = []
    for seed, (tasks, workers, options, share, budget) in enumerate(
        [(12, 5, 2, 1.0, 40), (9, 6, 3, 0.6, 35), (14, 4, 2, 0.7, 400)]
    ):
        truth = rng.integers(options, size=tasks)
        right = rng.random((tasks, workers)) < 0.8
        labels = np.where(right, truth[:, None], rng.integers(options, size=(tasks, workers)))
        task, worker = np.nonzero(rng.random((tasks, workers)) < share)
        recording = Recording(
            *(task, worker, labels[task, worker], tasks, workers, options, truth),
            contexts=rng.integers(1 + seed, size=tasks),
            prices=tuple(int(each) for each in rng.integers(1, 4, size=workers)),
            trusted=(2,) if seed == 1 else (),
        )
        assert len(np.unique(task)) == tasks, "a task without any answer"
        rule = {"name": "gap", "quality": 1.0 if seed < 2 else 1000.0}
        cases.append(Case(recording.problem(budget), recording.answering(), rule))
    return cases


def _assured_cases() -> list[Case]:
    # Without a rule: what is planned is handed out.
    rng = np.random.default_rng(6)
    cases = []
    for seed, (tasks, workers, budget) in enumerate([(40, 6, None), (25, 12, 4_000_000_000)]):
        pool = worlds.paper_pool(rng, workers)
        world = pool.answering(seed, 0, tasks)
        cases.append(Case(pool.problem(tasks, budget=budget), world))
    return cases


def rule_cases(rule: StoppingRule) -> list[Case]:
    """List the cases of a rule: two options, and three where it takes them."""
    surveys = [Survey(two_options(0.8, 0.6, 0.6), ("1", "2", "1"))]
    if rule.most_options is None:
        surveys.append(Survey(np.array([[[0.5, 0.3, 0.2], [0.6, 0.2, 0.2]]])))
    return [
        Case(survey.problem(6, 200), survey.answering(seed, 0, 6), ending(rule, 25))
        for seed, survey in enumerate(surveys)
    ]


FinishedRun = tuple[list[Event], Wait | Done]
"""A log, without notes, and what came instead of a further question."""


def lab_run(policy: Policy, case: Case, seed: int) -> FinishedRun:
    """Run the lab's loop and write its ledger out as a log."""
    rule = None if case.rule is None else stopping.make(case.rule)
    with in_bulk(policy.name):
        outcome = simulate(policy, case.problem, case.world, rule=rule, seed=seed)
    return log_of_outcome(outcome), outcome.ended


def log_of_outcome(outcome: Outcome) -> list[Event]:
    """Write the ledger of a simulation out as the log that a live campaign would have."""
    ledger = outcome.ledger
    book, count = ledger.book, ledger.total(c.ASSIGNMENTS)
    options = ledger.problem.options
    closed = {int(row[CLOSED_SEQ]): task for task, row in enumerate(outcome.closings)}
    told = {int(row[TRUTH_SEQ]): task for task, row in enumerate(outcome.closings)}
    log: list[Event] = []

    def add(kind: Kind, **fields: Any) -> None:
        log.append(Event(kind, seq=len(log) + 1, **fields))

    tasks = [ledger.task_id(int(at)) for at in book.assignments[:count, c.TASK]]
    names = [ledger.workers[int(at)].id for at in book.assignments[:count, c.WORKER]]
    odds = [None if np.isnan(p) else float(p) for p in book.marks[:count, c.PROPENSITY]]
    decisions = book.assignments[:count, c.DECISION].tolist()

    def add_truths() -> None:
        while len(log) + 1 in told:
            task = told[len(log) + 1]
            option = options[int(book.tasks[task, c.TRUTH])]
            add(Kind.TRUTH, task=ledger.task_id(task), value=option)

    for decision, units in groupby(range(count), key=decisions.__getitem__):
        add_truths()
        group = list(units)
        rows = handed_out((names[at], tasks[at], odds[at]) for at in group)
        add(Kind.DECIDED, decision=decision, rows=rows)
        for at in group:
            seq, price = len(log) + 1, int(book.assignments[at, c.COST])
            assert seq == book.assignments[at, c.SEQ], "the lab counts events differently"
            worker, task = names[at], tasks[at]
            add(
                Kind.ASKED, decision=decision, task=task, worker=worker, price=price,
                propensity=odds[at],
            )  # fmt: skip
            value: float | str = float(book.marks[at, c.VALUE])
            value = options[int(value)] if options else value
            add(Kind.ANSWER, assignment=seq, task=task, worker=worker, price=price, value=value)
            if len(log) + 1 in closed:
                option, why, sure = outcome.closing(closed[len(log) + 1])
                named = None if option is None else options[option]
                add(Kind.CLOSED, task=task, value=named, outcome=why, confidence=sure)
    add_truths()
    assert len(log) == ledger.seq, "the lab's log has another length"
    return log


def handed_out(units: Iterable[tuple[str, str | None, float | None]]) -> tuple[PlanRow, ...]:
    """Write a decision's rows down by what was asked: worker, task and odds of each."""
    found = []
    for worker, each in groupby(units, key=itemgetter(0)):
        same = list(each)
        found.append(PlanRow(worker, same[0][1], len(same), same[0][2]))
    return tuple(found)


def without_remainders(log: Sequence[Event]) -> list[Event]:
    """Leave out what was decided and not asked, as its task was closed: the lab can't tell."""
    asked: dict[int | None, list[tuple[str, str | None, float | None]]] = {}
    for event in log:
        if event.kind == Kind.ASKED:
            unit = (event.worker or "", event.task, event.propensity)
            asked.setdefault(event.decision, []).append(unit)
    return [
        replace(event, rows=handed_out(asked[event.decision]))
        if event.kind == Kind.DECIDED
        else event
        for event in log
    ]


def live_run(policy: Policy, case: Case, seed: int) -> FinishedRun:
    """Run the same as a campaign, answered by the same world."""
    raw = case.problem.to_json()
    campaign = Campaign.create(**raw, policy=policy, stopping=case.rule, seed=seed)
    referee, log = Referee(case.problem), list[Event]()
    asked: Counter[tuple[str | None, str]] = Counter()
    while True:
        choice = campaign.ask()
        for event in campaign.log(after=len(log)):
            log.append(event)
            referee.see(event)
        if choice == Wait("truth"):
            named = [task for need in campaign.status().needs_gold for task in need.tasks]
            awaited = named[0] if named else referee.awaiting_truth()
            truth = int(TRUTHS[type(case.world)](case.world, referee.numbers[awaited]))
            campaign.truth(awaited or "", case.problem.options[truth])
            continue
        if not isinstance(choice, Batch):
            bare = [replace(event, note=None) for event in log]
            return without_remainders(bare) if case.problem.options else bare, choice
        work = referee.work[log[-1].seq]
        k = asked[work.task, work.worker]
        asked[work.task, work.worker] += 1
        task, worker = referee.numbers[work.task], int(work.worker[1:])
        reply = REPLIES[type(case.world)](case.world, task, worker, k, work.elapsed)
        options = case.problem.options
        campaign.tell(choice[0].id, options[int(reply)] if options else float(reply))


def same_runs(found: FinishedRun, due: FinishedRun, what: str) -> None:
    """Compare logs and ends."""
    same_logs(found[0], due[0], what)
    assert found[1] == due[1], f"{what}: ended with {found[1]} instead of {due[1]}"


def in_plain_python(chosen: Sequence[KernelPolicy]) -> list[list[FinishedRun]]:
    """Run the lab's cases for each policy in a process without the compiler."""
    request = [
        [type(policy).__module__, type(policy).__qualname__, parameters_of(policy)]
        for policy in chosen
    ]
    done = subprocess.run(
        [sys.executable, "-c", "from askwise.lab.contract import serve; serve()"],
        input=json.dumps(request),
        capture_output=True,
        text=True,
        env={**os.environ, "ASKWISE_JIT": "0"},
        check=False,
    )
    assert done.returncode == 0, f"the plain run failed: {done.stderr}"
    return [[_read_run(*run) for run in runs] for runs in json.loads(done.stdout)]


def _read_run(log: list[dict[str, Any]], end: dict[str, Any]) -> FinishedRun:
    ended = Wait(end["what"]) if "what" in end else Done(end["why"])
    return [Event.from_json(raw) for raw in log], ended


def serve() -> None:
    """Run the lab's cases for the policies named on standard input; logs go to the output."""
    answers = []
    for module, name, parameters in json.load(sys.stdin):
        policy = getattr(importlib.import_module(module), name)(**parameters)
        runs = [lab_run(policy, case, seed) for seed, case in enumerate(lab_cases(policy))]
        answers.append([[[each.to_json() for each in log], end.to_json()] for log, end in runs])
    json.dump(answers, sys.stdout)
