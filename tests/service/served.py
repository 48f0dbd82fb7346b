"""A service in processes of its own: started, stopped, killed, started again."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

PATIENCE = 60.0
"""Seconds for a start or a stop on a machine that is busy with other tests."""


_ON_OWN_CLOCK = """
import pathlib, sys, time
ahead, real = pathlib.Path(sys.argv.pop(1)), time.time
time.time = lambda: real() + float(ahead.read_text())
"""
"""What a service runs first whose clock its test puts forward."""


class Served:
    """``askwise serve`` on a store, on 127.0.0.1 or on another host.

    Kernels run plain unless ``environment`` says otherwise: a campaign of a test is over before
    they are compiled. ``key`` is the owner's, which a store tells once; ``start`` again takes the
    same port.
    """

    def __init__(self, store: str, directory: Path, processes: int = 1, **environment: str) -> None:
        self.store = store
        self.processes = processes
        self.port = 0
        self.key = ""
        self._directory = directory
        # What is killed can't tidy up: its temporary files go with the test's.
        own = {"ASKWISE_JIT": "0", "TMPDIR": str(directory)}
        self._environment = {**os.environ, **own, **environment}
        self._process: subprocess.Popen[str] | None = None
        self.options: tuple[str, ...] = ()
        """Further options of ``askwise serve``."""
        self.host = "127.0.0.1"
        self.within: tuple[str, ...] = ()
        """A command that the service is run by, on another host for instance."""
        self.prelude = "pass"
        """A statement that the process begins with."""
        self._ahead = 0.0
        self._set_clock()

    @property
    def address(self) -> str:
        return f"http://{self.host}:{self.port}"

    @property
    def pid(self) -> int:
        """The process that was started."""
        assert self._process is not None
        return self._process.pid

    @property
    def errors(self) -> Path:
        """The log of all runs."""
        return self._directory / "service.log"

    def now(self) -> float:
        """The time by its clock."""
        return time.time() + self._ahead

    def pass_by(self, seconds: float) -> None:
        """Put its clock forward; the processes that a parent starts have the real one."""
        assert self.processes == 1
        self._ahead += seconds
        self._set_clock()

    def _set_clock(self) -> None:
        made = self._directory / "ahead.new"
        made.write_text(str(self._ahead))
        made.replace(self._directory / "ahead")

    def start(self) -> Served:
        """Start it and wait until it can serve."""
        deadline = time.monotonic() + PATIENCE
        while not self.begin():
            # Processes that lost their parent have not let go of the port yet.
            assert time.monotonic() < deadline, self.errors.read_text()[-2000:]
            time.sleep(0.1)
        assert self._process is not None
        while not self.is_ready():
            ended = self._process.poll() is not None
            late = ended or time.monotonic() > deadline
            assert not late, self.errors.read_text()[-2000:]
            time.sleep(0.02)
        return self

    def begin(self) -> bool:
        """Start it; False if the port can't be had."""
        command = [
            *self.within,
            sys.executable,
            "-c",
            f"{_ON_OWN_CLOCK}{self.prelude}; from askwise.cli.main import run; run()",
            *(str(self._directory / "ahead"), "serve", "--store", self.store),
            *("--host", self.host, "--port", str(self.port)),
            *("--workers", str(self.processes), *self.options),
        ]
        with self.errors.open("a") as errors:
            before = errors.tell()
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env=self._environment,
                start_new_session=True,
            )
        assert self._process.stdout is not None
        for line in self._process.stdout:
            found = re.search(r"awo_[\w-]+", line)
            if found:
                self.key = found[0]
            place = re.search(rf"serving at http://{re.escape(self.host)}:(\d+)", line)
            if place:
                self.port = int(place[1])
                return True
        self._process.wait()
        # Anywhere in what is new: processes of before may still write their last lines.
        said = self.errors.read_text()[before:]
        assert "can't listen" in said, said
        return False

    def is_ready(self) -> bool:
        with suppress(OSError, http.client.HTTPException):
            return self.call("GET", "/readyz")[0] == 200
        return False

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        key: str | None = None,
        once: str | None = None,
        headers: dict[str, str] | None = None,
        timeout: float = 30.0,
    ) -> tuple[int, Any]:
        """One request on a connection of its own: the status and the JSON of the reply.

        ``key`` is the owner's unless given; ``once`` is the Idempotency-Key.
        """
        sent = {"Authorization": f"Bearer {self.key if key is None else key}", **(headers or {})}
        if once is not None:
            sent["Idempotency-Key"] = once
        if body is not None and not isinstance(body, str):
            body = json.dumps(body)
            sent.setdefault("Content-Type", "application/json")
        link = http.client.HTTPConnection(self.host, self.port, timeout=timeout)
        try:
            link.request(method, path, body, sent)
            reply = link.getresponse()
            text = reply.read()
        finally:
            link.close()
        return reply.status, json.loads(text) if text else None

    def children(self) -> list[int]:
        """The processes that serve, where several do."""
        assert self._process is not None
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdecimal():
                with suppress(OSError):
                    parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                    if (
                        parent == self._process.pid
                        and b"spawn_main" in (entry / "cmdline").read_bytes()
                    ):
                        found.append(int(entry.name))
        return sorted(found)

    def kill(self) -> None:
        """SIGKILL to all of it at once."""
        assert self._process is not None
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._end()

    def kill_parent(self) -> None:
        """SIGKILL to the process that was started; those that it started find out."""
        assert self._process is not None
        self._process.kill()
        self._end()

    def stop(self) -> int:
        """SIGTERM, and the exit code once it has ended."""
        self.signal(signal.SIGTERM)
        return self.wait()

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the process that was started."""
        assert self._process is not None
        self._process.send_signal(number)

    def wait(self) -> int:
        """Wait for its end; the exit code."""
        assert self._process is not None
        code = self._process.wait(PATIENCE)
        self._end()
        return code

    def _end(self) -> None:
        assert self._process is not None
        self._process.wait(PATIENCE)
        assert self._process.stdout is not None
        self._process.stdout.close()

    def end(self) -> None:
        """Whatever state it is in: nothing of it is left."""
        if self._process is not None:
            self.kill()
