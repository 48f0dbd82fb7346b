"""Keys, tokens and sessions: recognised while they last, kept as hashes only."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from askwise.core.errors import InvalidParameter, UnknownName
from askwise.service.auth import identity
from askwise.service.auth.identity import PREFIX, ROLES, Identities, Identity, csrf_token, digest
from askwise.service.errors import RequestRefused
from askwise.store import MemoryStore, Record, Store, open_store
from tests.clock import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock(1_000_000.0)


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    opened = open_store("memory" if request.param == "memory" else f"sqlite:///{tmp_path}/a.sqlite")
    yield opened
    opened.close()


def test_a_key_is_recognised_and_its_secret_is_nowhere(store: Store, clock: Clock) -> None:
    identities = Identities(store, clock)
    for role in ROLES:
        secret, issued = identities.issue(role, f"{role}'s")
        assert secret.startswith(PREFIX[role])
        assert len(secret) >= 47  # 256 bits
        found = identities.find(secret)
        assert (found.id, found.role, found.label) == (issued.id, role, f"{role}'s")
        assert secret not in repr(found)
        assert found == identities.known(secret)
        assert digest(secret).startswith(issued.id)
    listed = identities.keys()
    held = str([*store.records("key"), *listed])
    assert "awo_" not in held
    assert "awr_" not in held
    assert len({key.id for key in listed}) == 3


def test_roles_are_ordered(clock: Clock) -> None:
    for at, role in enumerate(ROLES):
        who = Identity("x", role, "x", None)
        assert [who.may(other) for other in ROLES] == [at <= place for place in range(len(ROLES))]
    assert not any(Identity("x", "worker", "x", None, "c", "w").may(role) for role in ROLES)


def test_a_key_ends_when_it_expires(store: Store, clock: Clock) -> None:
    identities = Identities(store, clock)
    secret, issued = identities.issue("viewer", "x", lasts=60.5)
    assert issued.expires == clock.now + 60.5
    clock.now += 60.4
    identities.find(secret)
    assert identities.known(secret) is not None
    clock.now += 0.1
    assert identities.known(secret) is None
    with pytest.raises(RequestRefused):
        identities.find(secret)


def test_one_refusal_for_all_that_is_not_good(store: Store, clock: Clock) -> None:
    identities = Identities(store, clock)
    revoked, issued = identities.issue("owner", "x")
    identities.revoke(issued.id)
    expired, _ = identities.issue("owner", "x", lasts=1.0)
    good, _ = identities.issue("owner", "x")
    clock.now += 2
    told = set()
    wrong = (revoked, expired, "awo_unknown", "", "x", good[:-1], good.upper(), good + "x", "aww_x")
    for secret in (*wrong, "\xff", "a" * 100_000):
        with pytest.raises(RequestRefused) as refused:
            identities.find(secret)
        assert refused.value.reason == "unauthorized"
        told.add(str(refused.value))
    assert len(told) == 1


def test_a_worker_s_token_is_no_key_and_a_key_no_token(store: Store, clock: Clock) -> None:
    identities = Identities(store, clock)
    token, issued = identities.issue("worker", "ann", campaign="cats", worker="ann")
    found = identities.find(token)
    assert (found.role, found.campaign, found.worker) == ("worker", "cats", "ann")
    assert identities.keys() == []
    assert [each.id for each in identities.tokens("cats")] == [issued.id]
    assert identities.tokens("dogs") == []
    with pytest.raises(UnknownName):
        identities.revoke(issued.id)
    with pytest.raises(UnknownName):
        identities.revoke(issued.id, campaign="dogs")
    identities.revoke(issued.id, campaign="cats")
    with pytest.raises(RequestRefused):
        identities.find(token)


def test_revoking_works_at_once_here_and_within_a_second_elsewhere(
    store: Store, clock: Clock
) -> None:
    here, there = Identities(store, clock), Identities(store, clock)
    secret, issued = here.issue("viewer", "x")
    assert here.find(secret)
    assert there.find(secret)
    clock.now += 0.5
    first = here.revoke(issued.id)
    assert first.revoked == clock.now
    assert here.known(secret) is None
    with pytest.raises(RequestRefused):
        here.find(secret)
    # The other process trusts its look-up for the rest of the second, no longer.
    clock.now += 0.6
    assert there.known(secret) is None
    with pytest.raises(RequestRefused):
        there.find(secret)
    clock.now += 100
    assert there.revoke(issued.id).revoked == first.revoked


def test_a_key_revoked_while_it_is_looked_up_is_not_trusted(clock: Clock) -> None:
    class Slow(MemoryStore):
        """Revokes the key between the look-up and its use."""

        then: Any = None

        def record(self, kind: str, id: str) -> Record | None:
            found = super().record(kind, id)
            then, self.then = self.then, None
            if then is not None:
                then()
            return found

    store = Slow()
    identities = Identities(store, clock)
    secret, issued = identities.issue("viewer", "x")
    store.then = lambda: identities.revoke(issued.id)
    identities.find(secret)
    # This request came before; the next does not.
    assert identities.known(secret) is None
    with pytest.raises(RequestRefused):
        identities.find(secret)


def test_a_clock_that_is_set_back_makes_nothing_last(store: Store, clock: Clock) -> None:
    here, there = Identities(store, clock), Identities(store, clock)
    secret, issued = here.issue("viewer", "x")
    there.find(secret)
    here.revoke(issued.id)
    clock.now -= 3600
    assert there.known(secret) is None


def test_a_prefix_of_an_id_is_enough_if_it_is_long(store: Store, clock: Clock) -> None:
    identities = Identities(store, clock)
    secret, issued = identities.issue("viewer", "x")
    for id in ("", issued.id[:15], "0" * 16, "%" * 16, "_" * 16):
        with pytest.raises(UnknownName):
            identities.revoke(id)
    assert identities.find(secret)
    assert identities.revoke(digest(secret)).revoked is not None


def test_the_first_owner_is_made_once_however_many_start(store: Store, clock: Clock) -> None:
    made: list[str | None] = []
    threads = [
        threading.Thread(target=lambda: made.append(Identities(store, clock).first_owner()))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    secrets = [secret for secret in made if secret is not None]
    assert len(made) == 8
    assert len(secrets) == 1
    assert Identities(store, clock).find(secrets[0]).role == "owner"
    # Nor again when the last key is revoked.
    identities = Identities(store, clock)
    identities.revoke(identities.keys()[0].id)
    assert identities.first_owner() is None


def test_the_same_retry_makes_the_same_key(store: Store, clock: Clock) -> None:
    identities = Identities(store, clock)
    ann = identities.find(identities.issue("owner", "ann")[0])
    bob = identities.find(identities.issue("owner", "bob")[0])
    assert ann.derive("key", "a", "b") == ann.derive("key", "a", "b")
    different = {
        ann.derive("key", "a", "b"), ann.derive("key", "ab"), ann.derive("key", "a", "c"),
        bob.derive("key", "a", "b"), ann.derive("invite", "a", "b"),
    }  # fmt: skip
    assert len(different) == 5
    first = identities.issue("viewer", "x", secret=ann.derive("key", "1"))
    clock.now += 5
    assert identities.issue("viewer", "x", secret=ann.derive("key", "1")) == first
    assert len(identities.keys()) == 3


@pytest.mark.parametrize("lasts", [0, -1, 1e10, float("nan"), float("inf")])
def test_a_key_lasts_for_a_time_that_can_be_told(clock: Clock, lasts: float) -> None:
    with pytest.raises(InvalidParameter):
        Identities(open_store("memory"), clock).issue("viewer", "x", lasts=lasts)


def test_a_role_that_is_none_is_refused(clock: Clock) -> None:
    for role in ("", "admin", "Owner", "root"):
        with pytest.raises(InvalidParameter):
            Identities(open_store("memory"), clock).issue(role, "x")


def test_a_session_ends_by_itself_by_hand_and_with_its_key(store: Store, clock: Clock) -> None:
    identities = Identities(store, clock)
    key, issued = identities.issue("requester", "eve")
    caller = identities.find(key)
    first, second, third = (identities.open_session(caller, 100) for _ in range(3))
    found = identities.session(first)
    assert found is not None
    assert (found.id, found.role) == (issued.id, "requester")
    assert found.secret == first
    assert key not in str(store.records("session"))
    assert first not in str(store.records("session"))
    identities.close_session(first)
    identities.close_session(first)
    assert identities.session(first) is None
    assert identities.session(second) is not None
    clock.now += 100
    assert identities.session(second) is None
    identities.forget_sessions()
    assert store.records("session") == []
    third = identities.open_session(caller, 100)
    identities.revoke(issued.id)
    assert identities.session(third) is None
    for wrong in ("", "x", key, digest(third)):
        assert identities.session(wrong) is None


def test_tokens_of_forms_differ_by_session(clock: Clock) -> None:
    assert csrf_token("a") == csrf_token("a")
    assert csrf_token("a") != csrf_token("b")
    assert "a" * 20 not in csrf_token("a" * 20)


def test_what_is_remembered_has_an_end(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    identities = Identities(open_store("memory"), clock)
    secrets = [identities.issue("viewer", "x")[0] for _ in range(30)]
    monkeypatch.setattr(identity, "MOST_SEEN", 10)
    for secret in secrets:
        identities.find(secret)
        assert len(identities._seen) <= 11
