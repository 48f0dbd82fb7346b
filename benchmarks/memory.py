"""Memory of a campaign's facts and beliefs: so much for each answer, whatever their number."""

from __future__ import annotations

from askwise.lab.simulate import simulate
from askwise.policies import policies
from benchmarks.markets import market_of, problem_of
from benchmarks.timing import quantity, table, want

WORKERS = 100
POLICY = "thompson-knapsack"
ANSWERS = (10_000, 100_000)
SLACK = 1.1


def main(quick: bool) -> None:
    """Print the table."""
    market, policy = market_of(WORKERS), policies.make(POLICY)
    rows = []
    first = 0.0
    for wanted in ANSWERS:
        # The budget that buys about this many answers.
        dollars = 10_000
        while True:
            problem = problem_of(market, dollars)
            outcome = simulate(policy, problem, market.answering(1, 0), seed=1)
            if outcome.answers >= wanted:
                break
            dollars = dollars * 5 // 4
        ledger = outcome.ledger
        beliefs = sum(array.nbytes for array in policy.start(problem, ledger))
        used = sum(array.nbytes for array in ledger.arrays().values()) + beliefs
        held = sum(array.nbytes for array in ledger.book) + beliefs
        per_answer = used / outcome.answers
        first = first or per_answer
        grown = per_answer / first
        rows.append(
            [
                f"{outcome.answers:,} answers",
                f"{used / 2**20:.2f}",
                f"{held / 2**20:.2f}",
                quantity(per_answer),
                f"{grown:.2f}",
                *(want(grown, most=SLACK) if wanted != ANSWERS[0] else ["", ""]),
            ]
        )
    print(f"{POLICY}, K={WORKERS}: arrays of the ledger and of the beliefs, names left out")
    header = ["", "used, MiB", "with spare rows", "bytes/answer", "relative", "wanted", "met"]
    table(header, rows)
