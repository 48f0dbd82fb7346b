"""Surveys: answers per second in the compiled runner, and live on ten or ten thousand questions."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable
from itertools import count

from askwise import Batch, Campaign, Worker
from askwise.lab.simulate import simulate
from askwise.lab.worlds import Survey, two_options
from askwise.ledger.ledger import Ledger
from askwise.policies import policies
from askwise.stopping import stopping
from benchmarks.timing import in_turns, quantity, ratio, table, want

CHANCES = (0.8, 0.6, 0.6)
QUALITY = 2.0
COMPILED, LISTS = "askwise, compiled runner", "plain Python lists"
LIVE = (10, 10_000)


class Question:
    """VirtUCB and the composite rule in plain lists, for any options and prices.

    Follows paper 004: index (2), rule (1), smooth, with the total crowd; ties by a draw. It is
    asked one answer at a time, as a campaign is.
    """

    def __init__(self, prices: list[float], options: int, rng: random.Random) -> None:
        self.prices = prices
        self.options = options
        self.votes = [[0] * options for _ in prices]
        self.total = [0] * options
        self.spent = 0.0
        self.rng = rng

    def choose(self) -> int:
        """The crowd with the largest index."""
        best, best_index = -1, -math.inf
        for crowd, (votes, price) in enumerate(zip(self.votes, self.prices, strict=True)):
            answers = sum(votes)
            if answers == 0:
                return crowd
            first, second = sorted(votes, reverse=True)[:2]
            index = ((first - second) / answers + 1.0 / math.sqrt(answers)) / math.sqrt(price)
            if index > best_index:
                best, best_index = crowd, index
        return best

    def learn(self, crowd: int, option: int) -> int | None:
        """Book an answer; the option to name, if one of the two instances stops."""
        self.spent += self.prices[crowd]
        self.votes[crowd][option] += 1
        self.total[option] += 1
        stopped = []
        for votes in (self.votes[crowd], self.total):
            first, second = sorted(votes, reverse=True)[:2]
            term = QUALITY * math.sqrt(sum(votes))
            down = math.floor(term)
            if first - second > down + (self.rng.random() < term - down):
                stopped.append(votes)
        if not stopped:
            return None
        votes = self.rng.choice(stopped)
        leaders = [at for at, count in enumerate(votes) if count == max(votes)]
        return self.rng.choice(leaders)


def main(quick: bool) -> None:
    """Print both tables."""
    _compiled(quick)
    print()
    _live(quick)


def _compiled(quick: bool) -> None:
    questions = 1_000 if quick else 5_000
    survey = Survey(two_options(*CHANCES))
    problem = survey.problem(questions)
    fresh = Ledger(problem)
    policy = policies.make("virt-ucb")
    rule = stopping.make({"name": "composite", "rule": {"name": "gap", "quality": QUALITY}})
    wrong: dict[str, list[float]] = {COMPILED: [], LISTS: []}
    costs: dict[str, list[float]] = {COMPILED: [], LISTS: []}
    parts = count()
    rng = random.Random(1)

    def compiled() -> int:
        part = next(parts)
        world = survey.answering(1, part * questions, questions)
        done = simulate(policy, problem, world, rule=rule, seed=1, replication=part, ledger=fresh)
        wrong[COMPILED].append(float((done.closings[:, 0] != world.right).mean()))
        costs[COMPILED].append(done.answers / questions)
        return done.answers

    def with_lists() -> int:
        answers = mistakes = 0
        for _ in range(questions // 10):
            chances = rng.sample(CHANCES, len(CHANCES))
            question = Question([1.0] * len(chances), 2, rng)
            named = None
            while named is None:
                crowd = question.choose()
                named = question.learn(crowd, int(rng.random() >= chances[crowd]))
                answers += 1
            mistakes += named != 0
        wrong[LISTS].append(mistakes / (questions // 10))
        costs[LISTS].append(answers / (questions // 10))
        return answers

    compiled()  # to compile
    found = in_turns({COMPILED: compiled, LISTS: with_lists}, rounds=3 if quick else 9)
    print(f"virt-ucb with composite, {questions:,} questions, three crowds, CPU time")
    rows = []
    for name, times in found.items():
        faster = ratio(times, found[COMPILED])
        rows.append(
            [
                name,
                f"{statistics.mean(costs[name]):.2f}",
                f"{statistics.mean(wrong[name]):.4f}",
                quantity(1.0 / statistics.median(times)),
                f"{faster:.1f}x" if name == LISTS else "",
                *(want(faster, least=15.0) if name == LISTS else ["", ""]),
            ]
        )
    header = ["", "answers per question", "error", "answers/s", "askwise is", "wanted", "met"]
    table(header, rows)


def _live(quick: bool) -> None:
    cycles = 200 if quick else 1_000

    def campaign(questions: int) -> Callable[[], int]:
        rng = random.Random(1)
        held = Campaign.create(
            workers=[Worker(f"w{at}", 1) for at in range(3)],
            tasks=[f"q{at}" for at in range(questions)],
            options=["no", "yes"],
            policy="virt-ucb",
            # Never sure: all questions stay open.
            stopping={"name": "composite", "rule": {"name": "gap", "quality": 1e5}},
            seed=1,
        )

        def cycle() -> int:
            for _ in range(cycles):
                batch = held.ask()
                assert isinstance(batch, Batch)
                held.tell(batch[0].id, rng.choice(("no", "yes")))
            return cycles

        cycle()
        return cycle

    names = {f"{questions:,} open questions": campaign(questions) for questions in LIVE}
    found = in_turns(names, rounds=3 if quick else 7)
    few, many = found.values()
    times = ratio(many, few)
    print("live ask+tell in memory, virt-ucb with composite, CPU time")
    rows = [
        [name, quantity(1.0 / statistics.median(each)), "", "", ""] for name, each in found.items()
    ]
    rows[1][2:] = [f"{times:.2f}x", *want(times, most=3.0)]
    table(["", "cycles/s", "cost against few", "wanted", "met"], rows)
