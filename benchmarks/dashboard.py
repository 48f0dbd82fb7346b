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

    def wait(what, path, words):
        begun, used = time.perf_counter(), time.process_time()
        while words in client.get(path).text:
            time.sleep(0.2)
        took, used = time.perf_counter() - begun, time.process_time() - used
        found.append((f"until {what}", took, used, 0))

    look("list of campaigns", "/dashboard")
    home = f"/dashboard/{name}"
    if "is being opened" in look("first", home):
        wait("it is opened", home, "is being opened")
        look("first once it is open", home)
    wait("results are there", home, "are being computed")
    assert "<svg" in look("with results", home), "the charts are not there"
    for page in ("tasks", "workers", "review", "decisions", "worker?id=w1"):
        path = f"{home}/{page}"
        if "are being computed" in look(page, path):
            wait(f"{page} is there", path, "are being computed")
            look(f"{page} once it is there", path)
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
                cells = ["", "", "", "", ""]
                if size:
                    page = [f"{size:,}", *want(size, most=LARGEST_PAGE)]
                    cells = [*want(used, most=MOST), *page]
                rows.append([f"{what}, from its {how}", quantity(took), quantity(used), *cells])
    finally:
        shutil.rmtree(directory)
    print(f"{tasks:,} tasks, {answers:,} answers")
    table(["", "seconds", "CPU", "wanted", "met", "bytes", "wanted", "met"], rows)
