"""Evidence counted once: what the answers of a family or of one voice count, and voices of tasks.

*Families*: the m answers of a family to a task count m / (1 + (m - 1) .4) times their mean; prompts
of one model have errors that correlate by .4.
"""

from askwise.core.arrays import Array
from askwise.core.compiling import kernel, step

WITHIN_FAMILY = 0.4
"""The correlation of errors in a family, before truths say more: prompts of one model have .42."""

OF_PERSONS, OF_MODELS = 1.0, 2.0
"""How dependent voices are on each other."""

UNSAID = -1.0
"""Stands for the dependence of workers whose kind nobody says."""


@step
def family_share(answers: float) -> float:
    """What each of this many answers of a family to one task counts."""
    return 1.0 / (1.0 + (answers - 1.0) * WITHIN_FAMILY) if answers > 1.0 else 1.0


@kernel
def count_evidence(
    starts: Array, workers: Array, once: Array, families: Array, seen: Array, weights: Array
) -> None:
    """Write what each answer counts, from 0 to 1, among the answers to its task.

    Answers are sorted by task, then worker. Who is asked once (a person, a model) has one answer:
    if there are more, they share its weight. ``families`` has a number for each worker, -1 without
    one; ``seen`` is room for a number for each family.
    """
    for task in range(len(starts) - 1):
        first, last = starts[task], starts[task + 1]
        at = first
        while at < last:
            worker, end = workers[at], at + 1
            while end < last and workers[end] == worker:
                end += 1
            share = 1.0 / (end - at) if once[worker] else 1.0
            for each in range(at, end):
                weights[each] = share
            at = end
        for at in range(first, last):
            if families[workers[at]] >= 0:
                seen[families[workers[at]]] = 0.0
        for at in range(first, last):
            if families[workers[at]] >= 0:
                seen[families[workers[at]]] += weights[at]
        for at in range(first, last):
            if families[workers[at]] >= 0:
                weights[at] *= family_share(seen[families[workers[at]]])


@kernel
def count_voices(
    starts: Array,
    workers: Array,
    once: Array,
    families: Array,
    dependence: Array,
    in_all: int,
    seen: Array,
    voices: Array,
    dependences: Array,
) -> None:
    """Write how many voices each task has, and how dependent they are on each other.

    ``dependence`` has a number for each worker, ``UNSAID`` where nobody says what they are. A
    worker whose kind is not said is one voice for each answer, and ``in_all`` is how many voices
    there are.
    """
    for task in range(len(starts) - 1):
        first, last = starts[task], starts[task + 1]
        for at in range(first, last):
            if families[workers[at]] >= 0:
                seen[families[workers[at]]] = 0.0
        count, distinct = 0.0, 0
        for at in range(first, last):
            worker, family = workers[at], families[workers[at]]
            again = at > first and workers[at - 1] == worker
            distinct += seen[family] == 0.0 if family >= 0 else not again
            if again and once[worker]:
                continue
            if family < 0:
                count += 1.0
                continue
            # One more of a family adds what the others leave of it.
            said = seen[family]
            count += (said + 1.0) * family_share(said + 1.0)
            count -= said * family_share(said)
            seen[family] += 1.0
        unsaid = 1.0 + min(1.0, distinct / max(1, in_all))
        total = 0.0
        for at in range(first, last):
            own = dependence[workers[at]]
            total += unsaid if own < 0.0 else own
        voices[task] = count
        dependences[task] = total / max(1, last - first)
