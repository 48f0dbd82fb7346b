"""Campaigns that are deleted, and workers whose id is replaced, in the whole log."""

import json
import re
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from askwise.campaign import store_records
from askwise.campaign.refusals import conflict
from askwise.campaign.spec import Spec
from askwise.campaign.state import CampaignState
from askwise.campaign.writer import Writer
from askwise.core.errors import Conflict
from askwise.core.events import Event, Kind
from askwise.core.fields import as_name, check_id
from askwise.ledger import columns as c
from askwise.store import Change, Reply, Store
from askwise.store.amending import Amending, amending
from askwise.store.event_rows import EventRow, encode

ATTEMPTS = 20
"""How often it is begun again because somebody has written meanwhile."""

_NAMES_ONE = frozenset(("worker", "by", "decided_by"))
"""Fields that hold the id of a worker, or a list of them."""

_NAMES_MANY = frozenset(("workers", "available"))
"""Fields that hold a list of ids, or of workers."""

_REMARKS = frozenset(("why", "text", "rationale", "reference"))
"""Fields in which somebody may have been mentioned."""

_OTHERS_OWN = frozenset(("payload", "content", "options", "value", "stopping", "mechanism"))
"""Fields in which the same word means something else: what the requester shows and asks."""


@dataclass(frozen=True)
class Renaming:
    """Calls a worker by another id, wherever a campaign names them.

    Fields that hold ids are changed where they are this id. In remarks, and in the keys of writes,
    the id is changed where it stands as a word of its own. What the requester wrote (payloads, the
    question, options) is left as it is.
    """

    old: str
    new: str

    def spec(self, text: str) -> str:
        """What the campaign was created with."""
        return json.dumps(self._walk(json.loads(text))) if self._may_name(text) else text

    def row(self, row: EventRow) -> EventRow:
        """An event."""
        key = None if row.key is None else self._mention(row.key)
        body = self.json(row.body, encode)
        return row if (key, body) == (row.key, row.body) else row._replace(key=key, body=body)

    def reply(self, reply: Reply) -> Reply:
        """The reply to a keyed write; its request stays as its retry would be written."""
        request = reply.request
        if self._may_name(request):
            verb, arguments = self._walk(json.loads(request))
            if verb == "ask" and arguments["workers"] is not None:
                arguments["workers"].sort()
            request = json.dumps([verb, arguments], sort_keys=True)
        return replace(
            reply,
            key=self._mention(reply.key),
            request=request,
            body=self.json(reply.body, json.dumps),
        )

    def json(self, text: str, write: Any = json.dumps) -> str:
        """A text of JSON."""
        return write(self._walk(json.loads(text))) if self._may_name(text) else text

    @cached_property
    def _written(self) -> tuple[str, str]:
        return self.old, json.dumps(self.old)[1:-1]

    @cached_property
    def _word(self) -> re.Pattern[str]:
        return re.compile(rf"(?<!\w){re.escape(self.old)}(?!\w)")

    def _may_name(self, text: str) -> bool:
        return any(form in text for form in self._written)

    def _mention(self, text: str) -> str:
        return self._word.sub(lambda _: self.new, text)

    def _one(self, value: Any) -> Any:
        return self.new if value == self.old else value

    def _walk(self, value: Any) -> Any:
        """A value of JSON with the worker called otherwise."""
        if isinstance(value, list):
            return [self._walk(each) for each in value]
        if not isinstance(value, dict):
            return value
        return {name: self._field(name, held) for name, held in value.items()}

    def _field(self, name: str, value: Any) -> Any:
        if name in _OTHERS_OWN:
            return value
        if name == "policy" and isinstance(value, dict):
            return {field: self._keys(held) for field, held in value.items()}
        if name in _NAMES_ONE:
            return [*map(self._one, value)] if isinstance(value, list) else self._one(value)
        if name in _NAMES_MANY and isinstance(value, list):
            return [self._worker(each) for each in value]
        if name == "rows" and isinstance(value, list):
            return [[task, self._one(worker), *rest] for task, worker, *rest in value]
        if name in _REMARKS and isinstance(value, str):
            return self._mention(value)
        return self._walk(value)

    def _keys(self, value: Any) -> Any:
        """A parameter of a policy: of some the keys are ids."""
        if not isinstance(value, dict):
            return value
        return {self._one(key): held for key, held in value.items()}

    def _worker(self, value: Any) -> Any:
        """A worker by their id, or with all that is said of them."""
        if isinstance(value, dict):
            return {**value, "id": self._one(value.get("id"))} if "id" in value else value
        return self._one(value)


def delete(store: Store, name: str, also: Sequence[Change] = ()) -> None:
    """Delete a campaign that nobody has answered, with its links, webhooks and what is out.

    Parameters
    ----------
    also : sequence of Change
        Records that are changed with it.

    Raises
    ------
    Conflict
        It has answers, or money was spent: archive it instead. Or others write to it all the time.
    """
    target = amending(store)
    for _ in range(ATTEMPTS):
        state = _state_of(target, name)
        ledger = state.ledger
        spent = ledger.total(c.SPENT) + ledger.total(c.BONUSES)
        if ledger.total(c.ANSWERS) or ledger.withdrawn or spent:
            message = (
                f"campaign {name!r} has answers, or money was spent on it: archive it instead "
                f"(askwise archive {name})"
            )
            raise conflict("campaign_answered", "name", message)
        try:
            if target.delete(name, state.seq, [*store_records.removals(target, name), *also]):
                target.scrub()
                return
        except Conflict as error:
            if error.reason != "log_moved":
                raise
    raise _too_busy(name)


def forget_worker(
    store: Store,
    name: str,
    worker: str,
    time: float,
    pseudonym: str | None = None,
    also: Sequence[Change] = (),
) -> str:
    """Replace a worker's id by a pseudonym wherever the store has it in this campaign.

    In what the campaign was created with, in every event, reply and key, and in the records beside
    it: tokens, who is away, webhooks' messages. Snapshots are dropped. It is one transaction; then
    the store is cleaned of what it has freed. The log folds to the same state as before but for the
    id, and ends with a RENAMED. Files that were made before (backups, archives, exports, logs of
    the service) are not reached.

    Parameters
    ----------
    time : float
        When this is, in seconds since 1970.
    pseudonym : str, optional
        What to call them; made up at random by default. Nobody of the campaign is called so.
    also : sequence of Change
        Records that are changed with it.

    Returns
    -------
    str
        What they are called now.
    """
    target = amending(store)
    if pseudonym is not None:
        pseudonym = check_id(pseudonym, "pseudonym")
    worker = as_name(worker)
    for _ in range(ATTEMPTS):
        state = _state_of(target, name)
        state.ledger.worker_at(worker)
        new = f"worker-{secrets.token_hex(6)}" if pseudonym is None else pseudonym
        if state.ledger.has_worker(new):
            message = f"pseudonym is {new!r}, and so is a worker of this campaign: give another"
            raise conflict("worker_exists", "pseudonym", message)
        renaming = Renaming(worker, new)
        kinds = [Kind.RENAMED, *([Kind.ARCHIVED] if state.ledger.archived else [])]
        changes = store_records.renamings(target, name, worker, new, renaming.json)
        events = _events(kinds, state.seq, time, new)
        try:
            if target.rewrite(name, state.seq, renaming, events, [*changes, *also]):
                target.scrub()
                return new
        except Conflict as error:
            if error.reason != "log_moved":
                raise
    raise _too_busy(name)


def _events(kinds: Iterable[Kind], seq: int, time: float, worker: str) -> list[Event]:
    # An archived campaign is known by the last event of its log.
    return [
        Event(kind, seq=at, time=time, worker=worker if kind == Kind.RENAMED else None)
        for at, kind in enumerate(kinds, seq + 1)
    ]


def _state_of(store: Amending, name: str) -> CampaignState:
    return Writer(store, name, Spec.from_json(store.spec(name)), lambda: 0.0).current()


def _too_busy(name: str) -> Conflict:
    message = f"campaign {name!r} is written to all the time: pause it, and try again"
    return conflict("log_moved", "name", message)
