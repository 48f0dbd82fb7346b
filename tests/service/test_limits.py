"""Rates by key and by address: enough for honest work, and no more."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from askwise.service.app import make_app
from askwise.service.auth.identity import Identities
from askwise.service.middleware import rates as limits
from askwise.service.middleware import requests
from askwise.service.middleware.rates import Buckets, bucket_of
from askwise.service.middleware.requests import RequestMiddleware
from askwise.service.settings import Settings
from askwise.store import open_store
from tests.clock import Clock


@given(
    st.lists(st.tuples(st.floats(0, 3), st.integers(1, 5)), max_size=60),
    st.floats(0.5, 20),
    st.integers(1, 10),
)
def test_a_bucket_lets_through_its_burst_and_its_rate_and_no_more(
    steps: list[tuple[float, int]], rate: float, burst: int
) -> None:
    clock = Clock()
    begun = clock.now
    buckets = Buckets(rate, burst, clock)
    passed = 0
    for wait, tries in steps:
        clock.now += wait
        for _ in range(tries):
            left = buckets.take("ann")
            passed += left == 0.0
            assert passed <= burst + (clock.now - begun) * rate + 1e-6
            if left:
                # What it says to wait is enough, and not much more than needed.
                assert 0 < left <= 1 / rate + 1e-9
    clock.now += buckets.take("ann") + 1e-9
    assert buckets.take("bob") == 0.0


def test_a_dear_request_is_paid_off_before_the_next() -> None:
    clock = Clock()
    buckets = Buckets(rate=2, burst=4, clock=clock)
    assert buckets.take("ann", 10) == 0.0
    # Four were there, six are owed: seven at two a second make three and a half seconds.
    assert buckets.take("ann") == pytest.approx(3.5)
    clock.now += 3.4
    assert buckets.take("ann") > 0
    clock.now += 0.2
    assert buckets.take("ann") == 0.0
    assert buckets.take("bob") == 0.0


def test_buckets_that_are_full_again_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MANY", 100)
    clock = Clock()
    buckets = Buckets(rate=10, burst=20, clock=clock)
    most = 0
    for number in range(20_000):
        clock.now += 0.01
        buckets.take(f"address {number}")
        most = max(most, len(buckets))
    # One a hundredth second, each full again after a tenth: ten are not; the rest goes in time.
    assert most <= 201
    clock.now += 100
    for number in range(202):
        buckets.take(f"late {number}")
    assert len(buckets) <= 202


def test_looking_for_full_buckets_costs_little_though_none_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "MANY", 100)
    looks = []
    plain = Buckets._drop_full
    monkeypatch.setattr(
        Buckets, "_drop_full", lambda self, now: (looks.append(len(self)), plain(self, now))
    )
    buckets = Buckets(rate=1, burst=5, clock=lambda: 0.0)
    buckets._most = 100
    for number in range(10_000):
        buckets.take(str(number))
    assert len(looks) <= 8
    assert sum(looks) <= 3 * 10_000


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("192.0.2.1", "192.0.2.2", False),
        ("2001:db8::1", "2001:db8::2", True),
        ("2001:db8:0:1::1", "2001:db8:0:2::1", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("::ffff:192.0.2.1", "::ffff:192.0.2.2", False),
        ("testclient", "testclient", True),
        ("not:an:address", "not:another", False),
    ],
)
def test_an_address_of_ipv6_shares_its_network_s_bucket(one: str, other: str, same: bool) -> None:
    assert (bucket_of(one) == bucket_of(other)) is same


def service(monkeypatch: pytest.MonkeyPatch, **rates: float) -> tuple[TestClient, Any, Clock]:
    clock = Clock()
    made = Buckets.__init__

    def with_clock(self: Buckets, rate: float, burst: float, _: Any = None) -> None:
        made(self, rate, burst, clock)

    monkeypatch.setattr(Buckets, "__init__", with_clock)
    store = open_store("memory")
    app = make_app(Settings(store="memory", **rates), store)  # type: ignore[arg-type]
    return TestClient(app), Identities(store), clock


def test_a_key_has_a_rate_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    client, identities, clock = service(monkeypatch, key_rate=1.0, key_burst=3.0)
    ann, bob = ({"Authorization": f"Bearer {identities.issue('viewer', name)[0]}"} for name in "ab")
    replies = [client.get("/me", headers=ann) for _ in range(4)]
    assert [reply.status_code for reply in replies] == [200, 200, 200, 429]
    refused = replies[-1]
    assert refused.json()["error"]["code"] == "too_many_requests"
    assert "this key" in refused.json()["error"]["message"]
    assert refused.headers["Retry-After"] == "2"
    assert client.get("/me", headers=bob).status_code == 200
    clock.now += float(refused.headers["Retry-After"])
    assert client.get("/me", headers=ann).status_code == 200


def test_an_address_has_a_rate_whatever_keys_it_uses(monkeypatch: pytest.MonkeyPatch) -> None:
    client, identities, clock = service(monkeypatch, address_rate=1.0, address_burst=5.0)
    keys = [{"Authorization": f"Bearer {identities.issue('viewer', 'x')[0]}"} for _ in range(6)]
    codes = [client.get("/me", headers=key).status_code for key in keys]
    assert codes == [200] * 5 + [429]
    assert client.get("/healthz").status_code == 429
    assert client.get("/nothing").status_code == 429
    clock.now += 1.0
    assert client.get("/healthz").status_code == 200


@pytest.mark.parametrize("how", ["bearer", "basic", "form", "link", "none"])
def test_a_wrong_key_costs_as_much_as_ten_requests(
    monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    client, _, clock = service(monkeypatch, address_rate=1.0, address_burst=30.0)

    def guess() -> int:
        wrong = "awo_" + "x" * 43
        if how == "form":
            return client.post("/login", data={"key": wrong}).status_code
        if how == "link":
            return client.get(f"/join/aww_{'x' * 43}").status_code
        scheme = {"bearer": "Bearer", "basic": "Basic"}.get(how)
        headers = {} if scheme is None else {"Authorization": f"{scheme} {wrong}"}
        return client.get("/campaigns", headers=headers).status_code

    # Eleven each: after three of them thirty are gone.
    assert [guess() for _ in range(4)] == [401, 401, 401, 429]
    clock.now += 3.0
    assert guess() == 429
    clock.now += 3.0
    assert guess() == 401
    assert requests.WRONG_KEY == 10.0


def test_wrong_keys_lock_out_nobody_who_shares_their_address(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    client, identities, clock = service(monkeypatch, address_rate=1.0, address_burst=30.0)
    good, wrong = ({"Authorization": f"Bearer {key}"} for key in (_good(identities), "awo_wrong"))
    codes = [client.get("/me", headers=wrong).status_code for _ in range(5)]
    assert codes == [401, 401, 401, 429, 429]
    refused = client.get("/me", headers=wrong)
    # Thirty less three times eleven is three below nothing: four seconds to the next.
    message = "too many wrong keys from this address: wait 4.0 s"
    assert refused.json()["error"]["message"] == message
    assert refused.headers["Retry-After"] == "5"
    assert client.head("/me", headers=wrong).status_code == 429
    # A key, a browser that signs in and then has a session, and what needs no key.
    assert client.get("/me", headers=good).status_code == 200
    signed_in = client.post("/login", data={"key": _good(identities)})
    assert signed_in.url.path == "/dashboard"
    assert signed_in.status_code == 200
    assert client.get("/healthz").status_code == 200
    clock.now += 4.0
    assert client.get("/me", headers=wrong).status_code == 401


def _good(identities: Any) -> str:
    key: str = identities.issue("viewer", "ann")[0]
    return key


def test_a_gate_holds_no_more_than_it_must() -> None:
    built = RequestMiddleware(Settings(store="memory"), None, None, 8)  # type: ignore[arg-type]
    for number in range(60_000):
        built.addresses.take(f"10.{number >> 16}.{(number >> 8) & 255}.{number & 255}")
    # They fill up at a thousand a second: by the next look most are full.
    assert len(built.addresses) < 60_000
