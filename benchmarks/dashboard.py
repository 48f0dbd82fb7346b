"""The dashboard of a large campaign: how long its pages take to come, from the first on.

A process serves a stored campaign that nobody has looked at. CPU-seconds are those of the whole
process while a request waits, what other threads work out for later included; the first request
finds the campaign not open yet.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from askwise.store import SqliteStore
from benchmarks.logs import NAME, record
from benchmarks.timing import quantity, table, want

MOST = 1.0
"""Seconds that a first reply may take."""

LARGEST_PAGE = 300_000
"""Bytes of a page."""

_LOOK = """
import json, logging, sys, time
from starlette.testclient import TestClient
from askwise.campaign import Campaign
from askwise.service.app import make_app
from askwise.service.settings import Settings
from askwise.store import open_store

url, name = f"sqlite:///{sys.argv[1]}", sys.argv[2]
store = open_store(url)
if sys.argv[3] == "snapshot":
    campaign = Campaign.open(store, name)
    campaign.status()
    campaign.settle()
    del campaign
app = make_app(Settings(store=url, address="http://127.0.0.1"), store)
found = []
with TestClient(app, base_url="http://127.0.0.1") as client:
    secret, _ = app.state.service.identities.issue("owner", "bench")
    client.post("/login", data={"key": secret}, follow_redirects=False)

    def look(what, path):
        begun, used = time.perf_counter(), time.process_time()
        reply = client.get(path)
        used = time.process_time() - used
        found.append((what, time.perf_counter() - begun, used, len(reply.content)))
        assert reply.status_code == 200, reply.text
        return reply.text

    look("list of campaigns", "/dashboard")
    home = f"/dashboard/{name}"
    text = look("first", home)
    if "being opened" in text:
        begun = time.perf_counter()
        while "being opened" in client.get(home).text:
            time.sleep(0.2)
        found.append(("until it is opened", time.perf_counter() - begun, 0.0, 0))
        text = look("first once it is open", home)
    begun = time.perf_counter()
    while "worked out, and appear" in client.get(home).text:
        time.sleep(0.2)
    found.append(("until results are there", time.perf_counter() - begun, 0.0, 0))
    look("with results", home)
    for page in ("tasks", "workers", "review", "decisions"):
        look(page, f"{home}/{page}")
    look("worker", f"{home}/worker?id=w1")
print(json.dumps(found))
"""


def main(quick: bool) -> None:
    """Print the table."""
    tasks, answers = (2_000, 20_000) if quick else (100_000, 1_000_000)
    directory = Path(tempfile.mkdtemp(prefix="askwise-bench-", dir=Path.cwd()))
    rows = []
    try:
        file = directory / "bench.db"
        store = SqliteStore(file)
        record("random-pairs", answers, tasks, None).write(store, answers)
        store.close()
        for how in ("log", "snapshot"):
            made = subprocess.run(
                [sys.executable, "-c", _LOOK, str(file), NAME, how],
                env={key: value for key, value in os.environ.items() if key != "ASKWISE_JIT"},
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            )
            for what, took, used, size in json.loads(made.stdout.splitlines()[-1]):
                cells = ["", "", "", "", "", ""]
                if size:
                    cells = [quantity(used), *want(used, most=MOST)]
                    cells += [f"{size:,}", *want(size, most=LARGEST_PAGE)]
                rows.append([f"{what}, from its {how}", quantity(took), *cells])
    finally:
        shutil.rmtree(directory)
    print(f"{tasks:,} tasks, {answers:,} answers")
    table(["", "seconds", "CPU", "wanted", "met", "bytes", "wanted", "met"], rows)
