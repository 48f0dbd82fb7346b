"""What hooks' secrets are made of: a secret of the service that is kept in a file beside the store.

A hook's secret has to be at hand to sign with, so no hash of it will do. It is therefore derived
from the service's secret and a nonce. The store holds the nonce alone: who reads the store or a
backup, and not the file, can't sign.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from askwise.core.errors import InvalidParameter

SHORTEST = 32
"""The fewest characters of a service's secret."""


@dataclass(frozen=True)
class SigningSecret:
    """The secret of a service; never logged, never in a store."""

    text: str = field(repr=False)

    def derive(self, nonce: str) -> bytes:
        """The key of a hook, which only this service can make of its nonce."""
        mac = hmac.new(self.text.encode(), f"webhook\0{nonce}".encode(), hashlib.sha256)
        return mac.digest()

    @classmethod
    def read(cls, file: str) -> SigningSecret | None:
        """The secret in a file; None if no file is named."""
        if not file:
            return None
        try:
            text = Path(file).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidParameter(
                f"secret can't be read from {file}: {error}", field="secret"
            ) from None
        if len(text) < SHORTEST:
            raise InvalidParameter(
                f"secret in {file} has {len(text)} characters: write {SHORTEST} random ones or "
                "more into it, or let askwise serve create the file",
                field="secret",
            )
        return cls(text)


def make_file(file: str) -> None:
    """Write a new secret into a file for its owner alone, unless the file is there."""
    path = Path(file)
    if path.exists():
        return
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with open(temporary, "x", opener=partial(os.open, mode=0o600)) as made:
            made.write(f"{secrets.token_urlsafe(48)}\n")
            made.flush()
            os.fsync(made.fileno())
        # Never in the place of another: of two that begin at once, one makes it for both.
        with suppress(FileExistsError):
            os.link(temporary, path)
    except OSError as error:
        raise InvalidParameter(
            f"secret can't be written to {file}: {error}; give another file", field="secret"
        ) from None
    finally:
        temporary.unlink(missing_ok=True)


def file_beside(store: str) -> str:
    """Where the secret of the service on a store is by default; empty if there is no such place.

    Examples
    --------
    >>> file_beside("sqlite:///campaigns.sqlite"), file_beside("postgresql://db/x")
    ('campaigns.sqlite.secret', '')
    """
    scheme = "sqlite:///"
    return f"{store.removeprefix(scheme)}.secret" if store.startswith(scheme) else ""
