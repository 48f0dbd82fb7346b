"""What ``askwise doctor`` looks at: versions, extras, the store, the compiler's cache, keys.

Nothing is created or changed but the directory of the compiler's cache, which importing a kernel
makes as well. Of a variable of the environment that may hold a secret only the name is told.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import platform
import re
import shutil
import sqlite3
import tomllib
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

from askwise.cli.extras import NEEDS
from askwise.cli.init import JUDGES
from askwise.cli.init import KEY as USUAL_KEY
from askwise.cli.mcp import KEY as SERVICE_KEY
from askwise.core.errors import AskwiseError
from askwise.core.jsonable import Jsonable

if TYPE_CHECKING:
    from askwise.store import Store

SERVES = {
    "lab": "experiments, plans, replays, figures and reports",
    "judges": "models as judges, in label and serve --judges",
    "service": "serve, keys, and the pages of people in label",
    "client": "programs that use a service through askwise.client",
    "mcp": "coding agents that use a service",
    "postgres": "stores in PostgreSQL",
    "tables": "Parquet files and pandas tables",
    "dask": "lab run and aggregate on a Dask cluster",
    "ray": "lab run on a Ray cluster",
    "uci": "the experiment labels-uci",
}
"""What each extra is for."""

PACKAGES = ("numpy", "scipy", "numba", "typer", "rich")
"""What every installation has."""

LITTLE_ROOM = 100 * 2**20
"""Bytes left on the disk of a store below which it is said."""


@dataclass(frozen=True)
class Finding(Jsonable):
    """One thing that was looked at.

    Attributes
    ----------
    area : str
        What it belongs to.
    name : str
        What was looked at.
    state : str
        ``ok``; ``absent`` (not there, which is not a fault); or ``problem``: it is set up and does
        not work.
    detail : str
        What was found. A variable that may hold a secret is never told with its value.
    advice : str
        What to do; empty if nothing is to be done.
    """

    area: Literal["version", "extra", "store", "compiler", "key"]
    name: str
    state: Literal["ok", "absent", "problem"]
    detail: str
    advice: str = ""


@dataclass(frozen=True)
class Checkup(Jsonable):
    """What ``askwise doctor`` has found.

    Attributes
    ----------
    well : bool
        Whether there is no problem.
    findings : tuple of Finding
        All that was looked at.
    """

    well: bool
    findings: tuple[Finding, ...]


def examined(store: str) -> Checkup:
    """Look at everything."""
    found = (*_versions(), *_extras(), _store(store), *_compiler(), *_keys(Path()))
    return Checkup(all(each.state != "problem" for each in found), found)


def _versions() -> Iterator[Finding]:
    from askwise import __version__

    where = Path(__file__).resolve().parent.parent
    yield Finding("version", "askwise", "ok", f"{__version__} in {where}")
    yield Finding(
        "version", "python", "ok", f"{platform.python_version()} on {platform.platform()}"
    )
    for name in PACKAGES:
        try:
            importlib.import_module(name)
            yield Finding("version", name, "ok", metadata.version(name))
        except Exception as error:  # a broken installation may raise anything
            yield Finding(
                *("version", name, "problem", f"can't be imported: {_reason(error)}"),
                f"pip install --force-reinstall {name}",
            )


def _extras() -> Iterator[Finding]:
    for name, use in SERVES.items():
        lacking = [each for each in NEEDS[name] if importlib.util.find_spec(each) is None]
        if lacking:
            yield Finding(
                *("extra", name, "absent", f"for {use}; lacks {', '.join(lacking)}"),
                f"pip install 'askwise[{name}]'",
            )
        else:
            yield Finding("extra", name, "ok", f"for {use}")


def _store(url: str) -> Finding:
    """The store as it is: neither made nor brought up to a newer schema."""
    from askwise.store import open_store, pending_steps
    from askwise.store.errors import without_password

    shown = without_password(url)
    try:
        steps = pending_steps(url)
        file = _file_of(url)
        if file is not None and not file.exists():
            return _missing(shown, file)
        if steps:
            detail = f"an older schema: the next command that opens it adds {', '.join(steps)}"
            return Finding("store", shown, "ok", detail)
        with closing(open_store(url)) as opened:
            facts = [*_schema(url), _campaigns(opened)]
        if file is not None:
            facts.append(_writable(file))
            room = shutil.disk_usage(file.parent).free
            if room < LITTLE_ROOM:
                detail = f"{', '.join(facts)}; its disk has {room // 2**20} MB left"
                return Finding("store", shown, "problem", detail, "free some space on that disk")
        else:
            facts.append("write access was not tried")
        return Finding("store", shown, "ok", ", ".join(facts))
    except (AskwiseError, OSError, sqlite3.Error) as error:
        advice = "give another --store, set ASKWISE_STORE, or fix this problem"
        return Finding("store", shown, "problem", _reason(error), advice)


def _missing(shown: str, file: Path) -> Finding:
    if os.access(file.parent, os.W_OK | os.X_OK):
        return Finding("store", shown, "absent", "not there yet; the first campaign creates it")
    detail = f"not there, and {file.parent} can't be written"
    return Finding(
        "store", shown, "problem", detail, "give a --store in a directory that you can write to"
    )


def _file_of(url: str) -> Path | None:
    """The file of an SQLite store."""
    if not url.startswith("sqlite:"):
        return None
    from askwise.store.sqlite.store import SqliteStore

    return SqliteStore.from_url(url).file


def _schema(url: str) -> list[str]:
    """The version of a schema that is up to date; a plug-in's store has none that we know."""
    from askwise.store.migrations import latest

    known = {"sqlite": "sqlite", "postgresql": "postgres", "postgres": "postgres"}
    database = known.get(url.partition(":")[0])
    return [] if database is None else [f"schema {latest(database)}"]


def _campaigns(store: Store) -> str:
    count = len(store.names())
    return f"{count} campaign{'' if count == 1 else 's'}"


def _writable(file: Path) -> str:
    """Say that it can be written, or complain: a transaction is begun and taken back."""
    where = f"file:{quote(str(file))}?mode=rw"
    with closing(sqlite3.connect(where, uri=True, timeout=1.0, isolation_level=None)) as link:
        try:
            link.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY:
                return "another process is writing"
            raise
        link.execute("ROLLBACK")
    return "can be written"


def _compiler() -> Iterator[Finding]:
    try:
        from askwise.core import compiling
        from askwise.core.compiling.code_cache import preferred_directory
    except Exception as error:  # Numba may raise anything: it refuses versions of NumPy
        advice = "pip install --force-reinstall numba, or set ASKWISE_JIT=0 to do without it"
        yield Finding("compiler", "cache", "problem", _reason(error), advice)
        return
    if compiling.PLAIN:
        off = "switched off by ASKWISE_JIT=0 or NUMBA_DISABLE_JIT=1"
        yield Finding("compiler", "cache", "absent", off, "unset it where decisions are slow")
        return
    place = Path(compiling.kept_in())
    detail = str(place)
    if not (os.environ.get("NUMBA_CACHE_DIR") or place == preferred_directory()):
        detail += f", as {preferred_directory()} can't be written"
    if os.access(place, os.W_OK):
        yield Finding("compiler", "cache", "ok", detail)
    else:
        advice = "set XDG_CACHE_HOME to a directory that you can write to"
        yield Finding("compiler", "cache", "problem", f"{detail} can't be written", advice)
    yield _warm_policies()


def _warm_policies() -> Finding:
    """Of which policies a live campaign would find the choice compiled."""
    from askwise.core.compiling import is_kept
    from askwise.policies import KernelPolicy, policies

    kept: list[str] = []
    cold: list[str] = []
    for name in policies.names():
        entry = policies.get(name)
        if issubclass(entry, KernelPolicy):
            (kept if is_kept(entry.kernels.choose) else cold).append(name)
    if not kept:
        detail = "none: campaigns decide in plain Python"
        return Finding(
            "compiler", "warm", "absent", detail, "askwise warm POLICY, where it is slow"
        )
    return Finding("compiler", "warm", "ok", f"{', '.join(kept)}; not {len(cold)} others")


def _keys(folder: Path) -> Iterator[Finding]:
    yield _variable(SERVICE_KEY, "for askwise mcp")
    judges = folder / JUDGES
    if not judges.is_file():
        yield _variable(USUAL_KEY, "what init proposes for judges")
        return
    try:
        raw = tomllib.loads(judges.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        yield Finding("key", JUDGES, "problem", _reason(error), f"mend {JUDGES}")
        return
    wanted = sorted(set(_named_keys(raw)))
    for name in wanted:
        if os.environ.get(name):
            yield Finding("key", name, "ok", f"set; {JUDGES} names it")
        else:
            detail = f"not set, and {JUDGES} names it"
            yield Finding("key", name, "problem", detail, f"export {name}=...")
    if all(os.environ.get(name) for name in wanted):
        yield _judges(judges)


def _judges(file: Path) -> Finding:
    """Whether a file of judges can be used, as far as that is known without calling one."""
    if any(importlib.util.find_spec(each) is None for each in NEEDS["judges"]):
        lacks = "there are judges, and what calls them is not installed"
        return Finding("key", JUDGES, "problem", lacks, "pip install 'askwise[judges]'")
    from askwise.sources.judges import read_judges

    try:
        found = read_judges(file)
    except (AskwiseError, OSError) as error:
        return Finding("key", JUDGES, "problem", _reason(error), f"mend {JUDGES}")
    return Finding("key", JUDGES, "ok", f"judges: {', '.join(each.id for each in found)}")


def _named_keys(raw: dict[str, Any]) -> Iterable[str]:
    """Variables that hold the keys of judges."""
    tables = [raw.get("defaults"), *(raw["judge"] if isinstance(raw.get("judge"), list) else ())]
    for each in tables:
        name = each.get("key_env") if isinstance(each, dict) else None
        # What is not the name of a variable may be the key itself: reading the judges refuses it.
        if isinstance(name, str) and re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
            yield name


def _variable(name: str, use: str) -> Finding:
    state: Literal["ok", "absent"] = "ok" if os.environ.get(name) else "absent"
    return Finding("key", name, state, f"{'set' if state == 'ok' else 'not set'}; {use}")


def _reason(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__
