"""Chance that depends on words alone: the same on every machine and in every order."""

import hashlib


def luck(*words: str) -> float:
    """A number from 0 to 1.

    Examples
    --------
    >>> luck("ida", "Where is my kettle?") == luck("ida", "Where is my kettle?")
    True
    """
    digest = hashlib.sha256("\n".join(words).encode()).digest()
    return int.from_bytes(digest[:6], "big") / 2**48
