"""Installing Debian's packages, where that can be done without asking anybody."""

from __future__ import annotations

import os
import shutil
import subprocess

_PATIENCE = 600
"""Seconds that one call of apt-get may take."""


class Unavailable(Exception):
    """It is not to be had on this machine; the message says why."""


class Apt:
    """Debian's installer, for those who may use it.

    Parameters
    ----------
    what : str
        What is to be installed, for the message where it can't be.
    """

    def __init__(self, what: str) -> None:
        program = shutil.which("apt-get")
        if program is None:
            raise Unavailable(f"{what} is not installed, and there is no apt-get")
        if os.geteuid() != 0:
            raise Unavailable(f"{what} is not installed, and only root can install it")
        self._program = program

    def update(self) -> None:
        """Learn what there is to install."""
        self._run("update")

    def install(self, *packages: str) -> None:
        """Install packages and what they need, not what they recommend."""
        self._run("install", "--no-install-recommends", *packages)

    def _run(self, verb: str, *arguments: str) -> None:
        quiet = ("--quiet", "--quiet", "--yes", "--option=DPkg::Lock::Timeout=60")
        try:
            done = subprocess.run(
                [self._program, *quiet, verb, *arguments],
                env={**os.environ, "DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
                timeout=_PATIENCE,
            )
        except subprocess.TimeoutExpired:
            raise Unavailable(f"apt-get {verb} took more than {_PATIENCE} s") from None
        if done.returncode:
            raise Unavailable(f"apt-get {verb} failed: {last_line(done.stderr)}")


def last_line(text: str) -> str:
    """The last line that a program has said, which is where errors stand."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "it said nothing"
