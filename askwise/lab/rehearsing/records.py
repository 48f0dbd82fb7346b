"""Worlds from a table of recorded answers."""

from collections.abc import Mapping, Sequence

import numpy as np

from askwise.aggregation import code_answers
from askwise.core.arrays import Array
from askwise.core.compiling import allowed
from askwise.core.errors import InvalidProblem
from askwise.core.problem import Worker
from askwise.data.labels import LabelTable
from askwise.lab.aggregating.labels import make_method
from askwise.lab.rehearsing.worlds import RecordedWorlds
from askwise.lab.replaying.replay import recording_of
from askwise.lab.worlds import Recording

LEAST_RECORDED = 10
"""Fewer recorded tasks are no record to plan by."""


def recorded_worlds(
    table: LabelTable,
    tasks: int,
    *,
    gold: Mapping[str, str] | None = None,
    workers: Sequence[Worker] | None = None,
) -> RecordedWorlds:
    """Worlds of tasks like those of a table, and of the workers who answered them.

    Parameters
    ----------
    table : LabelTable
        Who answered what.
    tasks : int
        Of the campaign to plan.
    gold : mapping of task to label, optional
        What is right. The truth of other tasks is as probable as ``hem`` makes it.
    workers : sequence of Worker, optional
        Those of the table with their prices, and what else is known of them; 1 each if not given.
    """
    if len(table.task_names) < LEAST_RECORDED:
        raise InvalidProblem(
            f"{table.source} has {len(table.task_names)} tasks: give answers to at least "
            f"{LEAST_RECORDED}",
            field="answers",
        )
    recording = recording_of(table, gold or {}, workers=workers, needs_gold=gold is not None)
    by_name = {} if workers is None else {each.id: each for each in workers}
    staff = tuple(by_name.get(name, Worker(name, 1)) for name in table.worker_names)
    unknown = bool((recording.truth < 0).any())
    return RecordedWorlds(recording, staff, tasks, believed(recording) if unknown else None)


def believed(recording: Recording) -> Array:
    """How probable each option of each task is, by all answers and the truths that are known."""
    truths = recording.truth if (recording.truth >= 0).any() else None
    coded = code_answers(
        *(recording.task, recording.worker, recording.label),
        truths=truths,
        classes=recording.options,
    )
    method = make_method("hem")
    with allowed(method.name):
        fitted = method.report(coded)
    return np.asarray(fitted.probabilities, np.float64)
