"""Keys, tokens and invitations as a service tells them."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Caller:
    """Who you are to a service."""

    id: str
    role: str
    label: str
    expires: float | None
    campaign: str | None
    worker: str | None


@dataclass(frozen=True)
class Key:
    """A key, or a worker's token, without its secret. Times in seconds since 1970."""

    id: str
    role: str
    label: str
    created: float
    expires: float | None
    revoked: float | None
    campaign: str | None
    worker: str | None


@dataclass(frozen=True)
class NewKey(Key):
    """A key as made: the only time that its secret is told."""

    secret: str = field(repr=False)


@dataclass(frozen=True)
class Invitation(Key):
    """A worker's token as made: the only time that it is told, and the link that holds it."""

    secret: str = field(repr=False)
    link: str = field(repr=False)
