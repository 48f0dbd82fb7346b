"""Signing in and out: secrets, sessions, cookies, redirections and forms of other sites."""

from __future__ import annotations

import pytest

from askwise.service.auth.identity import csrf_token
from tests.service.in_process.faults import OwnerClient


def test_a_secret_opens_only_what_it_is_for(client: OwnerClient, cats: str) -> None:
    client.create(cats)
    invited = client.call("POST", f"/campaigns/{cats}/invite", {"worker": "ann"}).json()
    session = client.post("/login", data={"key": client.secret}).cookies["askwise_session"]
    client.cookies.clear()
    for secret in (session, "", "x", "é"):
        shown = [(b"authorization", f"Bearer {secret}".encode())]
        assert client.get("/me", headers=shown).status_code == 401
    for secret in (client.secret, invited["secret"], "", "x", "é"):
        worn = [(b"cookie", f"askwise_session={secret}".encode())]
        reply = client.get("/dashboard", headers=worn)
        assert reply.status_code == 303
        assert reply.headers["location"].startswith("/login")
    for secret in (client.secret, session, "x"):
        assert client.get(f"/join/{secret}").status_code == 401
        worn = [(b"cookie", f"askwise_work_{cats}={secret}".encode())]
        assert client.get(f"/work/{cats}", headers=worn).status_code == 401


def test_a_session_ends_with_its_key_and_begins_anew_with_each_login(client: OwnerClient) -> None:
    key = client.call("POST", "/keys", {"role": "viewer", "label": "vic"}).json()
    chosen = {"Cookie": "askwise_session=chosen-by-somebody"}
    first = client.post("/login", data={"key": key["secret"]}, headers=chosen)
    assert first.cookies["askwise_session"] != "chosen-by-somebody"
    assert client.get("/dashboard").status_code == 200
    client.call("DELETE", f"/keys/{key['id']}")
    assert client.get("/dashboard").status_code == 303


@pytest.mark.parametrize(
    ("address", "wanted"), [("https://ask.example.org", True), ("http://127.0.0.1", False)]
)
def test_cookies_are_for_https_only_where_people_come_by_it(
    client: OwnerClient, address: str, wanted: bool
) -> None:
    with client.address(address):
        reply = client.post("/login", data={"key": client.secret})
    flags = {part.strip().lower() for part in reply.headers["set-cookie"].split(";")}
    assert ("secure" in flags) is wanted
    assert {"httponly", "samesite=lax", "path=/"} <= flags


@pytest.mark.parametrize(
    "wanted",
    [
        "//evil.example", "https://evil.example", "/\\evil.example", "/dashboard\\..\\evil",
        "javascript:alert(1)", "/dashboard\r\nSet-Cookie: a=b", "/login", "", "/dashboard\x00",
    ],
)  # fmt: skip
def test_nobody_is_led_to_another_site(client: OwnerClient, wanted: str) -> None:
    reply = client.post("/login", data={"key": client.secret, "next": wanted})
    assert (reply.status_code, reply.headers["location"]) == (303, "/dashboard")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "https://evil.example"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Origin": "https://ask.example.org.evil.example"}, 403),
        # A proxy may pass another Host than people typed.
        ({"Origin": "https://ask.example.org", "Host": "10.0.0.7:8000"}, 303),
        ({"Origin": "null", "Sec-Fetch-Site": "same-origin"}, 303),
    ],
)
def test_forms_of_other_sites_are_refused(
    client: OwnerClient, headers: dict[str, str], status: int
) -> None:
    with client.address("https://ask.example.org"):
        reply = client.post("/login", data={"key": client.secret}, headers=headers)
    assert reply.status_code == status


def test_nobody_is_signed_out_by_another_s_page(client: OwnerClient) -> None:
    client.post("/login", data={"key": client.secret})
    for form in ({}, {"csrf": "é"}, {"csrf": csrf_token("")}):
        assert client.post("/logout", data=form).status_code == 403
    assert client.get("/dashboard").status_code == 200
    token = csrf_token(client.cookies["askwise_session"])
    assert client.post("/logout", data={"csrf": token}).status_code == 303
    assert client.get("/dashboard").status_code == 303


@pytest.mark.parametrize("key", ["\ud800", "\x00", "é", "a" * 60_000, " ", "awo_", "aww_"])
def test_odd_keys_are_no_faults(client: OwnerClient, key: str) -> None:
    sent = "key=" + "".join(f"%{byte:02x}" for byte in key.encode("utf-8", "surrogatepass"))
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    wanted = 401 if len(sent) <= 65_536 else 413
    assert client.post("/login", content=sent, headers=kind).status_code == wanted
