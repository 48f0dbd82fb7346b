"""Labels, what each rests on, who answered, and the bill."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from askwise.campaign import Campaign, views
from askwise.campaign.state import CampaignState
from askwise.campaign.views import CampaignCertificate, WorkerSummary
from askwise.campaign.views.contested import leads
from askwise.core.choices import Done, Wait
from askwise.core.jsonable import Jsonable
from askwise.core.labels import RestsOn
from askwise.data.columns import write_columns
from askwise.data.items import Items
from askwise.ledger import columns as c

FIRST = ("id", "label", "confidence", "rests_on")
"""The columns that a file of labels begins with."""

LOOKED_AT = 20
"""Labels that a report lists as worth a look."""


@dataclass(frozen=True, slots=True)
class ItemLabel(Jsonable):
    """The label of one item.

    ``confidence`` means what ``rests_on`` says: ``agreement`` of those who answered, which is not a
    probability; ``calibrated`` by known truths; ``certified`` by audits; or the ``truth`` itself.
    ``label`` is None while nobody has answered; ``answers`` counts those who have.
    """

    id: str
    label: str | None
    confidence: float | None
    rests_on: RestsOn | None
    answers: int


@dataclass(frozen=True, slots=True)
class MoreMoney(Jsonable):
    """What more money would buy.

    ``unsure`` labels are less sure than ``below`` and not certified; ``answers`` more answers about
    them can still be bought from those who have not been asked, for about ``cost``.
    """

    unsure: int
    below: float
    answers: int
    cost: Decimal


class LabelledItems:
    """Labels and what they cost, as far as a job has come.

    Attributes
    ----------
    labels : tuple of ItemLabel
        One for each item, in their order.
    certificate : CampaignCertificate or None
        What audits have shown, where that was ordered.
    judges, people : tuple of WorkerSummary
        What each of them did, cost, and how good they seem.
    cost : Decimal
        What was spent.
    end : Done, Wait or None
        Why it ended: done; waiting for people; None if it was stopped.
    outages : mapping of a judge to the reason
        Judges that could not be asked when it ended.
    campaign : Campaign
        The campaign itself, with its whole log.
    contested : int
        Items whose answers differ, and that nobody has decided by a truth or a label.
    undecided : int
        Those of them where no option has more answers than another, and no known truths weigh the
        answers either: what their label is, is little more than a guess.
    """

    def __init__(
        self,
        campaign: Campaign,
        items: Items,
        end: Done | Wait | None,
        outages: Mapping[str, str] | None = None,
    ) -> None:
        self.campaign = campaign
        self.items = items
        self.end = end
        self.outages = dict(outages or {})
        with campaign.reading() as state:
            answers = views.answers(state)
            workers = views.workers(state, answers)
            self.status = views.status(campaign.name, state)
            self.contested = views.results(state, answers).contested
            self.undecided = _undecided(state, answers)
            self._asked = _asked(state)
            self._audited = _audited(state)
        self.certificate: CampaignCertificate | None = self.status.certificate
        self.labels = tuple(
            ItemLabel(str(each.task), _text(each.value), each.confidence, each.rests_on, each.count)
            for each in answers
        )
        self.judges: tuple[WorkerSummary, ...] = tuple(
            each for each in workers if each.kind == "model"
        )
        self.people: tuple[WorkerSummary, ...] = tuple(
            each for each in workers if each.kind != "model"
        )
        self.cost = self.status.spent

    def __repr__(self) -> str:
        labelled = sum(each.label is not None for each in self.labels)
        return (
            f"<{type(self).__name__} {labelled} of {len(self.labels)} labelled, cost {self.cost}>"
        )

    def counts(self) -> dict[str, int]:
        """How many labels there are of each option, the commonest first."""
        found: dict[str, int] = {}
        for each in self.labels:
            if each.label is not None:
                found[each.label] = found.get(each.label, 0) + 1
        return dict(sorted(found.items(), key=lambda each: -each[1]))

    def rests_on(self) -> dict[str, int]:
        """How many confidences rest on what."""
        found: dict[str, int] = {}
        for each in self.labels:
            word = each.rests_on or "nothing"
            found[word] = found.get(word, 0) + 1
        return found

    def to_look_at(self, most: int = LOOKED_AT) -> list[ItemLabel]:
        """The least certain labels, of those neither certified nor known to be true."""
        doubtful = [each for each in self.labels if each.rests_on not in ("truth", "certified")]
        return sorted(doubtful, key=lambda each: (each.confidence or 0.0, each.id))[:most]

    def more_money(self, below: float = 0.9) -> MoreMoney:
        """What more money would buy: further answers about labels that are less sure than this."""
        unsure = {
            each.id
            for each in self.labels
            if each.rests_on not in ("truth", "certified") and (each.confidence or 0.0) < below
        }
        prices = {
            each.id: each.cost_an_answer or each.price or Decimal(0)
            for each in (*self.judges, *self.people)
            if each.joined and not self.audits(each.id)
        }
        left = [
            price
            for item in unsure
            for worker, price in prices.items()
            if (item, worker) not in self._asked
        ]
        return MoreMoney(len(unsure), below, len(left), sum(left, Decimal(0)))

    def audited(self) -> tuple[list[float], list[bool]]:
        """Of labels whose truth came to be known: how sure they were, and whether right."""
        return self._audited

    def columns(self) -> dict[str, Sequence[Any]]:
        """Labels beside the items' own columns, as they are written to a file."""
        made: dict[str, Sequence[Any]] = {
            "id": [each.id for each in self.labels],
            "label": [each.label for each in self.labels],
            "confidence": [_rounded(each.confidence) for each in self.labels],
            "rests_on": [each.rests_on for each in self.labels],
        }
        return made | _own(self.items.columns)

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Write the labels to a file that ends in .csv, .jsonl (both also .gz) or .parquet.

        Its columns are ``id``, ``label``, ``confidence``, ``rests_on`` and the items' own; of the
        latter, one that has such a name is called ``item_label``, and so on.
        """
        return write_columns(path, self.columns())

    @property
    def uncertified(self) -> bool:
        """Whether it is done, and a certificate was ordered that was not reached."""
        if self.certificate is None or not isinstance(self.end, Done):
            return False
        if not self.certificate.blocks:
            return any(each.rests_on != "truth" for each in self.labels)
        return any(each.outcome != "certified" or each.missing for each in self.certificate.blocks)

    @property
    def currency(self) -> str:
        """What money is in, if that was said."""
        return "" if self.campaign.content is None else self.campaign.content.currency

    def to_json(self) -> dict[str, Any]:
        """As JSON, the labels themselves left out: they are in a file of their own."""
        return {
            "campaign": self.campaign.name,
            "items": len(self.labels),
            "labelled": sum(each.label is not None for each in self.labels),
            "labels": self.counts(),
            "rests_on": self.rests_on(),
            "contested": self.contested,
            "undecided": self.undecided,
            "end": None if self.end is None else self.end.to_json(),
            "outages": self.outages,
            "budget": None if self.status.budget is None else str(self.status.budget),
            "spent": str(self.cost),
            "unbooked": str(self.status.unbooked),
            "judges": [each.to_json() for each in self.judges],
            "people": [each.to_json() for each in self.people],
            "certificate": None if self.certificate is None else self.certificate.to_json(),
            "uncertified": self.uncertified,
            "more_money": self.more_money().to_json(),
        }

    def audits(self, worker: str) -> bool:
        """Whether somebody is one of those who audit."""
        return self.certificate is not None and worker in self.certificate.by


def _undecided(state: CampaignState, answers: Sequence[views.Answer]) -> int:
    """How many labels rest on answers of which as many say one option as another."""
    ahead = leads(state.ledger.book.votes[: len(answers)])
    return sum(
        each.rests_on == "agreement" and each.count > 1 and lead == 0
        for each, lead in zip(answers, ahead.tolist(), strict=True)
    )


def _asked(state: CampaignState) -> set[tuple[str, str]]:
    """Who was asked about what."""
    ledger = state.ledger
    rows = ledger.book.assignments[: ledger.total(c.ASSIGNMENTS)]
    pairs = zip(rows[:, c.TASK].tolist(), rows[:, c.WORKER].tolist(), strict=True)
    return {(str(ledger.task_id(task)), ledger.workers[worker].id) for task, worker in pairs}


def _audited(state: CampaignState) -> tuple[list[float], list[bool]]:
    """Confidence of labels that were given before their truth was known, and whether right."""
    truths = state.ledger.book.tasks[: state.ledger.total(c.TASKS), c.TRUTH].tolist()
    sure, right = [], []
    for task, (label, _) in sorted(state.ledger.closings.items()):
        known = label.value is not None and label.rests_on != "truth"
        if known and label.confidence is not None and truths[task] >= 0:
            sure.append(label.confidence)
            right.append(label.value == truths[task])
    return sure, right


def _own(columns: Mapping[str, Sequence[Any]]) -> dict[str, Sequence[Any]]:
    named: dict[str, Sequence[Any]] = {}
    for name, cells in columns.items():
        free = name
        while free in FIRST or (free != name and free in columns):
            free = f"item_{free}"
        named[free] = cells
    return named


def _text(value: str | float | None) -> str | None:
    return None if value is None else str(value)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
