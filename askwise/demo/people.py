"""Two people and an expert, simulated: what they say about a message, and what they are paid."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from askwise.core.problem import Worker
from askwise.demo.luck import luck
from askwise.demo.messages import Message
from askwise.sources import Question, Source
from askwise.sources.function import Function


@dataclass(frozen=True)
class SimulatedPerson:
    """Somebody who reads messages for money.

    Attributes
    ----------
    id, price : str
        The worker, and what an answer costs.
    plain_errors, hard_errors : float
        On which share of the plain messages, and of the others, they take a message for what it is
        easily mistaken for.
    trusted : bool
        Whether their answer counts as the truth.
    """

    id: str
    price: str
    plain_errors: float
    hard_errors: float
    trusted: bool = False

    def says(self, message: Message) -> str:
        """Their answer, the same whenever they are asked."""
        errors = self.hard_errors if message.hard else self.plain_errors
        return message.mistaken_for if luck(self.id, message.text) < errors else message.truth

    @property
    def worker(self) -> Worker:
        """As a worker of a campaign."""
        return Worker(self.id, self.price, kind="person", trusted=self.trusted)

    def source(self, messages: Sequence[Message]) -> Source:
        """As a source that answers at once."""
        known = {message.id: message for message in messages}
        return Function(partial(_answer, self, known), price=self.price, slots=4)


async def _answer(person: SimulatedPerson, known: dict[str, Message], question: Question) -> str:
    return person.says(known[question.task])


EXPERT = SimulatedPerson("expert", "0.40", 0.0, 0.0, trusted=True)
"""Never wrong: what is certified rests on that, as it does on the real expert's answers."""

PEOPLE = (
    SimulatedPerson("ida", "0.05", 0.02, 0.10),
    SimulatedPerson("max", "0.04", 0.04, 0.18),
)
