"""Two hosts beside one: ask+answer cycles of 64 campaigns over one PostgreSQL, a client each.

A host is a process of the service, here on the cores of one machine. All campaigns are served by
one host, or half of them by each, or each by both in turns, and the three are measured in turns.
The CPU is that of the services' processes with all their threads, not that of the database.
"""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.service import Server, create, started
from benchmarks.timing import quantity, ratio, spread, table, want
from scripts.postgres import Cluster, Unavailable

CAMPAIGNS = 64

MOST_CPU = 1.25
"""The CPU that a cycle may take on two hosts beside that on one."""


@dataclass
class Placement:
    """Its campaigns, the hosts that serve them, and what was measured, an entry per round."""

    name: str
    hosts: list[Server]
    alternate: bool = False
    rate: list[float] = field(default_factory=list)
    busy: list[float] = field(default_factory=list)

    @property
    def campaigns(self) -> list[str]:
        """The names of its campaigns."""
        word = self.name.replace(" ", "-")
        return [f"{word}-{number}" for number in range(CAMPAIGNS)]

    def take(self, everyone: list[Server], length: float) -> None:
        """Measure once; a host that is not used counts too, if it does anything."""
        command = [sys.executable, "-m", "benchmarks.service_clients"]
        command += [",".join(str(host.port) for host in self.hosts), everyone[0].key]
        command += [",".join(self.campaigns), str(CAMPAIGNS), str(length)]
        command += ["alternate"] if self.alternate else []
        before = sum(host.cpu() for host in everyone)
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        found = json.loads(done.stdout)
        cycles = len(found["took"])
        self.rate.append(cycles / found["seconds"])
        self.busy.append((sum(host.cpu() for host in everyone) - before) / cycles * 1e3)


def main(quick: bool) -> None:
    """Print the table."""
    length, rounds = (2.0, 4) if quick else (3.0, 9)
    print(f"{CAMPAIGNS} campaigns over one PostgreSQL, one client each, on one host and on two")
    directory = Path(tempfile.mkdtemp(prefix="askwise-bench-", dir=Path.cwd()))
    try:
        with ExitStack() as stack:
            try:
                cluster = stack.enter_context(Cluster())
                cluster.start()
            except (Unavailable, OSError) as reason:
                print(f"  left out, because there is no PostgreSQL: {reason}")
                return
            command = ("benchmarks.service", "serve", cluster.url())
            hosts = [stack.enter_context(started(directory, *command)) for _ in range(2)]
            hosts[1].key = hosts[0].key
            one, two = Placement("one host", hosts[:1]), Placement("two hosts", hosts)
            turns = Placement("two hosts in turns", hosts, alternate=True)
            for each in (one, two, turns):
                for campaign in each.campaigns:
                    create(hosts[0], campaign, "random-pairs")
                # Until all campaigns are open where they are used, and kernels are loaded there.
                each.take(hosts, 4 * length)
                each.rate.clear()
                each.busy.clear()
            for _ in range(rounds):
                for each in (one, two, turns):
                    each.take(hosts, length)
    finally:
        shutil.rmtree(directory)
    show(one, two, turns)


def show(one: Placement, two: Placement, turns: Placement) -> None:
    """Print what a cycle costs on two hosts beside one."""
    rows = []
    for each in (one, two, turns):
        beside = ratio(each.busy, one.busy)
        rate, busy = statistics.median(each.rate), statistics.median(each.busy)
        wanted = want(beside, most=MOST_CPU) if each is two else ["", ""]
        figures = [quantity(rate), f"{busy:.2f}", f"{beside:.2f}", spread(each.busy, one.busy)]
        rows.append([each.name, *figures, *wanted])
    table(["", "cycles /s", "CPU ms a cycle", "to one *", "rounds", "wanted", "met"], rows)
    print("  * by rounds; in turns, each request of a client goes to the other host")
