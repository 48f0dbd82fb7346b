"""People: they answer on their page, and nobody calls them."""

from dataclasses import dataclass
from typing import ClassVar

from askwise.core.errors import Conflict
from askwise.sources.base import FixedPrice, Question, Response, sources


@sources.register("people")
@dataclass(eq=False)
class People(FixedPrice):
    """People who answer on a page, in their own time.

    Parameters
    ----------
    price : amount of money
        What one of their answers costs.
    slots : int
        How many open questions one of them may have at a time.

    Examples
    --------
    >>> People(price="0.05").called
    False
    """

    called: ClassVar[bool] = False

    async def answer(self, question: Question) -> Response:
        """Never called: the page tells the campaign what they answer."""
        raise Conflict(f"task {question.task!r} is answered on a page, by people: wait for it")

    def ceiling(self, question: Question) -> int:
        """Their price, if the task can be shown."""
        question.content.parts(question.payload)
        return super().ceiling(question)
