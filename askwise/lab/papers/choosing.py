"""What ``policy="auto"`` picks, against fixed choices, on worlds of the papers' families."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from askwise.aggregation import aggregation
from askwise.campaign.choosing import AutoTerms, Situation, choose_parts
from askwise.core.arrays import Array
from askwise.core.errors import InvalidParameter, nearest
from askwise.core.money import MICRO, from_micro
from askwise.core.problem import Problem
from askwise.figures import Row
from askwise.lab.experiment import Cell, Experiment, Figure, experiments
from askwise.lab.loop import AnyWorld
from askwise.lab.papers.crowds.studies.prices import MARKETS
from askwise.lab.papers.crowds.studies.selection import BENCHMARKS, WORKLOADS
from askwise.lab.papers.labels.studies.tables import simulated_table
from askwise.lab.replaying.bench import Contender, contender, final_answers
from askwise.lab.results import mean_row
from askwise.lab.simulate import simulate
from askwise.lab.worlds import Market, Survey, correlation_market, freelancer_market
from askwise.lab.worlds.labellers import label_tasks
from askwise.lab.worlds.limited import labellers
from askwise.lab.worlds.recorded import Recording
from askwise.ledger import columns as c
from askwise.mechanisms import mechanisms
from askwise.policies import policies
from askwise.stopping import stopping

AUTO = "auto"

EVEN: dict[str, tuple[float, ...]] = {
    "one good crowd": (0.7, 0.4, 1 / 3),
    "crowds alike": (0.6, 0.5, 0.45),
}
"""Of each crowd the probability of the right one of three options."""

PRICED = (
    "good crowd cheap",
    "good crowd expensive",
    "good crowd expensive, coin cheap",
    "better costs more",
)
"""Markets of ``survey-prices`` in which everybody costs something."""

NEAR = 0.02
"""As good as the best fixed choice: no further below it than this."""


@dataclass(frozen=True)
class Setting:
    """A campaign as the requester sees it, who would answer what, and what a run is worth."""

    problem: Problem
    world: AnyWorld
    worth: Callable[[Any, Array], float]
    """Of an outcome and the answers that were given in the end: from 0 to 1."""


def _utility(market: Market, budget: int, seed: int, replication: int) -> Setting:
    """Worth is the utility to be expected of the answers bought, as a share of the optimum."""
    best, _ = market.optimum(budget * MICRO)

    def worth(outcome: Any, _: Array) -> float:
        bought = outcome.ledger.book.workers[: len(market.means), c.ANSWERED]
        return float(bought @ market.means) / best

    return Setting(market.problem(budget * MICRO), market.answering(seed, replication), worth)


def _freelancers(budget: int, candidates: int | None, seed: int, replication: int) -> Setting:
    rng = np.random.default_rng([seed, replication])
    market = freelancer_market(rng, cap=50, candidates=candidates)
    return _utility(market, budget, seed, replication)


def _priced_quality(noise: float, seed: int, replication: int) -> Setting:
    rng = np.random.default_rng([seed, replication])
    market = correlation_market(rng, cap=50, variance=1.0, noise=noise)
    return _utility(market, 5000, seed, replication)


def _share_right(truth: Array, options: int) -> Callable[[Any, Array], float]:
    def worth(_: Any, answers: Array) -> float:
        right = (answers == truth).astype(np.float64)
        # A question without an answer is as good as a guess.
        right[answers < 0] = 1.0 / options
        return float(right.mean())

    return worth


def _crowds(
    responses: Sequence[Sequence[float]],
    prices: Sequence[int],
    answers: float,
    seed: int,
    replication: int,
    questions: int = 60,
) -> Setting:
    """Worth is the share of right answers; the money is for this many answers per question."""
    survey = Survey(np.array(responses)[None], tuple(prices))
    budget = round(answers * questions * float(np.mean(prices)))
    world = survey.answering(seed, replication * questions, questions)
    return Setting(
        survey.problem(questions, budget), world, _share_right(world.right, survey.options)
    )


def _two_options(
    chances: Sequence[float], prices: Sequence[int], answers: float, seed: int, replication: int
) -> Setting:
    responses = [(p, 1.0 - p) for p in chances]
    return _crowds(responses, prices, answers, seed, replication)


def _confused(name: str, answers: float, seed: int, replication: int) -> Setting:
    """Crowds that confuse three options differently."""
    responses, prices = BENCHMARKS[name]
    return _crowds(responses, prices, answers, seed, replication, questions=20)


def _even_errors(name: str, answers: float, seed: int, replication: int) -> Setting:
    """Crowds that err on both wrong options alike, so that one of them alone tells most."""
    responses = [(p, (1.0 - p) / 2.0, (1.0 - p) / 2.0) for p in EVEN[name]]
    return _crowds(responses, (1, 1, 1), answers, seed, replication, questions=20)


def _recorded(recording: Recording, budget: Any) -> Setting:
    return Setting(
        recording.problem(budget),
        recording.answering(),
        _share_right(recording.truth, recording.options),
    )


def _labels(model: str, answers: float, seed: int, replication: int) -> Setting:
    """Contexts, 30 workers at equal prices and money for this many answers per task."""
    table = simulated_table(200, 4, 30)
    made = label_tasks(model, table.truth, table.contexts, 2, 30, seed, replication)
    return _recorded(made, round(answers * made.tasks))


def _priced_labels(spammers: int, answers: float, seed: int, replication: int) -> Setting:
    """Workers of paper 001, section 6, in whose prices there is some quality; 50 tasks."""
    rng = np.random.default_rng([seed, replication])
    crowd, tasks = labellers(rng, 20, spammers), 50
    truth = rng.integers(0, 2, tasks)
    right = rng.random((tasks, 20)) < crowd.accuracies
    made = Recording.complete(np.where(right, truth[:, None], 1 - truth[:, None]), truth, 2)
    prices = tuple(from_micro(int(price)) for price in crowd.prices)
    about = tuple({"limit": 3 * tasks // 5} for _ in prices)
    mean = float(np.mean(crowd.prices)) / MICRO
    return _recorded(replace(made, prices=prices, about=about), round(answers * tasks * mean))


@dataclass(frozen=True)
class Family:
    """Worlds of one kind, and the fixed choices that a requester might make in all of them."""

    worlds: tuple[Callable[[int, int], Setting], ...]
    choices: tuple[str, ...]


def _bind(make: Callable[..., Setting], *arguments: Any) -> Callable[[int, int], Setting]:
    return lambda seed, replication: make(*arguments, seed, replication)


FAMILIES: dict[str, Family] = {
    "utility": Family(
        (
            _bind(_freelancers, 500, None),
            _bind(_freelancers, 5000, None),
            _bind(_freelancers, 5000, 100),
            _bind(_priced_quality, 1.0),
            _bind(_priced_quality, 10.0),
        ),
        (
            "gittins-knapsack",
            "knowledge-gradient",
            "thompson-knapsack",
            "simplified-bounded-kube(raw_bonus=True)",
            "bounded-epsilon-first(epsilon=0.05)",
        ),
    ),
    "crowds with two options": Family(
        tuple(
            _bind(_two_options, chances, prices, answers)
            for chances, prices in (
                *((WORKLOADS[f"printed-{name}"], (1, 1, 1)) for name in ("easy", "medium", "hard")),
                *(MARKETS[name] for name in PRICED),
            )
            for answers in (6.0, 15.0)
        ),
        (
            "virt-ucb until posterior",
            "virt-ucb until posterior(error=0.02)",
            "virt-ucb until posterior(error=0.1)",
            "virt-ucb until composite",
            "virt-ucb until lead(lead=3)",
            "virt-ucb until lead(lead=5)",
            "virt-thompson until posterior",
            "glr-directed until posterior",
            "rand-rr until posterior",
            "rand-rr until fixed(n=9)",
        ),
    ),
    "crowds with three options": Family(
        (
            *(_bind(_confused, name, 60.0) for name in BENCHMARKS),
            *(_bind(_even_errors, name, answers) for name in EVEN for answers in (12.0, 30.0)),
        ),
        (
            "glr-directed until joint-glr(beta=2)",
            "glr-directed until joint-glr",
            "lp-thompson until gap",
            "virt-ucb until posterior",
            "virt-thompson until composite",
            "rand-rr until posterior",
            "rand-rr until joint-glr",
        ),
    ),
    "labels": Family(
        tuple(
            _bind(_labels, model, answers)
            for model in ("one-coin", "spammer-hammer", "malicious", "confused", "lazy")
            for answers in (3.0, 6.0)
        ),
        (
            "hem",
            "bbta",
            "optkg-multi",
            "random-pairs",
            "random-pairs with one-coin",
            "random-pairs with dawid-skene",
        ),
    ),
    "labels at prices": Family(
        tuple(_bind(_priced_labels, spammers, a) for spammers in (0, 10) for a in (2.0, 5.0)),
        (
            "hem",
            "optkg",
            "bbta",
            "label-bounded-epsilon-first",
            "b-kube until gap(quality=1.5,smooth=False)",
            "random-pairs",
            "random-pairs with one-coin",
        ),
    ),
}


def chosen_by_auto(problem: Problem) -> Contender:
    """What a campaign on this problem gets that names no policy."""
    mechanism = mechanisms.make("pay-price")
    parts = choose_parts(Situation(problem, AutoTerms(), mechanism, repeat=problem.repeat or None))
    return Contender(
        policies.make(parts.policy),
        # A rule names the answers itself.
        None
        if parts.aggregation is None or parts.stopping is not None
        else aggregation.make(parts.aggregation),
        rule=None if parts.stopping is None else stopping.make(parts.stopping),
    )


@experiments.register("auto-choice")
@dataclass(frozen=True)
class AutoChoices(Experiment):
    """How far what ``auto`` picks is from the best fixed choice of each family, in hindsight.

    Parameters
    ----------
    families : names
        Utility (003), crowds with two and three options (004), labels (002), labels at prices
        (001).
    """

    families: tuple[str, ...] = tuple(FAMILIES)

    ours: ClassVar[tuple[str, ...]] = (AUTO,)
    reps: ClassVar[int] = 40
    chunk: ClassVar[int] = 2
    title: ClassVar[str] = "What auto picks, and the best fixed choice"
    reproduces: ClassVar[str] = "beyond the papers"
    summary: ClassVar[str] = (
        "A campaign that names no policy gets one by what it is given. Is that as good as the "
        "best policy that somebody could have fixed beforehand for all worlds of a family? What a "
        "run is worth is, in utility campaigns, the utility to be expected as a share of the "
        "optimum, and elsewhere the share of right answers for the same money. All choices meet "
        "the same answers. Left out: campaigns whose truths are told or whose workers bid, where "
        "what counts is the cost of an assurance."
    )
    figures: ClassVar[tuple[Figure, ...]] = (
        Figure(
            "worth",
            "world (0: the mean of all)",
            "worth",
            "What each choice is worth in each world, and on the mean.",
            kind="bars",
        ),
    )

    def __post_init__(self) -> None:
        for name in self.families:
            if name not in FAMILIES:
                raise InvalidParameter(
                    f"families has {name!r}: {nearest(name, FAMILIES)}", field="families"
                )

    def cells(self) -> list[Cell]:
        """One cell per family: its mean is over worlds, replication by replication."""
        return [Cell(name, 0.0) for name in self.families]

    def sample(self, cell: Cell, seed: int, replication: int) -> Array:
        """What auto and each fixed choice are worth in each world."""
        family = FAMILIES[cell.panel]
        found = []
        for make in family.worlds:
            setting = make(seed, replication)
            auto = chosen_by_auto(setting.problem)
            worths: dict[str, float] = {}
            for each in (auto, *map(contender, family.choices)):
                if each.series not in worths:
                    worths[each.series] = _run(each, setting, seed, replication)
                found.append(worths[each.series])
        return np.array(found)

    def rows(self, cell: Cell, samples: Array, seed: int) -> list[Row]:
        """Worth by world and on the mean; how far auto is behind the best, in pairs."""
        family = FAMILIES[cell.panel]
        labels = [AUTO, *(contender(label).series for label in family.choices)]
        values = samples.reshape(len(samples), len(family.worlds), len(labels))
        place: dict[str, Any] = {"panel": cell.panel, "metric": "worth"}
        found = []
        for at, series in enumerate(labels):
            found.append(mean_row(values[:, :, at].mean(axis=1), series=series, x=0.0, **place))
            for world in range(len(family.worlds)):
                found.append(mean_row(values[:, world, at], series=series, x=world + 1.0, **place))
        means = values.mean(axis=1)
        best = 1 + int(np.argmax(means[:, 1:].mean(axis=0)))
        behind = means[:, best] - means[:, 0]
        found.append(
            mean_row(behind, panel=cell.panel, series=labels[best], x=0.0, metric="behind")
        )
        return found

    def differences(self, rows: Sequence[Row]) -> list[str]:
        """Of each family the best fixed choice, and whether auto is as good."""
        found = []
        for row in rows:
            if row.metric != "behind":
                continue
            verdict = "as good" if row.mean <= NEAR else "behind"
            found.append(
                f"{row.panel}: the best fixed choice is {row.series}; auto is {verdict}: less by "
                f"{row.mean:.3f} [{row.ci_low:.3f}, {row.ci_high:.3f}] on the mean of the worlds "
                f"({row.n} replications; {NEAR:g} counts as equal){_worst(rows, row.panel)}."
            )
        found.append(
            "The best is found on the same runs that it is judged by, so it is a little lucky. "
            "Rules have their defaults: an error of 5% for posterior and joint-glr, as auto sets."
        )
        return found


def _worst(rows: Sequence[Row], panel: str) -> str:
    """Say in which world auto is furthest behind the choice that is best there."""
    here = [row for row in rows if (row.panel, row.metric) == (panel, "worth") and row.x > 0]
    by_world: dict[float, dict[str, float]] = {}
    for row in here:
        by_world.setdefault(row.x, {})[row.series] = row.mean
    behind = {
        x: max(worth.values()) - worth[AUTO] for x, worth in by_world.items() if AUTO in worth
    }
    if not behind or max(behind.values()) <= NEAR:
        return ""
    world = max(behind, key=lambda x: behind[x])
    best = max(by_world[world], key=lambda series: by_world[world][series])
    return (
        f"; by world it is furthest behind in number {world:g}, where {best} has "
        f"{behind[world]:.3f} more"
    )


def _run(each: Contender, setting: Setting, seed: int, replication: int) -> float:
    problem = setting.problem
    outcome = simulate(
        each.policy, problem, setting.world, rule=each.rule, seed=seed, replication=replication
    )
    answers = np.zeros(0)
    if problem.options:
        answers = final_answers(each, problem, outcome, seed, replication)
    return setting.worth(outcome, answers)
