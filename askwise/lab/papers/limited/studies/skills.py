"""Beyond paper 001, whose section 7 leaves it to later: workers with several skills."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from askwise.core.arrays import Array
from askwise.core.errors import InvalidParameter, nearest
from askwise.core.money import MICRO, from_micro
from askwise.figures import Row
from askwise.lab.experiment import Cell, Experiment, Figure, experiments
from askwise.lab.replaying.bench import Contender, final_labels
from askwise.lab.results import mean_row, rate_row
from askwise.lab.simulate import simulate
from askwise.lab.worlds.recorded import Recording
from askwise.policies import policies
from askwise.policies.limited.skills import read_skills, skill_names
from askwise.stopping import stopping

WORKERS, TASKS = 20, 160

NEEDED = {"c0": ["french"], "c1": ["law"], "c2": ["french", "law"], "c3": ["german", "law"]}
"""The skills that each kind of task needs, in equal parts."""

WORLDS = ("specialists", "skills apart", "one skill")
"""A worker's accuracies in skills: good at one alone; each drawn by itself; all the same."""

GOOD, POOR = 0.95, 0.55
"""Accuracies of a specialist in their skill and in others."""

RECORDS: dict[str, dict[str, Any]] = {
    "one record": {},
    "a record for each kind": {"by_context": True},
    "skills": {"skills": NEEDED},
}
"""What B-KUBE keeps of a worker, and the parameters for that."""

RULE = {"name": "gap", "quality": 1.5, "smooth": False}


def draw_skills(rng: np.random.Generator, world: str, skills: int) -> Array:
    """Accuracies of each worker in each skill, from chance to one."""
    if world == "specialists":
        mine = rng.permutation(np.arange(WORKERS) % skills)
        return np.where(mine[:, None] == np.arange(skills), GOOD, POOR)
    if world == "one skill":
        return np.repeat(rng.uniform(0.5, 1.0, (WORKERS, 1)), skills, axis=1)
    return rng.uniform(0.5, 1.0, (WORKERS, skills))


def draw_market(world: str, seed: int, replication: int) -> Recording:
    """Everybody's label of every task; prices as in section 6, by the mean of a worker's skills."""
    rng = np.random.default_rng([seed, replication])
    needed = read_skills(NEEDED)
    names = skill_names(needed)
    accuracies = draw_skills(rng, world, len(names))
    weights = np.array([[kind.get(name, 0.0) for name in names] for kind in needed.values()])
    weights /= weights.sum(axis=1, keepdims=True)
    kinds = rng.permutation(np.arange(TASKS) % len(NEEDED))
    truth = rng.integers(0, 2, TASKS)
    right = rng.random((TASKS, WORKERS)) < weights[kinds] @ accuracies.T
    made = Recording.complete(np.where(right, truth[:, None], 1 - truth[:, None]), truth, 2, kinds)
    prices = 2.0 * accuracies.mean(axis=1) - 1.0 + rng.uniform(0.0, 1.0, WORKERS)
    return replace(made, prices=tuple(from_micro(max(1, round(p * MICRO))) for p in prices))


@experiments.register("limited-skills")
@dataclass(frozen=True)
class LimitedSkills(Experiment):
    """How much B-KUBE gains by skills where workers have several, and loses where they have one.

    Parameters
    ----------
    worlds : names
        ``skills apart``, ``skills related`` and ``one skill``.
    answers : numbers
        Money per task, in answers at the mean price.
    inference, bonus
        Of ``b-kube``.
    """

    worlds: tuple[str, ...] = WORLDS
    answers: tuple[float, ...] = (3.0, 6.0, 12.0)
    inference: str = "majority"
    bonus: float = 0.25

    ours: ClassVar[tuple[str, ...]] = ("skills",)
    reps: ClassVar[int] = 400
    chunk: ClassVar[int] = 20
    title: ClassVar[str] = "Workers with several skills (beyond 001, section 7)"
    reproduces: ClassVar[str] = "beyond 001, section 7"
    summary: ClassVar[str] = (
        "The paper's outlook: a task needs several skills, and a worker's value is a vector over "
        "them. Tasks of four kinds, 160 in all, need french, law, both, or german and law. Twenty "
        "workers have an accuracy in each skill: .95 in one and .55 in the others, drawn for each "
        "from .5 to 1, or the same in all. B-KUBE keeps of a worker one record, one for each kind "
        "of task, or estimates by skill that are pooled towards the overall accuracy. All meet "
        "the same answers, and judge them by the vote."
    )
    figures: ClassVar[tuple[Figure, ...]] = (
        Figure(
            "right",
            "money per task, in answers",
            "share of right labels",
            "Right labels of all tasks; one that nobody labelled is right by half.",
        ),
    )

    def __post_init__(self) -> None:
        for world in self.worlds:
            if world not in WORLDS:
                raise InvalidParameter(
                    f"worlds has {world!r}: {nearest(world, WORLDS)}", field="worlds"
                )
        if min(self.answers, default=1.0) <= 0:
            raise InvalidParameter("answers are numbers above 0", field="answers")

    def cells(self) -> list[Cell]:
        """One cell a world and amount of money."""
        return [Cell(world, answers) for world in self.worlds for answers in self.answers]

    def sample(self, cell: Cell, seed: int, replication: int) -> Array:
        """The share of right labels with each kind of record."""
        market = draw_market(cell.panel, seed, replication)
        mean_price = float(np.mean([float(price) for price in market.prices]))
        problem = market.problem(round(cell.x * TASKS * mean_price))
        found = []
        for parameters in RECORDS.values():
            policy = policies.make(
                {"name": "b-kube", "inference": self.inference, "bonus": self.bonus, **parameters}
            )
            # The rule only closes tasks: what is said of them is the policy's inference (10).
            done = simulate(
                policy, problem, market.answering(),
                rule=stopping.make(RULE), seed=seed, replication=replication,
            )  # fmt: skip
            named = final_labels(Contender(policy), problem, done, seed, replication).named
            found.append(np.where(named < 0, 0.5, named == market.truth).mean())
        return np.array(found)

    def rows(self, cell: Cell, samples: Array, seed: int) -> list[Row]:
        """Means, and how much more skills give than either of the others, in pairs."""
        place: dict[str, Any] = {"panel": cell.panel, "x": cell.x}
        found = []
        for at, series in enumerate(RECORDS):
            found.append(rate_row(samples[:, at], series=series, metric="right", **place))
            if series != "skills":
                gained = samples[:, -1] - samples[:, at]
                found.append(mean_row(gained, series=series, metric="gained", **place))
        return found

    def differences(self, rows: Sequence[Row]) -> list[str]:
        """What skills gain over each of the others, by world."""
        found = []
        for world in self.worlds:
            said = [
                f"{row.mean:+.3f} [{row.ci_low:+.3f}, {row.ci_high:+.3f}] over {row.series} at "
                f"{row.x:g} answers"
                for row in rows
                if (row.panel, row.metric) == (world, "gained")
            ]
            if said:
                found.append(f"{world}: skills give {'; '.join(said)}.")
        return found
