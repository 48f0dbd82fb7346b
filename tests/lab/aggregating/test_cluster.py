"""Aggregation on a Dask cluster."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from askwise.aggregation import aggregation
from askwise.aggregation.base import Partitioned
from askwise.core.errors import InvalidParameter
from askwise.lab.aggregating import cluster
from askwise.lab.aggregating.labels import partitioned_methods
from tests.aggregation.test_parts import answers_of
from tests.cli.helpers import in_this_process


@pytest.fixture(scope="module")
def distributed() -> Any:
    """Imported when it is used: it takes seconds, in every process of a run."""
    return pytest.importorskip("distributed")


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "LEAST", 7)
    monkeypatch.setattr(cluster, "TOGETHER", 2)


@pytest.fixture(scope="module")
def two_workers(distributed: Any) -> Iterator[str]:
    """A cluster of two processes beside this one; gives its address."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None
    ) as started:
        yield started.scheduler_address


def same(found: Any, whole: Any) -> None:
    assert found.iterations == whole.iterations
    np.testing.assert_allclose(found.probabilities, whole.probabilities, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.quality, whole.quality, rtol=0, atol=1e-9)


def test_a_cluster_finds_what_one_process_finds(distributed: Any) -> None:
    answers, method = answers_of(1), aggregation.make("one-coin")
    assert isinstance(method, Partitioned)
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=2, processes=False, dashboard_address=None
        ) as threads,
        cluster.on_dask(threads.scheduler_address) as split,
    ):
        same(method.report_in(answers, split), method.report(answers))


@pytest.mark.slow
@pytest.mark.parametrize("name", partitioned_methods())
def test_two_processes_find_what_one_finds(name: str, two_workers: str) -> None:
    method = aggregation.make(name)
    assert isinstance(method, Partitioned)
    with cluster.on_dask(two_workers) as split:
        for answers in (answers_of(1), answers_of(2, contexts=np.arange(40) % 3)):
            same(method.report_in(answers, split), method.report(answers))


@pytest.mark.slow
def test_the_command_uses_a_running_cluster_and_leaves_it_running(
    distributed: Any, two_workers: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [f"t{at % 50},w{at % 7},{'ab'[at * at % 3 % 2]}" for at in range(200)]
    Path("labels.csv").write_text("task,worker,label\n" + "\n".join(rows) + "\n")
    found = []
    for words in ((), ("--backend", "dask", "--scheduler", two_workers)):
        ran = in_this_process("aggregate", "labels.csv", "--json", "--out", "a.csv", *words)
        assert ran.exit_code == 0, ran.output
        found.append((json.loads(ran.stdout), Path("a.csv").read_text()))
    assert found[0][0]["agreement"] == found[1][0]["agreement"]
    assert found[0][1] == found[1][1]
    with distributed.Client(two_workers, set_as_default=False) as client:
        assert len(client.scheduler_info()["workers"]) == 2


@pytest.mark.slow
def test_a_cluster_without_workers_is_refused(distributed: Any) -> None:
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=None) as idle,
        pytest.raises(InvalidParameter, match="has no workers"),
        cluster.on_dask(idle.scheduler_address),
    ):
        pass


@pytest.mark.usefixtures("distributed")
def test_an_unreachable_scheduler_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "CONNECT", 0.3)
    for address in ("tcp://127.0.0.1:9", "no such:place"):
        with (
            pytest.raises(InvalidParameter, match="where no Dask scheduler answers") as caught,
            cluster.on_dask(address),
        ):
            pass
        assert caught.value.field == "scheduler"
        assert "\n" not in str(caught.value)


def test_without_the_extra_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(InvalidParameter, match=r"pip install 'askwise\[dask\]'") as caught,
        cluster.on_dask(),
    ):
        pass
    assert caught.value.field == "backend"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--backend", "dask", "--method", "glad"), "'glad' does not run on a cluster: give one"),
        (("--backend", "dask", "--method", "all"), "'all' does not run on a cluster"),
        (("--scheduler", "tcp://127.0.0.1:9"), "scheduler needs --backend dask"),
        (("--backend", "abacus"), "'abacus' is not one of 'local', 'dask'"),
    ],
)
def test_the_command_refuses_what_no_cluster_can_do(words: tuple[str, ...], said: str) -> None:
    ran = in_this_process("aggregate", "nowhere.csv", *words)
    assert ran.exit_code == 2
    assert said in ran.output
