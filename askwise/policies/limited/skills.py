"""Several skills a worker, of which tasks need different shares: 001, section 7.

A worker is right on a task with probability q_0 + sum over skills s of w_s d_s: their overall
accuracy, and how far they are from it in each skill, by the shares w in which the task needs them.
The d_s are believed to be near 0 as if ``pooling`` answers had said so, so that a skill that was
seldom needed is judged by what the worker showed elsewhere. Estimates are those of least squares
with that prior. What is known for a kind of task is written as a record like any other: as many
answers as would leave the estimate as uncertain as it is, and how many of these agreed.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from askwise.core.checks import real
from askwise.core.errors import InvalidParameter
from askwise.kernels import Array, kernel
from askwise.policies.limited.common import AGREED, COUNT, WORTH, value_of

Skills = Mapping[str, Mapping[str, float]]
"""For each context, the weights of the skills that its tasks need."""

MOST_SKILLS = 20
"""Skills of all contexts together: an answer costs their third power."""

POOLING = 9.0
"""Variance of an answer over that of a skill: 3/16 at an accuracy of 3/4, and 1/48 where accuracies
are anything from chance to one."""


def read_skills(given: object) -> Skills:
    """Read the skills that the tasks of each context need: names, or names with weights."""
    if not isinstance(given, Mapping) or not given:
        raise InvalidParameter(
            f"skills is {given!r}: give a mapping of context to skills, such as "
            '{"letters": ["french", "law"]}',
            field="skills",
        )
    found: dict[str, dict[str, float]] = {}
    for context, needed in given.items():
        if isinstance(needed, str):
            needed = [needed]
        if not isinstance(needed, Mapping):
            listed = isinstance(needed, Sequence) and not isinstance(needed, bytes)
            needed = dict.fromkeys(needed, 1.0) if listed else {}
        named = all(isinstance(name, str) and name for name in (context, *needed))
        if not named or not needed:
            raise InvalidParameter(
                f"skills[{context!r}] is {given[context]!r}: give the names of the skills that "
                "tasks of this context need, or a weight for each",
                field="skills",
            )
        found[context] = {
            name: real(weight, "skills", "weights from 0.001 to 1000", least=1e-3, most=1e3)
            for name, weight in needed.items()
        }
    count = len(skill_names(found))
    if count > MOST_SKILLS:
        raise InvalidParameter(
            f"skills names {count} skills: give {MOST_SKILLS} at most", field="skills"
        )
    return found


def skill_names(skills: Skills) -> list[str]:
    """All skills, sorted."""
    return sorted({name for needed in skills.values() for name in needed})


def fill_needs(skills: Skills, contexts: Mapping[str | None, int], needs: Array) -> None:
    """Write a row for each context: 1 for the overall accuracy, then its shares of the skills.

    Tasks of a context without skills need the overall accuracy alone.
    """
    place = {name: 1 + at for at, name in enumerate(skill_names(skills))}
    for context, row in contexts.items():
        needs[row, 0] = 1.0
        needed: Mapping[str, float] = {} if context is None else skills.get(context, {})
        total = sum(needed.values())
        for name, weight in needed.items():
            needs[row, place[name]] = weight / total


@kernel
def factor(moments: Array, pooling: float) -> Array:
    """Cholesky's lower factor of the moments with the prior added."""
    size = moments.shape[0]
    lower = np.zeros((size, size))
    for i in range(size):
        for j in range(i + 1):
            rest = moments[i, j]
            if i == j and i > 0:
                rest += pooling
            for m in range(j):
                rest -= lower[i, m] * lower[j, m]
            lower[i, j] = math.sqrt(rest) if i == j else rest / lower[j, j]
    return lower


@kernel
def forward(lower: Array, right: Array) -> Array:
    """Solve lower z = right."""
    z = np.empty(right.shape[0])
    for i in range(right.shape[0]):
        rest = right[i]
        for j in range(i):
            rest -= lower[i, j] * z[j]
        z[i] = rest / lower[i, i]
    return z


@kernel
def rate(
    beliefs: Array, given: Array, moments: Array, sums: Array, needs: Array,
    worker: int, contexts: int, pooling: float, inference: int, options: int,
) -> None:  # fmt: skip
    """Write what is known of a worker who has answered into their record for each context."""
    lower = factor(moments[worker], pooling)
    shown = forward(lower, sums[worker])
    for context in range(contexts):
        z = forward(lower, needs[context])
        variance = 0.0
        estimate = 0.0
        for i in range(z.shape[0]):
            variance += z[i] * z[i]
            estimate += z[i] * shown[i]
        record = beliefs[context]
        record[worker, COUNT] = 1.0 / variance
        record[worker, AGREED] = min(max(estimate, 0.0), 1.0) / variance
        value = max(0.0, value_of(record, given, worker, inference, options))
        record[worker, WORTH] = value / variance


@kernel
def add_answer(
    moments: Array, sums: Array, needs: Array, worker: int, context: int, right: bool
) -> None:
    """Count an answer to a task of a context."""
    needed = needs[context]
    for i in range(needed.shape[0]):
        if right:
            sums[worker, i] += needed[i]
        for j in range(needed.shape[0]):
            moments[worker, i, j] += needed[i] * needed[j]
