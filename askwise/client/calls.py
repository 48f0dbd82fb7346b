"""What the verbs of a campaign of a service have in common: where it is, how it is called."""

import math
import re
from collections.abc import Mapping
from numbers import Real
from typing import Any

from askwise.campaign.views.assignments import seq_of
from askwise.client.requests import Steps, pages, write
from askwise.core.errors import InvalidAnswer, UnknownName
from askwise.core.fields import as_name
from askwise.core.money import Amount, from_micro, to_micro
from askwise.core.problem import Worker, as_worker

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_IDS = {"task", "worker", "option"}


def path_of(name: str) -> str:
    """Where a campaign is."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise UnknownName(
            f"{name!r} is not known: names are of letters, digits, '.', '_' and '-'",
            field="name",
            reason="unknown_campaign",
        )
    return f"/campaigns/{name}"


class CampaignCalls:
    """A campaign of a service by its name, and how it is written to."""

    def __init__(self, transport: Any, name: str) -> None:
        self.name = name
        self._transport = transport
        self._path = path_of(name)

    def _write(self, verb: str, body: Any, key: str | None) -> Steps[Any]:
        if body is not None:
            body = {name: as_name(each) if name in _IDS else each for name, each in body.items()}
        return (yield from write(f"{self._path}/{verb}", body, key=key))

    def _settle(
        self, assignment_id: str, verb: str, key: str | None, body: Any = None
    ) -> Steps[None]:
        yield from write(f"{self._assignment(assignment_id)}/{verb}", body, key=key)

    def _pages(self, what: str, **query: str | int | None) -> Steps[list[Any]]:
        return (yield from pages(f"{self._path}/{what}", **query))

    def _assignment(self, assignment_id: str) -> str:
        return f"/assignments/{self.name}:{seq_of(self.name, assignment_id)}"


def answer_json(value: float | str) -> float | str:
    """An answer as requests carry it: a number is a float, and finite."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return value
    number = float(value)
    if not math.isfinite(number):
        raise InvalidAnswer(
            f"answer is {number!r}: give a finite number", field="value", reason="invalid_value"
        )
    return number


def money(amount: Amount, label: str) -> str:
    """An amount as requests carry it: exact, or refused as a campaign would."""
    return str(from_micro(to_micro(amount, label)))


def worker_json(worker: Worker | Mapping[str, Any]) -> dict[str, Any]:
    """A worker as JSON; one that names a judge is for the service to read."""
    if isinstance(worker, Mapping) and "judge" in worker:
        return dict(worker)
    return as_worker(worker).to_json()
