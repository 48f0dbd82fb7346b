"""What tests need and is no part of the project: installed where that can be done unasked.

The scripts beside this one each install one thing, and start it if it is a server.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

_PATIENCE = 600
"""Seconds that one call of an installer may take, unless said otherwise."""


class Unavailable(Exception):
    """It is not to be had on this machine; the message says why."""


@contextmanager
def excused(what: str, *, fails: bool) -> Iterator[None]:
    """Say why something is not to be had; unless it ``fails``, that is not a failure."""
    try:
        yield
    except (Unavailable, OSError) as reason:
        print(f"no {what}: {reason}", file=sys.stderr)
        if fails:
            sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)


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
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
        _call([self._program, *quiet, verb, *arguments], f"apt-get {verb}", env=environment)


def pip_install(python: str | Path, *arguments: str, patience: int = _PATIENCE) -> None:
    """Install packages by the pip of an interpreter."""
    quiet = ("--quiet", "--disable-pip-version-check", "--no-input")
    _call([python, "-m", "pip", *quiet, "install", *arguments], "pip", patience)


def _call(
    command: list[str | Path],
    name: str,
    patience: int = _PATIENCE,
    env: Mapping[str, str] | None = None,
) -> None:
    try:
        done = subprocess.run(
            command,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=patience,
        )
    except subprocess.TimeoutExpired:
        raise Unavailable(f"{name} took more than {patience} s") from None
    if done.returncode:
        raise Unavailable(f"{name} failed: {last_line(done.stderr)}")


def last_line(text: str) -> str:
    """The last line that a program has said, which is where errors stand."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "it said nothing"


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
