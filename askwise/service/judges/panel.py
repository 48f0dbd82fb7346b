"""The judges that the operator of a service has defined; its users can name them, and no others.

Users of the API name a judge by its id. They never give an address, a command or a variable of the
environment: those would send the operator's keys anywhere, or run programs on their machine.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

import httpcore

from askwise.core.content import Content
from askwise.core.errors import InvalidProblem, nearest
from askwise.core.money import from_micro, to_micro
from askwise.core.problem import Task, Worker, as_task
from askwise.service.webhooks.posting import Network
from askwise.sources import Outage, Question, Response, Source
from askwise.sources.cache import StoreCache
from askwise.sources.judges import Judge, read_judges
from askwise.store import Store


class SharedSource(Source):
    """A source that several runs share: together they have its slots."""

    def __init__(self, source: Source) -> None:
        super().__init__(slots=source.slots)
        self._source = source
        self._free = asyncio.Semaphore(source.slots)

    async def answer(self, question: Question) -> Response:
        """Answer when there is a slot."""
        try:
            await self._free.acquire()
        except asyncio.CancelledError:
            # It was not asked, so it can't have been paid: to be cut off here is to be given back.
            return Response(failure="unavailable", detail="the run ended before it was asked")
        try:
            return await self._source.answer(question)
        finally:
            self._free.release()

    def ceiling(self, question: Question) -> int:
        """The source's."""
        return self._source.ceiling(question)

    @property
    def repeat_is_free(self) -> bool:
        """As the source has it."""
        return self._source.repeat_is_free

    def check(self) -> None:
        """Refuse what the source refuses."""
        self._source.check()

    def outage(self) -> Outage | None:
        """The source's."""
        return self._source.outage()

    def digest(self) -> str:
        """The source's: its answers are the same."""
        return self._source.digest()

    def signature(self) -> str:
        """The source's."""
        return self._source.signature()

    async def aclose(self) -> None:
        """Let go of what the source holds."""
        await self._source.aclose()


class JudgePanel:
    """The operator's judges.

    Parameters
    ----------
    judges : iterable of Judge
        The judges; none by default.
    """

    def __init__(self, judges: Iterable[Judge] = ()) -> None:
        self._judges = {judge.id: judge for judge in judges}
        shared = {id: SharedSource(judge.source) for id, judge in self._judges.items()}
        self.by_signature: dict[str, Source] = {
            source.signature(): source
            for id, source in shared.items()
            if self._judges[id].source.called
        }
        """The sources that answer, by the name and digest that a worker holds."""

    @classmethod
    def read(cls, path: str, store: Store, *, private: bool) -> JudgePanel:
        """Read the operator's file; replies are kept in the store.

        Parameters
        ----------
        path : str
            The file; empty for no judges.
        private : bool
            Whether endpoints may be at private and loopback addresses.
        """
        if not path:
            return cls()
        judges = read_judges(path, StoreCache(store))
        network = Network(private=private)
        for judge in judges:
            _check_reachable(judge, network)
        return cls(judges)

    def __bool__(self) -> bool:
        return bool(self._judges)

    def to_json(self) -> list[dict[str, Any]]:
        """What users see of the judges: no address, no key, and not where the key is."""
        return [
            {
                "id": judge.id,
                "model": getattr(judge.source, "model", None),
                "family": judge.family,
                "price": _price(getattr(judge.source, "price", 0)),
                "source": judge.source.signature(),
            }
            for judge in self._judges.values()
        ]

    def resolve(self, workers: Iterable[Any], content: Any, tasks: Iterable[Any]) -> list[Any]:
        """Turn the entries that name a judge into workers; others stay as they are."""
        listed = list(workers)
        if not any(_names_judge(entry) for entry in listed):
            return listed
        if content is None:
            raise InvalidProblem(
                "content is missing: a judge needs to know the question", field="content"
            )
        asked = content if isinstance(content, Content) else Content.from_json(content)
        put = [_question(asked, as_task(task)) for task in tasks]
        return [self._worker(entry, put) if _names_judge(entry) else entry for entry in listed]

    def _worker(self, entry: Mapping[str, Any], questions: list[Question]) -> dict[str, Any]:
        named = entry["judge"]
        judge = self._judges.get(named)
        if judge is None:
            raise InvalidProblem(
                f"judge {named!r} is not one of this service: {nearest(named, self._judges)}",
                field="judge",
            )
        if not questions:
            raise InvalidProblem(
                f"judge {named!r} has no price yet, because there are no tasks: give the tasks "
                "with it",
                field="tasks",
            )
        made: Worker = judge.worker(questions)
        own = {key: entry[key] for key in ("id", "limit") if entry.get(key) is not None}
        return {**made.to_json(), **own}


def _names_judge(entry: object) -> bool:
    return isinstance(entry, Mapping) and "judge" in entry


def _question(content: Content, task: Task) -> Question:
    return Question(content, task.id, task.payload)


def _price(price: Any) -> str | dict[str, str]:
    if isinstance(price, Mapping):
        return {str(name): str(amount) for name, amount in price.items()}
    return str(from_micro(to_micro(price, "price")))


def _check_reachable(judge: Judge, network: Network) -> None:
    """Refuse an endpoint at a private address, unless these are allowed."""
    url = getattr(judge.source, "base_url", None)
    if url is None or network.private:
        return
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        network.addresses(parts.hostname or "", port)
    except httpcore.ConnectError as error:
        raise InvalidProblem(
            f"judge {judge.id!r}: base_url can't be used: {error}; --private-judges allows private "
            "addresses",
            field="base_url",
        ) from None
