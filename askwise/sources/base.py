"""What a source is: questions in, responses out; and the registry of sources."""

import dataclasses
import hashlib
import json
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Literal

from askwise.core import calls
from askwise.core.calls import FailureWhy
from askwise.core.checks import whole
from askwise.core.content import Content
from askwise.core.errors import AskwiseError, InvalidAnswer
from askwise.core.fields import refuse_unknown
from askwise.core.money import Amount, from_micro, to_micro
from askwise.core.registry import Registry

Failure = FailureWhy | Literal["unavailable"]
"""Why there is no answer: as a campaign is told, for good, as the question was put; or
``unavailable``, where they were not asked, nothing was paid, and they may be asked again."""

FAILURES: Final[tuple[str, ...]] = (*calls.FAILURES, "unavailable")

OPERATIONAL: dict[str, Any] = {"operational": True}
"""The metadata of a parameter that has no influence on answers: it is not part of the digest."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question for one worker.

    Parameters
    ----------
    content : Content
        What is asked about every task of the campaign.
    task : str
        The task's id.
    payload : JSON value, optional
        The task's own: what is shown.
    assignment : str, optional
        The assignment's id, by which a call can be found again.
    worker : str, optional
        Who is asked, for sources that answer for several.
    draw : int
        How often this worker was asked about this task before.
    """

    content: Content
    task: str
    payload: Any = None
    assignment: str = ""
    worker: str = ""
    draw: int = 0

    @property
    def options(self) -> tuple[str, ...]:
        """The names of the possible answers; empty if the answer is a number."""
        return self.content.names()

    def to_json(self) -> dict[str, Any]:
        """As JSON, as programs read it."""
        return {
            "id": self.assignment,
            "task": self.task,
            "worker": self.worker,
            "draw": self.draw,
            "options": list(self.options),
            "payload": self.payload,
            "content": self.content.to_json(),
        }


@dataclass(frozen=True, slots=True)
class Response:
    """The result of a question: an answer or a failure, and what it cost.

    Parameters
    ----------
    value : str or float, optional
        The option's name, or the number. Exactly one of ``value`` and ``failure``.
    failure : str, optional
        Why there is none: one of :data:`Failure`.
    cost : int
        What was paid, in millionths.
    probabilities : mapping of an option to its probability, optional
        Theirs; over all options, with a sum of 1.
    rationale : str, optional
        Their reasons, in their words.
    reference : str, optional
        Under which id the source knows the call.
    cached : bool
        Whether it was paid for earlier.
    estimated : bool
        Whether the cost is the most that it can have been, because nobody said what it was.
    detail : str, optional
        What to tell people about it, in one line.

    Examples
    --------
    >>> Response("yes", cost=1200).cost
    1200
    >>> Response(failure="sleepy")
    Traceback (most recent call last):
    askwise.core.errors.InvalidAnswer: failure is 'sleepy': give one of refused, unreadable, \
filtered, too_long, rejected, timed_out, lost, orders, error, unavailable
    """

    value: str | float | None = None
    failure: Failure | None = None
    cost: int = 0
    probabilities: Mapping[str, float] | None = None
    rationale: str | None = None
    reference: str | None = None
    cached: bool = False
    estimated: bool = False
    detail: str | None = None

    def __post_init__(self) -> None:
        if (self.value is None) == (self.failure is None):
            raise _invalid("value", self.value, "give a value or a failure, and not both")
        if self.failure is not None and self.failure not in FAILURES:
            raise _invalid("failure", self.failure, f"give one of {', '.join(FAILURES)}")
        if isinstance(self.cost, bool) or not isinstance(self.cost, int) or self.cost < 0:
            raise _invalid("cost", self.cost, "give whole millionths, 0 or more")
        if self.failure == "unavailable" and self.cost:
            raise _invalid("cost", self.cost, "give 0: a worker who was not asked costs nothing")
        if self.probabilities is not None:
            self._check_probabilities(self.probabilities)

    @staticmethod
    def _check_probabilities(given: Mapping[str, float]) -> None:
        numbers = list(given.values())
        fit = all(isinstance(each, float | int) and 0 <= each <= 1 for each in numbers)
        if not fit or not math.isclose(sum(numbers), 1, abs_tol=1e-6):
            raise _invalid(
                "probabilities", dict(given), "give one from 0 to 1 for each; they must sum to 1"
            )

    def to_json(self) -> dict[str, Any]:
        """As JSON, money as a string, what is not set left out."""
        raw = {each.name: getattr(self, each.name) for each in dataclasses.fields(self)}
        told = {
            name: value for name, value in raw.items() if value is not None and value is not False
        }
        return told | {"cost": str(from_micro(self.cost))}


@dataclass(frozen=True, slots=True)
class Outage:
    """Why a source can't be asked now, and for how many seconds; ``inf`` is for good."""

    why: str
    seconds: float = math.inf


@dataclass(eq=False)
class Source(ABC):
    """Answers questions, for one or more workers.

    Constructors store parameters and check them; files, processes and connections are opened by the
    first question. A source belongs to the event loop in which it is first asked.

    Parameters
    ----------
    slots : int
        How many questions it takes at a time.
    """

    name: ClassVar[str] = ""
    called: ClassVar[bool] = True
    """Whether ``answer`` is called; if not, answers come in by themselves."""

    slots: int = field(default=1, kw_only=True, metadata=OPERATIONAL)

    def __post_init__(self) -> None:
        whole(self.slots, "slots", least=1, most=10_000)

    @abstractmethod
    async def answer(self, question: Question) -> Response:
        """Answer a question. What goes wrong on the way is a failure, no exception."""

    @abstractmethod
    def ceiling(self, question: Question) -> int:
        """The most that an answer costs, in millionths.

        Raises
        ------
        InvalidProblem
            The question can't be put at all.
        """

    def estimate(self, question: Question) -> int:
        """What an answer is likely to cost, in millionths: a guess, never above the ceiling."""
        return self.ceiling(question)

    @property
    def repeat_is_free(self) -> bool:
        """Whether the same question costs nothing the second time."""
        return False

    def check(self) -> None:
        """Refuse what can't work, before anything is spent: a key that is missing, say."""
        return

    def outage(self) -> Outage | None:
        """Why it can't be asked now; None if it can."""
        return None

    def digest(self) -> str:
        """What its answers depend on, as 16 hexadecimal digits: another prompt, another digest."""
        written = json.dumps([self.name, self.identity()], sort_keys=True, default=str)
        return hashlib.sha256(written.encode()).hexdigest()[:16]

    def signature(self) -> str:
        """Name and digest, as a worker holds them: ``chat:0123456789abcdef``."""
        return f"{self.name}:{self.digest()}"

    def identity(self) -> dict[str, Any]:
        """The parameters that answers depend on."""
        return {
            each.name: getattr(self, each.name)
            for each in dataclasses.fields(self)
            if each.init and not each.metadata.get("operational")
        }

    async def aclose(self) -> None:
        """Let go of processes and connections; may be called again."""
        return


@dataclass(eq=False)
class FixedPrice(Source):
    """A source whose answers cost no more than a price that is said beforehand.

    Parameters
    ----------
    price : amount of money
        The most that an answer costs.
    """

    price: Amount = field(default=0, kw_only=True, metadata=OPERATIONAL)

    def __post_init__(self) -> None:
        super().__post_init__()
        to_micro(self.price, "price")

    def ceiling(self, question: Question) -> int:
        """The price."""
        return to_micro(self.price, "price")


sources: Registry[Source] = Registry("source", "askwise.sources")
"""All sources by name."""


def read_value(value: object, question: Question) -> str | float:
    """Take an answer if the question can have it.

    Examples
    --------
    >>> asked = Question(Content("Spam?", options=["no", "yes"]), "t1")
    >>> read_value("yes", asked)
    'yes'
    >>> read_value("maybe", asked)
    Traceback (most recent call last):
    askwise.core.errors.InvalidAnswer: value is 'maybe': give one of no, yes
    """
    if question.content.range is None:
        if value not in question.options:
            raise _invalid("value", value, f"give one of {', '.join(question.options)}")
        return str(value)
    low, high = question.content.range
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise _invalid("value", value, f"give a number from {low:g} to {high:g}")
    return float(value)


def read_response(said: object, question: Question, price: int) -> Response:
    """What a program said, as a response; ``price`` is its cost unless it names another.

    A program says the answer itself, or an object with the fields of a :class:`Response`, ``cost``
    as an amount of money. What it can't mean is a failure, at the full price.

    Examples
    --------
    >>> asked = Question(Content("Spam?", options=["no", "yes"]), "t1")
    >>> read_response({"value": "yes", "cost": "0.002"}, asked, price=5000).cost
    2000
    >>> read_response("perhaps", asked, price=5000)
    Response(value=None, failure='unreadable', cost=5000, ..., detail="value is 'perhaps': ...")
    """
    try:
        return _read_response(said, question, price)
    except AskwiseError as error:
        return Response(failure="unreadable", cost=price, detail=str(error))


def _read_response(said: object, question: Question, price: int) -> Response:
    if isinstance(said, Response):
        made = said
    elif isinstance(said, Mapping):
        known = [each.name for each in dataclasses.fields(Response)]
        given = {key: value for key, value in said.items() if key != "id"}
        refuse_unknown(given, known, "a response", error=InvalidAnswer)
        given["cost"] = price if "cost" not in given else to_micro(given["cost"], "cost")
        for text in ("rationale", "reference", "detail"):
            if not isinstance(given.get(text, ""), str):
                raise _invalid(text, given[text], "give text")
        if not isinstance(given.get("probabilities", {}), Mapping):
            raise _invalid("probabilities", given["probabilities"], "give an object")
        made = Response(**given)
    else:
        made = Response(read_value(said, question), cost=price)
    if made.value is not None:
        made = dataclasses.replace(made, value=read_value(made.value, question))
    if made.probabilities is not None and set(made.probabilities) != set(question.options):
        raise _invalid("probabilities", dict(made.probabilities), "give one for each option")
    return made


def _invalid(name: str, value: object, valid: str) -> InvalidAnswer:
    return InvalidAnswer(f"{name} is {value!r}: {valid}", field=name)
