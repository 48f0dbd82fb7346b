"""One campaign: messages labelled by stand-ins for models, people and an expert, and certified."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from askwise.campaign import Campaign
from askwise.data.orders import read_order
from askwise.demo.messages import CONTENT, Message
from askwise.demo.people import EXPERT, PEOPLE
from askwise.demo.stand_ins import judges_file
from askwise.labelling import LabelJob, LabelResult, with_judges
from askwise.labelling.watching import LabelWatch
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
    found : LabelResult
        Labels, the campaign, and how it ended.
    store : str
        Where the campaign is kept.
    billed : int
        What the endpoints charged while it ran, by their own books, in millionths.
    """

    found: LabelResult
    store: str
    billed: int

    @property
    def campaign(self) -> Campaign:
        """The campaign."""
        return self.found.campaign


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
    watch: LabelWatch | None = None,
    seed: int = 1,
    budget: str = BUDGET,
    error: float = ERROR,
    share: float = SHARE,
) -> DemoOutcome:
    """Label and certify messages within a budget, in a campaign on a file in the folder."""
    people = (*PEOPLE, EXPERT)
    store = f"sqlite:///{folder / 'demo.sqlite'}"
    order = read_order(
        [{"id": message.id, "text": message.text} for message in messages],
        content=CONTENT,
        people=[each.worker for each in people],
        budget=budget,
        target_error=error,
        certify={
            "error": error,
            "confidence": CONFIDENCE,
            "by": [EXPERT.id],
            "share": share,
            "escalate": True,
        },
        seed=seed,
    )
    judges = named_judges(servers, folder, cache)
    sources = {each.id: each.source(messages) for each in people}
    job = LabelJob(with_judges(order, judges, sources=sources), store, name=NAME)
    found = job.run(watch=watch)
    return DemoOutcome(found, store, sum(server.bill for server in servers.values()))
