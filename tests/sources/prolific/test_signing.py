"""Events of Prolific are taken only if they are signed, whole and of now."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askwise.sources.prolific import InvalidEvent, check_event, sign_event

BODY = b'{"event_type": "submission.status.change", "resource_id": "s1"}'
AT = "1700000000"


def headers(**changed: str) -> dict[str, str]:
    made = {"at": AT, "signature": sign_event("secret", AT, BODY), **changed}
    return {
        "X-Prolific-Request-Timestamp": made["at"],
        "X-Prolific-Request-Signature": made["signature"],
    }


def taken(given: dict[str, str], body: bytes = BODY, secret: str = "secret") -> bool:
    try:
        check_event(secret, given, body, clock=lambda: 1700000000.0)
    except InvalidEvent:
        return False
    return True


def test_what_is_signed_is_taken() -> None:
    assert taken(headers())


@pytest.mark.parametrize(
    "changed",
    [
        {"at": "1700000001"},
        {"at": ""},
        {"at": "-1700000000"},
        {"at": "1" * 40},
        {"signature": ""},
        {"signature": "naïve"},
        {"signature": sign_event("other", AT, BODY)},
    ],
)
def test_what_is_not_signed_is_refused(changed: dict[str, str]) -> None:
    assert not taken(headers(**changed))


def test_without_a_secret_nothing_is_taken() -> None:
    assert not taken(headers(signature=sign_event("", AT, BODY)), secret="")


@pytest.mark.parametrize(("ago", "fits"), [(300, True), (301, False), (-300, True), (-301, False)])
def test_an_old_event_is_refused(ago: int, fits: bool) -> None:
    at = str(1700000000 - ago)
    assert taken(headers(at=at, signature=sign_event("secret", at, BODY))) is fits


@given(st.binary(max_size=80).filter(lambda body: body != BODY))
def test_a_body_that_was_changed_is_refused(body: bytes) -> None:
    assert not taken(headers(), body)
