"""Who is calling: keys of people and programs, tokens of workers. Kept as hashes only."""

import base64
import hashlib
import hmac
import json
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, get_args

from askwise.core.errors import InvalidParameter, UnknownName
from askwise.core.keys import Caller, Key
from askwise.service.errors import forbidden, unauthorized
from askwise.service.idempotency import was_made
from askwise.store import Change, Record, Store
from askwise.store.records import TOKENS

Role = Literal["owner", "requester", "viewer"]
ROLES: tuple[Role, ...] = get_args(Role)

PREFIX = {"owner": "awo_", "requester": "awr_", "viewer": "awv_", "worker": "aww_"}
"""What a secret begins with, so that one that leaked is recognised."""

_KEY, _TOKEN, _SESSION = "key", TOKENS, "session"
MOST_SEEN = 10_000
"""Look-ups that are remembered."""

_FRESH = 1.0
"""Seconds for which a look-up is trusted: a key revoked by another process works no longer."""

_CLEAN_EVERY = 3600.0
"""Seconds between removals of the sessions that are over."""


@dataclass(frozen=True)
class Identity(Caller):
    """A caller, once they are known.

    ``role`` is of :data:`ROLES`, or ``worker``; a worker belongs to one campaign.
    """

    secret: str = field(default="", repr=False, compare=False)
    """What they showed; never kept, and never told."""

    def may(self, role: Role) -> bool:
        """Whether they have at least this role."""
        return self.role in ROLES and ROLES.index(self.role) <= ROLES.index(role)

    def needs(self, role: Role) -> None:
        """Refuse what they do unless they have at least this role."""
        if not self.may(role):
            raise forbidden(f"a {self.role}'s key does not allow this: it takes a {role}'s")

    def derive(self, *parts: str) -> str:
        """Make a new secret out of their own and a retry's key: the same retry, the same secret.

        So a retried request can be answered as the first was, though no secret is kept.
        """
        text = "\0".join(parts).encode()
        digest = hmac.new(self.secret.encode(), text, hashlib.sha256).digest()
        return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def digest(secret: str) -> str:
    """The hash under which a secret is kept."""
    return hashlib.sha256(secret.encode()).hexdigest()


def csrf_token(secret: str) -> str:
    """The token that forms of a browser with this cookie must carry."""
    return hmac.new(secret.encode(), b"csrf", hashlib.sha256).hexdigest()


class Identities:
    """The keys, tokens and sessions of a store."""

    def __init__(self, store: Store, clock: Callable[[], float] = time.time) -> None:
        self._store = store
        self._clock = clock
        self._seen: dict[str, tuple[Identity, float]] = {}
        self._ended = 0
        self._forgotten = 0.0

    # Making and ending them.

    def issue(
        self,
        role: str,
        label: str,
        *,
        lasts: float | None = None,
        campaign: str | None = None,
        worker: str | None = None,
        secret: str | None = None,
        note: Change | None = None,
    ) -> tuple[str, Key]:
        """Make a key (or a worker's token) and keep its hash; returns the secret, only here.

        Parameters
        ----------
        lasts : float, optional
            Seconds until it expires; never by default.
        secret : str, optional
            What it is made of, from :meth:`Identity.derive`; the same makes the same key.
        note : Change, optional
            Of the retry's key, which stands for no other request then.
        """
        if role not in PREFIX:
            raise InvalidParameter(
                f"role is {role!r}: give one of {', '.join(ROLES)}", field="role"
            )
        if lasts is not None and not 0 < lasts < 1e10:
            raise InvalidParameter(
                f"lasts is {lasts!r}: give the seconds until it expires, above 0", field="lasts"
            )
        full = PREFIX[role] + (secret or secrets.token_urlsafe(32))
        change = self._new(full, role, label, lasts, campaign=campaign, worker=worker)
        if not self._store.change([change, *([] if note is None else [note])]):
            # The same request again, or another with its key.
            was_made(self._store, note)
            known = self._store.record(change.kind, change.id)
            assert known is not None
            return full, _issued(known)
        return full, _issued(Record(change.kind, change.id, change.after or ""))

    def _new(
        self, secret: str, role: str, label: str, lasts: float | None = None, **whose: str | None
    ) -> Change:
        now = self._clock()
        expires = None if lasts is None else now + lasts
        made = {"role": role, "label": label, "created": now, "expires": expires, "revoked": None}
        kind = _TOKEN if role == "worker" else _KEY
        return Change(kind, digest(secret), None, json.dumps({**made, **whose}))

    def first_owner(self) -> str | None:
        """Make the first owner's key, once in the life of a store; None if there was one."""
        if self._store.records(_KEY, limit=1):
            return None
        secret = PREFIX["owner"] + secrets.token_urlsafe(32)
        # Both or none: of several that start, one makes the key, no matter which is killed.
        setup = Change("setup", "owner", None, json.dumps(self._clock()))
        made = self._store.change([setup, self._new(secret, "owner", "first owner")])
        return secret if made else None

    def has_owner(self) -> bool:
        """Whether anybody has an owner's key that is good."""
        now = self._clock()
        return any(
            each.role == "owner" and each.revoked is None and not _is_over(each.expires, now)
            for each in self.keys()
        )

    def keys(self) -> list[Key]:
        """The keys of people and programs, newest first."""
        return self._newest(_KEY)

    def tokens(self, campaign: str) -> list[Key]:
        """The tokens of a campaign's workers, newest first."""
        return [each for each in self._newest(_TOKEN) if each.campaign == campaign]

    def _newest(self, kind: str) -> list[Key]:
        found = [_issued(record) for record in self._store.records(kind)]
        return sorted(found, key=lambda each: -each.created)

    def revoke(self, id: str, *, campaign: str | None = None) -> Key:
        """End a key, or with ``campaign`` a token of it; the second time changes nothing."""
        kind = _KEY if campaign is None else _TOKEN
        while True:
            found = self._store.records(kind, prefix=id, limit=2) if len(id) >= 16 else []
            if len(found) != 1 or _issued(found[0]).campaign != campaign:
                raise UnknownName(
                    f"{kind} {id!r} is not known: see the list", field="id", reason="unknown_key"
                )
            record = found[0]
            if _issued(record).revoked is not None:
                return _issued(record)
            after = json.dumps({**json.loads(record.body), "revoked": self._clock()})
            if self._store.change([Change(kind, record.id, record.body, after)]):
                self._ended += 1
                self._seen.pop(record.id, None)
                return _issued(Record(kind, record.id, after))

    def look_again(self) -> None:
        """Trust no look-up of before: tokens have changed, or are gone."""
        self._ended += 1
        self._seen.clear()

    # Recognising them.

    def known(self, secret: str) -> Identity | None:
        """Who was recognised a moment ago by this secret; no look-up."""
        found = self._seen.get(digest(secret))
        now = self._clock()
        # Below as well: a clock that was set back makes nothing last longer.
        if found is None or not found[1] - _FRESH <= now <= found[1]:
            return None
        identity = found[0]
        return None if _is_over(identity.expires, now) else identity

    def find(self, secret: str) -> Identity:
        """Who shows this secret; refuses what is unknown, expired or revoked in one way."""
        kind = _TOKEN if secret.startswith(PREFIX["worker"]) else _KEY
        hashed = digest(secret)
        ended = self._ended
        record = self._store.record(kind, hashed)
        now = self._clock()
        identity = _caller(record, secret, now)
        if identity is None:
            raise unauthorized("the key is unknown, expired or revoked: ask the owner for another")
        if len(self._seen) > MOST_SEEN:
            self._seen.clear()
        self._seen[hashed] = identity, now + _FRESH
        if ended != self._ended:
            # Some key was revoked since the look-up; it may have been this one.
            self._seen.pop(hashed, None)
        return identity

    # Browsers.

    def open_session(self, identity: Identity, lasts: float) -> str:
        """Let a browser stay signed in; ends with the key."""
        if not 0 <= self._clock() - self._forgotten < _CLEAN_EVERY:
            self._forgotten = self._clock()
            self.forget_sessions()
        secret = secrets.token_urlsafe(32)
        body = json.dumps({"key": digest(identity.secret), "expires": self._clock() + lasts})
        self._store.change([Change(_SESSION, digest(secret), None, body)])
        return secret

    def session(self, secret: str) -> Identity | None:
        """Whose session it is, while it and its key last."""
        record = self._store.record(_SESSION, digest(secret))
        if record is None:
            return None
        body = json.loads(record.body)
        key = self._store.record(_KEY, body["key"])
        now = self._clock()
        return None if _is_over(body["expires"], now) else _caller(key, secret, now)

    def close_session(self, secret: str) -> None:
        """Sign a browser out."""
        record = self._store.record(_SESSION, digest(secret))
        if record is not None:
            self._store.change([Change(_SESSION, record.id, record.body, None)])

    def forget_sessions(self) -> None:
        """Remove the sessions that are over."""
        now = self._clock()
        for record in self._store.records(_SESSION):
            if _is_over(json.loads(record.body)["expires"], now):
                self._store.change([Change(_SESSION, record.id, record.body, None)])


def _issued(record: Record) -> Key:
    # Sixteen digits of the hash name a key; of what it is a hash can't be found from all of it.
    return Key(id=record.id[:16], **json.loads(record.body))


def _is_over(expires: float | None, now: float) -> bool:
    return expires is not None and expires <= now


def _caller(record: Record | None, secret: str, now: float) -> Identity | None:
    """Whom a key or token makes of who shows it, if it is good."""
    if record is None:
        return None
    key = _issued(record)
    if key.revoked is not None or _is_over(key.expires, now):
        return None
    return Identity(key.id, key.role, key.label, key.expires, key.campaign, key.worker, secret)
