"""Prolific's webhooks: whether an event comes from Prolific, and is of now.

The signature is the base64 text of an HMAC with SHA-256, under the workspace's secret, over the
timestamp followed by the body.
"""

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Callable, Mapping
from typing import Any

from askwise.sources.prolific.errors import InvalidEvent

SIGNATURE = "X-Prolific-Request-Signature"
TIMESTAMP = "X-Prolific-Request-Timestamp"

TOLERANCE = 300.0
"""Seconds that an event may be old, or ahead of this clock."""


def sign_event(secret: str, timestamp: str, body: bytes) -> str:
    """The signature of an event, as Prolific writes it.

    Examples
    --------
    >>> sign_event("secret", "1700000000", b"{}")
    'RM6OD3UEVWrrFT2bdZ2X/EyvymK1UHHNZgnc1eHXdHk='
    """
    digest = hmac.new(secret.encode(), timestamp.encode() + body, hashlib.sha256).digest()
    return base64.b64encode(digest).decode()


def check_event(
    secret: str,
    headers: Mapping[str, str],
    body: bytes,
    tolerance: float = TOLERANCE,
    *,
    clock: Callable[[], float] = time.time,
) -> dict[str, Any]:
    """Check an event and read it.

    Parameters
    ----------
    secret : str
        The workspace's, from ``/hooks/secrets/``.
    headers : mapping of str to str
        The headers of the request; in names, upper and lower case are the same.
    body : bytes
        The body as it came.
    tolerance : float
        Seconds that the event may be old, or ahead of this clock.
    clock : callable
        Seconds since 1970.

    Raises
    ------
    InvalidEvent
        A header is missing or does not fit, or the body is no event.

    Examples
    --------
    >>> body = b'{"event_type": "study.status.change"}'
    >>> headers = {
    ...     "x-prolific-request-timestamp": "1700000000",
    ...     "x-prolific-request-signature": sign_event("secret", "1700000000", body),
    ... }
    >>> check_event("secret", headers, body, clock=lambda: 1700000010)
    {'event_type': 'study.status.change'}
    """
    lower = {name.lower(): value for name, value in headers.items()}
    at, given = lower.get(TIMESTAMP.lower(), ""), lower.get(SIGNATURE.lower(), "")
    if not (at.isascii() and at.isdecimal() and len(at) < 20):
        raise _invalid(TIMESTAMP, "is missing, or not a number of seconds")
    if not secret:
        raise _invalid(SIGNATURE, "can't be checked, because there is no secret")
    right = sign_event(secret, at, body)
    if not hmac.compare_digest(right.encode(), given.encode("utf-8", "replace")):
        raise _invalid(
            SIGNATURE, "does not match: the secret is another one, or the body was changed"
        )
    if abs(clock() - int(at)) > tolerance:
        raise _invalid(TIMESTAMP, "is far from the time here: an old event, or a wrong clock")
    try:
        event = json.loads(body)
    except ValueError:
        event = None
    if not isinstance(event, dict):
        raise InvalidEvent("the event is not a JSON object", field="body")
    return event


def _invalid(header: str, wrong: str) -> InvalidEvent:
    return InvalidEvent(f"{header} {wrong}", field=header)
