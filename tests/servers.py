"""One PostgreSQL server for all processes of a test run."""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote, urlsplit, urlunsplit

import psycopg

from scripts import postgres

SCRIPT = Path(postgres.__file__)


class NoServer(Exception):
    """There is none for this run; the message says why."""


@contextmanager
def shared_server(directory: Path) -> Iterator[str]:
    """Lend the url of a server: of the one that is named, or of one that is started for the run.

    The first process that needs it starts it; ``directory`` is the same for all. It ends when the
    last of them has, however that ended: the system lets go of their locks.
    """
    named = os.environ.get(postgres.SETTING, "")
    if named == "0":
        raise NoServer(f"{postgres.SETTING} is 0")
    if named:
        yield named
        return
    try:
        import fcntl
    except ImportError:
        raise NoServer("servers are started on Unix only") from None
    users = directory / "postgres.users"
    with users.open("a") as use, (directory / "postgres.start").open("a+") as start:
        fcntl.flock(use, fcntl.LOCK_SH)
        fcntl.flock(start, fcntl.LOCK_EX)
        start.seek(0)
        said = start.read()
        keeper = None
        if not said:
            keeper = _start(users)
            said = json.dumps(_heard(keeper))
            start.write(said)
            start.flush()
        fcntl.flock(start, fcntl.LOCK_UN)
        url, reason = json.loads(said)
        if not url:
            raise NoServer(reason)
        yield url
    if keeper is not None:
        try:
            keeper.wait(10)
        except subprocess.TimeoutExpired:
            keeper.returncode = 0  # others need it for longer than we wait; it ends after them


def _start(users: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(SCRIPT), "serve", "--until-free", str(users)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def _heard(keeper: subprocess.Popen[str]) -> tuple[str, str]:
    assert keeper.stdout is not None
    assert keeper.stderr is not None
    url = keeper.stdout.readline().strip()
    return (url, "") if url else ("", keeper.stderr.read().strip())


def until_no_sessions(raw: psycopg.Connection[tuple[object, ...]]) -> None:
    """Wait until no session of a store is left in a database, and so no commit under way.

    The server ends the session of a client that is gone when it finds out, after what was sent.
    """
    ours = (
        b"SELECT 1 FROM pg_stat_activity "
        b"WHERE datname = current_database() AND application_name = 'askwise'"
    )
    deadline = time.monotonic() + 60.0
    while raw.execute(ours).fetchone():
        assert time.monotonic() < deadline, "a session of a store does not end"
        time.sleep(0.005)


@contextmanager
def new_database(server: str) -> Iterator[str]:
    """Lend the url of a database of its own on a server."""
    name = f"askwise_test_{secrets.token_hex(4)}"
    with closing(psycopg.connect(server, autocommit=True)) as raw:
        raw.execute(
            f"CREATE DATABASE {name} ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0"
        )
    yield with_database(server, name)
    if os.environ.get(postgres.SETTING):  # ours ends with its server
        with closing(psycopg.connect(server, autocommit=True)) as raw:
            raw.execute(f"DROP DATABASE {name} WITH (FORCE)")


def with_database(url: str, name: str) -> str:
    """The url of another database of the same server."""
    return urlunsplit(urlsplit(url)._replace(path=f"/{quote(name)}"))


def with_place(url: str, host: str, port: int) -> str:
    """The same url with another place to connect to."""
    parts = urlsplit(url)
    user, at, _ = parts.netloc.rpartition("@")
    return urlunsplit(parts._replace(netloc=f"{user}{at}{host}:{port}"))


def until_settled(url: str) -> None:
    """Wait until a server has done what killed processes have sent it; a file has nothing to do."""
    if url.startswith("postgresql"):
        with closing(psycopg.connect(url, autocommit=True)) as server:
            until_no_sessions(server)
