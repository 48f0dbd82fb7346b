"""For those who receive webhooks: whether a message comes from the service, and is of now.

Needs no extra.
"""

import hashlib
import hmac
import json
import time
from collections.abc import Callable
from typing import Any, ClassVar

from askwise.core.errors import AskwiseError
from askwise.core.reasons import Reason


class InvalidSignature(AskwiseError):
    """A message that is not the service's, or is too old."""

    code = "invalid_signature"
    default_reason: ClassVar[Reason] = "invalid_signature"


def verify(
    secret: str,
    header: str | None,
    body: bytes | str,
    tolerance: float = 300.0,
    *,
    clock: Callable[[], float] = time.time,
) -> dict[str, Any]:
    """Check a message and read it.

    Parameters
    ----------
    secret : str
        The hook's, as shown when it was made.
    header : str or None
        The header ``Askwise-Signature`` of the request.
    body : bytes or str
        The body of the request as it came, before anything has read it.
    tolerance : float
        Seconds that the message may be old, or ahead of this clock: what was overheard can't be
        sent again later.
    clock : callable
        Seconds since 1970.

    Returns
    -------
    dict
        The message. Its ``id`` is the same at every attempt: drop what you have seen.

    Raises
    ------
    InvalidSignature
        The header is missing or malformed, the secret does not fit, or the time.

    Examples
    --------
    >>> header = (
    ...     "t=1700000000,v1="
    ...     + hmac.new(b"awh_secret", b'1700000000.{"event": "ping"}', "sha256").hexdigest()
    ... )
    >>> verify("awh_secret", header, b'{"event": "ping"}', clock=lambda: 1700000010)
    {'event': 'ping'}
    """
    sent = body.encode() if isinstance(body, str) else body
    parts = [part.strip().partition("=") for part in (header or "").split(",")]
    times = [value for name, _, value in parts if name == "t"]
    given = [value for name, _, value in parts if name == "v1"]
    if len(times) != 1 or not given or not (times[0].isascii() and times[0].isdecimal()):
        raise InvalidSignature(
            "the header Askwise-Signature is missing or not 't=SECONDS,v1=HEX'", field="header"
        )
    mac = hmac.new(secret.encode(), times[0].encode() + b"." + sent, hashlib.sha256)
    right = mac.hexdigest().encode()
    if not any(hmac.compare_digest(right, each.encode()) for each in given):
        raise InvalidSignature(
            "the signature does not fit: another secret, or the body was changed on its way",
            field="header",
        )
    age = clock() - int(times[0])
    if abs(age) > tolerance:
        raise InvalidSignature(
            f"the message is of {age:.0f} s ago, not of the last {tolerance:g}: an old one was "
            "sent again, or a clock is wrong",
            field="header",
        )
    return json.loads(sent)
