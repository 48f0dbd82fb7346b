"""Requests that nobody honest sends: refused in one shape, and nothing is half-done."""

from __future__ import annotations

import csv
import io
import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from askwise.core.errors import StoreError
from askwise.service.app import make_app
from askwise.service.auth.identity import Identities
from askwise.service.exports import safe_cell
from askwise.service.middleware import requests
from askwise.service.routing.bodies import DEEPEST
from askwise.service.settings import Settings
from askwise.store import open_store
from tests.service.refusals import LARGEST, Service, asgi, attacked, check_headers, check_refused

JSON = {"Content-Type": "application/json"}
TOML = {"Content-Type": "application/toml"}


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with attacked() as made:
        yield made


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


def payload(text: str) -> str:
    return '{"tasks": [{"id": "new", "payload": %s}]}' % text  # noqa: UP031


NEW = {
    "name": "new", "workers": [{"id": "w", "price": "1"}], "tasks": ["t"], "options": ["a", "b"],
    "policy": "random-pairs",
}  # fmt: skip
TOML_TEXT = """
name = "of-toml"
policy = "random-pairs"
options = ["a", "b"]
workers = [{id = "w", price = "1"}]
"""
ADD, CREATE, TOP_UP = "/campaigns/cats/add", "/campaigns", "/campaigns/cats/top-up"

REFUSED: dict[str, tuple[str, str | bytes, dict[str, str], int, str]] = {
    "no JSON": (ADD, "{", JSON, 400, "bad_request"),
    "nothing": (ADD, "", JSON, 422, "invalid_request"),
    "null": (ADD, "null", JSON, 422, "invalid_request"),
    "a list": (ADD, "[]", JSON, 422, "invalid_request"),
    "bytes that are no text": (ADD, b'{"tasks": ["\xff"]}', JSON, 400, "bad_request"),
    "UTF-16": (ADD, '{"tasks": ["x"]}'.encode("utf-16"), JSON, 400, "bad_request"),
    "a byte order mark": (ADD, b'\xef\xbb\xbf{"tasks": []}', JSON, 400, "bad_request"),
    "a name twice": (ADD, '{"tasks": ["x"], "tasks": ["y"]}', JSON, 400, "bad_request"),
    "a name twice, deep": (ADD, payload('{"a": {"b": 1, "b": 2}}'), JSON, 400, "bad_request"),
    "NaN": (ADD, payload("NaN"), JSON, 400, "bad_request"),
    "-Infinity": (ADD, payload("-Infinity"), JSON, 400, "bad_request"),
    "1e999": (ADD, payload("1e999"), JSON, 400, "bad_request"),
    "5000 digits": (ADD, payload("9" * 5000), JSON, 400, "bad_request"),
    "half a surrogate pair": (ADD, payload('"\\ud800"'), JSON, 400, "bad_request"),
    "half a pair as a name": (ADD, '{"\\udc00": 1}', JSON, 400, "bad_request"),
    "a bit too deep": (ADD, payload(nested(DEEPEST - 2)), JSON, 400, "bad_request"),
    "too deep": (ADD, payload(nested(900)), JSON, 400, "bad_request"),
    "far too deep": (ADD, payload(nested(40_000)), JSON, 400, "bad_request"),
    "objects too deep": (ADD, payload('{"a":' * 2000 + "1" + "}" * 2000), JSON, 400, "bad_request"),
    "an unknown field": (ADD, '{"task": ["x"]}', JSON, 422, "invalid_request"),
    "a task that is a number": (ADD, '{"tasks": [5]}', JSON, 422, "invalid_request"),
    "an empty id": (ADD, '{"tasks": [""]}', JSON, 422, "invalid_request"),
    "an id too long": (ADD, json.dumps({"tasks": ["x" * 201]}), JSON, 422, "invalid_request"),
    "an id with NUL": (ADD, '{"tasks": ["a\\u0000b"]}', JSON, 422, "invalid_problem"),
    "a payload with NUL": (ADD, payload('{"a": "b\\u0000"}'), JSON, 422, "invalid_problem"),
    "an id with a line": (ADD, '{"tasks": ["a\\r\\nb"]}', JSON, 422, "invalid_problem"),
    "an id that turns text round": (ADD, '{"tasks": ["\\u202eb"]}', JSON, 422, "invalid_problem"),
    "an id with no width": (ADD, '{"tasks": ["a\\u200bb"]}', JSON, 422, "invalid_problem"),
    "one good and one bad": (ADD, '{"tasks": ["good", ""]}', JSON, 422, "invalid_request"),
    "one good and one known": (ADD, '{"tasks": ["good", "t"]}', JSON, 409, "conflict"),
    "a good task, a bad worker": (
        ADD, '{"tasks": ["good"], "workers": [{"id": "eve", "price": "0.0000001"}]}', JSON, 422,
        "invalid_problem",
    ),
    "money that is a truth": (TOP_UP, '{"amount": true}', JSON, 422, "invalid_request"),
    "money below 0": (TOP_UP, '{"amount": -1}', JSON, 422, "invalid_request"),
    "money in other digits": (TOP_UP, '{"amount": "\\uff11"}', JSON, 422, "invalid_request"),
    "money with room": (TOP_UP, '{"amount": " 1 "}', JSON, 422, "invalid_request"),
    "money NaN": (TOP_UP, '{"amount": "NaN"}', JSON, 422, "invalid_request"),
    "money without end": (TOP_UP, '{"amount": 1e300}', JSON, 422, "invalid_request"),
    "money too fine": (TOP_UP, '{"amount": 0.0000001}', JSON, 422, "invalid_problem"),
    "another kind": (ADD, '{"tasks": ["x"]}', {"Content-Type": "text/plain"}, 415,
                     "unsupported_media_type"),
    "a form": (ADD, "tasks=x", {"Content-Type": "application/x-www-form-urlencoded"}, 415,
               "unsupported_media_type"),
    "no kind": (ADD, b'{"tasks": ["x"]}', {}, 415, "unsupported_media_type"),
    "packed": (ADD, b"\x1f\x8b\x08", {**JSON, "Content-Encoding": "gzip"}, 415,
               "unsupported_media_type"),
    "a campaign of another kind": (CREATE, "<a/>", {"Content-Type": "text/xml"}, 415,
                                   "unsupported_media_type"),
    "a name with lines": (CREATE, json.dumps({**NEW, "name": "a\r\nX-Evil: 1"}), JSON, 422,
                          "invalid_request"),
    "a name that ends a line": (CREATE, json.dumps({**NEW, "name": "a\n"}), JSON, 422,
                                "invalid_request"),
    "a name that climbs": (CREATE, json.dumps({**NEW, "name": "../a"}), JSON, 422,
                           "invalid_request"),
    "a long policy": (CREATE, json.dumps({**NEW, "policy": "x" * 90_000}), JSON, 422,
                      "invalid_request"),
    "a long policy in an object": (CREATE, json.dumps({**NEW, "policy": {"name": "x" * 90_000}}),
                                   JSON, 422, "invalid_request"),
    "a long parameter": (
        CREATE, json.dumps({**NEW, "policy": {"name": "random-pairs", "x" * 90_000: 1}}), JSON,
        422, "invalid_request",
    ),
    "a deep policy": (
        CREATE, json.dumps({**NEW, "policy": {"name": "random-pairs", "p": 0}}).replace(
            "0}", nested(500) + "}"), JSON, 400, "bad_request",
    ),
    "one option twice": (CREATE, json.dumps({**NEW, "options": ["a", "a"]}), JSON, 422,
                         "invalid_problem"),
    "TOML that is none": (CREATE, "= 1", TOML, 400, "bad_request"),
    "TOML with a date": (CREATE, TOML_TEXT + 'tasks = [{id = "x", payload = 2024-01-01}]',
                         {**TOML, "Idempotency-Key": "date"}, 400, "bad_request"),
    "TOML with nan": (CREATE, TOML_TEXT + 'tasks = [{id = "x", payload = nan}]',
                      {**TOML, "Idempotency-Key": "nan"}, 400, "bad_request"),
    "TOML too deep": (CREATE, TOML_TEXT + f'tasks = [{{id = "x", payload = {nested(2000)}}}]',
                      TOML, 400, "bad_request"),
    "an empty key": (TOP_UP, '{"amount": 1}', {**JSON, "Idempotency-Key": ""}, 422,
                     "invalid_request"),
    "a long key": (TOP_UP, '{"amount": 1}', {**JSON, "Idempotency-Key": "k" * 151}, 422,
                   "invalid_request"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_what_can_t_be_meant_is_refused_and_changes_nothing(service: Service, what: str) -> None:
    path, content, headers, status, code = REFUSED[what]
    before = service.extent()
    check_refused(service.call("POST", path, content=content, headers=headers), status, code)
    assert service.extent() == before


def test_a_number_too_large_for_an_answer_is_refused(service: Service) -> None:
    for text in ("1" + "0" * 400, "-" + "9" * 4000):
        reply = service.call(
            "POST", "/assignments/cats:1/answer", content=f'{{"value": {text}}}', headers=JSON
        )
        check_refused(reply, 422, "invalid_request")


PAYLOADS = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "{{7*7}} ${7*7} %s %n",
    "\u202eevil\u202c",
    "zero\u200bwidth\ufeff",
    "bell\x07 escape\x1b[31m",
    "\U0001f469\u200d\U0001f52c e\u0301\u0301\u0301",
    "\ud7ff\ue000\uffff\U0010ffff",
    '=HYPERLINK("http://evil")',
    "line\r\nSet-Cookie: a=b",
    {"__proto__": {"admin": True}, "constructor": None, "": "", "a\x01b": [1e308, -0.0, 2**63]},
    json.loads(nested(DEEPEST - 3)),
    "x" * 50_000,
    0,
    False,
)


@pytest.mark.parametrize("number", range(len(PAYLOADS)))
def test_a_payload_comes_back_as_it_was(service: Service, number: int) -> None:
    sent = PAYLOADS[number]
    task = f"payload-{number}"
    made = service.call("POST", ADD, json={"tasks": [{"id": task, "payload": sent}]})
    assert made.status_code == 200, made.text
    reply = service.call("GET", f"/campaigns/cats/task?id={task}")
    assert reply.json()["payload"] == sent
    assert reply.headers["Content-Type"] == "application/json"
    assert reply.content.isascii()
    check_headers(reply)
    # Nothing that a payload says becomes part of a header.
    assert not any("evil" in value or "\n" in value for value in reply.headers.values())


@pytest.mark.parametrize(
    "id", ["<b>", "=1+1", "a/b", "../x", "%00", "naïve", "👍", "e\u0301", "a b"]
)
def test_an_odd_id_is_a_name_like_any_other(service: Service, id: str) -> None:
    assert service.call("POST", ADD, json={"tasks": [id]}).is_success
    reply = service.client.get(
        "/campaigns/cats/task", params={"id": id},
        headers={"Authorization": f"Bearer {service.key}"},
    )  # fmt: skip
    assert reply.json()["id"] == id


def test_ids_go_up_to_their_limit(service: Service) -> None:
    for size, status in ((200, 200), (201, 422)):
        reply = service.call("POST", ADD, json={"tasks": ["y" * size]})
        assert reply.status_code == status


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_goes_up_to_its_limit(service: Service, chunked: bool) -> None:
    before = service.extent()
    head, tail = b'{"tasks": ["large-%d"], "workers": ' % chunked, b"[]}"
    for over, status in ((0, 200), (1, 413)):
        room = LARGEST - len(head) - len(tail) + over
        body = head + b" " * room + tail
        pieces = (body[at : at + 9000] for at in range(0, len(body), 9000))
        reply = service.call("POST", ADD, content=pieces if chunked else body, headers=JSON)
        if status == 413:
            error = check_refused(reply, 413, "too_large")
            assert str(LARGEST) in error["message"]
            # What is not read to its end does not stay open.
            assert reply.headers["Connection"] == "close"
        else:
            assert reply.status_code == 200
    assert service.extent()[1] == before[1] + 1


def test_strangers_send_little(service: Service) -> None:
    body = b"key=" + b"x" * requests.LARGEST_STRANGER
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    check_refused(service.client.post("/login", content=body, headers=form), 413, "too_large")
    body = b'{"tasks": ["' + b"x" * 1000 + b'"]}'
    check_refused(service.client.post(ADD, content=body, headers=JSON), 401, "unauthorized")


@pytest.mark.slow
def test_a_hundred_thousand_tasks_are_added_at_once_or_not_at_all() -> None:
    store = open_store("memory")
    with TestClient(make_app(Settings(store="memory"), store)) as client:
        service = Service(client, store, Identities(store).issue("owner", "tester")[0])
        assert service.call("POST", CREATE, json=NEW).is_success
        many = [{"id": f"m{number}", "payload": "x" * 100} for number in range(100_000)]
        place = "/campaigns/new/add"
        reply = service.call("POST", place, json={"tasks": [*many, many[0]]})
        check_refused(reply, 409, "conflict")
        assert service.call("GET", "/campaigns/new").json()["tasks"] == 1
        assert service.call("POST", place, json={"tasks": many}).json()["tasks"] == 100_001
        # Sixteen million bytes of one payload.
        large = {"id": "large", "payload": "y" * (16 * 2**20 - 200)}
        assert service.call("POST", place, json={"tasks": [large]}).is_success
        begun = time.process_time()
        check_refused(service.call("GET", "/campaigns/new/task?id=unknown"), 404, "unknown_name")
        assert time.process_time() - begun < 0.5
        begun = time.process_time()
        bad = service.call("POST", place, json={"tasks": [{"id": ""}] * 100_000})
        check_refused(bad, 422, "invalid_request")
        assert time.process_time() - begun < 2


def test_a_retry_s_key_may_be_any_text_and_is_one_s_own(service: Service) -> None:
    other = Identities(service.store).issue("owner", "other")[0]
    for key in (b"k" * 150, b"\xe9\xff", b"'; DROP TABLE log; --", b"a\tb", b"../..", b"%00"):
        sent = {"Idempotency-Key": key}
        first = service.call("POST", TOP_UP, json={"amount": "0.01"}, headers=sent)
        position = service.store.position("cats")
        again = service.call("POST", TOP_UP, json={"amount": "0.01"}, headers=sent)
        assert first.status_code == again.status_code == 200
        assert service.store.position("cats") == position
        clash = service.call("POST", TOP_UP, json={"amount": "0.02"}, headers=sent)
        check_refused(clash, 409, "conflict")
        theirs = service.client.post(
            TOP_UP, json={"amount": "0.02"}, headers={**sent, "Authorization": f"Bearer {other}"}
        )
        assert theirs.status_code == 200


def test_labels_and_names_do_not_reach_headers(service: Service) -> None:
    label = "a\r\nSet-Cookie: evil=1\r\n\r\n<script>"
    made = service.call("POST", "/keys", json={"role": "viewer", "label": label})
    assert made.status_code == 201
    assert "set-cookie" not in made.headers
    assert made.json()["label"] == label
    created = service.call("POST", CREATE, json={**NEW, "name": "A.b_c-9"})
    assert created.headers["Location"] == "/campaigns/A.b_c-9"


def test_a_fault_tells_nothing_and_has_the_one_shape(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("password hunter2 in /etc/askwise")

    monkeypatch.setattr("askwise.service.open_campaigns.OpenCampaigns.get", fail)
    reply = service.call("GET", "/campaigns/cats")
    check_refused(reply, 500, "fault")
    assert "hunter2" not in reply.text


def test_a_store_that_fails_is_told_as_such_wherever_it_is_met(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise StoreError("can't reach postgresql://ann:hunter2@db/askwise", field="store")

    monkeypatch.setattr(service.store, "record", fail)
    monkeypatch.setattr(service.store, "position", fail)
    fresh = {"Authorization": "Bearer awo_" + "x" * 43}
    for reply in (
        service.client.get("/campaigns", headers=fresh),
        service.call("GET", "/campaigns/cats"),
        service.client.get("/readyz"),
    ):
        check_refused(reply, 503, "store_error")
        assert reply.headers["Retry-After"] == "1"
        assert "hunter2" not in reply.text


def test_one_who_goes_away_leaves_nothing_behind(service: Service) -> None:
    before = service.extent()

    async def gone() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    headers = [
        (b"authorization", f"Bearer {service.key}".encode()),
        (b"content-type", b"application/json"),
    ]
    for path in (ADD, CREATE):
        status, _, _ = asgi(service, path, method="POST", headers=headers, receive=gone)
        assert status in (0, 400)
    assert service.extent() == before


# Spreadsheets.


@given(st.text())
def test_no_cell_is_a_formula_and_every_cell_can_be_read_back(text: str) -> None:
    cell = safe_cell(text)
    if cell.lstrip(" ").startswith(tuple("=+-@\t\r\n")):
        float(cell)  # a number is what it says
    assert (cell[1:] if cell.startswith("'") else cell) == text


def test_a_table_with_formulas_is_read_back_by_the_rule() -> None:
    hostile = ["=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "'quoted", "-2.5", " =1", "a;=1"]
    out = io.StringIO(newline="")
    csv.writer(out).writerows([[safe_cell(each)] for each in hostile])
    rows = list(csv.reader(io.StringIO(out.getvalue(), newline="")))
    assert [cell[1:] if cell.startswith("'") else cell for (cell,) in rows] == hostile
