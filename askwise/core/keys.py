"""Keys, tokens and invitations as a service tells them. Times in seconds since 1970."""

from dataclasses import dataclass, field

from askwise.core.jsonable import Jsonable


@dataclass(frozen=True)
class Caller(Jsonable):
    """Who you are to a service."""

    id: str
    role: str
    label: str
    expires: float | None
    campaign: str | None = None
    worker: str | None = None


@dataclass(frozen=True)
class Key(Jsonable):
    """A key, or a worker's token, without its secret. Times in seconds since 1970."""

    id: str
    role: str
    label: str
    created: float
    expires: float | None
    revoked: float | None
    campaign: str | None = None
    worker: str | None = None


@dataclass(frozen=True)
class NewKey(Key):
    """A key as made: the only time that its secret is told."""

    secret: str = field(repr=False, kw_only=True)


@dataclass(frozen=True)
class Invitation(NewKey):
    """A worker's token as made: the only time that it is told, and the link that holds it."""

    link: str = field(repr=False, kw_only=True)
