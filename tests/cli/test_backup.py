"""askwise backup and restore: a file out of a store and back, or nothing at all."""

from __future__ import annotations

import errno
import json
import os
import stat
import subprocess
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from askwise.cli import backup
from askwise.core.events import Kind
from askwise.store import Change, Record, Store, open_store
from tests.cli import helpers
from tests.cli.conftest import Call

COPY = "sqlite:///copy.sqlite"


@pytest.fixture
def worked(cats: str, call: Call) -> str:
    """A campaign with answers and keys, and a record beside it."""
    asked = call("ask", cats, "--key", "first").stdout.split()[0]
    call("tell", asked, "cat", "--key", "second")
    with closing(open_store("sqlite:///askwise.sqlite")) as store:
        store.change([Change("key", "a", None, "{}")])
    return cats


def events(store: str, name: str) -> list[Any]:
    with closing(open_store(store)) as opened:
        return opened.read(name)


def test_a_store_goes_into_a_file_and_back(
    worked: str, call: Call, call_json: Call, workplace: Path
) -> None:
    length = len(events("sqlite:///askwise.sqlite", worked))
    assert call("backup", "a.gz").stdout == (
        f"file\ta.gz\ncampaigns\t1\nevents\t{length}\nreplies\t2\nrecords\t1\n"
    )
    counts = {"campaigns": 1, "events": length, "replies": 2, "records": 1}
    assert call_json("backup", "b.gz") == {"file": "b.gz", **counts}
    assert call_json("restore", "a.gz", "--store", COPY) == {"file": "a.gz", **counts}
    for command in (("status",), ("answers",), ("log",)):
        there = call(*command, worked, "--json", "--store", COPY).stdout
        assert there == call(*command, worked, "--json").stdout
    # A retry is answered from the reply that came along.
    again = call("ask", worked, "--key", "first", "--store", COPY).stdout
    assert again == call("ask", worked, "--key", "first").stdout
    with closing(open_store(COPY)) as store:
        assert store.records("key") == [Record("key", "a", "{}")]
    assert sorted(os.listdir(workplace)) == sorted(
        ["a.gz", "b.gz", "askwise.sqlite", "copy.sqlite", "spec.toml"]
    )


def test_a_store_moves_to_postgresql_and_back(
    worked: str, call: Call, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    call("backup", "a.gz")
    call("restore", "a.gz", "--store", postgres_url)
    monkeypatch.setenv("ASKWISE_STORE", postgres_url)
    call("backup", "b.gz")
    call("restore", "b.gz", "--store", COPY)
    assert events(COPY, worked) == events("sqlite:///askwise.sqlite", worked)


@pytest.mark.parametrize("flags", [[], pytest.param(["--json"], marks=pytest.mark.slow)])
def test_a_backup_goes_through_a_pipe(worked: str, flags: list[str]) -> None:
    made = subprocess.run(
        helpers.askwise("backup", "-", *flags),
        env=helpers.environment(),
        capture_output=True,
        check=True,
    )
    said = made.stderr.decode()
    assert (json.loads(said)["campaigns"] if flags else int(said.split()[3])) == 1
    taken = subprocess.run(
        helpers.askwise("restore", "-", "--store", COPY),
        env=helpers.environment(),
        input=made.stdout,
        capture_output=True,
        check=True,
    )
    assert taken.stdout.decode().startswith("file\t-\ncampaigns\t1\n")
    assert events(COPY, worked) == events("sqlite:///askwise.sqlite", worked)


def test_a_file_is_overwritten_only_by_force(worked: str, call: Call, refusal: Call) -> None:
    Path("a.gz").write_text("precious")
    assert refusal("backup", "a.gz") == (
        "a.gz exists: give another file, or --force to overwrite it"
    )
    assert Path("a.gz").read_text() == "precious"
    call("backup", "a.gz", "--force")
    call("restore", "a.gz", "--store", COPY)


@pytest.mark.parametrize("links", [True, False])
def test_a_file_that_appears_meanwhile_is_not_overwritten(
    links: bool, worked: str, refusal: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    put = backup._put

    def late(temporary: Path, path: Path, force: bool) -> None:
        path.write_text("precious")
        put(temporary, path, force)

    def no_links(*_: Any) -> None:
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(backup, "_put", late)
    if not links:
        monkeypatch.setattr(os, "link", no_links)
    assert "a.gz exists" in refusal("backup", "a.gz")
    assert Path("a.gz").read_text() == "precious"
    assert not list(Path().glob(".a.gz*"))


def test_a_file_system_without_links_will_do(
    worked: str, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(*_: Any) -> None:
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", no_links)
    call("backup", "a.gz")
    call("restore", "a.gz", "--store", COPY)


def test_a_backup_is_for_its_owner_alone(worked: str, call: Call) -> None:
    call("backup", "a.gz")
    assert stat.S_IMODE(os.stat("a.gz").st_mode) == 0o600


def test_a_backup_that_fails_leaves_nothing(
    worked: str, call: Call, refusal: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        assert "No space left" in refusal("backup", "a.gz")
    assert not list(Path().glob("*a.gz*"))


def test_nothing_is_backed_up_of_a_store_that_is_not_there(refusal: Call, workplace: Path) -> None:
    assert "nothing in the store to back up" in refusal("backup", "a.gz", "--store", COPY)
    assert os.listdir(workplace) == []


def test_places_where_no_file_can_be_are_refused(worked: str, refusal: Call) -> None:
    assert refusal("backup", ".") == ". is a directory: give a file"
    assert refusal("backup", "no/a.gz") == "there is no directory no: create it first"
    assert "No such file" in refusal("restore", "a.gz", "--store", COPY)
    assert "'memory'" in refusal("restore", "a.gz", "--store", "memory")


def test_only_an_empty_store_is_restored_into(worked: str, call: Call, refusal: Call) -> None:
    call("backup", "a.gz")
    before = helpers.content(Path("askwise.sqlite"))
    assert refusal("restore", "a.gz").startswith("the store is not empty: restore into a new one")
    assert helpers.content(Path("askwise.sqlite")) == before


def test_a_file_that_is_cut_off_is_refused_and_nothing_is_there(
    worked: str, call: Call, refusal: Call
) -> None:
    call("backup", "a.gz")
    whole = Path("a.gz").read_bytes()
    Path("a.gz").write_bytes(whole[:-5])
    said = refusal("restore", "a.gz", "--store", COPY)
    assert said.startswith("the backup is not whole (it was cut off)")
    assert refusal("restore", "spec.toml", "--store", COPY).startswith("the file is not a backup")
    assert not Path("copy.sqlite").exists()


def test_a_restore_that_fails_half_way_leaves_an_empty_store(
    worked: str, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    from askwise.store.sqlite.store import SqliteFiller

    call("backup", "a.gz")

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(SqliteFiller, "records", interrupted)
        call("restore", "a.gz", "--store", COPY, code=130)
    with closing(open_store(COPY)) as store:
        assert store.names() == []
    call("restore", "a.gz", "--store", COPY)
    assert events(COPY, worked) == events("sqlite:///askwise.sqlite", worked)


def test_people_see_a_table_and_no_binary(worked: str, workplace: Path) -> None:
    code, seen = helpers.on_terminal("backup", "a.gz")
    assert code == 0
    *_, head, row = seen.strip().splitlines()
    assert head.split() == ["file", "campaigns", "events", "replies", "records"]
    assert row.split()[:2] == ["a.gz", "1"]
    for words in (("backup", "-"), ("restore", "-", "--store", COPY)):
        code, seen = helpers.on_terminal(*words)
        assert code == 2
        assert "a backup is not text" in seen


def test_a_service_may_write_meanwhile(worked: str, call: Call) -> None:
    with closing(open_store("sqlite:///askwise.sqlite")) as store:
        _hold(store, worked, call)
    assert len(events(COPY, worked)) == len(events("sqlite:///askwise.sqlite", worked))


def _hold(store: Store, name: str, call: Call) -> None:
    with store.write(name):
        call("backup", "a.gz")
        call("restore", "a.gz", "--store", COPY)


def test_a_log_with_several_answers_to_one_assignment_is_not_restored(
    worked: str, call: Call, refusal: Call
) -> None:
    log = events("sqlite:///askwise.sqlite", worked)
    answer = next(event for event in log if event.kind == Kind.ANSWER)
    with (
        closing(open_store("sqlite:///askwise.sqlite")) as store,
        store.write(worked) as transaction,
    ):
        more = [replace(answer, seq=len(log) + n, key=None) for n in (1, 2, 3)]
        transaction.append(more, len(log))
    call("backup", "a.gz")
    said = refusal("restore", "a.gz", "--store", COPY)
    assert f"campaign 'cats' can't be folded: event {len(log) + 1} (ANSWER)" in said
    assert "is answered already" in said
    with closing(open_store(COPY)) as store:
        assert store.names() == []
        assert store.records("key") == []
