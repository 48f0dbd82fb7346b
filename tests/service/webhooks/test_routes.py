"""Webhooks over the API, from the making to the last delivery; and what receivers check."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import logging
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from standardwebhooks.webhooks import Webhook as StandardWebhook
from standardwebhooks.webhooks import WebhookVerificationError
from starlette.testclient import TestClient

from askwise.client.webhooks import InvalidSignature, verify
from askwise.core.signatures import sign
from askwise.service.app import make_app
from askwise.service.settings import Settings
from askwise.service.webhooks import courier, outbox, posting, sending, webhooks
from askwise.service.webhooks.records import EVENTS
from askwise.store import MemoryStore
from docs.blocks import DOCS
from tests.service.webhooks.bench import Receiver, units


class Api:
    """Requests with a key."""

    def __init__(self, client: TestClient, key: str) -> None:
        self.client = client
        self.key = key

    def __call__(
        self, method: str, path: str, body: Any = None, *, once: str | None = None
    ) -> tuple[int, Any]:
        headers = {"Authorization": f"Bearer {self.key}"}
        if once is not None:
            headers["Idempotency-Key"] = once
        reply = self.client.request(method, path, json=body, headers=headers)
        return reply.status_code, reply.json()


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def api(store: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> Iterator[Api]:
    monkeypatch.setattr("askwise.service.webhooks.courier.PAUSE", 0.05)
    app = make_app(Settings(store="memory", private_hooks=True), store)
    key = app.state.service.identities.issue("requester", "tests")[0]
    with TestClient(app) as client:
        yield Api(client, key)


def as_role(api: Api, role: str) -> Api:
    identities = api.client.app.state.service.identities  # type: ignore[attr-defined]
    campaign, worker = ("units", "ann") if role == "worker" else (None, None)
    return Api(api.client, identities.issue(role, role, campaign=campaign, worker=worker)[0])


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def settled(api: Api, hook: str) -> list[dict[str, Any]]:
    """The deliveries, once none waits."""
    found: list[dict[str, Any]] = []

    def look() -> bool:
        found[:] = api("GET", f"/hooks/{hook}/deliveries")[1]["items"]
        return all(each["state"] != "waiting" for each in found)

    until(look)
    return found


def test_a_life_from_the_making_to_the_end(
    api: Api, store: MemoryStore, receiver: Receiver
) -> None:
    units(store, budget=5)
    wanted = {"url": receiver.url, "campaign": "units", "events": list(EVENTS), "label": "mine"}
    status, hook = api("POST", "/hooks", wanted)
    assert status == 201
    secret = hook.pop("secret")
    assert hook == {
        **wanted, "id": hook["id"], "created": hook["created"], "ended": None, "waiting": 0,
    }  # fmt: skip
    for _ in range(5):
        asked = api("POST", "/campaigns/units/ask")[1]["assignments"][0]["id"]
        assert api("POST", f"/assignments/{asked}/answer", {"value": 0.5})[0] == 200
    until(lambda: len(receiver.got) == 7)
    names = [verify(secret, got.headers, got.body) for got in receiver.got]
    assert [each["event"] for each in names] == [
        *4 * ["answer.settled"], "budget.used", "answer.settled", "campaign.done",
    ]  # fmt: skip
    shown = settled(api, hook["id"])
    assert [each["payload"] for each in shown] == [got.message for got in receiver.got[::-1]]
    assert {(each["state"], each["status"], each["attempts"]) for each in shown} == {
        ("delivered", 200, 1)
    }
    assert api("GET", "/hooks")[1]["items"] == [hook]
    status, ended = api("DELETE", f"/hooks/{hook['id']}")
    assert status == 200
    assert ended["ended"] is not None
    assert api("GET", "/hooks")[1] == {"items": [], "next": None}
    assert api("GET", f"/hooks/{hook['id']}/deliveries")[0] == 404


def test_a_test_is_sent_and_can_be_sent_again(api: Api, receiver: Receiver) -> None:
    hook = api("POST", "/hooks", {"url": receiver.url, "events": ["task.closed"]})[1]
    status, made = api("POST", f"/hooks/{hook['id']}/test", once="a test")
    assert status == 202
    assert (made["event"], made["state"], made["campaign"]) == ("ping", "waiting", None)
    assert api("POST", f"/hooks/{hook['id']}/test", once="a test")[1]["id"] == made["id"]
    (shown,) = settled(api, hook["id"])
    assert (shown["id"], shown["said"]) == (made["id"], "thanks")
    path = f"/hooks/{hook['id']}/deliveries/{made['id']}/retry"
    assert api("POST", path, once="again")[0] == 202
    assert api("POST", path, once="again")[0] == 202
    until(lambda: len(receiver.got) == 2)
    settled(api, hook["id"])
    assert api("POST", path, once="again")[1]["state"] == "delivered"
    assert len(receiver.got) == 2
    assert api("POST", path.replace(made["id"], "0" * 22))[0] == 404


def test_a_retried_making_makes_one_hook(api: Api, receiver: Receiver) -> None:
    wanted = {"url": receiver.url, "events": ["task.closed", "answer.settled"], "label": "a"}
    status, first = api("POST", "/hooks", wanted, once="one")
    assert status == 201
    assert api("POST", "/hooks", wanted, once="one") == (201, first)
    assert first["events"] == ["answer.settled", "task.closed"]
    for change in ({"label": "b"}, {"url": receiver.url + "2"}, {"events": ["task.closed"]}):
        status, error = api("POST", "/hooks", {**wanted, **change}, once="one")
        assert (status, error["error"]["code"]) == (409, "conflict")
    assert len(api("GET", "/hooks")[1]["items"]) == 1
    assert api("POST", "/hooks", wanted, once="two")[1]["id"] != first["id"]
    ended = api("DELETE", f"/hooks/{first['id']}", once="end")
    assert ended[0] == 200
    assert api("DELETE", f"/hooks/{first['id']}", once="end") == ended


def test_deliveries_come_in_pages_newest_first(api: Api, receiver: Receiver) -> None:
    hook = api("POST", "/hooks", {"url": receiver.url, "events": ["task.closed"]})[1]
    made = [api("POST", f"/hooks/{hook['id']}/test")[1]["id"] for _ in range(5)]
    settled(api, hook["id"])
    seen, after = [], ""
    while True:
        page = api("GET", f"/hooks/{hook['id']}/deliveries?limit=2&after={after}")[1]
        seen += [each["id"] for each in page["items"]]
        if page["next"] is None:
            break
        # What comes in between moves nothing.
        api("POST", f"/hooks/{hook['id']}/test")
        after = page["next"]
    assert seen == made[::-1]


@pytest.mark.parametrize("role", ["viewer", "worker"])
def test_who_only_looks_or_works_sees_no_hook(api: Api, receiver: Receiver, role: str) -> None:
    hook = api("POST", "/hooks", {"url": receiver.url, "events": ["task.closed"]})[1]["id"]
    other = as_role(api, role)
    for method, path in (
        ("GET", "/hooks"), ("POST", "/hooks"), ("DELETE", f"/hooks/{hook}"),
        ("GET", f"/hooks/{hook}/deliveries"), ("POST", f"/hooks/{hook}/test"),
        ("POST", f"/hooks/{hook}/deliveries/{22 * '0'}/retry"),
    ):  # fmt: skip
        body = {"url": receiver.url, "events": ["task.closed"]} if path == "/hooks" else None
        assert other(method, path, body)[0] == 403


BAD: list[tuple[dict[str, Any], str]] = [
    ({"url": "ftp://example.org/", "events": ["task.closed"]}, "url"),
    ({"url": "http://user:pass@127.0.0.1/", "events": ["task.closed"]}, "url"),
    ({"url": "http://127.0.0.1:70000/", "events": ["task.closed"]}, "url"),
    ({"url": "http://127.0.0.1/", "events": []}, "events"),
    ({"url": "http://127.0.0.1/", "events": ["answer.told"]}, "events.0"),
    ({"url": "http://127.0.0.1/", "events": ["ping"]}, "events.0"),
    ({"url": "http://127.0.0.1/", "events": ["task.closed"], "campaign": "../x"}, "campaign"),
    ({"url": "http://127.0.0.1/", "events": ["task.closed"], "label": 101 * "a"}, "label"),
    ({"url": "http://127.0.0.1/", "events": ["task.closed"], "secret": "mine"}, "secret"),
    ({"events": ["task.closed"]}, "url"),
]


def test_a_hook_that_can_not_be_is_refused(api: Api) -> None:
    for body, field in BAD:
        status, error = api("POST", "/hooks", body)
        assert (status, error["error"]["field"]) == (422, field)
    assert api("GET", "/hooks")[1]["items"] == []


def test_a_hook_of_an_unknown_campaign_is_refused(api: Api, receiver: Receiver) -> None:
    body = {"url": receiver.url, "events": ["task.closed"], "campaign": "nobody"}
    assert api("POST", "/hooks", body)[0] == 404


def test_private_addresses_are_refused_unless_allowed(receiver: Receiver) -> None:
    app = make_app(Settings(store="memory"))
    key = app.state.service.identities.issue("owner", "tests")[0]
    with TestClient(app) as client:
        status, error = Api(client, key)(
            "POST", "/hooks", {"url": receiver.url, "events": ["task.closed"]}
        )
    assert (status, error["error"]["field"]) == (422, "url")
    assert "private" in error["error"]["message"]


def test_no_secret_and_no_address_comes_into_logs_lists_or_metrics(
    api: Api, receiver: Receiver, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    url = receiver.url.replace("mine", "T0KEN")
    hook = api("POST", "/hooks", {"url": url, "events": ["task.closed"]}, once="k")[1]
    receiver.answer = lambda _: 500
    made = api("POST", f"/hooks/{hook['id']}/test")[1]
    until(lambda: len(receiver.got) == 1)
    receiver.answer = lambda _: 200
    until(lambda: api("GET", f"/hooks/{hook['id']}/deliveries")[1]["items"][0]["attempts"] == 1)
    api("POST", f"/hooks/{hook['id']}/deliveries/{made['id']}/retry")
    settled(api, hook["id"])
    ours = [record for record in caplog.records if record.name.startswith("askwise")]
    noted = "\n".join(str(record.__dict__) for record in ours)
    assert '"hook"' in noted or "'hook'" in noted
    listed = json.dumps(api("GET", "/hooks")[1])
    counted = api.client.get("/metrics", headers={"Authorization": f"Bearer {api.key}"}).text
    for text in (noted, listed, counted, repr(api.client.app.state.service.webhooks.list())):  # type: ignore[attr-defined]
        assert hook["secret"] not in text
    for text in (noted, counted):
        assert "T0KEN" not in text
    for result in ("failed", "delivered"):
        assert f'askwise_webhook_attempts_total{{result="{result}"}}' in counted


# What a receiver checks.

SECRET, BODY, NOW = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3", b'{"event":"ping"}', 1_700_000_000
OTHER = "whsec_" + 32 * "A"


def headers(at: int = NOW, secret: str = SECRET, **changed: str) -> dict[str, str]:
    """What comes with a message; by hand, not by our own signing."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    mac = hmac.new(key, f"m1.{at}.".encode() + BODY, hashlib.sha256)
    made = {
        "webhook-id": "m1",
        "webhook-timestamp": str(at),
        "webhook-signature": "v1," + base64.b64encode(mac.digest()).decode(),
    }
    return {**made, **{f"webhook-{name}": value for name, value in changed.items()}}


@pytest.mark.parametrize("late", [-300, 0, 300])
def test_a_message_of_now_is_read(late: int) -> None:
    assert verify(SECRET, headers(), BODY, clock=lambda: NOW + late) == {"event": "ping"}
    assert verify(SECRET, headers(), BODY.decode(), clock=lambda: NOW) == {"event": "ping"}
    shouted = {name.title(): value for name, value in headers().items()}
    assert verify(SECRET, shouted, BODY, clock=lambda: NOW) == {"event": "ping"}


def test_one_fitting_signature_of_several_is_enough() -> None:
    both = f"v1,{44 * 'A'} v2,x {headers()['webhook-signature']}"
    assert verify(SECRET, headers(signature=both), BODY, clock=lambda: NOW)


def test_a_secret_from_before_the_standard_is_a_key_as_it_is() -> None:
    signed = {**headers(), "webhook-signature": sign("awh_old", "m1", NOW, BODY)}
    assert verify("awh_old", signed, BODY, clock=lambda: NOW)


@pytest.mark.parametrize("missing", ["webhook-id", "webhook-timestamp", "webhook-signature"])
def test_a_missing_header_is_named(missing: str) -> None:
    shown = headers()
    del shown[missing]
    with pytest.raises(InvalidSignature, match=missing):
        verify(SECRET, shown, BODY, clock=lambda: NOW)


@pytest.mark.parametrize(
    ("shown", "body", "now"),
    [
        ({}, BODY, NOW),
        (headers(signature=""), BODY, NOW),
        (headers(signature="nonsense"), BODY, NOW),
        (headers(id="m2"), BODY, NOW),
        (headers(timestamp=f"-{NOW}"), BODY, NOW),
        (headers(timestamp="\u00b2"), BODY, NOW),
        (headers(timestamp=str(NOW + 1)), BODY, NOW),
        (headers(signature=headers()["webhook-signature"].replace("v1", "v0")), BODY, NOW),
        (headers(secret=OTHER), BODY, NOW),
        (headers(), BODY + b" ", NOW),
        (headers(signature="v1,\u00e4"), BODY, NOW),
        (headers(), BODY, NOW + 301),
        (headers(), BODY, NOW - 301),
    ],
)
def test_any_other_message_is_refused(shown: dict[str, str], body: bytes, now: float) -> None:
    with pytest.raises(InvalidSignature):
        verify(SECRET, shown, body, clock=lambda: now)


def test_a_secret_that_is_no_secret_is_named() -> None:
    with pytest.raises(InvalidSignature) as caught:
        verify("whsec_not base64!", headers(), BODY, clock=lambda: NOW)
    assert caught.value.field == "secret"


def test_the_library_of_the_standard_takes_what_we_sign() -> None:
    now = int(time.time())
    signed = {
        "webhook-id": "m1",
        "webhook-timestamp": str(now),
        "webhook-signature": sign(SECRET, "m1", now, BODY),
    }
    assert StandardWebhook(SECRET).verify(BODY, signed) == {"event": "ping"}
    with pytest.raises(WebhookVerificationError):
        StandardWebhook(OTHER).verify(BODY, signed)


def test_the_page_states_the_figures_that_hold() -> None:
    page = " ".join((DOCS / "how-to" / "webhooks.md").read_text(encoding="utf-8").split())
    units = ((3600.0, "h"), (60.0, "min"), (1.0, "s"))

    def said(seconds: float) -> str:
        size, name = next(each for each in units if seconds >= each[0])
        return f"{seconds / size:g} {name}"

    *sooner, last = map(said, sending.BACKOFF)
    assert f"after {', '.join(sooner)} and {last}" in page
    assert len(sending.BACKOFF) == 9  # "After ten attempts"
    assert sending.LONGEST == 86400  # "a day after"
    assert f"within {said(posting.PATIENCE)} in all" in page
    assert f"first {posting.SHOWN} characters" in page
    assert f"left alone for {said(sending.CLOSED_FIRST)}, then for twice as long" in page
    assert f"up to {said(sending.CLOSED_MOST)}." in page
    assert f"sends to {courier.SENDERS} hooks at a time" in page
    assert f"While {outbox.MOST_WAITING} of its messages wait" in page
    assert f"the last {webhooks.KEPT} that were delivered or given up" in page
    assert f"to {outbox.SHARE}% of the budget" in page
    assert outbox.RARELY == 20  # "a twentieth of the time"
    assert courier.PAUSE_FACTOR == 10  # "a tenth of a processor"
    for event in (*EVENTS, "ping"):
        assert f"| `{event}` |" in page
