"""Keys, tokens and invitations as a service tells them. Times in seconds since 1970."""

from dataclasses import dataclass, field

from askwise.core.jsonable import Jsonable


@dataclass(frozen=True)
class Caller(Jsonable):
    """Who you are to a service.

    Attributes
    ----------
    id : str
        The id of the key or token that you sent.
    role : str
        What the key allows: ``owner``, ``requester``, ``viewer`` or ``worker``.
    label : str
        What the key is called; of a token, the worker.
    expires : float or None
        When it ends, in seconds since 1970; None if it never does.
    campaign : str or None
        The campaign of a worker's token; None for a key.
    worker : str or None
        The worker whose token it is; None for a key.
    """

    id: str
    role: str
    label: str
    expires: float | None
    campaign: str | None = None
    worker: str | None = None


@dataclass(frozen=True)
class Key(Jsonable):
    """A key, or a worker's token, without its secret. Times in seconds since 1970.

    Attributes
    ----------
    id : str
        Its id, by which it can be revoked.
    role : str
        What it allows: ``owner``, ``requester``, ``viewer`` or ``worker``.
    label : str
        What it is called; of a token, the worker.
    created : float
        When it was made.
    expires : float or None
        When it ends; None if it never does.
    revoked : float or None
        When it was revoked; None if it was not.
    campaign : str or None
        The campaign of a worker's token; None for a key.
    worker : str or None
        The worker whose token it is; None for a key.
    """

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
    """A key as made: the only time that its secret is told.

    Attributes
    ----------
    secret : str
        What to send as ``Authorization: Bearer``; it can't be read again.
    """

    secret: str = field(repr=False, kw_only=True)


@dataclass(frozen=True)
class Invitation(NewKey):
    """A worker's token as made: the only time that it is told, and the link that holds it.

    Attributes
    ----------
    link : str
        The address of the worker's page; it holds the token.
    """

    link: str = field(repr=False, kw_only=True)
