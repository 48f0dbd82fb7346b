"""The commands that start a service and make its keys: what they refuse, what they say."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from askwise.campaign import Campaign
from askwise.cli import serve
from askwise.cli.serve import Greeting
from askwise.demo import example
from askwise.service import server
from askwise.service.auth.identity import Identities
from askwise.service.settings import Settings
from askwise.store import MemoryStore, Store
from tests.cli.helpers import in_this_process


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (("serve", "--port", "70000"), "--port"),
        (("serve", "--port", "-1"), "--port"),
        (("serve", "--host", "203.0.113.1", "--port", "0"), "--host"),
        (("serve", "--workers", "0"), "workers"),
        (("serve", "--workers", "2", "--store", "memory"), "workers"),
        (("serve", "--address", "ask.example.org"), "address"),
        (("serve", "--address", "javascript:alert(1)"), "address"),
        (("serve", "--address", "https://ask.example.org/askwise"), "address"),
        (("serve", "--address", "https://me:pass@ask.example.org"), "address"),
        (("serve", "--address", "https://ask.example.org:99999"), "address"),
        (("serve", "--address", "https://["), "address"),
        (("serve", "--proxies", "127.0.0.1,proxy"), "proxies"),
        (("serve", "--proxies", "127.0.0.1,"), "proxies"),
        (("serve", "--port", "0", "--store", "nonsense://x"), "store"),
        (("serve", "--port", "0", "--store", "sqlite:////nowhere/a.sqlite"), "/nowhere"),
        (("serve", "--demo", "--store", "sqlite:///mine.sqlite"), "--store"),
        (("serve", "--port", "0", "--most-out", "0"), "most_out"),
        (("serve", "--port", "0", "--lease", "-1"), "lease"),
        (("serve", "--port", "0", "--log", "loud"), "log"),
        (("keys", "new", "admin", "x"), "role"),
        (("keys", "new", "owner", ""), "label"),
        (("keys", "new", "owner", "x", "--days", "0"), "days"),
        (("keys", "new", "owner", "x", "--days", "nan"), "days"),
        (("keys", "new", "owner", "x", "--days", "1e9"), "days"),
        (("keys", "revoke", "x"), "key"),
    ],
)
def test_what_can_t_be_started_is_said_in_a_line(
    words: tuple[str, ...], option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ASKWISE_STORE", raising=False)
    monkeypatch.setenv("ASKWISE_JIT", "")
    result = in_this_process(*words)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    assert option in result.stderr


def test_a_port_that_is_taken_is_said_before_a_store_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASKWISE_JIT", "")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        url = f"sqlite:///{tmp_path}/a.sqlite"
        words = ["serve", "--store", url, "--port", str(taken.getsockname()[1])]
        result = in_this_process(*words)
    assert result.exit_code == 2
    assert "can't listen" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_what_is_said_of_the_key_is_said_once(capsys: pytest.CaptureFixture[str]) -> None:
    greeting = Greeting.make(MemoryStore(), "http://127.0.0.1:1")
    greeting.say_key()
    assert capsys.readouterr().out.count("awo_") == 1
    greeting.say()
    assert capsys.readouterr().out.startswith("serving at")


def test_a_service_says_that_it_serves_when_it_listens() -> None:
    taken = server.listen("127.0.0.1", 0)
    place = taken.getsockname()
    heard: list[bool] = []

    def look() -> None:
        with socket.create_connection(place, timeout=5):
            heard.append(True)

    telling = threading.Thread(target=server._tell_of, args=(taken, look))
    telling.start()
    telling.join(0.05)
    assert telling.is_alive()  # bound, but nobody listens yet
    taken.listen()
    telling.join(10)
    taken.close()
    assert heard == [True]


def test_requests_are_logged_unless_a_person_reads_along(monkeypatch: pytest.MonkeyPatch) -> None:
    for terminal, level in ((True, "warning"), (False, "info")):
        monkeypatch.setattr("sys.stderr.isatty", lambda terminal=terminal: terminal, raising=False)
        assert serve._log_level("") == level
        assert serve._log_level("error") == "error"


def test_who_starts_a_service_without_an_owner_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    store = MemoryStore()
    Greeting.make(store, "http://127.0.0.1:1").say()
    frame, key, again, place, reach = capsys.readouterr().out.splitlines()
    assert key.startswith("the owner's key, shown this once: awo_")
    assert frame == again == "-" * len(key)
    assert place.startswith("serving at http://127.0.0.1:1 ")
    assert reach.startswith("links work on this computer only; for other people give --host")
    Greeting.make(store, "https://ask.example.org").say()
    assert capsys.readouterr().out.count("\n") == 1
    identities = Identities(store)
    identities.revoke(identities.keys()[0].id)
    Greeting.make(store, "http://127.0.0.1:1").say()
    assert "askwise keys new owner" in capsys.readouterr().out


def test_somebody_at_a_terminal_is_told_at_once_that_it_begins(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    url = "postgresql://ann:secret@db/askwise"
    for terminal, said in ((False, ""), (True, "starting the service on postgresql://ann:***@db")):
        monkeypatch.setattr("sys.stderr.isatty", lambda terminal=terminal: terminal, raising=False)
        serve._say_beginning(url)
        assert capsys.readouterr().err.startswith(said)


def test_a_demo_has_an_example_campaign_in_a_store_that_is_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ASKWISE_STORE", raising=False)
    monkeypatch.setenv("ASKWISE_JIT", "")
    ended: list[Callable[[], object]] = []
    monkeypatch.setattr(
        serve.atexit,
        "register",
        lambda work, *given, **named: ended.append(partial(work, *given, **named)),
    )
    folders: list[Path] = []

    def run(settings: Settings, store: Store, taken: socket.socket, **named: Any) -> None:
        taken.close()
        folders.append(Path(settings.store.removeprefix("sqlite:///")).parent)
        assert folders[0].is_dir()
        assert store.names() == [example.NAME]
        assert Campaign.open(store, example.NAME).status().answers == example.ANSWERED
        named["listening"]()
        store.close()

    monkeypatch.setattr(server, "run", run)
    said = in_this_process("serve", "--demo", "--port", "0")
    assert said.exit_code == 0, said.output
    assert f"/dashboard/{example.NAME}\n" in said.stdout
    assert "/join/aww_" in said.stdout
    assert "deleted when you stop the service" in said.stdout
    for work in ended:
        work()
    assert not folders[0].exists()
    assert not list(tmp_path.iterdir())
