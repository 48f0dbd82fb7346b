"""The script that finds or installs the browser for other tests."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from scripts import browser
from scripts.installing import Unavailable


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine without a browser; the directory is its PATH."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv(browser.SETTING, raising=False)
    monkeypatch.setattr(sys, "argv", ["browser.py", "install"])
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    return tmp_path


def put(directory: Path, name: str, script: str = "exit 0") -> None:
    file = directory / name
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)


def test_what_is_missing_is_said_and_how_to_get_it(bare: Path) -> None:
    with pytest.raises(Unavailable, match=r"Chromium is not installed.*browser\.py install"):
        browser.programs()
    put(bare, "chromium")
    with pytest.raises(Unavailable, match="chromedriver is not installed"):
        browser.programs()
    put(bare, "chromedriver")
    assert browser.programs() == (str(bare / "chromium"), str(bare / "chromedriver"))


def test_both_are_installed_together_and_quietly(
    bare: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = "".join(
        f"echo '#!/bin/sh' > {bare}/{name}; /bin/chmod +x {bare}/{name};"
        for name in ("chromium", "chromedriver")
    )
    put(bare, "apt-get", f'echo "$*" >> {bare}/calls; echo noise; {made}')
    browser.main()
    assert capsys.readouterr() == ("", "")
    calls = (bare / "calls").read_text().splitlines()
    assert calls[0].endswith(" update")
    assert calls[1].endswith(" install --no-install-recommends chromium chromium-driver")
    browser.main()  # they are there now
    assert len((bare / "calls").read_text().splitlines()) == 2


def test_what_hinders_an_installation_is_said_and_is_no_failure(
    bare: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    browser.main()
    assert capsys.readouterr().err == (
        "no browser: a browser is not installed, and there is no apt-get\n"
    )
    put(bare, "apt-get", "echo E: no network >&2; exit 100")
    browser.main()
    assert capsys.readouterr().err == "no browser: apt-get update failed: E: no network\n"


def test_nothing_is_installed_where_no_browser_is_asked_for(
    bare: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(browser.SETTING, "0")
    browser.main()
    assert capsys.readouterr() == ("", "")
