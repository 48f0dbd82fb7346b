"""What is ordered: items, the question, who answers, the money and the promise. Checked at once."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from askwise.core.checks import whole
from askwise.core.errors import InvalidParameter, nearest
from askwise.core.problem import Worker
from askwise.data.orders import ItemsOrder
from askwise.sources import Question, Source
from askwise.sources.cache import ReplyCache
from askwise.sources.judges import Judge, make_judge, read_judges


@dataclass(frozen=True, eq=False, kw_only=True)
class LabelOrder(ItemsOrder):
    """Everything that labelling needs to know, before anything is spent.

    Made by :func:`with_judges`.

    Attributes
    ----------
    judges : tuple of Judge
        The models and programs that are called.
    sources : mapping of a worker's id to a Source
        Who answers for whom; people who answer on a page have none.
    workers : tuple of Worker
        Judges and people, each at their price.
    pilot : int or None
        Items that are put to every judge first; None if nothing was said of it.
    """

    judges: tuple[Judge, ...]
    sources: Mapping[str, Source]
    workers: tuple[Worker, ...]
    pilot: int | None = None

    def questions(self) -> list[Question]:
        """The question about each item."""
        return [Question(self.content, task.id, task.payload) for task in self.tasks]

    def on_page(self) -> list[str]:
        """The people whom nobody calls: they answer on their page."""
        return [each.id for each in self.people if each.id not in self.sources]

    def campaign_fields(self) -> dict[str, Any]:
        """What :meth:`askwise.Campaign.create` takes."""
        judges = [each.id for each in self.judges]
        called = [each for each in self.workers if each.id in judges]
        return self.fields_with(called, judges, self.pilot)


def with_judges(
    order: ItemsOrder,
    judges: str | os.PathLike[str] | Iterable[Judge | Mapping[str, Any]] | None = None,
    *,
    sources: Mapping[str, Source] | None = None,
    pilot: int | None = None,
    cache: ReplyCache | None = None,
) -> LabelOrder:
    """Add to an order of items who is called; see :func:`askwise.label` for the parameters.

    ``cache`` keeps replies of judges that were paid for.
    """
    called = _judges(judges, cache)
    order.check_workers([each.id for each in called])
    answering = {each.id: each.source for each in called}
    answering |= _extra_sources(sources or {}, [each.id for each in order.people])
    questions = [Question(order.content, task.id, task.payload) for task in order.tasks]
    if pilot is not None:
        whole(pilot, "pilot", least=0)
    return LabelOrder(
        **{each.name: getattr(order, each.name) for each in fields(order)},
        judges=tuple(called),
        sources=answering,
        workers=(*(judge.worker(questions) for judge in called), *order.people),
        pilot=pilot,
    )


def _judges(
    judges: str | os.PathLike[str] | Iterable[Judge | Mapping[str, Any]] | None,
    cache: ReplyCache | None,
) -> list[Judge]:
    if judges is None:
        return []
    if isinstance(judges, str | os.PathLike):
        return read_judges(judges, cache)
    found = []
    for each in judges:
        if isinstance(each, Mapping):
            each = make_judge(each, cache)
        elif not isinstance(each, Judge):
            raise InvalidParameter(
                f"judges has {each!r}: give a judges.toml, or for each judge its fields or a "
                "Judge(id, source)",
                field="judges",
            )
        each.source.check()
        found.append(each)
    return found


def _extra_sources(given: Mapping[str, Source], people: Sequence[str]) -> dict[str, Source]:
    for name, source in given.items():
        if name not in people:
            raise InvalidParameter(
                f"sources names {name!r}: {nearest(name, people)}", field="sources"
            )
        source.check()
    return dict(given)
