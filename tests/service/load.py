"""Clients that ask, answer, retry, repeat and abandon, and note what they were told."""

from __future__ import annotations

import http.client
import json
import random
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

LOST = (OSError, http.client.HTTPException, json.JSONDecodeError)
"""What a client sees of a service that is killed; a reply cut short is among them."""

PATIENCE = 90.0
"""Seconds for which a client tries to get an answer: a service that is killed comes back."""


Place = tuple[str, int]
"""A host and a port."""


class Link:
    """One client's connection: kept open, made anew after a loss.

    ``places`` are other hosts of the same service: after a loss the next one is tried.
    """

    def __init__(
        self, port: int, key: str, timeout: float = 30.0, places: Sequence[Place] = ()
    ) -> None:
        self._places = deque(places or [("127.0.0.1", port)])
        self._key = key
        self._timeout = timeout
        self._link: http.client.HTTPConnection | None = None

    def send(self, path: str, body: Any = None, once: str | None = None) -> tuple[int, Any]:
        """POST once; raises one of LOST if there is no reply."""
        headers = {"Authorization": f"Bearer {self._key}", "Content-Type": "application/json"}
        if once is not None:
            headers["Idempotency-Key"] = once
        if self._link is None:
            host, port = self._places[0]
            self._link = http.client.HTTPConnection(host, port, timeout=self._timeout)
        try:
            self._link.request("POST", path, None if body is None else json.dumps(body), headers)
            reply = self._link.getresponse()
            return reply.status, json.loads(reply.read())
        except LOST:
            self.close()
            self._places.rotate()
            raise

    def close(self) -> None:
        if self._link is not None:
            self._link.close()
            self._link = None


@dataclass
class Told:
    """What the service acknowledged to all clients, and what they left open."""

    asked: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """The assignments of each ask, by its key."""
    answered: dict[str, Any] = field(default_factory=dict)
    declined: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)
    """Assignments whose answer or decline was refused, for good."""
    unknown: set[str] = field(default_factory=set)
    """Keys of requests that were given up after they had got lost."""
    wrong: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)


def value_of(assignment: str, utility: bool) -> Any:
    """The answer to an assignment: a function of its number alone."""
    mixed = int(assignment.rpartition(":")[2]) * 7919 % 101
    return mixed / 100 if utility else ("yes" if mixed % 3 else "no")


class Client:
    """One of the crowd: works on random campaigns until told to stop."""

    def __init__(self, link: Link, number: int, seed: int, told: Told) -> None:
        self.link = link
        self.chance = random.Random(1000 * seed + number)
        self.number = number
        self.seed = seed
        self.told = told
        self.written = 0

    def run(self, campaigns: dict[str, bool], over: threading.Event) -> None:
        """Work on ``campaigns`` (by name: whether answers are utilities) until ``over``."""
        try:
            while not over.is_set():
                name = self.chance.choice(list(campaigns))
                self.cycle(name, campaigns[name])
        except Exception as error:
            self.told.wrong.append(f"client {self.number}: {error!r}")
        finally:
            self.link.close()

    def cycle(self, name: str, utility: bool) -> None:
        key = self.new_key()
        body = {"limit": self.chance.choice([1, 1, 1, 3])}
        reply = self.sure(f"/campaigns/{name}/ask", body, key)
        if reply is None:
            return
        status, raw = reply
        self.expect(status == 200, f"ask {key}: {status} {raw}")
        if raw["status"] != "batch":
            self.told.counts[raw["status"]] += 1
            time.sleep(0.02)
            return
        self.told.asked[key] = raw["assignments"]
        if self.chance.random() < 0.1:
            again = self.sure(f"/campaigns/{name}/ask", body, key)
            self.expect(again in (None, reply), f"ask {key} again: {again}, first {reply}")
        for assignment in raw["assignments"]:
            self.settle(assignment["id"], utility)

    def settle(self, assignment: str, utility: bool) -> None:
        draw = self.chance.random()
        if draw < 0.1:
            self.told.counts["abandoned"] += 1
            return
        if draw < 0.2:
            self.decline(assignment)
            return
        if draw < 0.25:
            time.sleep(0.35)  # where there are leases it is over now
        value = value_of(assignment, utility)
        key, path = self.new_key(), f"/assignments/{assignment}/answer"
        reply = self.sure(path, {"value": value}, key)
        if reply is None:
            return
        status, raw = reply
        self.expect(status in (200, 409), f"answer {assignment}: {status} {raw}")
        if status != 200:
            self.told.counts["refused"] += 1
            self.told.refused.add(assignment)
            return
        self.told.answered[assignment] = value
        draw = self.chance.random()
        if draw < 0.15:
            again = self.sure(path, {"value": value}, key)
            self.expect(again in (None, reply), f"answer {assignment} again: {again}")
        elif draw < 0.25:
            twice = self.sure(path, {"value": value}, self.new_key())
            self.expect(twice is None or twice[0] == 409, f"a second answer: {twice}")
        elif draw < 0.3:
            other = 0.123 if utility else ("no" if value == "yes" else "yes")
            changed = self.sure(path, {"value": other}, key)
            self.expect(changed is None or changed[0] == 409, f"key used again: {changed}")

    def decline(self, assignment: str) -> None:
        key = self.new_key()
        reply = self.sure(f"/assignments/{assignment}/decline", None, key)
        if reply is None:
            return
        status, raw = reply
        self.expect(status in (200, 409), f"decline {assignment}: {status} {raw}")
        (self.told.declined if status == 200 else self.told.refused).add(assignment)

    def sure(self, path: str, body: Any, key: str) -> tuple[int, Any] | None:
        """Send until there is a reply; now and then give up after a loss (None)."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                status, raw = self.link.send(path, body, key)
                if status not in (429, 503):
                    return status, raw
                self.told.counts[str(status)] += 1
            except LOST:
                self.told.counts["lost"] += 1
                if self.chance.random() < 0.1:
                    self.told.unknown.add(key)
                    return None
            if time.monotonic() > deadline:
                raise TimeoutError(f"no reply to {path} in {PATIENCE:.0f} s")
            time.sleep(self.chance.uniform(0.05, 0.3))

    def new_key(self) -> str:
        self.written += 1
        return f"{self.seed}-{self.number}-{self.written}"

    def expect(self, good: bool, message: str) -> None:
        if not good:
            self.told.wrong.append(message)


class Crowd:
    """Clients in threads; with ``places``, half of them begin at each."""

    def __init__(
        self,
        port: int,
        key: str,
        campaigns: dict[str, bool],
        *,
        size: int = 16,
        seed: int = 0,
        places: tuple[Place, ...] = (),
        timeout: float = 30.0,
    ) -> None:
        self.told = Told()
        self._over = threading.Event()
        links = [
            Link(
                port, key, timeout, places[number % len(places) :] + places[: number % len(places)]
            )
            if places
            else Link(port, key, timeout)
            for number in range(size)
        ]
        self._threads = [
            threading.Thread(
                target=Client(link, number, seed, self.told).run, args=(campaigns, self._over)
            )
            for number, link in enumerate(links)
        ]

    def __enter__(self) -> Crowd:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()

    def wait_for_answers(self, count: int) -> None:
        """Let ``count`` more answers be acknowledged."""
        goal = len(self.told.answered) + count
        self._wait_until(lambda: len(self.told.answered) >= goal, "no answers any more")

    def wait_for_a_loss(self) -> None:
        """Let another request get lost."""
        before = self.told.counts["lost"]
        self._wait_until(lambda: self.told.counts["lost"] > before, "nothing gets lost")

    def _wait_until(self, holds: Callable[[], bool], otherwise: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while not holds():
            assert not self.told.wrong, self.told.wrong[:3]
            assert time.monotonic() < deadline, f"{otherwise}: {self.told.counts}"
            time.sleep(0.005)
