"""A bare service to compare ours with: the same two requests, the same two commits, nothing else.

Starlette on uvicorn, with the same parser and event loop as ours. ``ask`` writes two rows (a
decision and an assignment), ``answer`` reads a JSON body and writes one; rows and replies are about
as long as ours. One thread commits to SQLite with full syncs, and takes all rows that wait for it
into one transaction: the same group commit as ours, in its shortest form. There are no keys, no
limits, no log of requests and no campaign: an ask takes the next number.

usage: python -m benchmarks.bare_service FILE
"""

from __future__ import annotations

import asyncio
import itertools
import json
import queue
import socket
import sqlite3
import sys
import threading
import time

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

Rows = list[tuple[int, str, float, str]]


class Commits:
    """Rows that wait, and the thread that commits them."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._waiting: queue.SimpleQueue[tuple[Rows, asyncio.Future[None]]] = queue.SimpleQueue()
        self._loop: asyncio.AbstractEventLoop | None = None

    async def write(self, rows: Rows) -> None:
        """Return once the rows are on the disk."""
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
            threading.Thread(target=self._commit, daemon=True).start()
        done = self._loop.create_future()
        self._waiting.put((rows, done))
        await done

    def _commit(self) -> None:
        link = sqlite3.connect(self._file, isolation_level=None)
        link.execute("PRAGMA journal_mode = WAL")
        link.execute("PRAGMA synchronous = FULL")
        link.execute(
            "CREATE TABLE IF NOT EXISTS events (seq INTEGER PRIMARY KEY, kind TEXT, time REAL, "
            "body TEXT)"
        )
        assert self._loop is not None
        while True:
            group = [self._waiting.get()]
            while not self._waiting.empty():
                group.append(self._waiting.get())
            link.execute("BEGIN IMMEDIATE")
            rows = [row for each, _ in group for row in each]
            link.executemany("INSERT INTO events VALUES (?, ?, ?, ?)", rows)
            link.execute("COMMIT")
            self._loop.call_soon_threadsafe(_wake, [done for _, done in group])


def _wake(group: list[asyncio.Future[None]]) -> None:
    for done in group:
        if not done.done():
            done.set_result(None)


def application(file: str) -> Starlette:
    """The two routes."""
    commits, numbers = Commits(file), itertools.count(1)

    async def ask(request: Request) -> Response:
        now, at = time.time(), next(numbers)
        task, worker = f"t{at % 4000}", f"w{at % 50}"
        decided = json.dumps({"decision": at, "note": "random", "rows": [[task, worker, 1, 0.001]]})
        asked = {"decision": at, "task": task, "worker": worker, "propensity": 0.001}
        asked["price"] = "0.05"
        seq = 3 * at
        rows = [(seq, "DECIDED", now, decided), (seq + 1, "ASKED", now, json.dumps(asked))]
        await commits.write(rows)
        shown = {"id": f"{request.path_params['name']}:{seq + 1}", **asked, "expires": None}
        del shown["decision"]
        return JSONResponse({"status": "batch", "assignments": [shown]})

    async def answer(request: Request) -> Response:
        body = json.loads(await request.body())
        id = request.path_params["id"]
        seq = int(id.rpartition(":")[2])
        told = {"assignment": seq, "task": "t1", "worker": "w1", "price": "0.05"}
        text = json.dumps({**told, "value": body["value"]})
        await commits.write([(seq + 1, "ANSWER", time.time(), text)])
        return JSONResponse({"assignment": id, "state": "answered"})

    return Starlette(
        routes=[
            Route("/campaigns/{name}/ask", ask, methods=["POST"]),
            Route("/assignments/{id}/answer", answer, methods=["POST"]),
        ]
    )


def main(file: str) -> None:
    """Serve on a free port, which is told first."""
    taken = socket.socket()
    taken.bind(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{taken.getsockname()[1]}", flush=True)
    config = uvicorn.Config(
        application(file), http="httptools", loop="uvloop", log_config=None, access_log=False
    )
    uvicorn.Server(config).run(sockets=[taken])


if __name__ == "__main__":
    main(sys.argv[1])
