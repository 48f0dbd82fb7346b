"""A campaign of a service, used as one of this process would be."""

from collections.abc import Iterator
from typing import Any, NoReturn

from askwise.client.reading import CampaignReads
from askwise.client.requests import Awaited, InTurn, verb
from askwise.client.writing import CampaignWrites
from askwise.core.content import Content


class RemoteCampaign(CampaignWrites, CampaignReads, InTurn):
    """A campaign of a service; made by ``Service.create`` or ``Service.open``.

    Its methods are those of ``Campaign``: same parameters, same results, same errors. A write
    that gets no answer is sent again until it does, and happens once. Beside them are those that
    only a service has: invitations, absences. A worker's token allows ``ask``, ``tell``,
    ``decline``, ``flag``, ``bid``, ``leave``, ``assignments``, ``assignment`` and ``standing``, of
    their own.
    What the worker of an assignment is shown comes with it, as its ``payload``: that takes no
    request.
    """

    @property
    def spec(self) -> dict[str, Any]:
        """The campaign as created, as JSON."""
        return self._transport.run(self._spec())

    @property
    def content(self) -> Content | None:
        """What workers are asked and shown, if that was given."""
        return self._transport.run(self._content())

    def __repr__(self) -> str:
        return f"<RemoteCampaign {self.name!r} at {self._transport.url}>"

    def __iter__(self) -> Iterator[Any]:
        raise TypeError("a campaign is not iterable: call ask() until it returns Done")


class AsyncRemoteCampaign(CampaignWrites, CampaignReads, Awaited):
    """As `RemoteCampaign`, for an event loop: every method is awaited.

    ``spec`` and ``content`` are methods too. Made by ``AsyncService.create`` or
    ``AsyncService.open``.
    """

    spec = verb(CampaignReads._spec)
    content = verb(CampaignReads._content)

    def __repr__(self) -> str:
        return f"<AsyncRemoteCampaign {self.name!r} at {self._transport.url}>"

    def __aiter__(self) -> NoReturn:
        raise TypeError("a campaign is not iterable: await ask() until it returns Done")
