"""Runs of model judges that are killed at random moments, and what is true of them afterwards."""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import signal
import time
import zlib
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from askwise import Campaign, Worker
from askwise.core.content import Content
from askwise.core.events import Kind
from askwise.core.money import from_micro, to_micro
from askwise.running import RunResult, run
from askwise.sources import Question
from askwise.sources.cache import StoreCache
from askwise.sources.chat import Chat
from askwise.store import SqliteStore
from askwise.store.records import MODEL_REPLIES
from askwise.testing.chat_server import Asked, ChatServer, Scripted

FORKED = multiprocessing.get_context("fork")
CONTENT = Content("Is it even?", options=["no", "yes"])
PRICE = {"input": "15", "output": "60"}
NAME = "even"


@dataclass
class Faulty:
    """An endpoint of which one call in ten goes wrong, the same ones whenever they are made."""

    latency: float
    tries: Counter[tuple[str, str]] = field(default_factory=Counter)

    def __call__(self, asked: Asked) -> Scripted:
        call = (str(asked.body["model"]), asked.item)
        self.tries[call] += 1
        number = zlib.crc32(repr(call).encode())
        said = "yes" if int(asked.item.split()[1]) % 2 == 0 else "no"
        if number % 7 == 0:
            said = "no" if said == "yes" else "yes"
        made = Scripted(said, latency=self.latency)
        if number % 10:
            return made
        fault = number // 10 % 5
        if fault == 0:
            return Scripted("It will not judge.", refusal="I can't.", latency=self.latency)
        if fault == 1:
            return Scripted(said, drop="unanswered", latency=self.latency)
        if fault == 2:
            return Scripted(said, drop="halfway", latency=self.latency)
        if self.tries[call] == 1:
            # For the moment, and free.
            wait = {"Retry-After": "0"}
            return Scripted("busy", status=429 if fault == 3 else 503, headers=wait)
        return made


@dataclass
class Killed:
    """A campaign of judges on a file, and an endpoint that keeps its own bill."""

    directory: Path
    judges: int
    slots: int
    tasks: int
    policy: str
    budget: str = "100"
    latency: float = 0.02
    unseen: set[str] = field(default_factory=set)
    """Charges of which no reply was kept when a run was killed."""
    kills: int = 0

    def __post_init__(self) -> None:
        self.server = ChatServer(Faulty(self.latency), price=PRICE).start()
        self.file = self.directory / f"{self.policy}.sqlite"
        with closing(SqliteStore(self.file)) as store:
            sources = self.sources(store)
            longest = Question(CONTENT, "t", "item 00000")
            self.ceiling = max(source.ceiling(longest) for source in sources.values())
            Campaign.create(
                workers=[
                    Worker(id, from_micro(self.ceiling), kind="model", source=source.signature())
                    for id, source in sources.items()
                ],
                tasks=[{"id": f"t{at}", "payload": f"item {at}"} for at in range(self.tasks)],
                content=CONTENT,
                budget=self.budget,
                policy=self.policy,
                store=store,
                seed=1,
                name=NAME,
            )

    def sources(self, store: SqliteStore) -> dict[str, Chat]:
        cache = StoreCache(store)
        return {
            f"judge{at}": Chat(f"m{at}", self.server.url, PRICE, slots=self.slots, cache=cache)
            for at in range(self.judges)
        }

    def run(self) -> RunResult:
        """Run it to its end, or to one's own."""
        with closing(SqliteStore(self.file)) as store:
            return run(Campaign.open(store, NAME), self.sources(store))

    def kill(self, after: int) -> bool:
        """Run it in a process that is killed after so many charges; False if it ended before."""
        wanted = len(self.server.charges) + after
        process = FORKED.Process(target=self.run)
        process.start()
        assert process.pid is not None
        while len(self.server.charges) < wanted and process.is_alive():
            time.sleep(0.0005)
        os.kill(process.pid, signal.SIGKILL)
        process.join(60)
        if process.exitcode == 0:
            return False
        assert process.exitcode == -signal.SIGKILL
        self.kills += 1
        self._note_unseen()
        return True

    def _note_unseen(self) -> None:
        """Note what was paid and is known to nobody: to put it once more is to pay once more."""
        # What is under way is charged to the dead when it is answered.
        until = time.monotonic() + 30
        while self.server._busy and time.monotonic() < until:
            time.sleep(0.001)
        with closing(SqliteStore(self.file)) as store:
            kept = [json.loads(each.body)["reply"] for each in store.records(MODEL_REPLIES)]
            seen = {json.loads(reply).get("reference") for reply in kept}
            seen |= {event.reference for event in Campaign.open(store, NAME).log()}
        self.unseen |= {charge.id for charge in self.server.charges if charge.id not in seen}

    def end(self) -> None:
        self.server.stop()

    # What is true of it.

    def labels(self) -> list[object]:
        with closing(SqliteStore(self.file)) as store:
            return [answer.value for answer in Campaign.open(store, NAME).answers()]

    def paid_twice(self) -> list[str]:
        """Charges for a call that had been paid, and whose reply was there."""
        first: dict[tuple[str, str], str] = {}
        calls = {f"chatcmpl-{asked.number}": asked for asked in self.server.asked}
        again = []
        for charge in self.server.charges:
            asked = calls[charge.id]
            call = (str(asked.body["model"]), asked.item)
            if call in first and first[call] not in self.unseen:
                again.append(charge.id)
            first[call] = charge.id
        return again

    def check(self) -> dict[str, int]:
        """Compare log, bill and budget; returns the figures."""
        charges = {charge.id: charge for charge in self.server.charges}
        with closing(SqliteStore(self.file)) as store:
            campaign = Campaign.open(store, NAME)
            log, status = campaign.log(), campaign.status()
        budget, spent, out, most = to_micro(self.budget, "budget"), 0, {}, 0
        billed = referred = 0
        dearest = max(charge.cost for charge in charges.values())
        for event in log:
            if event.kind == Kind.ASKED:
                out[event.seq] = event.price or 0
            elif event.kind in (Kind.ANSWER, Kind.FAILED):
                out.pop(event.assignment or 0)
                spent += event.price or 0
                if event.reference is not None:
                    referred += 1
                    assert event.price == event.cost == charges[event.reference].cost
                    billed += charges[event.reference].cost
                else:
                    # Nobody heard what it cost: its ceiling is booked, or it was refused for free.
                    assert event.price == 0 or (event.price or 0) >= dearest
            elif event.kind in (Kind.EXPIRED, Kind.DECLINED):
                out.pop(event.assignment or 0)
            most = max(most, spent + sum(out.values()))
            assert spent + sum(out.values()) <= budget, f"event {event.seq}"
        assert not out
        assert to_micro(status.spent, "spent") == spent
        answered = [event.assignment for event in log if event.kind == Kind.ANSWER]
        assert len(answered) == len(set(answered))
        assert self.paid_twice() == []
        calls = Counter((str(each.body["model"]), each.item) for each in self.server.asked)
        return {
            "kills": self.kills,
            "requests": len(self.server.asked),
            "calls": len(calls),
            "answers": len(answered),
            "charges": len(charges),
            "referred": referred,
            "billed": billed,
            "spent": spent,
            "bill": self.server.bill,
            "unseen": len(self.unseen),
            "most held": most,
            "budget": budget,
        }


def kill_again_and_again(
    scene: Killed, times: int, seed: int, within: Callable[[random.Random], int]
) -> None:
    """Kill runs of a campaign at moments that are drawn, then run it to its end."""
    draw = random.Random(seed)
    while scene.kills < times and scene.kill(within(draw)):
        pass
    scene.run()
