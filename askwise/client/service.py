"""A service, as a program sees it: its campaigns, keys and webhooks."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from urllib.parse import quote

from askwise.campaign.views import Status
from askwise.client.calls import money, path_of, worker_json
from askwise.client.campaign import AsyncRemoteCampaign, RemoteCampaign
from askwise.client.errors import Refused
from askwise.client.requests import (
    Awaited,
    InTurn,
    Steps,
    delete,
    download,
    pages,
    read,
    verb,
    write,
    write_text,
)
from askwise.client.transport import AsyncTransport, Transport
from askwise.core.catalogue import EntryInfo
from askwise.core.certify import CertifyTerms, read_terms
from askwise.core.content import Content
from askwise.core.fields import as_name
from askwise.core.keys import Caller, Key, NewKey
from askwise.core.money import Amount
from askwise.core.pilot import PilotTerms
from askwise.core.problem import Task, Worker, as_task, listed
from askwise.core.registry import spec_of
from askwise.core.screening import ScreeningTerms

if TYPE_CHECKING:
    from askwise.policies import Policy

C = TypeVar("C", RemoteCampaign, AsyncRemoteCampaign)


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


def aconnect(url: str, key: str, *, timeout: float = 30.0, retries: int = 8) -> AsyncService:
    """Use the service at ``url`` from an event loop; parameters as of :func:`connect`.

    The verbs are the same, and are awaited::

        async with aconnect(url, key) as service:
            campaign = await service.open("cats")
            batch = await campaign.ask(wait=30)
    """
    return AsyncService(AsyncTransport(url, key, timeout=timeout, retries=retries))


class ServiceVerbs(Generic[C]):
    """The campaigns, keys and webhooks of a service."""

    def __init__(self, transport: Any) -> None:
        self._transport = transport
        self._me: Caller | None = None

    def _campaign(self, name: str) -> C:
        raise NotImplementedError

    # Campaigns.

    @verb
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
    ) -> Steps[C]:
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
            "options": None if options is None else [*map(as_name, listed(options, "options"))],
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
        made = yield from write("/campaigns", sent, key=key)
        return self._campaign(made["name"])

    @verb
    def create_from_toml(self, text: str, *, key: str | None = None) -> Steps[C]:
        """Create the campaign that a TOML file (its text) describes."""
        made = yield from write_text("/campaigns", text, "application/toml", key=key)
        return self._campaign(made["name"])

    @verb
    def open(self, name: str) -> Steps[C]:
        """Open a campaign of the service, where it was left."""
        caller = yield from self._caller()
        if caller.role != "worker":
            yield from read(path_of(name))
        elif caller.campaign != name:
            raise Refused(
                "this token is of another campaign",
                reason="not_yours",
                code="forbidden",
                status=403,
            )
        return self._campaign(name)

    @verb
    def campaigns(self, *, archived: bool = False) -> Steps[list[Status]]:
        """The campaigns in use at a glance, by name, or those that were ``archived``."""
        # A service from before campaigns could be archived would refuse the field.
        query = {"archived": "yes"} if archived else {}
        return [Status.from_json(raw) for raw in (yield from pages("/campaigns", **query))]

    @verb
    def judges(self) -> Steps[list[dict[str, Any]]]:
        """The judges that the service has: id, model, family, price and source."""
        return list((yield from pages("/judges")))

    @verb
    def policies(self) -> Steps[list[EntryInfo]]:
        """The policies that a campaign may name, and their parameters."""
        return (yield from self._entries("/policies"))

    @verb
    def rules(self) -> Steps[list[EntryInfo]]:
        """The stopping rules that a campaign may name, and their parameters."""
        return (yield from self._entries("/rules"))

    @verb
    def aggregators(self) -> Steps[list[EntryInfo]]:
        """The aggregators that a campaign may name, and their parameters."""
        return (yield from self._entries("/aggregators"))

    @verb
    def mechanisms(self) -> Steps[list[EntryInfo]]:
        """The mechanisms that a campaign may name, and their parameters."""
        return (yield from self._entries("/mechanisms"))

    @verb
    def sources(self) -> Steps[list[EntryInfo]]:
        """The kinds of sources that a judge may have, and their parameters."""
        return (yield from self._entries("/sources"))

    def _entries(self, path: str) -> Steps[list[EntryInfo]]:
        return [EntryInfo.from_json(raw) for raw in (yield from pages(path))]

    @verb
    def names(self) -> Steps[list[str]]:
        """The names of the campaigns in use, sorted."""
        return [raw["name"] for raw in (yield from pages("/campaigns"))]

    # Keys.

    @verb
    def me(self) -> Steps[Caller]:
        """Who you are to the service."""
        return (yield from self._caller())

    def _caller(self) -> Steps[Caller]:
        if self._me is None:
            self._me = Caller.from_json((yield from read("/me")))
        return self._me

    @verb
    def keys(self) -> Steps[list[Key]]:
        """The keys, without their secrets, newest first."""
        return [Key.from_json(raw) for raw in (yield from pages("/keys"))]

    @verb
    def new_key(
        self, role: str, label: str, *, lasts: float | None = None, key: str | None = None
    ) -> Steps[NewKey]:
        """Make a key for an ``owner``, ``requester`` or ``viewer``; ``lasts`` is in seconds.

        Its secret is told here and nowhere else.
        """
        body = {"role": role, "label": label}
        raw = yield from write(
            "/keys", body if lasts is None else {**body, "lasts": lasts}, key=key
        )
        return NewKey.from_json(raw)

    @verb
    def revoke_key(self, id: str, key: str | None = None) -> Steps[Key]:
        """End a key, at once."""
        return Key.from_json((yield from delete("/keys", id, key=key)))

    # Webhooks.

    @verb
    def hooks(self) -> Steps[list[dict[str, Any]]]:
        """The webhooks, without their secrets, newest first."""
        return (yield from pages("/hooks"))

    @verb
    def new_hook(
        self,
        url: str,
        events: Iterable[str],
        *,
        campaign: str | None = None,
        label: str = "",
        key: str | None = None,
    ) -> Steps[dict[str, Any]]:
        """Be told at ``url`` what happens in a campaign, or in all.

        Its ``secret`` is told here and nowhere else; ``askwise.client.webhooks.verify`` takes it.
        """
        body = {"url": url, "events": listed(events, "events"), "label": label}
        return (yield from write("/hooks", {**body, "campaign": campaign}, key=key))

    @verb
    def end_hook(self, id: str, key: str | None = None) -> Steps[dict[str, Any]]:
        """End a webhook; what it has not delivered is forgotten."""
        return (yield from delete("/hooks", id, key=key))

    @verb
    def test_hook(self, id: str, key: str | None = None) -> Steps[dict[str, Any]]:
        """Send a ``ping`` to a webhook; :meth:`deliveries` tells how it went."""
        return (yield from write(f"/hooks/{quote(id, safe='')}/test", key=key))

    @verb
    def deliveries(self, hook: str) -> Steps[list[dict[str, Any]]]:
        """The deliveries of a webhook, newest first: all that wait, and the last settled ones."""
        return (yield from pages(f"/hooks/{quote(hook, safe='')}/deliveries"))

    @verb
    def retry_delivery(
        self, hook: str, delivery: str, key: str | None = None
    ) -> Steps[dict[str, Any]]:
        """Try a delivery again, whatever has become of it."""
        where = f"/hooks/{quote(hook, safe='')}/deliveries/{quote(delivery, safe='')}"
        return (yield from write(f"{where}/retry", key=key))

    # How it does.

    @verb
    def alive(self) -> Steps[bool]:
        """Whether the service answers; raises ``Unreachable`` if it does not."""
        return (yield from read("/healthz"))["status"] == "ok"

    @verb
    def ready(self) -> Steps[bool]:
        """Whether it can serve: its store answers; raises what stands in the way if not."""
        return (yield from read("/readyz"))["status"] == "ok"

    @verb
    def metrics(self) -> Steps[str]:
        """Counts and times in Prometheus' text format."""
        return (yield from download("/metrics")).decode()

    @verb
    def description(self) -> Steps[dict[str, Any]]:
        """The OpenAPI description of the service."""
        return (yield from read("/openapi.json"))


class Service(ServiceVerbs[RemoteCampaign], InTurn):
    """The campaigns, keys and webhooks of a service; made by :func:`connect`.

    May be used from several threads. Close it, or use it in a ``with`` block.
    """

    def _campaign(self, name: str) -> RemoteCampaign:
        return RemoteCampaign(self._transport, name)

    def close(self) -> None:
        """Let go of the connections, those of its campaigns too."""
        self._transport.close()

    def __enter__(self) -> Service:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Service {self._transport.url}>"


class AsyncService(ServiceVerbs[AsyncRemoteCampaign], Awaited):
    """As `Service`, for an event loop: every method is awaited; made by :func:`aconnect`.

    Close it, or use it in an ``async with`` block.
    """

    def _campaign(self, name: str) -> AsyncRemoteCampaign:
        return AsyncRemoteCampaign(self._transport, name)

    async def close(self) -> None:
        """Let go of the connections, those of its campaigns too."""
        await self._transport.close()

    async def __aenter__(self) -> AsyncService:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<AsyncService {self._transport.url}>"


def _task(raw: Task | Mapping[str, Any] | str) -> dict[str, Any] | str:
    task = as_task(raw)
    return task.id if task == Task(task.id) else task.to_json()


def _named(choice: Any) -> Any:
    """A policy, rule, aggregator or mechanism as JSON: a name, or a mapping."""
    if dataclasses.is_dataclass(choice):
        return {field: _named(value) for field, value in spec_of(choice).items()}
    return dict(choice) if isinstance(choice, Mapping) else choice
