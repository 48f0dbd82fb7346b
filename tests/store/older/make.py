"""Write a store as an askwise of some commit does: ``store.sql``, ``backup.jsonl``, ``seen.json``.

They are there as commit ab5b126 wrote them and stay: tests open them with what the code is now. To
write such files with the code of another commit, run this in a checkout of it::

    python /path/to/tests/store/older/make.py DIRECTORY

``store.sql`` is what SQLite's ``.dump`` says of the file, with its application id and version;
``backup.jsonl`` is a backup, unpacked; ``seen.json`` is what that askwise said about the campaigns.
"""

from __future__ import annotations

import gzip
import itertools
import json
import sqlite3
import sys
from dataclasses import asdict
from io import BytesIO
from pathlib import Path
from typing import Any

from askwise import Batch, Campaign, Task, Wait, Worker
from askwise.campaign import cached
from askwise.service.auth.identity import Identities
from askwise.store import Store, open_store
from askwise.store.backup.file import backup

OPTIONS = ["cat", "dog"]
PEOPLE = [Worker("ann", "0.05"), Worker("bob", "0.03", limit=9), Worker("eve", "0.01")]
TIME = 1_700_000_000.0


def clock() -> Any:
    seconds = itertools.count(1)
    return lambda: TIME + next(seconds)


def value_of(campaign: str, assignment: str) -> float | str:
    """The answer to an assignment: a function of its number alone."""
    number = int(assignment.rpartition(":")[2]) * 7919 % 101
    return number / 100 if campaign == "units" else OPTIONS[number % 3 == 0]


def work(campaign: Campaign, answers: int) -> None:
    """Ask and tell so many times, and reveal the truth where it is waited for."""
    told: set[str] = set()
    while answers > 0:
        choice = campaign.ask(limit=3)
        if isinstance(choice, Batch):
            for each in choice:
                key = f"told {each.id}"
                campaign.tell(each.id, value_of(campaign.name, each.id), key=key)
                told.add(each.task or "")
                answers -= 1
        elif choice == Wait("truth"):
            for task in sorted(told):
                campaign.truth(task, "cat")
            told.clear()
        else:
            return


def fill(store: Store) -> None:
    """Make the campaigns and records."""
    labels = Campaign.create(
        workers=PEOPLE,
        tasks=[Task(f"t{n}", context="ab"[n % 2], payload={"text": f"Nº {n}"}) for n in range(8)],
        options=OPTIONS,
        budget="1.20",
        policy="hem",
        lease=3600,
        seed=3,
        store=store,
        name="labels",
        clock=clock(),
    )
    work(labels, 9)
    labels.add(tasks=["late"], workers=[Worker("zoe", "0.02")], key="more")
    labels.ask(key="out")
    units = Campaign.create(
        workers=[Worker("ann", "0.50"), Worker("bob", "0.20", limit=8), Worker("eve", "0.30")],
        outcome="utility",
        budget="9",
        policy="bounded-epsilon-first",
        seed=4,
        store=store,
        name="units",
        clock=clock(),
    )
    work(units, 12)
    bids = Campaign.create(
        workers=[Worker("ann", 3), Worker("bob", 5), Worker("cleo", 6), Worker("dan", 8)],
        tasks=["p1", "p2", "p3"],
        options=OPTIONS,
        policy={"name": "ccb-fixed", "qualities": [0.8] * 4, "alpha": 0.15, "solver": "exact"},
        mechanism={"name": "clarke", "c_max": 20},
        seed=5,
        store=store,
        name="bids",
        clock=clock(),
    )
    bids.bid("dan", "4.50")
    work(bids, 4)
    stopped = Campaign.create(
        workers=PEOPLE,
        tasks=["t1", "t2", "t3"],
        options=OPTIONS,
        budget=2,
        policy="random-pairs",
        stopping={"name": "lead", "lead": 2},
        seed=6,
        store=store,
        name="stopped",
        clock=clock(),
    )
    work(stopped, 4)
    stopped.pause()
    stopped.resume(key="on")
    stopped.top_up("0.50")
    stopped.leave("eve")
    stopped.stop(key="enough")
    Identities(store, clock()).issue("owner", "the first", secret="of a test")


def seen(store: Store) -> dict[str, Any]:
    """What is said about each campaign."""
    found = {}
    for name in store.names():
        campaign = Campaign.open(store, name, clock=lambda: TIME + 100)
        found[name] = {
            "status": campaign.status().to_json(),
            "answers": [asdict(each) for each in campaign.answers()],
            "payments": [asdict(each) for each in campaign.payments()],
            "out": [each.id for each in campaign.assignments()],
            "events": len(campaign.log()),
        }
    made: dict[str, Any] = json.loads(json.dumps(found, default=str))
    return made


def dump(file: Path) -> str:
    """The file as SQL."""
    raw = sqlite3.connect(file)
    marks = ("application_id", "user_version")
    pragmas = [f"PRAGMA {each} = {raw.execute(f'PRAGMA {each}').fetchone()[0]};" for each in marks]
    lines = "\n".join([*pragmas, *raw.iterdump()])
    raw.close()
    return lines + "\n"


if __name__ == "__main__":
    cached.FIRST_SNAPSHOT = 24  # so that a short log has one
    directory = Path(sys.argv[1])
    database = directory / "store.sqlite"
    made = open_store(f"sqlite:///{database}")
    fill(made)
    packed = BytesIO()
    backup(made, packed, TIME)
    said = json.dumps(seen(made), indent=1, ensure_ascii=False)
    (directory / "seen.json").write_text(said + "\n")
    (directory / "backup.jsonl").write_bytes(gzip.decompress(packed.getvalue()))
    made.close()
    (directory / "store.sql").write_text(dump(database))
    database.unlink()
