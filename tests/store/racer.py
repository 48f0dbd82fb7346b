"""Races for records in a process of its own, and says what it won.

usage: racer.py URL NAME ROUNDS

In every round it tries to make a record that the others try to make too, and counts two records
up together until it has succeeded once; every other racer names the two the other way round.
"""

from __future__ import annotations

import sys

from askwise.store import Change, open_store


def main(url: str, name: str, rounds: int) -> None:
    store = open_store(url)
    print("ready", flush=True)
    sys.stdin.readline()
    counters = ["x", "y"] if ord(name) % 2 else ["y", "x"]
    for number in range(rounds):
        if store.change([Change("prize", f"{number:03}", None, name)]):
            print(f"won {number}", flush=True)
        done = False
        while not done:
            found = {each: store.record("count", each) for each in counters}
            before = {
                each: None if record is None else record.body for each, record in found.items()
            }
            done = store.change(
                [Change("count", i, body, str(int(body or "0") + 1)) for i, body in before.items()]
            )
        print("counted", flush=True)
    store.close()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
