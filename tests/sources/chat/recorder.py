"""A small model's server, and a proxy in front of it that keeps what was asked and replied.

usage: recorder.py FILE URL
           Goes on with the campaign in FILE, whose judges are at URL, to its end.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from askwise import Campaign, Worker
from askwise.core.content import Content
from askwise.core.money import from_micro
from askwise.running import run
from askwise.sources import Question
from askwise.sources.chat import Chat
from askwise.store import Store
from scripts import real_model
from scripts.installing import Unavailable

PRICE = {"input": "0.001", "cached": "0.0005", "output": "0.004", "per": 1000}
"""A token of a prompt is 1 millionth, half of that if it was cached, and one of a reply is 4."""

CONTENT = Content("Is this message spam?", options=["spam", "ham"])
MESSAGES = {
    "m1": "You have won a prize, click here",
    "m2": "See you at lunch",
    "m3": "Cheap pills for you",
    "m4": "The meeting is at noon",
    "m5": "Send money to claim your prize",
    "m6": "Thanks for the notes",
}
PROMPTS = {
    "short": "{{ question }} {{ item }}",
    "terse": "Message: {{ item }} {{ question }}",
}


def bill(usage: dict[str, Any]) -> int:
    """What a reply costs by its own count, in millionths."""
    cached = usage.get("prompt_tokens_details", {}).get("cached_tokens", 0)
    fresh = usage["prompt_tokens"] - cached
    return math.ceil(fresh + cached / 2 + 4 * usage["completion_tokens"])


@dataclass
class Recorder:
    """A proxy on 127.0.0.1: forwards to the model's server, keeps requests and replies.

    ``before_reply`` is called with the number of replies so far, before each is passed on.
    """

    target: str
    requests: list[dict[str, Any]] = field(default_factory=list)
    replies: list[dict[str, Any]] = field(default_factory=list)
    before_reply: Callable[[int], None] = lambda count: None

    @property
    def bills(self) -> list[int]:
        """What each reply costs."""
        return [bill(reply["usage"]) for reply in self.replies if "usage" in reply]

    @contextmanager
    def serving(self) -> Iterator[str]:
        """The address to call."""
        recorder = self

        class Forward(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                recorder.requests.append(json.loads(body))
                headers = {"Content-Type": "application/json"}
                request = urllib.request.Request(recorder.target + self.path, body, headers)
                try:
                    with urllib.request.urlopen(request, timeout=60) as found:
                        status, reply = found.status, found.read()
                except urllib.error.HTTPError as refused:
                    status, reply = refused.code, refused.read()
                recorder.replies.append(json.loads(reply))
                recorder.before_reply(len(recorder.replies))
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(reply)))
                self.end_headers()
                try:
                    self.wfile.write(reply)
                except OSError:
                    return  # whoever asked is gone, as some tests want it

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Forward)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        finally:
            server.shutdown()
            server.server_close()


@contextmanager
def model_server() -> Iterator[str]:
    """The address of a small model's server, in a process of its own."""
    process = subprocess.Popen(
        [sys.executable, real_model.__file__, "serve"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdin is not None
    try:
        address = process.stdout.readline().strip()
        if not address:
            raise Unavailable("the server of the model did not start")
        yield address
    finally:
        process.stdin.close()
        process.wait(30)
        process.stdout.close()


def judges(url: str, **parameters: Any) -> dict[str, Chat]:
    """Two prompts of the model."""
    given = {"form": "json_schema", "slots": 1, **parameters}
    return {
        name: Chat("smollm2", url, PRICE, template=template, **given)
        for name, template in PROMPTS.items()
    }


def create(store: str | Store, **changes: Any) -> Campaign:
    """A campaign of six messages and two judges, each at the price of its longest question."""
    questions = [Question(CONTENT, task, text) for task, text in MESSAGES.items()]
    workers = [
        Worker(name, from_micro(max(map(judge.ceiling, questions))), kind="model", family="smollm2")
        for name, judge in judges("http://127.0.0.1:1/v1").items()
    ]
    raw: dict[str, Any] = {
        "workers": workers,
        "tasks": [{"id": task, "payload": text} for task, text in MESSAGES.items()],
        "content": CONTENT,
        "budget": "1",
        "policy": "random-pairs",
        "seed": 1,
        "name": "mail",
        "store": store,
    }
    return Campaign.create(**{**raw, **changes})


if __name__ == "__main__":
    run(Campaign.open(f"sqlite:///{Path(sys.argv[1])}", "mail"), judges(sys.argv[2]))
