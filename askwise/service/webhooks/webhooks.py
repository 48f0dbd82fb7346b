"""Webhooks: who is told what happens in campaigns, and what has become of each delivery.

All of it is records, changed all or none, so that nothing is lost or made twice whatever process
ends when. Of a hook there are: itself; a cursor for each campaign (:mod:`.outbox`); a lane
(:mod:`.sending`); deliveries that wait, by when they are due; deliveries that are settled.
"""

import base64
import hashlib
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from askwise.core.errors import InvalidParameter, UnknownName
from askwise.core.signatures import new_secret
from askwise.service.auth.identity import digest
from askwise.service.idempotency import key_reused
from askwise.service.webhooks import records as r
from askwise.service.webhooks.posting import Network
from askwise.service.webhooks.signing import SigningSecret
from askwise.store import Change, Store

OLD_PREFIX = "awh_"
"""What secrets began with before the Standard Webhooks were followed."""

KEPT = 200
"""Settled deliveries kept of a hook: the newest."""

REMEMBERED = 86400.0
"""Seconds for which an ended hook is remembered, so that ending it again changes nothing."""


class Webhooks:
    """The hooks of a store and their deliveries."""

    def __init__(
        self,
        store: Store,
        network: Network,
        clock: Callable[[], float] = time.time,
        signing: SigningSecret | None = None,
    ) -> None:
        self.store = store
        self.clock = clock
        self.changed = threading.Event()
        """Set when there is something to do before the next regular look."""
        self._network = network
        self._signing = signing

    # Making and ending them.

    def make(
        self,
        url: str,
        events: Iterable[str],
        *,
        campaign: str | None = None,
        label: str = "",
        secret: str | None = None,
    ) -> tuple[str, r.Webhook]:
        """Make a hook; returns its secret, only here. It is told of what happens from now on.

        Parameters
        ----------
        secret : str, optional
            What its secret is made of, from :meth:`.Identity.derive`: the same again is answered
            with the same hook.
        """
        full, nonce = self._new_secret(secret or secrets.token_urlsafe(32))
        wanted = tuple(each for each in r.EVENTS if each in set(events))
        if not wanted:
            raise InvalidParameter(
                f"events is empty: give some of {', '.join(r.EVENTS)}", field="events"
            )
        hook = r.Webhook(
            digest(full)[:16], url, campaign, wanted, label, self.clock(), secret=full, nonce=nonce
        )
        known = self.store.record(r.HOOK, hook.id)
        if known is None:
            self._network.check(url)
            names = self.store.names() if campaign is None else [campaign]
            # It does not begin with the past.
            starts = {name: self.store.position(name) for name in names}
            cursors = [
                Change(r.CURSOR, f"{hook.id}/{name}", None, r.Cursor(seq, checked=seq).body)
                for name, seq in starts.items()
            ]
            if self.store.change([Change(r.HOOK, hook.id, None, hook.record.body), *cursors]):
                self.changed.set()
                return full, hook
            known = self.store.record(r.HOOK, hook.id)
            assert known is not None
        found = r.read_hook(known)
        if replace(hook, created=found.created, ended=found.ended) != found:
            raise key_reused()
        return full, found

    def _new_secret(self, source: str) -> tuple[str, str]:
        """A hook's secret and its nonce; without a secret of the service it has no nonce."""
        plain = new_secret(hashlib.sha256(source.encode()).digest())
        # A retry of a hook that was made before the service had a secret finds that hook.
        if self._signing is None or self.store.record(r.HOOK, digest(plain)[:16]) is not None:
            return plain, ""
        nonce = digest(plain)[16:48]
        return new_secret(self._signing.derive(nonce)), nonce

    def secret_of(self, hook: r.Webhook) -> str:
        """What deliveries to a hook are signed with.

        Raises
        ------
        InvalidParameter
            The service's secret is not the one that the hook was made with.
        """
        if not hook.nonce:
            return hook.secret
        key = b"" if self._signing is None else self._signing.derive(hook.nonce)
        old = OLD_PREFIX + base64.urlsafe_b64encode(key).decode().rstrip("=")
        for secret in (new_secret(key), old):
            if digest(secret)[:16] == hook.id:
                return secret
        raise InvalidParameter(
            "secret of the service is not the one that this webhook was made with: bring the "
            "file back that askwise serve --secret names, or create the webhook again",
            field="secret",
        )

    def end(self, id: str) -> r.Webhook:
        """End a hook and forget what it has not delivered; the second time changes nothing."""
        while True:
            hook = self._find(id)
            if hook.ended is None:
                ended = replace(hook, ended=self.clock(), secret="", nonce="")
                change = Change(r.HOOK, id, hook.read, ended.record.body)
                if not self.store.change([change]):
                    continue
                hook = ended
            self._clear(id)
            return hook

    def forget_ended(self) -> None:
        """Remove the last trace of hooks that were ended a while ago."""
        for record in self.store.records(r.HOOK):
            ended = r.read_hook(record).ended
            if ended is not None and ended + REMEMBERED < self.clock():
                self._clear(record.id)
                self.store.change([Change(r.HOOK, record.id, record.body, None)])

    def _clear(self, id: str) -> None:
        """Remove what belongs to an ended hook.

        The lane first: the sender needs it to note the result, so that nothing new is made
        here, as making something asserts that the hook is as it was.
        """
        for kind in (r.LANE, r.WAITING, r.SETTLED, r.CURSOR):
            prefix = id if kind == r.LANE else f"{id}/"
            while found := self.store.records(kind, prefix, limit=500):
                gone = [Change(kind, record.id, record.body, None) for record in found]
                if not self.store.change(gone):
                    for change in gone:
                        self.store.change([change])

    # Looking at them.

    def active(self) -> Sequence[r.Webhook]:
        """The hooks that are told of something, oldest first."""
        found = [r.read_hook(record) for record in self.store.records(r.HOOK)]
        return sorted(
            (hook for hook in found if hook.ended is None), key=lambda hook: (hook.created, hook.id)
        )

    def list(self, campaign: str | None = None) -> Sequence[r.Webhook]:
        """The hooks, newest first: all, or those that are told of a campaign."""
        found = reversed(self.active())
        return [hook for hook in found if campaign is None or hook.hears(campaign)]

    def get(self, id: str) -> r.Webhook:
        """The hook of this id; UnknownName if there is none, or it was ended."""
        hook = self._find(id)
        if hook.ended is not None:
            raise _unknown_hook(id)
        return hook

    def waiting(self, id: str, limit: int | None = None) -> int:
        """How many deliveries wait; counts up to ``limit``."""
        return len(self.store.records(r.WAITING, f"{id}/", limit=limit))

    def due(self, id: str, limit: int) -> Sequence[r.Delivery]:
        """The deliveries whose turn it is now, in this order."""
        now = self.clock()
        found = map(r.read_delivery, self.store.records(r.WAITING, f"{id}/", limit=limit))
        return [each for each in found if each.due is not None and each.due <= now]

    def deliveries(
        self, id: str, limit: int | None = None, before: str = ""
    ) -> Sequence[r.Delivery]:
        """The deliveries of a hook, newest first: all that wait, the last settled ones.

        Parameters
        ----------
        limit : int, optional
            The most to return.
        before : str
            Only those made before the one of this id.
        """
        self.get(id)
        found = [
            r.read_delivery(record)
            for kind in (r.WAITING, r.SETTLED)
            for record in self.store.records(kind, f"{id}/")
        ]
        found.sort(key=lambda delivery: delivery.id, reverse=True)
        return [each for each in found if not before or each.id < before][:limit]

    def delivery(self, id: str, delivery: str) -> r.Delivery:
        """One delivery of a hook."""
        self.get(id)
        record = self.store.record(r.SETTLED, f"{id}/{delivery}") if delivery else None
        if record is None:
            waiting = self.store.records(r.WAITING, f"{id}/")
            record = next((each for each in waiting if each.id.endswith(f"-{delivery}")), None)
        if record is None:
            raise UnknownName(
                f"delivery {delivery!r} is not known: see the list of the hook's deliveries",
                field="delivery",
                reason="unknown_delivery",
            )
        return r.read_delivery(record)

    # Sending by request.

    def retry(self, id: str, delivery: str, key: str | None = None) -> r.Delivery:
        """Try a delivery again, soon; one whose turn it is anyway is left as it is."""
        noted = None if key is None else digest(key)
        while True:
            hook, found, now = self.get(id), self.delivery(id, delivery), self.clock()
            if noted is not None and found.key == noted:
                return found
            if found.due is not None and found.due <= now:
                return found
            again = replace(found, state="waiting", attempts=0, since=now, due=now, key=noted)
            if self._put(hook, r.transition(found, again)):
                return again

    def ping(self, id: str, key: str | None = None) -> r.Delivery:
        """Make a delivery that tells nothing, to try the hook."""
        noted = None if key is None else digest(key)
        while True:
            hook = self.get(id)
            if noted is not None:
                for each in self.deliveries(id):
                    if each.key == noted and each.event == r.PING:
                        return each
            now = self.clock()
            about: dict[str, Any] = {"seq": None, "time": now, "data": {}}
            made = r.make_delivery(
                hook, r.PING, None, about, int(now * 1e6), unique=secrets.token_hex(8)
            )
            made = replace(made, key=noted)
            if self._put(hook, [r.creation(made)]):
                return made

    def _put(self, hook: r.Webhook, changes: Iterable[Change]) -> bool:
        """Change deliveries of a hook that is still there, and open its lane if it is closed."""
        opening = []
        lane = self.store.record(r.LANE, hook.id)
        if lane is not None:
            known = r.Lane.read(lane.body)
            if known.until <= self.clock() < known.closed:
                opened = replace(known, closed=0.0).body
                opening = [Change(r.LANE, hook.id, lane.body, opened)]
        done = self.store.change([r.unchanged(hook), *changes, *opening])
        self.changed.set()
        return done

    def prune(self, id: str) -> None:
        """Forget the oldest settled deliveries beyond those that are kept."""
        found = self.store.records(r.SETTLED, f"{id}/")
        if len(found) > KEPT:
            self.store.change(
                [Change(r.SETTLED, each.id, each.body, None) for each in found[: len(found) - KEPT]]
            )

    def _find(self, id: str) -> r.Webhook:
        record = self.store.record(r.HOOK, id) if id else None
        if record is None:
            raise _unknown_hook(id)
        return r.read_hook(record)


def _unknown_hook(id: str) -> UnknownName:
    return UnknownName(
        f"hook {id!r} is not known: see the list of webhooks", field="hook", reason="unknown_hook"
    )
