"""Our stores keep the contract that plug-ins are checked against; so does a small plug-in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from askwise.store import MemoryStore, SqliteStore, Store, Transaction
from askwise.store.postgres.store import PostgresStore
from askwise.testing import stores
from askwise.testing.stores import transactions
from tests.store.json_store import JsonStore


def maker(kind: str, request: pytest.FixtureRequest) -> Callable[[], Store]:
    if kind == "memory":
        return MemoryStore
    if kind == "sqlite":
        directory: Path = request.getfixturevalue("tmp_path")
        return lambda: SqliteStore(directory / "campaigns.sqlite")
    if kind == "json":
        file = request.getfixturevalue("tmp_path") / "campaigns.json"
        return lambda: JsonStore(f"json://{file}")
    url: str = request.getfixturevalue("postgres_url")
    return lambda: PostgresStore(url)


@pytest.mark.parametrize("check", stores.CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("kind", ["memory", "sqlite", "postgres", "json"])
def test_a_store_keeps_the_contract(
    kind: str, check: stores.Check, request: pytest.FixtureRequest
) -> None:
    check(maker(kind, request))


def test_the_checks_notice_a_store_that_forgets_to_roll_back() -> None:
    class Sloppy(MemoryStore):
        @contextmanager
        def write(self, name: str) -> Iterator[Transaction]:
            failure: BaseException | None = None
            with super().write(name) as transaction:
                try:
                    yield transaction
                except BaseException as error:
                    failure = error
            if failure is not None:
                raise failure

    with pytest.raises(AssertionError, match="the log"):
        transactions.an_exception_rolls_back_wholly(Sloppy)
