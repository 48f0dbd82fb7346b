"""Our stores keep the contract that plug-ins are checked against."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from askwise.store import MemoryStore, SqliteStore, Store, Transaction
from askwise.testing import stores

MAKERS: dict[str, Callable[[Path], Store]] = {
    "memory": lambda directory: MemoryStore(),
    "sqlite": lambda directory: SqliteStore(directory / "campaigns.sqlite"),
}


@pytest.mark.parametrize("check", stores.CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("kind", MAKERS)
def test_a_store_keeps_the_contract(kind: str, check: stores.Check, tmp_path: Path) -> None:
    check(lambda: MAKERS[kind](tmp_path))


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
        stores.an_exception_rolls_back_wholly(Sloppy)
