"""Hooks' secrets: derived from a file, so that a store does not hold them."""

from __future__ import annotations

import base64
import stat
import threading
from pathlib import Path

import pytest

from askwise.client.webhooks import verify
from askwise.core.errors import InvalidParameter
from askwise.service.auth.identity import digest
from askwise.service.webhooks import records as r
from askwise.service.webhooks.posting import Network
from askwise.service.webhooks.sending import Sender
from askwise.service.webhooks.signing import SigningSecret, file_beside, make_file
from askwise.service.webhooks.webhooks import Webhooks
from askwise.store import Change, MemoryStore
from tests.clock import Clock
from tests.service.webhooks.bench import Receiver

OURS = SigningSecret("a" * 40)


def webhooks(store: MemoryStore, clock: Clock, signing: SigningSecret | None = OURS) -> Webhooks:
    return Webhooks(store, Network(private=True), clock, signing)


def sent(hooks: Webhooks, clock: Clock) -> r.Delivery:
    """The delivery of a test, after an attempt."""
    (hook,) = hooks.active()
    hooks.ping(hook.id)
    clock.pass_by(0.001)
    Sender(hooks, Network(private=True), spread=lambda: 1.0).run(hook, threading.Event())
    return hooks.deliveries(hook.id)[0]


def test_no_record_of_the_store_holds_the_secret_and_deliveries_are_signed_with_it(
    receiver: Receiver, clock: Clock
) -> None:
    store = MemoryStore()
    secret, hook = webhooks(store, clock).make(receiver.url, ["task.closed"])
    kept = store.record(r.HOOK, hook.id)
    assert kept is not None
    assert secret not in kept.body
    assert secret.removeprefix("whsec_") not in kept.body
    # Another process, which has but the store and the file.
    assert sent(webhooks(store, clock), clock).state == "delivered"
    (got,) = receiver.got
    verify(secret, got.headers, got.body, clock=clock)


@pytest.mark.parametrize("signing", [None, SigningSecret("b" * 40)])
def test_nothing_is_sent_that_another_secret_would_sign(
    receiver: Receiver, clock: Clock, signing: SigningSecret | None
) -> None:
    store = MemoryStore()
    webhooks(store, clock).make(receiver.url, ["task.closed"])
    delivery = sent(webhooks(store, clock, signing), clock)
    assert receiver.got == []
    assert delivery.state == "waiting"
    assert "create the webhook again" in (delivery.said or "")


def test_a_hook_from_before_goes_on_and_its_retry_finds_it(
    receiver: Receiver, clock: Clock
) -> None:
    store = MemoryStore()
    made = webhooks(store, clock, None).make(receiver.url, ["task.closed"], secret="seed")
    later = webhooks(store, clock)
    assert later.make(receiver.url, ["task.closed"], secret="seed") == made
    assert sent(later, clock).state == "delivered"


def test_the_same_request_again_makes_the_same_hook(receiver: Receiver, clock: Clock) -> None:
    hooks = webhooks(MemoryStore(), clock)
    first = hooks.make(receiver.url, ["task.closed"], secret="seed")
    assert hooks.make(receiver.url, ["task.closed"], secret="seed") == first
    assert hooks.make(receiver.url, ["task.closed"], secret="other")[0] != first[0]


def test_the_file_is_made_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    file = tmp_path / "campaigns.sqlite.secret"
    make_file(str(file))
    text = file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    make_file(str(file))
    assert file.read_text() == text
    assert [each.name for each in tmp_path.iterdir()] == [file.name]
    read = SigningSecret.read(str(file))
    assert read is not None
    assert text.strip() not in repr(read)


def test_a_file_that_is_no_secret_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "short"
    file.write_text("tea\n")
    for path in (file, tmp_path / "missing"):
        with pytest.raises(InvalidParameter) as caught:
            SigningSecret.read(str(path))
        assert caught.value.field == "secret"
    with pytest.raises(InvalidParameter):
        make_file(str(tmp_path / "nowhere" / "secret"))


def test_only_a_file_has_a_place_beside_it() -> None:
    assert file_beside("sqlite:////var/lib/a.sqlite") == "/var/lib/a.sqlite.secret"
    assert file_beside("memory") == file_beside("postgresql://db/x") == ""
    assert SigningSecret.read("") is None


def test_a_hook_with_a_secret_from_before_the_standard_is_signed_with_it(
    receiver: Receiver, clock: Clock
) -> None:
    store, nonce = MemoryStore(), "0" * 32
    old = "awh_" + base64.urlsafe_b64encode(OURS.derive(nonce)).decode().rstrip("=")
    id = digest(old)[:16]
    hook = r.Webhook(id, receiver.url, None, ("task.closed",), "", 1.0, secret=old, nonce=nonce)
    store.change([Change(r.HOOK, id, None, hook.record.body)])
    assert sent(webhooks(store, clock), clock).state == "delivered"
    (got,) = receiver.got
    verify(old, got.headers, got.body, clock=clock)
