"""Opening a store by its url."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from askwise.core.errors import Conflict, StoreError, UnknownName
from askwise.store import MemoryStore, SqliteStore, open_store


def test_memory_is_a_fresh_store_every_time() -> None:
    first, second = open_store("memory"), open_store("memory")
    first.create("cats", "{}", 0.0)
    assert isinstance(first, MemoryStore)
    assert second.names() == []


def test_a_store_passes_through() -> None:
    store = MemoryStore()
    assert open_store(store) is store


def test_three_slashes_are_relative_to_the_directory_of_the_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    store = open_store("sqlite:///cats.sqlite")
    monkeypatch.chdir(tmp_path / "elsewhere")
    store.create("cats", "{}", 0.0)
    store.close()
    assert (tmp_path / "cats.sqlite").exists()


def test_four_slashes_are_absolute(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path}/cats.sqlite")
    assert isinstance(store, SqliteStore)
    store.create("cats", "{}", 0.0)
    store.close()
    assert (tmp_path / "cats.sqlite").exists()


@pytest.mark.parametrize("name", ["a b?c#d%41.sqlite", "ä猫.sqlite", ":memory:x"])
def test_a_file_may_have_any_name(name: str, tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path}/{name}")
    store.create("cats", "{}", 0.0)
    store.close()
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("url", ["", "cats.sqlite", "mysql://localhost/cats", Path("x"), None])
def test_an_unknown_scheme_is_answered_with_those_that_are_known(url: object) -> None:
    with pytest.raises(StoreError, match=r"'memory', 'sqlite:///FILE'.*'postgresql://") as caught:
        open_store(url)  # type: ignore[arg-type]
    assert caught.value.field == "store"


@pytest.mark.parametrize(
    ("url", "form"),
    [
        ("memory:", "give 'memory'"),
        ("sqlite://cats.sqlite", "give 'sqlite:///FILE'"),
        ("sqlite:///", "give 'sqlite:///FILE'"),
        ("sqlite:///:memory:", "give 'sqlite:///FILE'"),
    ],
)
def test_a_url_that_its_scheme_can_not_read_is_answered_with_its_form(url: str, form: str) -> None:
    with pytest.raises(StoreError, match=form) as caught:
        open_store(url)
    assert caught.value.field == "store"


def test_postgresql_without_its_extra_is_said_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    for loaded in [name for name in sys.modules if name.startswith("askwise.store.postgres.")]:
        monkeypatch.delitem(sys.modules, loaded)
    with pytest.raises(StoreError, match=r"pip install 'askwise\[postgres\]'") as caught:
        open_store("postgresql://ann:secret@localhost/cats")
    assert "secret" not in str(caught.value)


def test_psycopg_is_imported_only_for_its_urls() -> None:
    script = (
        "import sys; from askwise.store import open_store; open_store('memory'); "
        "sys.exit('psycopg' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


@pytest.mark.parametrize(
    "url",
    [
        "postgresq://ann:secret@localhost/cats",
        "mysql://ann:sec@secret/ret@localhost/cats",
        "sqlite://ann:secret@localhost",
    ],
)
def test_a_password_in_a_mistyped_url_is_not_repeated(url: str) -> None:
    with pytest.raises(StoreError, match=r"//ann:\*\*\*@localhost") as caught:
        open_store(url)
    assert "sec" not in str(caught.value)


def test_looking_into_a_file_that_is_not_there_does_not_create_it(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path}/typo.sqlite")
    assert store.names() == []
    with pytest.raises(UnknownName, match=r"typo\.sqlite"):
        store.read("cats")
    with pytest.raises(UnknownName), store.write("cats"):
        pass
    store.close()
    assert list(tmp_path.iterdir()) == []


def test_a_missing_directory_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=f"no directory {tmp_path}/missing"):
        open_store(f"sqlite:///{tmp_path}/missing/cats.sqlite")


def test_a_directory_is_not_a_store(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is a directory"):
        open_store(f"sqlite:///{tmp_path}")


def test_the_conflict_of_a_taken_name_says_what_to_do() -> None:
    store = open_store("memory")
    store.create("cats", "{}", 0.0)
    with pytest.raises(Conflict, match="'cats' exists already: choose another name, or open"):
        store.create("cats", "{}", 0.0)
