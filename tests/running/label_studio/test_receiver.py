"""Calls of Label Studio ring a signal, if they have the secret."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from askwise.core.errors import InvalidParameter
from askwise.running.label_studio.receiver import ChangeSignal, Receiver

SECRET = "a-secret-of-this-test"


@pytest.fixture
def signal() -> ChangeSignal:
    return ChangeSignal()


@pytest.fixture
def receiver(signal: ChangeSignal) -> Iterator[Receiver]:
    made = Receiver(("127.0.0.1", 0), "X-Askwise-Secret", SECRET, signal)
    yield made
    made.close()


def call(receiver: Receiver, secret: str | None = SECRET, **given: object) -> int:
    headers = {} if secret is None else {"X-Askwise-Secret": secret}
    url = f"http://127.0.0.1:{receiver.port}/"
    with httpx.Client(trust_env=False) as client:
        return client.post(url, headers=headers, **given).status_code  # type: ignore[arg-type]


def test_a_call_says_which_task_has_changed(receiver: Receiver, signal: ChangeSignal) -> None:
    for id in (7, 9, 7):
        assert call(receiver, json={"action": "ANNOTATION_UPDATED", "task": {"id": id}}) == 204
    assert signal.wait(10)
    assert signal.heard() == {7, 9}
    assert signal.heard() == set()


@pytest.mark.parametrize("secret", [None, "", SECRET[:-1], SECRET + "x", "wrong"])
def test_a_call_without_the_secret_is_refused(
    receiver: Receiver, signal: ChangeSignal, secret: str | None
) -> None:
    assert call(receiver, secret, json={"task": {"id": 7}}) == 401
    assert not signal.wait(0)


@pytest.mark.parametrize("body", [b"", b"{", b"[1]", b'{"task": {"id": "7"}}', b'{"task": 7}'])
def test_a_call_that_does_not_say_which_task_means_all(
    receiver: Receiver, signal: ChangeSignal, body: bytes
) -> None:
    assert call(receiver, content=body) == 204
    assert signal.heard() is None


def test_a_call_that_is_too_large_means_all(
    receiver: Receiver, signal: ChangeSignal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("askwise.running.label_studio.receiver.LARGEST", 10)
    assert call(receiver, json={"task": {"id": 7}}) == 413
    assert signal.heard() is None


def test_only_calls_that_post_are_answered(receiver: Receiver, signal: ChangeSignal) -> None:
    with httpx.Client(trust_env=False) as client:
        assert client.get(f"http://127.0.0.1:{receiver.port}/").status_code == 501
    assert not signal.wait(0)


def test_a_port_that_is_taken_is_an_error(receiver: Receiver, signal: ChangeSignal) -> None:
    with pytest.raises(InvalidParameter, match=r"webhook\.listen"):
        Receiver(("127.0.0.1", receiver.port), "X", SECRET, signal)
