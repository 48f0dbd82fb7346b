"""Hosts of a service: network namespaces of this machine, each with a cable of its own to it."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

NETWORK = "10.203"
"""Of addresses that are used within this machine alone."""


class NoHosts(Exception):
    """There can be no namespaces here; its text says why."""


@dataclass(frozen=True)
class Host:
    """A host: its address, that of this machine as it sees it, and how to run something there."""

    name: str
    number: int

    @property
    def address(self) -> str:
        return f"{NETWORK}.{self.number}.2"

    @property
    def here(self) -> str:
        """The address of this machine at the near end of its cable."""
        return f"{NETWORK}.{self.number}.1"

    @property
    def network(self) -> str:
        return f"{NETWORK}.{self.number}.0/24"

    @property
    def within(self) -> tuple[str, ...]:
        """The command that runs another one there."""
        return ("ip", "netns", "exec", self.name)

    @property
    def cable(self) -> str:
        return f"{self.name}-a"

    def cut(self) -> None:
        """Cut it off: no packet passes in either direction, and no end is told."""
        _ip("link", "set", self.cable, "down")

    def join(self) -> None:
        """Connect it again."""
        _ip("link", "set", self.cable, "up")


@contextmanager
def hosts(count: int) -> Iterator[list[Host]]:
    """Lend hosts that are connected to this machine."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        raise NoHosts("network namespaces need root and the program ip")
    with ExitStack() as stack:
        token, made = secrets.token_hex(2), []
        for number in range(1, count + 1):
            host = Host(f"aw{token}{number}", number + 1)
            _ip("netns", "add", host.name)
            stack.callback(_ip, "netns", "delete", host.name)
            far = f"{host.name}-b"
            _ip("link", "add", host.cable, "type", "veth", "peer", "name", far)
            stack.callback(_ip, "link", "delete", host.cable)
            _ip("link", "set", far, "netns", host.name)
            _ip("address", "add", f"{host.here}/24", "dev", host.cable)
            _ip("link", "set", host.cable, "up")
            inside = ("-netns", host.name)
            _ip(*inside, "address", "add", f"{host.address}/24", "dev", far)
            _ip(*inside, "link", "set", far, "up")
            _ip(*inside, "link", "set", "lo", "up")
            made.append(host)
        yield made


def _ip(*words: str) -> None:
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise NoHosts(f"ip {' '.join(words)}: {done.stderr.strip()}")
