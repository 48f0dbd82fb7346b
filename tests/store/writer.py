"""Appends to a store in a process of its own, and says what was committed.

usage: writer.py URL WORKER WRITES (0: without end)

Every write is three events and a reply under one key; the key is printed when the commit has
returned. It decides outside the lock, as a careless client would, and retries on Conflict.
"""

from __future__ import annotations

import sys
from contextlib import suppress

from askwise.core.errors import Conflict
from askwise.core.events import Event, Kind
from askwise.store import Reply, Snapshot, open_store

BLOB = bytes(100_000)
"""Large enough for SQLite to move its write-ahead log into the file every few writes."""


def batch(key: str, seq: int) -> list[Event]:
    """The three events of one write."""
    kinds = (Kind.DECIDED, Kind.ASKED, Kind.ANSWER)
    return [Event(kind, seq=seq + at, key=key) for at, kind in enumerate(kinds, 1)]


def main(url: str, worker: str, writes: int) -> None:
    store = open_store(url)
    with suppress(Conflict):
        store.create("cats", "{}", 0.0)
    print("ready", flush=True)
    sys.stdin.readline()
    seq = len(store.read("cats"))
    done = 0
    while done < writes or writes == 0:
        key = f"{worker}:{done}"
        try:
            with store.write("cats") as transaction:
                transaction.append(batch(key, seq), seq)
                transaction.keep(Reply(key, "request", str(seq)))
        except Conflict:
            seq += len(store.read("cats", after=seq))
            continue
        print(key, flush=True)
        seq += 3
        done += 1
        if done % 4 == 0:
            store.save("cats", Snapshot(seq, f"v{done % 3}", BLOB))
    store.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
