"""What is kept of webhooks: hooks, and their deliveries."""

import hashlib
import json
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, Literal, Self, get_args

from askwise.core.jsonable import Jsonable
from askwise.store import Change, Record
from askwise.store.records import DELIVERED, DELIVERIES, HOOK_CURSORS, HOOK_LANES, HOOKS

EventName = Literal[
    "answer.settled", "answer.revised", "task.closed", "campaign.done", "budget.used"
]
EVENTS: tuple[EventName, ...] = get_args(EventName)
MessageName = Literal[EventName, "ping"]
DeliveryState = Literal["waiting", "delivered", "given_up"]
PING: Literal["ping"] = "ping"
"""The event of a test."""

HOOK, CURSOR, LANE = HOOKS, HOOK_CURSORS, HOOK_LANES
WAITING, SETTLED = DELIVERIES, DELIVERED
"""Kinds of records."""


@dataclass(frozen=True)
class Webhook(Jsonable):
    """Somebody who wants to be told; as JSON without its secret.

    Attributes
    ----------
    id : str
        Its id, by which it can be ended and tested.
    url : str
        Where messages are posted. It may hold a secret of the receiver's, so show :attr:`host` to
        those who only look.
    campaign : str or None
        The campaign that it is told of; None for all, also those to come.
    events : tuple of EventName
        The events that it is told of.
    label : str
        What it is called.
    created : float
        When it was made, in seconds since 1970.
    ended : float or None
        When it was ended, in seconds since 1970; None while it lasts.
    secret : str
        What deliveries are signed with. It is kept only where the service has no secret of its own
        to derive it from.
    nonce : str
        What it is derived from, together with the service's secret; empty if it is kept.
    read : str or None
        The record that it was read from: changes begin with what is there, to the letter.
    """

    id: str
    url: str
    campaign: str | None
    events: tuple[EventName, ...]
    label: str
    created: float
    ended: float | None = None
    secret: str = field(default="", repr=False, compare=False)
    nonce: str = field(default="", repr=False, compare=False)
    read: str | None = field(default=None, repr=False, compare=False)

    @property
    def host(self) -> str:
        """Where it leads to, without path and query."""
        return self.url.partition("://")[2].partition("/")[0].partition("?")[0]

    def hears(self, campaign: str) -> bool:
        """Whether it is told of this campaign."""
        return self.campaign in (None, campaign)

    @property
    def record(self) -> Record:
        """As it is kept."""
        return Record(HOOK, self.id, _body(self))


@dataclass(frozen=True)
class Delivery(Jsonable):
    """A message to a webhook, and what has become of it.

    Attributes
    ----------
    id : str
        Its id, the same at every attempt; ids sort in the order in which deliveries were made.
    hook : str
        The webhook that it is for.
    event : EventName or Literal["ping"]
        What it tells of; ``ping`` is a test.
    campaign : str or None
        The campaign that it is about; None for a ``ping``.
    made : float
        When it was made, in seconds since 1970.
    since : float
        When the first attempt was due: a day later it is given up.
    due : float or None
        When the next attempt is, in seconds since 1970; None unless it waits.
    body : str
        What is sent, to the letter.
    state : DeliveryState
        ``waiting``, ``delivered`` or ``given_up``.
    attempts : int
        How often it was tried; from 0 again if somebody asks for another try.
    tried : float or None
        When the last attempt was, in seconds since 1970; None before the first.
    status : int or None
        The status of the receiver's answer to the last attempt; None if there was none.
    said : str or None
        The beginning of that answer, or what went wrong; None before the first attempt.
    key : str or None
        A hash of the key of the request that made it or asked for another try.
    read : str or None
        The record that it was read from.
    payload : dict of str to Any
        What is sent, read.
    """

    written: ClassVar = (
        *("id", "hook", "event", "campaign", "made", "due", "state", "attempts", "tried"),
        *("status", "said", "payload"),
    )

    id: str
    hook: str
    event: MessageName
    campaign: str | None
    made: float
    since: float
    due: float | None
    body: str = field(repr=False)
    state: DeliveryState = "waiting"
    attempts: int = 0
    tried: float | None = None
    status: int | None = None
    said: str | None = None
    key: str | None = None
    read: str | None = field(default=None, repr=False, compare=False)

    @property
    def payload(self) -> dict[str, Any]:
        """What is sent, read."""
        return json.loads(self.body)

    @property
    def record(self) -> Record:
        """As it is kept: what waits by when it is due, what is settled by when it was made."""
        if self.due is None:
            return Record(SETTLED, f"{self.hook}/{self.id}", _body(self))
        return Record(WAITING, f"{self.hook}/{_place(self.due)}-{self.id}", _body(self))


class RecordBody:
    """A dataclass that a record has as its body."""

    @property
    def body(self) -> str:
        """As it is kept."""
        return json.dumps(vars(self))

    @classmethod
    def read(cls, body: str | None) -> Self:
        """What is kept so; without a record, as it begins."""
        return cls() if body is None else cls(**json.loads(body))


@dataclass(frozen=True)
class Cursor(RecordBody):
    """How far a hook has been told about a campaign; without one, the campaign came after it.

    Attributes
    ----------
    seq : int
        The last event that is dealt with.
    checked : int
        The last position at which was looked whether the campaign is done.
    done : str or None
        Why it is done, as told; None if it is not, or nothing was told since it went on.
    made : int
        Time in the id of the last delivery, in millionths of a second: the next has a later one,
        whatever the clocks of two machines say.
    """

    seq: int = 0
    checked: int = 0
    done: str | None = None
    made: int = 0


@dataclass(frozen=True)
class Lane(RecordBody):
    """Who sends to a hook now, if anybody, and how its receiver does.

    ``until`` ends the holder's lease; ``failures`` counts what failed in a row because the receiver
    was down, and ``closed`` is until when nothing is sent for it.
    """

    holder: str = ""
    until: float = 0.0
    failures: int = 0
    closed: float = 0.0

    def free(self, now: float) -> bool:
        """Whether somebody may begin to send."""
        return self.until <= now and self.closed <= now


def make_delivery(
    hook: Webhook,
    event: MessageName,
    campaign: str | None,
    about: dict[str, Any],
    micros: int,
    unique: str,
) -> Delivery:
    """Make a delivery that is due at once.

    Parameters
    ----------
    about : dict
        What is told: ``time``, ``seq`` and ``data``.
    micros : int
        Now, in millionths of a second: the first part of the id.
    unique : str
        What no other delivery of this moment has: the second part is made of it.
    """
    id = f"{micros:014x}{hashlib.sha256(unique.encode()).hexdigest()[:8]}"
    body = json.dumps({"id": id, "event": event, "campaign": campaign, **about}, allow_nan=False)
    now = micros / 1e6
    return Delivery(id, hook.id, event, campaign, made=now, since=now, due=now, body=body)


def transition(before: Delivery, after: Delivery) -> list[Change]:
    """The changes of records that make one delivery of another."""
    old, new = before.record, after.record
    known = before.read or old.body
    if (old.kind, old.id) == (new.kind, new.id):
        return [Change(old.kind, old.id, known, new.body)]
    return [Change(old.kind, old.id, known, None), creation(after)]


def creation(delivery: Delivery) -> Change:
    """The change of records that makes a delivery."""
    record = delivery.record
    return Change(record.kind, record.id, None, record.body)


def unchanged(hook: Webhook) -> Change:
    """The assertion that a hook is as it was, for changes that need it to be there."""
    known = hook.read or hook.record.body
    return Change(HOOK, hook.id, known, known)


def _body(kept: Webhook | Delivery) -> str:
    raw = asdict(kept)
    del raw["read"]
    if isinstance(kept, Webhook):
        if kept.nonce:
            raw["secret"] = ""
        else:
            del raw["nonce"]
    return json.dumps(raw)


def _place(seconds: float) -> str:
    """A time as text that sorts."""
    return f"{int(seconds * 1e6):014x}"


def read_hook(record: Record) -> Webhook:
    """The hook that is kept so."""
    raw = json.loads(record.body)
    return Webhook(**{**raw, "events": tuple(raw["events"]), "read": record.body})


def read_delivery(record: Record) -> Delivery:
    """The delivery that is kept so."""
    return Delivery(**json.loads(record.body), read=record.body)
