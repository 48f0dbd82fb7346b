"""The script that installs and starts the server for the other tests."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from askwise.core.errors import StoreError
from askwise.store import open_store
from scripts import postgres

SCRIPT = str(Path(postgres.__file__))


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine without PostgreSQL; the directory is its PATH."""
    monkeypatch.setattr(postgres, "_INSTALLED", tmp_path / "nowhere")
    monkeypatch.setattr(postgres, "_CREATE_CONFIG", tmp_path / "createcluster.conf")
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def put_apt(directory: Path, script: str) -> None:
    file = directory / "apt-get"
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)


def test_without_the_programs_it_is_said_how_to_get_them(bare: Path) -> None:
    with pytest.raises(postgres.Unavailable, match=r"not installed.*scripts/postgres\.py install"):
        postgres.Cluster()


def test_what_hinders_an_installation_is_said(
    bare: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(postgres.SETTING, raising=False)
    monkeypatch.setattr(sys, "argv", ["postgres.py", "install"])
    for script, user, reason in (
        (None, 0, "there is no apt-get"),
        ("exit 0", 1000, "only root"),
        ("echo; echo E: no network >&2; exit 100", 0, "apt-get update failed: E: no network"),
        ("exit 0", 0, "not installed"),
    ):
        if script is not None:
            put_apt(bare, script)
        monkeypatch.setattr(os, "geteuid", lambda user=user: user)
        postgres.main()
        printed = capsys.readouterr()
        assert printed.out == ""
        assert printed.err.startswith("no PostgreSQL: ")
        assert reason in printed.err


def test_the_package_is_kept_from_starting_a_server_and_its_settings_are_put_back(
    bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = bare / "createcluster.conf"
    settings.write_text("#create_main_cluster = true\n")
    put_apt(bare, f'echo "$*" >> {bare}/calls; /bin/cat {settings} >> {bare}/calls')
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(postgres.Unavailable):
        postgres.install()
    calls = (bare / "calls").read_text().splitlines()
    assert [line for line in calls if "install" in line][-1].endswith(" postgresql")
    assert calls[-1] == "create_main_cluster = false"
    assert settings.read_text() == "#create_main_cluster = true\n"


@pytest.mark.parametrize("setting", ["0", "postgresql://localhost/elsewhere"])
def test_nothing_is_installed_where_no_server_or_another_is_asked_for(
    setting: str, bare: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(postgres.SETTING, setting)
    monkeypatch.setattr(sys, "argv", ["postgres.py", "install"])
    postgres.main()
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("how", ["its input ends", "SIGTERM"])
def test_a_server_ends_with_the_script_and_leaves_nothing(how: str, postgres_server: str) -> None:
    try:
        postgres.programs()
    except postgres.Unavailable as reason:
        pytest.skip(str(reason))
    script = subprocess.Popen(
        [sys.executable, SCRIPT, "serve"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert script.stdout is not None
    url = script.stdout.readline().strip()
    with psycopg.connect(url) as server:
        (data,) = server.execute("SHOW data_directory").fetchone() or ("",)
        assert server.execute("SHOW fsync").fetchone() == ("on",)
    if how == "SIGTERM":
        script.send_signal(signal.SIGTERM)
    script.communicate(timeout=60)
    assert script.returncode == 0
    assert not Path(data).parent.exists()
    with pytest.raises(StoreError, match="can't be reached"):
        open_store(url)
