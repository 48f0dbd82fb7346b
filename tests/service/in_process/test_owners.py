"""The first owner, the last one, and sessions that are over."""

from __future__ import annotations

from collections.abc import Sequence

from askwise.service.auth.identity import Identities
from askwise.store import Change, MemoryStore
from tests.service.in_process.faults import Crash


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
