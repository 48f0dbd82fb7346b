"""Claims: a campaign is run by one runner at a time, on whatever machine.

A claim is a record in the campaign's store that lapses unless its holder renews it. Who finds it
lapsed takes it over. So does who can prove that the holder's process is gone: it ran on this
machine, since this boot, and there is no such process any more.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from askwise.core.errors import Conflict
from askwise.store import Change, Store
from askwise.store.records import RUNS

EXPIRY = 30.0
"""Seconds after which a claim lapses that is not renewed."""

RENEWAL = 10.0
"""Seconds between two renewals."""


@dataclass(frozen=True)
class RunHolder:
    """Who runs a campaign.

    Attributes
    ----------
    token : str
        Names this run among all others.
    host, pid : str, int
        Where it runs, for people to read.
    process : str
        Names the process among all that ran since the machine was started; empty where the system
        does not tell.
    since, until : float
        When it began, and until when it is certain to go on, in seconds since 1970.
    report : mapping
        What the runner says of itself, as JSON.
    """

    token: str
    host: str
    pid: int
    process: str
    since: float
    until: float
    report: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, body: str) -> RunHolder:
        """Read what a claim's record holds."""
        return cls(**json.loads(body))

    def written(self) -> str:
        """As a claim's record holds it."""
        return json.dumps(asdict(self), sort_keys=True)

    def is_over(self, now: float) -> bool:
        """Whether others may take over: the claim has lapsed, or its process is gone."""
        return self.until <= now or _is_gone(self.process)


def last_run(store: Store, campaign: str) -> RunHolder | None:
    """Who runs a campaign, or ran it last; None if nobody ever did."""
    found = store.record(RUNS, campaign)
    return None if found is None else RunHolder.read(found.body)


def holder_of(store: Store, campaign: str, now: float | None = None) -> RunHolder | None:
    """Who runs a campaign at this moment; None if nobody."""
    found = last_run(store, campaign)
    if found is None or found.is_over(time.time() if now is None else now):
        return None
    return found


class RunClaim:
    """A runner's claim to a campaign.

    Parameters
    ----------
    store : Store
        The campaign's store.
    campaign : str
        Its name.
    expiry : float
        Seconds after which the claim lapses unless it is renewed.
    clock : callable
        Seconds since 1970.

    Examples
    --------
    >>> from askwise.store import MemoryStore
    >>> store = MemoryStore()
    >>> mine, other = RunClaim(store, "cats"), RunClaim(store, "cats")
    >>> mine.take()
    >>> other.take()
    Traceback (most recent call last):
    askwise.core.errors.Conflict: campaign 'cats' is run by process ... on ...: stop that run, or \
wait until it ends
    >>> mine.release()
    >>> other.take()
    """

    def __init__(
        self,
        store: Store,
        campaign: str,
        *,
        expiry: float = EXPIRY,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.campaign = campaign
        self.expiry = expiry
        self._store = store
        self._clock = clock
        self._lock = threading.Lock()
        self._held: str | None = None
        """The record's body, as we wrote it last."""
        self._until = 0.0
        self._ticks = 0.0
        """When it lapses by the clock that nobody sets."""

    def take(self) -> None:
        """Claim the campaign.

        Raises
        ------
        Conflict
            Another runs it.
        """
        with self._lock:
            while True:
                now, ticks = self._clock(), time.monotonic()
                found = self._store.record(RUNS, self.campaign)
                if found is not None:
                    holder = RunHolder.read(found.body)
                    if not holder.is_over(now):
                        raise run_by_another(self.campaign, holder)
                mine = RunHolder(
                    token=secrets.token_hex(8),
                    host=socket.gethostname(),
                    pid=os.getpid(),
                    process=_this_process(),
                    since=now,
                    until=now + self.expiry,
                )
                if self._write(None if found is None else found.body, mine, ticks):
                    return

    def renew(self, report: dict[str, Any] | None = None) -> None:
        """Hold the claim for longer, and say how the run goes.

        Raises
        ------
        Conflict
            It lapsed, and another has taken over.
        """
        with self._lock:
            while self._held is not None:
                now, ticks = self._clock(), time.monotonic()
                mine = RunHolder.read(self._held)
                told = mine.report if report is None else report
                later = replace(mine, until=now + self.expiry, report=told)
                if self._write(self._held, later, ticks):
                    return
                found = self._store.record(RUNS, self.campaign)
                self._held = None if found is None else found.body
                # It is ours if a write of which we did not hear was done after all.
                if found is None or RunHolder.read(found.body).token != mine.token:
                    self._held = None
            self._until = 0.0
            raise Conflict(
                f"campaign {self.campaign!r} is now run by another process: this run did not "
                "renew its claim in time, and makes no more calls",
                field="name",
                reason="already_running",
            )

    @property
    def is_held(self) -> bool:
        """Whether it can't have lapsed, by any clock."""
        return self._clock() < self._until and time.monotonic() < self._ticks

    def release(self, report: dict[str, Any] | None = None) -> None:
        """Let others run the campaign, if the claim is still ours; how the run went stays."""
        with self._lock:
            if self._held is not None:
                mine = RunHolder.read(self._held)
                told = mine.report if report is None else report
                over = replace(mine, until=min(mine.until, self._clock()), report=told)
                self._store.change([Change(RUNS, self.campaign, self._held, over.written())])
            self._held, self._until = None, 0.0

    def _write(self, before: str | None, mine: RunHolder, ticks: float) -> bool:
        body = mine.written()
        if not self._store.change([Change(RUNS, self.campaign, before, body)]):
            return False
        self._held, self._until, self._ticks = body, mine.until, ticks + self.expiry
        return True


def run_by_another(campaign: str, holder: RunHolder) -> Conflict:
    """Build the error for a campaign that another runs."""
    until = datetime.fromtimestamp(holder.until, UTC)
    return Conflict(
        f"campaign {campaign!r} is run by process {holder.pid} on {holder.host}, until "
        f"{until:%Y-%m-%d %H:%M:%S} UTC or longer if it renews its claim: stop that run, or wait "
        "until it ends",
        field="name",
        reason="already_running",
    )


_PROCESSES = Path("/proc")


def _this_process() -> str:
    """Names this process among all since the machine was started; empty where nothing tells."""
    begun = _began(os.getpid())
    return "" if begun is None else f"{_machine()}/{os.getpid()}/{begun}"


def _machine() -> str:
    """Names this machine since it was started, and which processes of it we can see."""
    boot = (_PROCESSES / "sys/kernel/random/boot_id").read_text().strip()
    return f"{boot}/{os.readlink(_PROCESSES / 'self/ns/pid')}"


def _is_gone(process: str) -> bool:
    """Whether it is certain that a process has ended."""
    machine, _, rest = process.rpartition("/")
    machine, _, pid = machine.rpartition("/")
    try:
        if not machine or machine != _machine():
            return False
    except OSError:
        return False
    return _began(int(pid)) != rest


def _began(pid: int) -> str | None:
    """When a process began, in ticks since the machine was started; None if it has ended."""
    try:
        stat = (_PROCESSES / str(pid) / "stat").read_text()
    except OSError:
        return None
    # The name, in parentheses, may hold anything.
    state, *fields = stat.rpartition(")")[2].split()
    return None if state in "ZX" else fields[18]
