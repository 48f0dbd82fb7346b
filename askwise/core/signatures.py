"""Signatures of webhook messages, as the Standard Webhooks specification has them."""

import base64
import hashlib
import hmac

PREFIX = "whsec_"
"""What a hook's secret begins with: the key in Base64 follows."""

ID, TIMESTAMP, SIGNATURE = "webhook-id", "webhook-timestamp", "webhook-signature"
"""The headers of a message."""


def new_secret(key: bytes) -> str:
    """The secret that stands for a key.

    Examples
    --------
    >>> new_secret(b"0123456789abcdef01234567")
    'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3'
    """
    return PREFIX + base64.b64encode(key).decode()


def key_of(secret: str) -> bytes:
    """The key that a secret stands for: ValueError if it is not Base64.

    Secrets of hooks that were made before the specification was followed have no such prefix, and
    are keys as they are.
    """
    if not secret.startswith(PREFIX):
        return secret.encode()
    return base64.b64decode(secret.removeprefix(PREFIX), validate=True)


def sign(secret: str, id: str, at: int, body: bytes) -> str:
    """The signature of a message that is sent at a time in whole seconds.

    Examples
    --------
    >>> sign("whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3", "m1", 1700000000, b"{}")[:9]
    'v1,e3myr/'
    """
    mac = hmac.new(key_of(secret), f"{id}.{at}.".encode() + body, hashlib.sha256)
    return "v1," + base64.b64encode(mac.digest()).decode()
