#!/usr/bin/env python3
"""Label Studio (Community) on this machine, for tests.

usage: label_studio.py install
           Install the package label-studio into a virtual environment of its own, if it is not
           there, and make a database for it: about a gigabyte, some minutes. What can't be done is
           said, and is no failure: the tests are skipped then.
       label_studio.py serve DIRECTORY [PORT]
           Start it on 127.0.0.1, on a free port if none is given, with its data in the directory,
           which is made if it is not there. Prints its address once it answers, and stops it when
           standard input ends. The first user is admin@example.org, with the token below.

ASKWISE_TEST_LABEL_STUDIO=0 asks for none: then install does nothing.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
import venv
from pathlib import Path

if not __package__:  # run as a program, which has its own directory on the path
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from scripts.installing import Unavailable, excused, free_port, last_line, pip_install

SETTING = "ASKWISE_TEST_LABEL_STUDIO"

PACKAGE = "label-studio==1.23.2"
"""It pins a hundred packages to versions that are not ours: it has an environment of its own, and
is in no lock file."""

USER, PASSWORD = "admin@example.org", "not-a-secret-8"
TOKEN = "0123456789abcdef0123456789abcdef01234567"
"""Of a server that lives as long as a test, on this machine only."""

_PATIENCE = 1800
"""Seconds that the installation may take."""

_START = 900
"""Seconds until the server answers: the first time it makes its database."""


def home() -> Path:
    """Where its environment is: beside the packages of the interpreter, and no part of them."""
    return Path(sys.prefix) / "label-studio"


def program() -> Path:
    """Find the server's program."""
    found = home() / "bin" / "label-studio"
    if not found.is_file():
        raise Unavailable(
            f"there is no server in {home().name}: scripts/label_studio.py install fetches it"
        )
    return found


def fresh() -> Path:
    """Find the data of a server that was never used: to make its database takes minutes."""
    found = home() / "fresh"
    if not found.is_dir():
        raise Unavailable(f"there is no database in {home().name}: scripts/label_studio.py install")
    return found


def install() -> None:
    """Install the server and make a database, unless they are there."""
    try:
        program()
    except Unavailable:
        _install_package()
    try:
        fresh()
    except Unavailable:
        _make_database()


def _make_database() -> None:
    making = home() / "making"
    shutil.rmtree(making, ignore_errors=True)
    making.mkdir()
    process = start(making, free_port())
    process.terminate()
    try:
        process.wait(60)
    except subprocess.TimeoutExpired:
        stop(process)
    (making / "server.log").unlink(missing_ok=True)
    making.rename(home() / "fresh")


def _install_package() -> None:
    venv.create(home(), with_pip=True, clear=True)
    python = home() / "bin" / "python"
    pip_install(python, "--prefer-binary", PACKAGE, patience=_PATIENCE)
    program()


def start(directory: Path, port: int) -> subprocess.Popen[bytes]:
    """Start the server, and wait until it answers."""
    settings = {
        "LABEL_STUDIO_BASE_DATA_DIR": str(directory),
        "LABEL_STUDIO_USERNAME": USER,
        "LABEL_STUDIO_PASSWORD": PASSWORD,
        "LABEL_STUDIO_USER_TOKEN": TOKEN,
        "LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN": "true",
        "LABEL_STUDIO_DISABLE_SIGNUP_WITHOUT_LINK": "false",
        "LABEL_STUDIO_HOST": "",
        "COLLECT_ANALYTICS": "False",
        "SENTRY_DSN": "",
        "FRONTEND_SENTRY_DSN": "",
        "LATEST_VERSION_CHECK": "False",
        "FEATURE_FLAGS_OFFLINE": "true",
        # Its webhooks may call this machine.
        "SSRF_PROTECTION_ENABLED": "false",
        "DEBUG": "False",
        "LOG_LEVEL": "WARNING",
    }
    kept = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH",)}
    arguments = ("start", "--no-browser", "--internal-host", "127.0.0.1", "--port", str(port))
    with (directory / "server.log").open("ab") as log:
        process = subprocess.Popen(
            [program(), *arguments],
            env=kept | settings,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    until = time.monotonic() + _START
    while time.monotonic() < until:
        if process.poll() is not None:
            said = (directory / "server.log").read_text(errors="replace")
            raise Unavailable(f"the server ended: {last_line(said)}")
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5):
                return process
        except OSError:
            time.sleep(0.5)
    stop(process)
    raise Unavailable(f"the server did not answer within {_START} s")


def stop(process: subprocess.Popen[bytes]) -> None:
    """End the server and what it has started."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(60)


def serve(directory: Path, port: int | None) -> None:
    """Answer until standard input ends."""
    if not directory.exists():
        shutil.copytree(fresh(), directory)
    at = port or free_port()
    process = start(directory, at)
    try:
        print(f"http://127.0.0.1:{at}", flush=True)
        sys.stdin.read()
    finally:
        stop(process)


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, usage=""
    )
    parser.add_argument("verb", choices=["install", "serve"])
    parser.add_argument("directory", nargs="?", type=Path)
    parser.add_argument("port", nargs="?", type=int)
    given = parser.parse_args()
    with excused("Label Studio", fails=given.verb == "serve"):
        if given.verb == "serve":
            if given.directory is None:
                parser.error("serve needs a directory for the server's data")
            serve(given.directory, given.port)
        elif os.environ.get(SETTING) != "0":
            install()


if __name__ == "__main__":
    main()
