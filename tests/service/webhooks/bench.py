"""Webhooks under test: a receiver on loopback, a clock that is set, the parts put together."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from askwise import Campaign, Worker
from askwise.service.open_campaigns import OpenCampaigns
from askwise.service.webhooks.outbox import HookWatcher
from askwise.service.webhooks.posting import Network
from askwise.service.webhooks.records import EVENTS, Webhook
from askwise.service.webhooks.sending import Sender
from askwise.service.webhooks.webhooks import Webhooks
from askwise.store import Store
from tests.clock import Clock


@dataclass(frozen=True)
class Got:
    """A request as it came."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def message(self) -> dict[str, Any]:
        read: dict[str, Any] = json.loads(self.body)
        return read


class Receiver:
    """Keeps what it gets; ``answer`` says with what status, and may take its time."""

    def __init__(self) -> None:
        self.got: list[Got] = []
        self.answer: Callable[[Got], int] = lambda _: 200
        self.says = b"thanks"
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                body = self.rfile.read(length)
                if len(body) < length:
                    return  # the sender's process ended
                got = Got(self.path, dict(self.headers), body)
                receiver.got.append(got)
                self.send_response(receiver.answer(got))
                self.send_header("Location", "/elsewhere")
                self.send_header("Content-Length", str(len(receiver.says)))
                self.end_headers()
                self.wfile.write(receiver.says)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        class Server(ThreadingHTTPServer):
            def handle_error(self, request: Any, client_address: Any) -> None:
                pass  # whoever went away before the answer

        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/hook?of=mine"

    @property
    def messages(self) -> list[dict[str, Any]]:
        return [got.message for got in self.got]

    @property
    def told(self) -> list[tuple[str, int]]:
        """Events and their places in the log."""
        return [(message["event"], message["seq"]) for message in self.messages]


@contextmanager
def receiving() -> Iterator[Receiver]:
    receiver = Receiver()
    thread = threading.Thread(target=receiver.server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield receiver
    receiver.server.shutdown()
    receiver.server.server_close()


class Bench:
    """All of one process but its threads."""

    def __init__(self, store: Store, clock: Clock, network: Network | None = None) -> None:
        self.clock = clock
        self.network = network or Network(private=True)
        self.campaigns = OpenCampaigns(store, sweep=60.0)
        self.hooks = Webhooks(store, self.network, clock)
        self.watcher = HookWatcher(self.campaigns, self.hooks, timer=clock)
        self.sender = Sender(self.hooks, self.network, spread=lambda: 1.0)

    def make(self, url: str, *events: str, campaign: str | None = None) -> Webhook:
        return self.hooks.make(url, events or EVENTS, campaign=campaign)[1]

    def send(self) -> None:
        for hook in self.hooks.active():
            while self.sender.run(hook, threading.Event()):
                pass

    def work(self) -> None:
        self.watcher.look()
        # As many as were made in one look are due one after another, if only just.
        self.clock.pass_by(0.001)
        self.send()


def units(store: Store, name: str = "units", budget: int | None = 10) -> Campaign:
    """A campaign that buys units of work of one worker, at 1 each."""
    return Campaign.create(
        workers=[Worker("ann", 1)],
        outcome="utility",
        budget=budget,
        policy="uniform",
        store=store,
        seed=1,
        name=name,
    )


def labels(store: Store, name: str = "labels") -> Campaign:
    """A campaign whose tasks close with their second answer."""
    return Campaign.create(
        workers=[Worker("ann", 1), Worker("bob", 2)],
        tasks=["one", "two"],
        options=["no", "yes"],
        budget=100,
        policy="uniform",
        stopping={"name": "fixed", "n": 2},
        store=store,
        seed=1,
        name=name,
    )


def buy(campaign: Campaign, count: int, value: float | str = 0.5) -> None:
    """Ask and answer, one after another."""
    for _ in range(count):
        campaign.tell(campaign.ask()[0].id, value)  # type: ignore[index]
