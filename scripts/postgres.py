#!/usr/bin/env python3
"""A throw-away PostgreSQL server for tests.

usage: postgres.py install
           Install Debian's PostgreSQL if there is none and we may. No system server is started.
           What can't be done is said, and is no failure: the tests are skipped then.
       postgres.py serve [--until-free FILE]
           Start a server on 127.0.0.1 with a directory, a port and a password of its own, print
           its url, and stop it when standard input ends, or when nobody holds a lock on FILE.

ASKWISE_TEST_POSTGRES=0 asks for no server, ASKWISE_TEST_POSTGRES=URL names one: then install does
nothing.
"""

from __future__ import annotations

import argparse
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

if not __package__:  # run as a program, which has its own directory on the path
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from scripts.installing import Apt, Unavailable, excused, free_port, last_line

SETTING = "ASKWISE_TEST_POSTGRES"

_INSTALLED = Path("/usr/lib/postgresql")
_CREATE_CONFIG = Path("/etc/postgresql-common/createcluster.conf")
_PATIENCE = 60.0
"""Seconds that a server may take to start or to stop."""

_PORTS = 5
"""Attempts to start: somebody else may take the free port before the server does."""


def programs() -> Path:
    """Find the directory of ``initdb`` and ``postgres``, the newest version first."""
    versions = [path for path in _INSTALLED.glob("*/bin") if path.parent.name.isdecimal()]
    versions.sort(key=lambda path: int(path.parent.name), reverse=True)
    on_path = shutil.which("initdb")
    candidates = [*versions, *([Path(on_path).resolve().parent] if on_path else [])]
    for directory in candidates:
        if all(os.access(directory / name, os.X_OK) for name in ("initdb", "postgres")):
            return directory
    raise Unavailable(
        f"PostgreSQL is not installed (no initdb under {_INSTALLED} or on the PATH): "
        "scripts/postgres.py install, as root, installs Debian's"
    )


class Cluster:
    """A server of our own in a directory of its own, as an unprivileged user.

    It keeps what it acknowledged (``fsync`` is on). ``stop`` and ``start`` may be repeated;
    ``remove`` ends it for good.

    Parameters
    ----------
    networks : dict
        Addresses of this machine that it listens at beside 127.0.0.1, and the network from which
        clients come there.
    """

    def __init__(self, networks: dict[str, str] | None = None) -> None:
        self.networks = networks or {}
        self.programs = programs()
        self.directory = Path(tempfile.mkdtemp(prefix="askwise-postgres-"))
        self.password = secrets.token_urlsafe(16)
        self.port = 0
        self._as_user = _unprivileged()
        self._server: subprocess.Popen[bytes] | None = None
        try:
            self._create()
        except BaseException:
            self.remove()
            raise

    def url(self, database: str = "postgres", host: str = "127.0.0.1") -> str:
        """The address of one of its databases."""
        return f"postgresql://tester:{self.password}@{host}:{self.port}/{database}"

    def start(self) -> None:
        """Start the server and wait until it takes connections; again on the same port."""
        if self.port:
            self._start()
            return
        for left in reversed(range(_PORTS)):
            self.port = free_port()
            try:
                self._start()
                return
            except Unavailable:
                if not left:
                    raise

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop it: SIGINT ends all sessions and tidies up, SIGQUIT is as good as a crash."""
        server, self._server = self._server, None
        if server is None or server.poll() is not None:
            return
        server.send_signal(how)
        try:
            server.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()

    def remove(self) -> None:
        """Stop it and remove its directory."""
        self.stop(signal.SIGQUIT)
        shutil.rmtree(self.directory, ignore_errors=True)

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()

    def _create(self) -> None:
        secret = self.directory / "password"
        secret.write_text(self.password)
        if "user" in self._as_user:
            for path in (self.directory, secret):
                os.chown(path, self._as_user["user"], self._as_user["group"])
        done = subprocess.run(
            [
                *(self.programs / "initdb", "--pgdata", self.directory / "data"),
                *("--username", "tester", "--pwfile", secret, "--auth", "scram-sha-256"),
                *("--encoding", "UTF8", "--locale", "C", "--no-sync"),
            ],
            cwd=self.directory,
            env=_environment(),
            capture_output=True,
            text=True,
            check=False,
            **self._as_user,
        )
        if done.returncode:
            raise Unavailable(f"initdb failed: {last_line(done.stderr)}")
        secret.unlink()
        with (self.directory / "data" / "pg_hba.conf").open("a") as rules:
            for network in self.networks.values():
                rules.write(f"host all all {network} scram-sha-256\n")

    def _start(self) -> None:
        settings = {
            "listen_addresses": ",".join(["127.0.0.1", *self.networks]),
            "port": self.port,
            "unix_socket_directories": "",
            "max_connections": 100,
            "fsync": "on",
            "synchronous_commit": "on",
            "autovacuum": "off",
        }
        log = self.directory / "log"
        with log.open("ab") as output:
            self._server = subprocess.Popen(
                [
                    *(self.programs / "postgres", "-D", self.directory / "data"),
                    *(f"--{name}={value}" for name, value in settings.items()),
                ],
                cwd=self.directory,
                env=_environment(),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,  # an interrupt at the terminal is for us alone
                **self._as_user,
            )
        deadline = time.monotonic() + _PATIENCE
        while not self._is_ready():
            if self._server.poll() is not None or time.monotonic() > deadline:
                self.stop(signal.SIGQUIT)
                raise Unavailable(f"the server did not start: {last_line(log.read_text())}")
            time.sleep(0.02)

    def _is_ready(self) -> bool:
        # The eighth line is what pg_ctl looks at, too. A crash leaves the file of the last run.
        assert self._server is not None
        try:
            lines = (self.directory / "data" / "postmaster.pid").read_text().splitlines()
        except OSError:
            return False
        return len(lines) > 7 and int(lines[0]) == self._server.pid and lines[7].strip() == "ready"


def install() -> None:
    """Install Debian's PostgreSQL unless there is one."""
    try:
        programs()
        return
    except Unavailable:
        pass
    apt = Apt("PostgreSQL")
    apt.update()
    apt.install("postgresql-common")
    with _no_system_cluster():
        apt.install("postgresql")
    programs()


@contextmanager
def _no_system_cluster() -> Iterator[None]:
    """Keep the package from making and starting a server of the system's own."""
    before = _CREATE_CONFIG.read_text() if _CREATE_CONFIG.exists() else None
    if before is None:
        yield
        return
    _CREATE_CONFIG.write_text(f"{before}\ncreate_main_cluster = false\n")
    try:
        yield
    finally:
        _CREATE_CONFIG.write_text(before)


def _unprivileged() -> dict[str, Any]:
    """How to start a program, as initdb and postgres refuse to be run by root."""
    if os.geteuid() != 0:
        return {}
    import pwd

    for name in ("postgres", "nobody"):
        try:
            found = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": found.pw_uid, "group": found.pw_gid, "extra_groups": []}
    raise Unavailable("PostgreSQL can't be run as root, and there is no user postgres or nobody")


def _environment() -> dict[str, str]:
    """Ours without libpq's and the server's own settings."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    return {**kept, "LC_ALL": "C"}


def serve(until_free: str | None) -> None:
    """Run a server until its user is gone."""
    signal.signal(signal.SIGTERM, _leave)
    with Cluster() as cluster:
        cluster.start()
        print(cluster.url(), flush=True)
        if until_free is None:
            sys.stdin.read()
        else:
            import fcntl

            with open(until_free) as file:
                fcntl.flock(file, fcntl.LOCK_EX)


def _leave(_number: int, _frame: FrameType | None) -> None:
    raise SystemExit(0)


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, usage=""
    )
    parser.add_argument("verb", choices=["install", "serve"])
    parser.add_argument("--until-free", metavar="FILE")
    given = parser.parse_args()
    with excused("PostgreSQL", fails=given.verb == "serve"):
        if given.verb == "serve":
            serve(given.until_free)
        elif SETTING not in os.environ:
            install()


if __name__ == "__main__":
    main()
