"""The heart of the service under attack: views, retries, identities, leases, absences."""

from __future__ import annotations

import json
import socket
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

from askwise.campaign import Campaign
from askwise.cli.app import app
from askwise.cli.serve import greet
from askwise.core.choices import Batch
from askwise.core.errors import Conflict, StoreError
from askwise.core.events import Event
from askwise.service import open_campaigns as hub_module
from askwise.service.api.routes import health
from askwise.service.api.routes.campaigns import create_once
from askwise.service.app import make_app
from askwise.service.auth.identity import Identities, csrf_token
from askwise.service.availability import Availability
from askwise.service.open_campaigns import OpenCampaigns
from askwise.service.settings import Settings
from askwise.service.state import ServiceState
from askwise.store import Change, MemoryStore, Record, Store, open_store

SPEC: dict[str, Any] = {
    "workers": [{"id": "ann", "price": "0.05"}, {"id": "bob", "price": "0.05"}],
    "tasks": ["one", "two", "three"],
    "options": ["yes", "no"],
    "budget": "5",
    "policy": "random-pairs",
}


class Crash(BaseException):
    """The process ends here."""


class Odd(MemoryStore):
    """A store in which things go wrong when they are told to."""

    before: BaseException | None = None
    """Raised by the next creation, before it is done."""
    after: BaseException | None = None
    """The same, afterwards."""
    refuses = ""
    """The kind of records of which the next change fails."""
    hangs: threading.Event | None = None
    """For which look-ups of records wait."""

    def create(self, name: str, spec: str, time: float) -> None:
        error, self.before = self.before, None
        if error is not None:
            raise error
        super().create(name, spec, time)
        error, self.after = self.after, None
        if error is not None:
            raise error

    def change(self, changes: Sequence[Change]) -> bool:
        if any(change.kind == self.refuses for change in changes):
            self.refuses = ""
            raise StoreError("the connection was lost")
        return super().change(changes)

    def record(self, kind: str, id: str) -> Record | None:
        if self.hangs is not None:
            self.hangs.wait(60)
        return super().record(kind, id)


class Browser(TestClient):
    """A client of an application on a store, with the owner's key."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.secret = Identities(store).first_owner() or ""
        made = make_app(Settings(store="memory"), store)
        self.service: ServiceState = made.state.service
        super().__init__(made, follow_redirects=False)

    def call(
        self, method: str, path: str, body: Any = None, *, once: str | None = None, **headers: str
    ) -> Any:
        sent = {"Authorization": f"Bearer {self.secret}"} | headers
        if once is not None:
            sent["Idempotency-Key"] = once
        return self.request(method, path, json=body, headers=sent)

    def create(self, name: str, once: str | None = None, **fields: Any) -> Any:
        return self.call("POST", "/campaigns", {**SPEC, "name": name, **fields}, once=once)

    def workers(self, name: str) -> int:
        found: int = self.call("GET", f"/campaigns/{name}").json()["workers"]
        return found

    @contextmanager
    def address(self, address: str) -> Iterator[None]:
        """Let it be what people type."""
        before, base = self.service.settings, self.base_url
        self.service.settings = replace(before, address=address)
        self.base_url = address
        try:
            yield
        finally:
            self.service.settings, self.base_url = before, base


@pytest.fixture(scope="module")
def shared() -> Iterator[Browser]:
    with Browser(Odd()) as made:
        yield made


@pytest.fixture
def client(shared: Browser) -> Browser:
    shared.cookies.clear()
    return shared


@pytest.fixture
def store(client: Browser) -> Odd:
    assert isinstance(client.store, Odd)
    return client.store


@pytest.fixture
def cats(request: pytest.FixtureRequest) -> str:
    """The name of a campaign, and a retry's key, that no other test uses."""
    return f"cats-{zlib.crc32(request.node.name.encode())}"


def at_once(count: int, work: Callable[[int], Any]) -> list[Any]:
    """What so many threads get that begin at the same moment."""
    gate = threading.Barrier(count)

    def run(number: int) -> Any:
        gate.wait()
        return work(number)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))


def broken(store: Store, name: str) -> None:
    """A campaign whose policy is installed nowhere any more."""
    Campaign.create(store=store, name=f"{name}-fine", **SPEC)
    spec = json.loads(store.spec(f"{name}-fine"))
    store.create(name, json.dumps({**spec, "policy": {"name": "gone-plugin"}}), 0.0)


# Views.


def test_a_view_never_carries_a_position_that_it_has_not_seen() -> None:
    store = MemoryStore()
    campaigns = OpenCampaigns(store, 60.0)
    campaign = Campaign.create(store=store, name="cats", **SPEC)
    ending = threading.Event()

    def write() -> None:
        while not ending.is_set():
            campaign.pause()
            campaign.resume()

    def poll(_: int) -> list[tuple[int, int]]:
        views = [campaigns.view("cats", "status", Campaign.status) for _ in range(50)]
        return [(label, status.seq) for label, status in views]

    writer = threading.Thread(target=write)
    writer.start()
    try:
        polled = at_once(6, poll)
    finally:
        ending.set()
        writer.join()
    for seen in polled:
        assert all(label <= seq for label, seq in seen)
        labels = [label for label, _ in seen]
        assert labels == sorted(labels)


def test_pollers_of_one_position_share_one_computation() -> None:
    store = MemoryStore()
    campaigns = OpenCampaigns(store, 60.0)
    Campaign.create(store=store, name="cats", **SPEC)
    calls: list[int] = []

    def slow(campaign: Campaign) -> int:
        calls.append(1)
        time.sleep(0.05)
        return campaign.status().seq

    assert at_once(16, lambda _: campaigns.view("cats", "slow", slow)) == [(0, 0)] * 16
    assert len(calls) == 1


def test_a_poll_gets_no_304_after_a_change_of_another_process(client: Browser, cats: str) -> None:
    client.create(cats)
    elsewhere = Campaign.open(client.store, cats)
    for part in ("", "/answers", "/payments", "/log", "/assignments"):
        path = f"/campaigns/{cats}{part}"
        first = client.call("GET", path)
        tag = {"If-None-Match": first.headers["etag"]}
        assert client.call("GET", path, **tag).status_code == 304
        elsewhere.pause()
        second = client.call("GET", path, **tag)
        assert second.status_code == 200
        assert second.headers["etag"] != first.headers["etag"]
        elsewhere.resume()
    assert client.call("GET", f"/campaigns/{cats}").json()["seq"] == 10


def test_what_is_kept_of_campaigns_goes_with_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub_module, "MOST_OPEN", 3)
    store = MemoryStore()
    campaigns = OpenCampaigns(store, 60.0)
    for number in range(10):
        Campaign.create(store=store, name=f"c{number}", **SPEC)
        for key in range(200):
            campaigns.view(f"c{number}", key, Campaign.status)
    held = list(campaigns._open.values())
    assert len(held) == 3
    assert all(len(each.views) <= hub_module.MOST_VIEWS + 1 for each in held)


def test_a_campaign_that_is_driven_out_while_it_is_used_stays_whole(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(hub_module, "MOST_OPEN", 1)
    store = open_store(f"sqlite:///{tmp_path}/a.sqlite")
    campaigns = OpenCampaigns(store, 60.0)
    for name in ("a", "b"):
        Campaign.create(store=store, name=name, **SPEC)
    asked = at_once(8, lambda at: campaigns.get("ab"[at % 2]).ask(key=str(at // 2 % 2)))
    assert len({choice[0].id for choice in asked}) == 4
    for name in "ab":
        assert campaigns.get(name).status() == Campaign.open(store, name).status()
        assert campaigns.get(name).status().pending == 2
    campaigns.close()
    store.close()


def test_a_campaign_that_can_t_be_opened_hides_no_others(client: Browser) -> None:
    broken(client.store, "0")
    listed = client.call("GET", "/campaigns").json()
    assert "0-fine" in [each["name"] for each in listed["items"]]
    assert listed["unreadable"] == ["0"]
    page = client.call("GET", "/campaigns?limit=1").json()
    assert (page["items"], page["next"]) == ([], "0")
    # It is no fault of the caller's.
    reply = client.call("GET", "/campaigns/0")
    assert reply.status_code == 500
    assert "gone-plugin" in reply.json()["error"]["message"]
    assert client.call("GET", "/campaigns/dogs").status_code == 404
    client.post("/login", data={"key": client.secret})
    board = client.get("/dashboard")
    assert board.status_code == 200
    assert "0-fine" in board.text
    assert "can’t be opened" in board.text


# Retries.


@pytest.mark.parametrize("is_named", [True, False])
def test_sixteen_in_two_processes_create_one_campaign(tmp_path: Path, is_named: bool) -> None:
    url = f"sqlite:///{tmp_path}/a.sqlite"
    stores = [open_store(url) for _ in range(2)]
    services = [Browser(store).service for store in stores]
    fields = {**SPEC, "name": "cats"} if is_named else SPEC

    def create(at: int) -> str:
        return str(create_once(services[at % 2], dict(fields), "me:k")["name"])

    names = at_once(16, create)
    assert len(set(names)) == 1
    assert create(0) == names[0]
    assert stores[0].names() == names[:1]
    for store in stores:
        store.close()


def test_a_creation_whose_commit_was_not_heard_of_is_found_by_its_retry(
    client: Browser, store: Odd, cats: str
) -> None:
    store.after = StoreError("the connection was lost")
    assert client.create(cats, once=cats).status_code == 503
    assert client.create(cats, once=cats).status_code == 201
    assert client.create(cats, once=f"{cats}-2").status_code == 409


def test_a_crash_between_note_and_creation_is_made_good_by_the_retry(
    client: Browser, store: Odd, cats: str
) -> None:
    store.before = Crash()
    fields = {**SPEC, "name": cats}
    with pytest.raises(Crash):
        create_once(client.service, dict(fields), cats)
    assert cats not in store.names()
    assert create_once(client.service, dict(fields), cats)["name"] == cats


@pytest.mark.parametrize("seed", [None, 7])
def test_a_retry_is_not_answered_with_a_campaign_of_somebody_else(
    client: Browser, store: Odd, cats: str, seed: int | None
) -> None:
    mine = {**SPEC, "name": cats, "seed": seed}
    store.before = Crash()
    with pytest.raises(Crash):
        create_once(client.service, dict(mine), cats)
    client.create(cats, budget="77")
    for _ in range(2):
        with pytest.raises(Conflict) as refused:
            create_once(client.service, dict(mine), cats)
        assert refused.value.field == "name"


def test_a_name_that_is_taken_is_refused_however_like_the_campaigns_are(
    client: Browser, cats: str
) -> None:
    assert client.create(cats, seed=1).status_code == 201
    for key in (cats, cats, f"{cats}-2"):
        assert client.create(cats, seed=1, once=key).status_code == 409
    # The key is not used up by what was refused.
    assert client.create(f"{cats}-2", seed=1, once=cats).status_code == 201
    assert client.create(f"{cats}-3", seed=1, once=cats).status_code == 409


def test_what_was_not_valid_uses_up_no_key(client: Browser, cats: str) -> None:
    assert client.create(cats, once=cats, policy="no-such").status_code == 422
    assert client.create(cats, once=cats).status_code == 201
    assert client.create(cats, once=cats, budget="6").json()["error"]["field"] == "key"


def test_keys_of_two_callers_have_nothing_to_do_with_each_other(client: Browser, cats: str) -> None:
    other, _ = client.service.identities.issue("requester", "eve")
    first = client.call("POST", "/campaigns", SPEC, once=cats).json()["name"]
    theirs = {"Authorization": f"Bearer {other}"}
    second = client.call("POST", "/campaigns", SPEC, once=cats, **theirs).json()["name"]
    assert first != second


def test_keys_that_look_alike_are_two(client: Browser, cats: str) -> None:
    client.create(cats)
    composed, apart = "caf\u00e9".encode(), "cafe\u0301".encode()
    ids = set()
    for key in (composed, apart, composed, b"x" * 150):
        sent = [
            (b"authorization", f"Bearer {client.secret}".encode()),
            (b"idempotency-key", key),
        ]
        reply = client.post(f"/campaigns/{cats}/ask", headers=sent)
        ids.add(reply.json()["assignments"][0]["id"])
    assert len(ids) == 3
    assert client.call("POST", f"/campaigns/{cats}/ask", once="x" * 151).status_code == 422


def test_a_retried_ask_gets_the_same_though_somebody_went_or_came(
    client: Browser, cats: str
) -> None:
    client.create(cats)
    path, away = f"/campaigns/{cats}", {"worker": "bob", "available": False}
    client.call("POST", f"{path}/availability", away)
    first = client.call("POST", f"{path}/ask", once="k")
    assert first.json()["assignments"][0]["worker"] == "ann"
    client.call("POST", f"{path}/availability", {**away, "available": True})
    again = client.call("POST", f"{path}/ask", once="k")
    assert (again.status_code, again.json()) == (200, first.json())
    client.call("POST", f"{path}/add", {"workers": [{"id": "cy", "price": "0.05"}]})
    assert client.call("POST", f"{path}/ask", once="k").json() == first.json()


def test_a_key_of_another_invitation_adds_nobody(client: Browser, cats: str) -> None:
    client.create(cats)
    path = f"/campaigns/{cats}/invite"
    assert client.call("POST", path, {"worker": "ann"}, once=cats).status_code == 201
    refused = client.call("POST", path, {"worker": "zoe", "price": "0.1"}, once=cats)
    assert (refused.status_code, refused.json()["error"]["field"]) == (409, "key")
    assert client.workers(cats) == 2


def test_a_retried_invitation_brings_nobody_back_but_a_new_one_does(
    client: Browser, cats: str
) -> None:
    client.create(cats)
    path, body = f"/campaigns/{cats}/invite", {"worker": "ann", "price": "0.05"}
    first = client.call("POST", path, body, once=cats).json()
    client.call("POST", f"/campaigns/{cats}/leave", {"worker": "ann"})
    assert client.call("POST", path, body, once=cats).json() == first
    assert client.workers(cats) == 1
    assert client.call("POST", path, body, once=f"{cats}-2").status_code == 201
    assert client.workers(cats) == 2


def test_an_invitation_that_broke_off_between_worker_and_token_is_made_good(
    client: Browser, store: Odd, cats: str
) -> None:
    client.create(cats)
    path, body = f"/campaigns/{cats}/invite", {"worker": "zoe", "price": "0.1"}
    store.refuses = "token"
    assert client.call("POST", path, body, once=cats).status_code == 503
    assert client.workers(cats) == 3
    assert client.call("POST", path, body, once=cats).status_code == 201
    assert client.workers(cats) == 3


def test_several_invite_the_same_new_worker_at_once(client: Browser, cats: str) -> None:
    client.create(cats)
    path, body = f"/campaigns/{cats}/invite", {"worker": "zoe", "price": "0.1"}
    replies = at_once(8, lambda at: client.call("POST", path, body, once=f"{cats}-{at}"))
    assert {reply.status_code for reply in replies} == {201}
    assert len({reply.json()["secret"] for reply in replies}) == 8
    assert client.workers(cats) == 3


# Identities.


def test_whoever_is_killed_while_the_first_owner_is_made_leaves_none_or_one() -> None:
    class Killed(MemoryStore):
        def change(self, changes: Sequence[Change]) -> bool:
            done = super().change(changes)
            if changes[0].kind == "setup" and len(changes) == 1:
                raise Crash
            return done

    store = Killed()
    secret = Identities(store).first_owner()
    assert secret is not None
    assert Identities(store).find(secret).role == "owner"
    assert Identities(store).has_owner()


def test_it_is_known_when_there_is_no_owner_any_more() -> None:
    now = [1000.0]
    identities = Identities(MemoryStore(), lambda: now[0])
    assert not identities.has_owner()
    identities.issue("viewer", "vic")
    assert not identities.has_owner()
    identities.issue("owner", "ann", lasts=10)
    assert identities.has_owner()
    now[0] += 10
    assert not identities.has_owner()
    _, second = identities.issue("owner", "bob")
    assert identities.has_owner()
    identities.revoke(second.id)
    assert not identities.has_owner()


def test_sessions_that_are_over_are_forgotten() -> None:
    now = [1000.0]
    store = MemoryStore()
    identities = Identities(store, lambda: now[0])
    caller = identities.find(identities.issue("owner", "ann")[0])
    for _ in range(10):
        identities.open_session(caller, 60)
    now[0] += 4000
    identities.open_session(caller, 60)
    assert len(store.records("session")) == 1


def test_a_secret_opens_only_what_it_is_for(client: Browser, cats: str) -> None:
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


def test_a_session_ends_with_its_key_and_begins_anew_with_each_login(client: Browser) -> None:
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
    client: Browser, address: str, wanted: bool
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
def test_nobody_is_led_to_another_site(client: Browser, wanted: str) -> None:
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
    client: Browser, headers: dict[str, str], status: int
) -> None:
    with client.address("https://ask.example.org"):
        reply = client.post("/login", data={"key": client.secret}, headers=headers)
    assert reply.status_code == status


def test_nobody_is_signed_out_by_another_s_page(client: Browser) -> None:
    client.post("/login", data={"key": client.secret})
    for form in ({}, {"csrf": "é"}, {"csrf": csrf_token("")}):
        assert client.post("/logout", data=form).status_code == 403
    assert client.get("/dashboard").status_code == 200
    token = csrf_token(client.cookies["askwise_session"])
    assert client.post("/logout", data={"csrf": token}).status_code == 303
    assert client.get("/dashboard").status_code == 303


@pytest.mark.parametrize("key", ["\ud800", "\x00", "é", "a" * 60_000, " ", "awo_", "aww_"])
def test_odd_keys_are_no_faults(client: Browser, key: str) -> None:
    sent = "key=" + "".join(f"%{byte:02x}" for byte in key.encode("utf-8", "surrogatepass"))
    kind = {"Content-Type": "application/x-www-form-urlencoded"}
    wanted = 401 if len(sent) <= 65_536 else 413
    assert client.post("/login", content=sent, headers=kind).status_code == wanted


# Leases.


class Counting(MemoryStore):
    """Counts which logs are read."""

    def __init__(self) -> None:
        super().__init__()
        self.reads: list[str] = []

    def read(self, name: str, after: int = 0, upto: int | None = None) -> list[Event]:
        self.reads.append(name)
        return super().read(name, after, upto)


def test_the_sweeper_looks_only_where_something_may_be_due() -> None:
    now = [1000.0]
    store = Counting()
    made = {
        name: Campaign.create(store=store, name=name, clock=lambda: now[0], **SPEC, lease=lease)
        for name, lease in (("none", None), ("idle", 600.0), ("used", 600.0))
    }
    campaigns = OpenCampaigns(store, 5.0, lambda: now[0])
    opened = Campaign.open

    def on_our_clock(store: Any, name: str, **rest: Any) -> Campaign:
        return opened(store, name, clock=lambda: now[0], **rest)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Campaign, "open", on_our_clock)
        assert campaigns.sweep() == 0
        assert set(store.reads) == {"idle", "used"}
        now[0] += 100
        made["used"].ask()
        store.reads.clear()
        for _ in range(100):
            now[0] += 4.9
            assert campaigns.sweep() == 0
        assert store.reads == []
        # Until what was asked in between is due: a lease after it, not after the first look.
        now[0] = 1699.0
        assert campaigns.sweep() == 0
        now[0] = 1701.0
        assert campaigns.sweep() == 1
        assert made["used"].status().pending == 0
        assert set(store.reads) <= {"used"}
        # Nothing is held open for it.
        assert list(campaigns._open) == []
        # A clock that is set back does not put it off.
        now[0] = 900.0
        made["used"].ask()
        now[0] = 1550.0
        assert campaigns.sweep() == 1


def test_the_sweeper_gets_past_a_campaign_that_can_t_be_opened() -> None:
    now = [1000.0]
    store = MemoryStore()
    broken(store, "a")
    store.create("b", "{}", 0.0)
    spec = json.loads(store.spec("a"))
    store.create("c", json.dumps({**spec, "lease": 5}), 0.0)
    late = Campaign.create(store=store, name="d", clock=lambda: now[0], **SPEC, lease=5)
    late.ask()
    campaigns = OpenCampaigns(store, 5.0)
    assert campaigns.sweep() == 1
    assert campaigns.sweep() == 0
    assert late.status().pending == 0
    # They are left alone for a while, rather than complained about every few seconds.
    assert {name for name, known in campaigns._leases.items() if known.rests(time.time())} >= {
        "b",
        "c",
    }


def test_a_store_that_is_down_is_noticed_once_a_sweep() -> None:
    class Down(MemoryStore):
        down = False
        asked = 0

        def read(self, name: str, after: int = 0, upto: int | None = None) -> list[Event]:
            self.look()
            return super().read(name, after, upto)

        def position(self, name: str) -> int:
            self.look()
            return super().position(name)

        def look(self) -> None:
            self.asked += self.down
            if self.down:
                raise StoreError("the server is gone")

    store = Down()
    for number in range(50):
        Campaign.create(store=store, name=f"c{number}", **SPEC, lease=5)
    campaigns = OpenCampaigns(store, 5.0)
    store.down = True
    with pytest.raises(StoreError):
        campaigns.sweep()
    assert store.asked == 2
    store.down = False
    assert campaigns.sweep() == 0


def test_answers_and_the_sweeper_race_and_each_question_ends_once() -> None:
    store = MemoryStore()
    fields = {**SPEC, "tasks": [f"t{at}" for at in range(100)]}
    Campaign.create(store=store, name="cats", **{**fields, "budget": "500"}, lease=0.01)
    campaigns = OpenCampaigns(store, 5.0)
    batch = campaigns.get("cats").ask(100)
    assert isinstance(batch, Batch)
    time.sleep(0.012)

    def work(at: int) -> int:
        if at == 0:
            return sum(campaigns.sweep() for _ in range(20))
        done = 0
        for assignment in tuple(batch)[at - 1 :: 4]:
            try:
                campaigns.get("cats").tell(assignment.id, "yes")
                done += 1
            except Conflict:
                pass
        return done

    at_once(5, work)
    status = campaigns.get("cats").status()
    kinds = [event.kind.name for event in store.read("cats")]
    assert kinds.count("ANSWER") == status.answers
    assert kinds.count("ASKED") == 100
    assert (status.pending, int(status.reserved)) == (0, 0)


# Availability.


def test_absences_are_of_one_campaign_and_one_worker() -> None:
    now = [1000.0]
    absences = Availability(MemoryStore(), lambda: now[0])
    for campaign, worker in (("a", "b/c"), ("a.b", "c"), ("ab", "x"), ("a", "%"), ("a", "/")):
        absences.set(campaign, worker, available=False, until=None)
    assert absences.away("a") == {"b/c", "%", "/"}
    assert absences.away("a.b") == {"c"}
    assert absences.away("ab") == {"x"}
    absences.set("a", "b/c", available=True, until=None)
    assert absences.away("a") == {"%", "/"}


def test_an_absence_ends_by_itself_and_a_clock_set_back_is_heard() -> None:
    now = [1000.0]
    store = MemoryStore()
    here, there = (Availability(store, lambda: now[0]) for _ in range(2))
    here.set("a", "ann", available=False, until=1010.0)
    assert here.away("a") == there.away("a") == {"ann"}
    now[0] = 1010.0
    assert here.away("a") == there.away("a") == frozenset()
    now[0] = 500.0
    there.set("a", "bob", available=False, until=None)
    now[0] = 501.5
    assert here.away("a") == {"ann", "bob"}


def test_who_comes_back_during_a_look_up_is_back() -> None:
    class Slow(MemoryStore):
        then: Callable[[], None] | None = None

        def records(self, *args: Any, **more: Any) -> list[Record]:
            found = super().records(*args, **more)
            then, self.then = self.then, None
            if then is not None:
                then()
            return found

    store = Slow()
    absences = Availability(store)
    absences.set("a", "ann", available=False, until=None)
    store.then = lambda: absences.set("a", "ann", available=True, until=None)
    absences.away("a")
    assert absences.away("a") == frozenset()


def test_who_declined_is_passed_over_though_somebody_is_away(client: Browser, cats: str) -> None:
    workers = [*SPEC["workers"], {"id": "cy", "price": "0.05"}]
    made = client.create(
        cats,
        workers=workers,
        policy="thompson-knapsack",
        outcome="utility",
        options=None,
        tasks=None,
    )
    assert made.status_code == 201, made.text
    path = f"/campaigns/{cats}"
    client.call("POST", f"{path}/availability", {"worker": "cy", "available": False})
    asked = client.call("POST", f"{path}/ask").json()["assignments"][0]
    client.call("POST", f"/assignments/{asked['id']}/decline")
    for _ in range(8):
        other = client.call("POST", f"{path}/ask").json()["assignments"][0]
        assert other["worker"] not in (asked["worker"], "cy")


def test_nobody_is_left_to_ask(client: Browser, cats: str) -> None:
    client.create(cats)
    path = f"/campaigns/{cats}"
    for worker in ("ann", "bob"):
        client.call("POST", f"{path}/availability", {"worker": worker, "available": False})
    reply = client.call("POST", f"{path}/ask")
    assert reply.json() == {"status": "wait", "what": "workers"}
    assert client.call("GET", path).json()["decisions"] == 0


# A store that hangs, and the end.


def test_probes_are_answered_while_the_store_hangs(
    client: Browser, store: Odd, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert client.get("/readyz").status_code == 200
    monkeypatch.setattr(health, "PATIENCE", 0.05)
    goes_on = store.hangs = threading.Event()
    for _ in range(6):
        reply = client.get("/readyz")
        assert (reply.status_code, reply.headers["retry-after"]) == (503, "1")
        assert client.get("/healthz").status_code == 200
    store.hangs = None
    goes_on.set()
    monkeypatch.undo()
    assert client.get("/readyz").status_code == 200


def test_a_write_that_outlasts_the_service_is_still_acknowledged() -> None:
    store = MemoryStore()
    campaigns = OpenCampaigns(store, 60.0)
    Campaign.create(store=store, name="cats", **SPEC)
    campaign = campaigns.get("cats")
    campaigns.close()
    for _ in range(600):
        campaign.pause()
        campaign.resume()
    assert campaign.status().seq == 1200


# The commands.


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
    result = CliRunner().invoke(app, list(words))
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
        result = CliRunner().invoke(app, words)
    assert result.exit_code == 2
    assert "can't listen" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_who_starts_a_service_without_an_owner_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    store = MemoryStore()
    greet(store, "http://127.0.0.1:1")
    assert "shown this once" in capsys.readouterr().out
    greet(store, "http://127.0.0.1:1")
    assert capsys.readouterr().out.count("\n") == 1
    identities = Identities(store)
    identities.revoke(identities.keys()[0].id)
    greet(store, "http://127.0.0.1:1")
    assert "askwise keys new owner" in capsys.readouterr().out
