"""Settings and databases that every test shares."""

from __future__ import annotations

import gc
import os

# Before anything of ours is imported. Kernels give the same compiled or not, and most tests are
# over before they would be compiled; those that are about compiling are marked.
os.environ.setdefault("ASKWISE_JIT", "0")

# Nor does NumPy get threads of its own: the arrays here are tiny, and several processes whose
# threads wait for each other take up to forty times as long for them.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import random
import secrets
import signal
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from _pytest.doctest import DoctestModule
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

from askwise.core.compiling import PLAIN, in_bulk
from askwise.figures import named, plots
from tests.paths import ROOT
from tests.servers import NoServer, new_database, shared_server

# Started in the background, as by nohup, a process and all that it starts ignore Ctrl-C; tests send
# it to processes of theirs.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The first call of a kernel compiles it, so neither a deadline nor a pace means anything.
_COMMON = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

settings.register_profile("ci", parent=_COMMON, derandomize=True, max_examples=30)
settings.register_profile("slow", parent=_COMMON, derandomize=True, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

# Hypothesis mixes the constants of all modules that happen to be imported into its examples,
# even if those are not to be random: what a test tries would depend on the tests before it.
assert callable(providers._get_local_constants)
providers._get_local_constants = lambda: providers.Constants()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """With ``SHUFFLE=7`` in the environment, run files and the tests in them in another order.

    Before pytest brings together what shares a costly fixture: it does so in the new order.
    Where groups of tests are kept together (``--dist loadgroup``), a file is one by default.
    """
    leave_cases_to_the_slow_suite(items)
    for item in items:
        grouped = item.config.getoption("loadgroup", False)
        if grouped and item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))
    if seed := os.environ.get("SHUFFLE"):
        by_file: dict[str, list[pytest.Item]] = {}
        for item in items:
            by_file.setdefault(item.nodeid.partition("::")[0], []).append(item)
        order = random.Random(seed)
        files = order.sample(list(by_file.values()), len(by_file))
        items[:] = [item for tests in files for item in order.sample(tests, len(tests))]


def leave_cases_to_the_slow_suite(items: list[pytest.Item]) -> None:
    """Mark as slow what comes after the first cases of a test that is marked ``sampled``."""
    seen: Counter[str] = Counter()
    for item in items:
        if (sampled := item.get_closest_marker("sampled")) is not None:
            test = item.nodeid.partition("[")[0]
            seen[test] += 1
            if seen[test] > sampled.args[0]:
                item.add_marker(pytest.mark.slow)


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Look for examples in the package only: the files of tests, and what they share, have none."""
    return [each for each in (yield) if not isinstance(each, DoctestModule)]


class ModulesWithExamples:
    """Leaves out the modules of the package that have no example: most have none.

    Not a hook of this file, which is about its own directory only.
    """

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Read a module before it is imported and searched."""
        ours = collection_path.suffix == ".py" and ROOT / "askwise" in collection_path.parents
        return True if ours and ">>>" not in collection_path.read_text() else None


def pytest_configure(config: pytest.Config) -> None:
    """Look for examples where there are any."""
    config.pluginmanager.register(ModulesWithExamples())


def pytest_collection_finish() -> None:
    """Keep the collector of garbage from going through all modules and tests again and again."""
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Draw the same seeds each time; refuse to show something of the compiler without it."""
    # Campaigns that are given no seed draw one: by the file, as fixtures of a module do it in
    # whichever of its tests comes first.
    secrets.randbits = random.Random(item.nodeid.partition("::")[0]).getrandbits
    if PLAIN and item.get_closest_marker("compiled"):
        pytest.fail("marked compiled, and the compiler is off: ASKWISE_JIT= pytest -m compiled")


@pytest.fixture(autouse=True)
def loops_compiled_at_once(request: pytest.FixtureRequest) -> Iterator[None]:
    """What is about compiling is not to run in plain Python because it is short."""
    if request.node.get_closest_marker("compiled") or request.node.get_closest_marker("checked"):
        with in_bulk():
            yield
    else:
        yield


@pytest.fixture(params=["sketched", pytest.param("drawn", marks=pytest.mark.slow)])
def pictures(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests that write figures and are about something else: those take most of their time.

    A sketch is made of the same lines and labels; they are neither laid out nor written. The slow
    suite draws all of them.
    """
    if request.param == "sketched":
        for module in (plots, named):
            monkeypatch.setattr(module, "lay_out", lambda figure: figure)
        monkeypatch.setattr(plots, "render", lambda *how: b"")
        monkeypatch.setattr(plots, "render_svg", lambda figure: b"<svg></svg>")


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The url of a PostgreSQL server; without one, the test is skipped."""
    directory = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        directory = directory.parent
    try:
        with shared_server(directory) as url:
            yield url
    except NoServer as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="session")
def postgres_database(postgres_server: str) -> Iterator[str]:
    """The url of a database that this process has for itself."""
    with new_database(postgres_server) as url:
        yield url


@pytest.fixture
def postgres_url(postgres_database: str) -> str:
    """The url of an empty database."""
    with closing(psycopg.connect(postgres_database, autocommit=True)) as raw:
        raw.execute("SET client_min_messages = warning")
        raw.execute("DROP SCHEMA IF EXISTS askwise CASCADE")
    return postgres_database


@pytest.fixture
def postgres_raw(postgres_url: str) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    """That database through psycopg alone."""
    with closing(psycopg.connect(postgres_url, autocommit=True)) as raw:
        yield raw
