"""Tasks in parts on a Dask cluster: each worker of it goes over its parts, sums come back."""

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from askwise.aggregation import Answers
from askwise.aggregation.parts import Parts, Pass, Split, Tally, TaskPart, added, part_of
from askwise.core.arrays import Array
from askwise.core.compiling import allowed
from askwise.core.errors import InvalidParameter
from askwise.kernels.grouping import group_ranges

PARTS_A_THREAD = 2
"""So that a thread that is done early has more to do."""

LEAST = 50_000
"""The fewest answers of a part: a smaller one takes longer to send for than to go over."""

TOGETHER = 8
"""Tallies that are added up in one step: then no process holds more of them."""

CONNECT = 10
"""Seconds after which a scheduler that does not answer counts as unreachable."""


class ClusterParts(Parts):
    """Tasks in parts that the workers of a Dask cluster keep.

    A pass reads a part, its table and what is shared, and makes a new table. So whatever a worker
    of the cluster loses can be computed again from the parts.
    """

    def __init__(self, client: Any, answers: Answers, codes: Array, size: int) -> None:
        self._client = client
        made = [part_of(answers, codes, *ends) for ends in group_ranges(answers.starts, size)]
        # They go to all workers in turn. Hashing their content would take longer than sending it.
        self._parts = client.scatter(made, hash=False)
        self._tables = [client.submit(_empty, part, pure=False) for part in self._parts]

    def run(self, function: Pass, *shared: Any) -> Tally:
        """Go over all parts on the cluster, and add up there, in the order of the parts."""
        client = self._client
        given = client.scatter(_Shared(shared), broadcast=True, hash=False)
        done = [
            client.submit(_go_over, part, table, function, given, pure=False)
            for part, table in zip(self._parts, self._tables, strict=True)
        ]
        tallies = [client.submit(_tally_of, each, pure=False) for each in done]
        while len(tallies) > 1:
            groups = [tallies[at : at + TOGETHER] for at in range(0, len(tallies), TOGETHER)]
            tallies = [client.submit(added, group, pure=False) for group in groups]
        found: Tally = tallies[0].result()
        self._tables = [client.submit(_table_of, each, pure=False) for each in done]
        return found

    def table(self) -> Array:
        """Fetch all tables."""
        return np.concatenate(self._client.gather(self._tables))


class _Shared:
    """What all parts are given, in one object: a tuple would be scattered piece by piece."""

    def __init__(self, values: tuple[Any, ...]) -> None:
        self.values = values


def _empty(part: TaskPart) -> Array:
    return np.zeros((part.answers.tasks, part.answers.classes))


def _go_over(part: TaskPart, table: Array, function: Pass, shared: _Shared) -> tuple[Array, Tally]:
    made = table.copy()
    with allowed(function.__module__):
        return made, function(part, made, *shared.values)


def _table_of(done: tuple[Array, Tally]) -> Array:
    return done[0]


def _tally_of(done: tuple[Array, Tally]) -> Tally:
    return done[1]


@contextlib.contextmanager
def on_dask(scheduler: str | None = None, jobs: int = 1) -> Iterator[Split]:
    """Divide answers among the workers of a Dask cluster; what is started here is stopped again.

    Parameters
    ----------
    scheduler : str, optional
        Address of the cluster's scheduler, ``tcp://10.0.0.5:8786`` say; without it a cluster is
        started on this machine.
    jobs : int
        Processes of the cluster that is started.

    Raises
    ------
    InvalidParameter
        Dask is not installed, nothing answers at the address, or the cluster has no workers or
        lacks askwise.
    """
    try:
        from distributed import Client, LocalCluster
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in ("dask", "distributed"):
            raise
        raise InvalidParameter(
            f"backend dask needs {error.name}: pip install 'askwise[dask]'", field="backend"
        ) from None
    with contextlib.ExitStack() as stack:
        local = {"n_workers": jobs, "threads_per_worker": 1, "dashboard_address": None}
        where = scheduler or stack.enter_context(LocalCluster(**local))
        try:
            client = stack.enter_context(Client(where, timeout=CONNECT, set_as_default=False))
        except (OSError, ValueError) as error:
            told = " ".join(f"{error}".split()) or type(error).__name__
            raise InvalidParameter(
                f"scheduler is {scheduler!r}, where no Dask scheduler answers ({told}): give the "
                "address that dask scheduler prints, or leave it out to use this machine",
                field="scheduler",
            ) from None
        threads = sum(client.nthreads().values())
        if threads == 0:
            raise InvalidParameter(
                f"scheduler {scheduler!r} has no workers: start some with dask worker {scheduler}",
                field="scheduler",
            )
        _check_versions(client)

        def split(answers: Answers, codes: Array) -> Parts:
            size = max(LEAST, -(-len(answers.labels) // (threads * PARTS_A_THREAD)))
            return ClusterParts(client, answers, codes, size)

        yield split


def _check_versions(client: Any) -> None:
    """Refuse workers without askwise, or with another version: passes are sent by name."""
    from importlib.metadata import version

    ours = version("askwise")
    try:
        theirs = client.run(version, "askwise")
    except ModuleNotFoundError:
        theirs = {"some": "none"}
    other = sorted(set(theirs.values()) - {ours})
    if other:
        raise InvalidParameter(
            f"the cluster's workers have askwise {', '.join(other)}, here it is {ours}: install "
            "the same version there",
            field="scheduler",
        )
