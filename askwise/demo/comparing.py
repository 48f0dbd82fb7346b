"""What the campaign's labels are held against: everybody is asked about everything."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from askwise.core.money import to_micro
from askwise.demo.labelling import named_judges, questions_on
from askwise.demo.messages import Message
from askwise.demo.people import EXPERT, PEOPLE
from askwise.sources import Question, Source
from askwise.sources.cache import ReplyCache
from askwise.testing.chat_server import ChatServer

AT_A_TIME = 8


@dataclass(frozen=True)
class Everybody:
    """What everybody says about every message, and what that costs.

    Attributes
    ----------
    said : dict of str to dict
        By worker: the label of each message; messages on which a call failed are missing.
    cost : dict of str to int
        By worker, in millionths: for judges what their endpoint charged for all messages, failures
        included; for people their price for each.
    """

    said: dict[str, dict[str, str]]
    cost: dict[str, int]

    def right(self, worker: str, messages: Sequence[Message]) -> float:
        """The share of messages that a worker labels rightly; a failure is not right."""
        said = self.said[worker]
        return sum(said.get(each.id) == each.truth for each in messages) / len(messages)

    def majority(self, workers: Sequence[str], messages: Sequence[Message]) -> float:
        """The share of messages that most of these workers label rightly; of k tied labels each
        counts 1/k."""
        return sum(majority_right(self._votes(workers, each), each) for each in messages) / len(
            messages
        )

    def _votes(self, workers: Sequence[str], message: Message) -> list[str]:
        return [
            self.said[worker][message.id] for worker in workers if message.id in self.said[worker]
        ]


def majority_right(votes: Sequence[str], message: Message) -> float:
    """How far the most frequent label is the truth: 1/k where k labels are tied.

    Examples
    --------
    >>> message = Message(
    ...     "m", "Where is it?", "complaint", "question", "complaint put as a question"
    ... )
    >>> majority_right(["question", "complaint"], message)
    0.5
    """
    counts = Counter(votes)
    best = max(counts.values(), default=0)
    tied = [label for label, count in counts.items() if count == best]
    return 1 / len(tied) if message.truth in tied else 0.0


def ask_everybody(
    messages: Sequence[Message],
    servers: Mapping[str, ChatServer],
    folder: Path,
    cache: ReplyCache,
) -> Everybody:
    """Ask all judges and people about all messages.

    Judges are asked at the same endpoints as in the campaign. What the campaign asked is in the
    cache and was paid there, so that each endpoint's books then hold one call for each message.
    """
    judges = named_judges(dict(servers), folder, cache)
    questions = questions_on(messages)
    said = asyncio.run(_ask_all({judge.id: judge.source for judge in judges}, questions))
    cost = {judge.id: servers[judge.id].bill for judge in judges}
    for person in (*PEOPLE, EXPERT):
        said[person.id] = {message.id: person.says(message) for message in messages}
        cost[person.id] = len(messages) * to_micro(person.price, "price")
    return Everybody(said, cost)


async def _ask_all(
    sources: Mapping[str, Source], questions: Sequence[Question]
) -> dict[str, dict[str, str]]:
    said: dict[str, dict[str, str]] = {worker: {} for worker in sources}
    turns = asyncio.Semaphore(AT_A_TIME)

    async def ask(worker: str, question: Question) -> None:
        async with turns:
            response = await sources[worker].answer(question)
        if response.value is not None:
            said[worker][question.task] = str(response.value)

    await asyncio.gather(*(ask(worker, each) for worker in sources for each in questions))
    for source in sources.values():
        await source.aclose()
    return said
