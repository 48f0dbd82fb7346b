"""Small surveys for the tests of the survey policies: votes by hand, choices by many draws."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from askwise import Campaign, Worker
from askwise.campaign.spec import Spec
from askwise.campaign.state import CampaignState
from askwise.core.choices import Assignment, Batch
from askwise.core.draws import Draw
from askwise.core.events import Event, Kind
from askwise.ledger import columns as c
from askwise.ledger.queries import cell_of

CLOSE = 5.0
"""In standard deviations: how far a frequency may be from its probability. Seeds are fixed."""


def poll(
    policy: Any,
    prices: Sequence[Any] = (1, 1),
    options: str = "xy",
    tasks: Sequence[str] = ("q",),
    limits: Mapping[str, int] | None = None,
    **more: Any,
) -> Campaign:
    """A campaign with crowds a, b, c, ... and options of one letter."""
    names = [chr(ord("a") + at) for at in range(len(prices))]
    return Campaign.create(
        **{
            "workers": [
                Worker(name, price, (limits or {}).get(name))
                for name, price in zip(names, prices, strict=True)
            ],
            "tasks": list(tasks),
            "options": list(options),
            "policy": policy,
            "seed": 1,
            "name": "poll",
            **more,
        }
    )


def ask(campaign: Campaign, *crowds: str) -> Assignment:
    """One assignment, of certain crowds only if any are named."""
    batch = campaign.ask(workers=crowds or None)
    assert isinstance(batch, Batch), batch
    return batch[0]


def say(campaign: Campaign, crowd: str, answers: str) -> None:
    """Let a crowd answer, letter by letter, whatever the policy would have liked."""
    for answer in answers:
        campaign.tell(ask(campaign, crowd).id, answer)


def hear(campaign: Campaign, answers: str) -> str:
    """Let whom the policy chooses answer, letter by letter; returns the crowds."""
    asked = ""
    for answer in answers:
        assignment = ask(campaign)
        campaign.tell(assignment.id, answer)
        asked += assignment.worker
    return asked


def asked_crowds(campaign: Campaign, task: str | None = None) -> str:
    """All crowds in the order in which they were asked, about one question or any."""
    found = [event for event in campaign.log() if event.kind == Kind.ASKED]
    return "".join(str(event.worker) for event in found if task in (None, event.task))


class Desk:
    """The state of a campaign, kept up to date from its log."""

    def __init__(self, campaign: Campaign) -> None:
        self.campaign = campaign
        self.state = CampaignState(Spec.from_json(json.dumps(campaign.spec)))
        self.catch_up()

    def catch_up(self) -> list[Event]:
        """Fold what is new."""
        news = self.campaign.log(after=self.state.seq)
        for event in news:
            self.state.fold(event)
        return news

    @property
    def beliefs(self) -> Any:
        """What the policy believes."""
        return self.state.beliefs

    def suppose(self, votes: Mapping[str, Sequence[int]], task: int = 0) -> None:
        """Replace the votes of crowds that have answered, in ledger and beliefs."""
        ledger = self.state.ledger
        for crowd, counts in votes.items():
            cell = int(cell_of(ledger.book, task, ledger.worker_at(crowd)))
            ledger.book.cells[cell, c.CELL_ANSWERS] = sum(counts)
            ledger.book.cells[cell, c.VOTES : c.VOTES + len(counts)] = counts
            self.beliefs.counts[cell] = counts

    def chosen(self, number: int, absent: str = "") -> str:
        """Whom the policy chooses with the draws of a number."""
        spec, ledger = self.state.spec, self.state.ledger
        available = np.array([worker.id not in absent for worker in ledger.workers], np.int8)
        draw = Draw(11, 12, number)
        choice: Any = spec.policy.choose(spec.problem, self.beliefs, ledger, draw, available)
        assert choice.head[0] == 1
        return ledger.workers[int(choice.rows[0, 1])].id

    def frequencies(self, many: int, absent: str = "") -> dict[str, float]:
        """How often each crowd is chosen over many draws."""
        found = Counter(self.chosen(number, absent) for number in range(many))
        names = [worker.id for worker in self.state.ledger.workers]
        return {name: found[name] / many for name in names}

    def indices(self, crowd: str, many: int, task: int = 0) -> list[float]:
        """The index of a crowd over many draws."""
        policy: Any = self.state.spec.policy
        book, worker = self.state.ledger.book, self.state.ledger.worker_at(crowd)
        return [
            policy.index(book, self.beliefs, task, worker, Draw(11, 12, number))
            for number in range(many)
        ]


def assert_close(found: Mapping[str, float], due: Sequence[float], many: int) -> None:
    """Frequencies over many draws are what the probabilities say."""
    for crowd, chance in zip(found, due, strict=True):
        # Probabilities may be simulated themselves, to a thousandth or so.
        margin = CLOSE * (chance * (1.0 - chance) / many) ** 0.5 + 0.004
        assert abs(found[crowd] - chance) <= margin, (crowd, found[crowd], chance)


def noisy(seed: int, crowd: str, task: str, k: int, chances: Sequence[float], options: str) -> str:
    """What a crowd answers about a question the k-th time; the same whoever asks when."""
    source = random.Random(f"{seed} {crowd} {task} {k}")
    return source.choices(options, weights=chances)[0]


def votes_of(answers: str, options: str) -> list[int]:
    """Votes by option."""
    return [answers.count(option) for option in options]


def gap_of(answers: str, options: str) -> float:
    """The empirical gap, by its definition."""
    first, second = sorted(votes_of(answers, options), reverse=True)[:2]
    return (first - second) / len(answers) if answers else 0.0
