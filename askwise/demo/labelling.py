"""One campaign: messages labelled by stand-ins for models, people and an expert, and certified."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from askwise.campaign import Campaign
from askwise.demo.messages import CONTENT, Message
from askwise.demo.people import EXPERT, PEOPLE
from askwise.demo.stand_ins import judges_file
from askwise.running import RunResult, run
from askwise.running.runner import Watch
from askwise.sources import Question
from askwise.sources.cache import ReplyCache
from askwise.sources.judges import Judge, read_judges
from askwise.testing.chat_server import ChatServer

NAME = "messages"
BUDGET = "80"
ERROR, CONFIDENCE = 0.1, 0.9
SHARE = 0.7
"""Of the budget, kept back for the expert: audits, and labels that audits do not certify."""


@dataclass(frozen=True)
class DemoOutcome:
    """What a campaign on the messages left.

    Attributes
    ----------
    campaign : Campaign
        Open, on its file.
    store : str
        Where it lives.
    run : RunResult
        How it ended, and the calls.
    billed : int
        What the endpoints charged while it ran, by their own books, in millionths.
    """

    campaign: Campaign
    store: str
    run: RunResult
    billed: int


def questions_on(messages: Sequence[Message]) -> list[Question]:
    """What is asked about each message."""
    return [Question(CONTENT, message.id, message.text) for message in messages]


def named_judges(servers: dict[str, ChatServer], folder: Path, cache: ReplyCache) -> list[Judge]:
    """The judges, from a file in the folder that names them."""
    path = folder / "judges.toml"
    path.write_text(judges_file(servers), encoding="utf-8")
    return read_judges(path, cache=cache)


def label_messages(
    messages: Sequence[Message],
    servers: dict[str, ChatServer],
    folder: Path,
    *,
    cache: ReplyCache,
    watch: Watch | None = None,
    seed: int = 1,
    budget: str = BUDGET,
    error: float = ERROR,
    share: float = SHARE,
) -> DemoOutcome:
    """Label and certify messages within a budget, in a campaign on a file in the folder."""
    judges = named_judges(servers, folder, cache)
    asked = questions_on(messages)
    people = (*PEOPLE, EXPERT)
    store = f"sqlite:///{folder / 'demo.sqlite'}"
    campaign = Campaign.create(
        name=NAME,
        store=store,
        workers=[*(judge.worker(asked) for judge in judges), *(each.worker for each in people)],
        tasks=[{"id": message.id, "payload": message.text} for message in messages],
        content=CONTENT,
        budget=budget,
        policy="hem",
        certify={
            "error": error,
            "confidence": CONFIDENCE,
            "by": [EXPERT.id],
            "share": share,
            "escalate": True,
        },
        seed=seed,
    )
    sources = {judge.id: judge.source for judge in judges}
    sources |= {each.id: each.source(messages) for each in people}
    done = run(campaign, sources, watch=watch)
    return DemoOutcome(campaign, store, done, sum(server.bill for server in servers.values()))
