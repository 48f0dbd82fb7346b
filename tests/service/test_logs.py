"""Nothing that opens a door is ever written down: not in logs, metrics, errors or the store."""

from __future__ import annotations

import io
import json
import logging
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from askwise.core.errors import StoreError
from askwise.service import metrics
from askwise.service.app import make_app
from askwise.service.auth.identity import PREFIX, Identities, csrf_token
from askwise.service.logs import JsonLines, configure, without_secrets
from askwise.service.pages.base import SESSION
from askwise.service.settings import Settings
from askwise.store import open_store

NEW = {
    "name": "cats", "workers": [{"id": "ann", "price": "0.1"}], "tasks": ["t1", "t2"],
    "options": ["yes", "no"], "budget": "10", "policy": "random-pairs",
}  # fmt: skip


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    """All that any logger says, down to the least, as the service writes it."""
    out = io.StringIO()
    handler = logging.StreamHandler(out)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    level, before = root.level, root.handlers[:]
    root.handlers[:] = [handler]
    root.setLevel(logging.DEBUG)
    # The tests' own client, which tells all.
    clients = [logging.getLogger(name) for name in ("httpx", "httpx2")]
    for client in clients:
        client.disabled = True
    yield out
    for client in clients:
        client.disabled = False
    root.handlers[:] = before
    root.setLevel(level)


def test_no_secret_is_written_down_in_a_whole_session(
    written: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store("memory")
    password = "hunter2hunter2"
    settings = Settings(store=f"postgresql://askwise:{password}@db/x", private_hooks=True)
    owner = Identities(store).first_owner()
    assert owner is not None
    secrets, texts = [owner, password], []
    app = make_app(settings, store)
    with TestClient(app, raise_server_exceptions=False, follow_redirects=False) as client:

        def call(method: str, path: str, key: str = owner, **more: Any) -> Any:
            headers = {"Authorization": f"Bearer {key}", **more.pop("headers", {})}
            reply = client.request(method, path, headers=headers, **more)
            if not reply.is_success:
                texts.append(reply.text)
            return reply

        made = call("POST", "/keys", json={"role": "requester", "label": "eve"}).json()
        secrets.append(made["secret"])
        assert call("POST", "/campaigns", made["secret"], json=NEW).status_code == 201
        invited = call("POST", "/campaigns/cats/invite", json={"worker": "ann"}).json()
        secrets.append(invited["secret"])
        hook = call(
            "POST", "/hooks", headers={"Idempotency-Key": "h"},
            json={"url": "http://127.0.0.1:9/x", "campaign": None, "events": ["task.closed"]},
        ).json()  # fmt: skip
        secrets.append(hook["secret"])
        call("POST", f"/hooks/{hook['id']}/test")
        asked = call("POST", "/campaigns/cats/ask", invited["secret"]).json()
        call("POST", f"/assignments/{asked['assignments'][0]['id']}/answer", invited["secret"],
             json={"value": "yes"})  # fmt: skip
        # A browser: sign in, look around, sign out; a worker's link.
        signed = client.post("/login", data={"key": owner, "next": "/dashboard"})
        session = signed.cookies[SESSION]
        secrets += [session, csrf_token(session)]
        for path in ("/dashboard", "/dashboard/cats", "/dashboard/cats/hooks", "/docs"):
            assert client.get(path).status_code == 200
        assert client.get(f"/join/{invited['secret']}").status_code == 303
        assert client.get("/work/cats").status_code == 200
        client.post("/logout", data={"csrf": csrf_token(session)})
        # What goes wrong: in the path, the query, the header, the form, the body.
        wrong = PREFIX["owner"] + "W" * 43
        secrets.append(wrong)
        for reply in (
            client.get("/campaigns", headers={"Authorization": f"Bearer {wrong}"}),
            client.get(f"/join/{wrong}"),
            client.get(f"/jion/{wrong}"),
            client.get(f"/campaigns/{wrong}?key={wrong}"),
            client.post("/login", data={"key": wrong}),
            call("GET", f"/campaigns/cats/answers?key={wrong}&limit=x"),
            call("DELETE", f"/keys/{wrong}"),
            call("POST", "/campaigns/cats/ask", headers={"Authorization": f"Basic {owner}"}),
        ):
            texts.append(reply.text)
        call("DELETE", f"/keys/{made['id']}")
        call("GET", "/me", made["secret"])

        # Faults that name secrets in what they say, and a store that says its address.
        def fail(*_: object) -> None:
            lost = f"{owner}\nand {invited['secret']}, {hook['secret']}"
            raise RuntimeError(f"lost {lost} at {settings.store}")

        with monkeypatch.context() as patch:
            patch.setattr("askwise.service.open_campaigns.OpenCampaigns.get", fail)
            assert call("GET", "/campaigns/cats").status_code == 500

        def broken(*_: object, **__: object) -> None:
            raise StoreError(f"can't reach {settings.store}", field="store")

        with monkeypatch.context() as patch:
            patch.setattr(store, "position", broken)
            assert call("GET", "/campaigns/cats").status_code == 503
        texts.append(call("GET", "/metrics").text)
        # Of the store: all but what signs webhooks.
        kept = [
            record.body + record.id
            for kind in ("key", "token", "session", "made", "setup", "absence")
            for record in store.records(kind)
        ]
    lines = written.getvalue().splitlines()
    events = [json.loads(line) for line in lines]
    ours = [event for event in events if event["logger"].startswith("askwise")]
    assert {"request", "fault", "store"} <= {event["event"] for event in ours}
    assert any("RuntimeError" in event.get("traceback", "") for event in ours)
    for secret in secrets:
        assert len(secret) > 8
        assert secret not in written.getvalue()
        for text in texts:
            assert secret not in text
    assert len(kept) >= 4
    for secret in secrets:
        assert not any(secret in text for text in kept)


def test_a_request_is_noted_by_its_route_and_its_key_s_id(written: io.StringIO) -> None:
    store = open_store("memory")
    secret, issued = Identities(store).issue("owner", "x")
    with TestClient(make_app(Settings(store="memory"), store)) as client:
        reply = client.get(
            "/campaigns/nothing?a=secret", headers={"Authorization": f"Bearer {secret}"}
        )
        client.request("PROPFIND", "/healthz")
        client.get("/no/such/place%0D%0A{}")
    found = [json.loads(line) for line in written.getvalue().splitlines()]
    noted = [event for event in found if event["event"] == "request"]
    assert noted[0]["route"] == "/campaigns/{name}"
    assert noted[0]["status"] == 404
    assert noted[0]["key"] == issued.id
    assert noted[0]["id"] == reply.headers["X-Request-ID"]
    assert noted[0]["ms"] >= 0
    assert noted[2]["route"] == "none"
    text = metrics.as_text()[0].decode()
    # Names that callers make up are no labels: there would be no end of them.
    assert "PROPFIND" not in text
    assert "nothing" not in text
    routes = set(re.findall(r'route="([^"]*)"', text))
    assert "/campaigns/{name}" in routes
    assert all(route == "none" or route.startswith("/") for route in routes)


@given(st.text(), st.dictionaries(st.text(min_size=1), st.text(), max_size=3))
def test_a_line_is_one_line_of_ascii_json_whatever_is_said(
    message: str, fields: dict[str, str]
) -> None:
    record = logging.LogRecord("askwise", logging.INFO, __file__, 1, "%s", (message,), None)
    record.fields = fields
    line = JsonLines().format(record)
    assert line.isascii()
    assert "\n" not in line
    assert isinstance(json.loads(line), dict)


@pytest.mark.parametrize("role", PREFIX)
def test_what_looks_like_a_secret_is_covered(role: str) -> None:
    secret, _ = Identities(open_store("memory")).issue(role, "x", campaign="c", worker="w")
    for text in (secret, f"x{secret}y", f"\\n{secret}\\n", f"/join/{secret}?a", f'"{secret}"'):
        assert secret[4:] not in without_secrets(text)
    assert without_secrets("nothing to hide: away_from, awards") == (
        "nothing to hide: away_from, awards"
    )


def test_configuring_quiets_what_would_log_paths(capsys: pytest.CaptureFixture[str]) -> None:
    root = logging.getLogger()
    names = ("uvicorn", "uvicorn.error", "uvicorn.access", "httpx", "httpcore", "matplotlib")
    before = root.handlers[:], root.level
    others = {name: (logging.getLogger(name).level, logging.getLogger(name).disabled)
              for name in names}  # fmt: skip
    try:
        configure()
        logging.getLogger("uvicorn.access").info("GET /join/aww_%s", "x" * 43)
        logging.getLogger("httpx").info("POST https://hooks/secret-path")
        logging.getLogger("uvicorn.error").warning("odd")
        lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
        assert [line["event"] for line in lines] == ["odd"]
    finally:
        root.handlers[:], level = before
        root.setLevel(level)
        for name, (kept, disabled) in others.items():
            logging.getLogger(name).setLevel(kept)
            logging.getLogger(name).disabled = disabled
