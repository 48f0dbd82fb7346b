"""A service, as a program sees it: its campaigns and its keys."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from askwise.campaign.views import Status
from askwise.client.campaign import RemoteCampaign, money, path_of, worker_json
from askwise.client.errors import Refused
from askwise.client.transport import Transport
from askwise.core.catalogue import EntryInfo
from askwise.core.certify import CertifyTerms, read_terms
from askwise.core.content import Content
from askwise.core.keys import Caller, Key, NewKey
from askwise.core.money import Amount
from askwise.core.pilot import PilotTerms
from askwise.core.problem import Task, Worker, as_task, listed
from askwise.core.registry import spec_of
from askwise.core.screening import ScreeningTerms

if TYPE_CHECKING:
    from askwise.policies import Policy


def connect(url: str, key: str, *, timeout: float = 30.0, retries: int = 8) -> Service:
    """Use the service at ``url``; nothing is sent yet.

    Parameters
    ----------
    url : str
        Where it is: ``http://127.0.0.1:8000``.
    key : str
        A key, or a worker's token: with that, their own questions and answers only.
    timeout : float
        Seconds for one attempt.
    retries : int
        How often a request is repeated if it gets lost, times out or comes too soon; with
        waits that grow, up to half a minute in all as a rule. A write is done once all the same.
    """
    return Service(Transport(url, key, timeout=timeout, retries=retries))


class Service:
    """The campaigns and keys of a service; made by :func:`connect`.

    May be used from several threads. Close it, or use it in a ``with`` block.
    """

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._me: Caller | None = None

    # Campaigns.

    def create(
        self,
        *,
        workers: Iterable[Worker | Mapping[str, Any]],
        tasks: Iterable[Task | Mapping[str, Any] | str] | None = None,
        options: Sequence[str] | None = None,
        outcome: str | Mapping[str, Any] | None = None,
        budget: Amount | None = None,
        policy: str | Mapping[str, Any] | Policy = "auto",
        stopping: Any = None,
        aggregation: Any = None,
        mechanism: Any = None,
        certify: CertifyTerms | Mapping[str, Any] | None = None,
        pilot: PilotTerms | Mapping[str, Any] | int | None = None,
        screening: ScreeningTerms | Mapping[str, Any] | bool | None = None,
        content: Content | Mapping[str, Any] | None = None,
        repeat: bool | None = None,
        lease: float | timedelta | None = None,
        seed: int | None = None,
        name: str | None = None,
        key: str | None = None,
    ) -> RemoteCampaign:
        """Create a campaign; the fields are those of ``Campaign.create``.

        Among the workers, ``{"judge": ID}`` is a judge of the service's: see :meth:`judges`.

        A retry with the same ``key`` and fields gives the campaign that was made first.
        """
        terms = read_terms(certify)
        screened: Any = screening
        if isinstance(screening, ScreeningTerms):
            screened = screening.to_json()
        fields: dict[str, Any] = {
            "name": name,
            "workers": [worker_json(worker) for worker in listed(workers, "workers")],
            "tasks": None if tasks is None else [_task(task) for task in listed(tasks, "tasks")],
            "options": None if options is None else listed(options, "options"),
            "outcome": dict(outcome) if isinstance(outcome, Mapping) else outcome,
            "budget": None if budget is None else money(budget, "budget"),
            "policy": _named(policy),
            "stopping": _named(stopping),
            "aggregation": _named(aggregation),
            "mechanism": _named(mechanism),
            "certify": None if terms is None else terms.to_json(),
            "pilot": pilot.to_json() if isinstance(pilot, PilotTerms) else pilot,
            "screening": screened,
            "content": content.to_json() if isinstance(content, Content) else content,
            "repeat": repeat,
            "lease": lease.total_seconds() if isinstance(lease, timedelta) else lease,
            "seed": seed,
        }
        sent = {field: value for field, value in fields.items() if value is not None}
        made = self._transport.write("/campaigns", sent, key=key)
        return RemoteCampaign(self._transport, made["name"])

    def create_from_toml(self, text: str, *, key: str | None = None) -> RemoteCampaign:
        """Create the campaign that a TOML file (its text) describes."""
        made = self._transport.write_text("/campaigns", text, "application/toml", key=key)
        return RemoteCampaign(self._transport, made["name"])

    def open(self, name: str) -> RemoteCampaign:
        """Open a campaign of the service, where it was left."""
        caller = self.me()
        if caller.role != "worker":
            self._transport.read(path_of(name))
        elif caller.campaign != name:
            raise Refused(
                "this token is of another campaign",
                reason="not_yours",
                code="forbidden",
                status=403,
            )
        return RemoteCampaign(self._transport, name)

    def campaigns(self, *, archived: bool = False) -> list[Status]:
        """The campaigns in use at a glance, by name, or those that were ``archived``."""
        # A service from before campaigns could be archived would refuse the field.
        query = {"archived": "yes"} if archived else {}
        return [Status.from_json(raw) for raw in self._transport.pages("/campaigns", **query)]

    def judges(self) -> list[dict[str, Any]]:
        """The judges that the service has: id, model, family, price and source."""
        return list(self._transport.pages("/judges"))

    def policies(self) -> list[EntryInfo]:
        """The policies that a campaign may name, and their parameters."""
        return self._entries("/policies")

    def rules(self) -> list[EntryInfo]:
        """The stopping rules that a campaign may name, and their parameters."""
        return self._entries("/rules")

    def aggregators(self) -> list[EntryInfo]:
        """The aggregators that a campaign may name, and their parameters."""
        return self._entries("/aggregators")

    def mechanisms(self) -> list[EntryInfo]:
        """The mechanisms that a campaign may name, and their parameters."""
        return self._entries("/mechanisms")

    def sources(self) -> list[EntryInfo]:
        """The kinds of sources that a judge may have, and their parameters."""
        return self._entries("/sources")

    def _entries(self, path: str) -> list[EntryInfo]:
        return [EntryInfo.from_json(raw) for raw in self._transport.pages(path)]

    def names(self) -> list[str]:
        """The names of the campaigns in use, sorted."""
        return [status.name for status in self.campaigns()]

    # Keys.

    def me(self) -> Caller:
        """Who you are to the service."""
        if self._me is None:
            self._me = Caller.from_json(self._transport.read("/me"))
        return self._me

    def keys(self) -> list[Key]:
        """The keys, without their secrets, newest first."""
        return [Key.from_json(raw) for raw in self._transport.pages("/keys")]

    def new_key(
        self, role: str, label: str, *, lasts: float | None = None, key: str | None = None
    ) -> NewKey:
        """Make a key for an ``owner``, ``requester`` or ``viewer``; ``lasts`` is in seconds.

        Its secret is told here and nowhere else.
        """
        body = {"role": role, "label": label}
        raw = self._transport.write(
            "/keys", body if lasts is None else {**body, "lasts": lasts}, key=key
        )
        return NewKey.from_json(raw)

    def revoke_key(self, id: str, key: str | None = None) -> Key:
        """End a key, at once."""
        return Key.from_json(self._transport.delete("/keys", id, key=key))

    # Its own life.

    def close(self) -> None:
        """Let go of the connections, those of its campaigns too."""
        self._transport.close()

    def __enter__(self) -> Service:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Service {self._transport.url}>"


def _task(raw: Task | Mapping[str, Any] | str) -> dict[str, Any] | str:
    task = as_task(raw)
    return task.id if task == Task(task.id) else task.to_json()


def _named(choice: Any) -> Any:
    """A policy, rule, aggregator or mechanism as JSON: a name, or a mapping."""
    if dataclasses.is_dataclass(choice):
        return {field: _named(value) for field, value in spec_of(choice).items()}
    return dict(choice) if isinstance(choice, Mapping) else choice
