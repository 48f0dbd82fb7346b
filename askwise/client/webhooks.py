"""For those who receive webhooks: whether a message comes from the service, and is of now.

Messages are signed as the Standard Webhooks specification has it, so its libraries check them too.
This one needs no extra.
"""

import hmac
import json
import time
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from askwise.core.errors import AskwiseError
from askwise.core.reasons import Reason
from askwise.core.signatures import ID, SIGNATURE, TIMESTAMP, sign


class InvalidSignature(AskwiseError):
    """A message that is not the service's, or is too old."""

    code = "invalid_signature"
    default_reason: ClassVar[Reason] = "invalid_signature"


def verify(
    secret: str,
    headers: Mapping[str, str],
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
    headers : mapping of str to str
        The headers of the request; in names, upper and lower case are the same.
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
        A header is missing or malformed, the secret does not fit, or the time.

    Examples
    --------
    >>> secret = "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3"
    >>> headers = {
    ...     "webhook-id": "m1",
    ...     "webhook-timestamp": "1700000000",
    ...     "webhook-signature": sign(secret, "m1", 1700000000, b'{"event": "ping"}'),
    ... }
    >>> verify(secret, headers, b'{"event": "ping"}', clock=lambda: 1700000010)
    {'event': 'ping'}
    """
    sent = body.encode() if isinstance(body, str) else body
    lower = {name.lower(): value for name, value in headers.items()}
    id, at = _header(lower, ID), _header(lower, TIMESTAMP)
    if not (at.isascii() and at.isdecimal()):
        raise InvalidSignature(
            f"the header {TIMESTAMP} is not a number of seconds", field=TIMESTAMP
        )
    try:
        right = sign(secret, id, int(at), sent).encode()
    except ValueError:
        message = "secret is not as it was shown when the webhook was made: copy it again"
        raise InvalidSignature(message, field="secret") from None
    given = _header(lower, SIGNATURE).split()
    if not any(hmac.compare_digest(right, each.encode()) for each in given):
        raise InvalidSignature(
            "the signature does not fit: another secret, or the body was changed on its way",
            field=SIGNATURE,
        )
    age = clock() - int(at)
    if abs(age) > tolerance:
        raise InvalidSignature(
            f"the message is of {age:.0f} s ago, not of the last {tolerance:g}: an old one was "
            "sent again, or a clock is wrong",
            field=TIMESTAMP,
        )
    return json.loads(sent)


def _header(headers: Mapping[str, str], name: str) -> str:
    try:
        return headers[name]
    except KeyError:
        raise InvalidSignature(f"the header {name} is missing", field=name) from None
