"""What ``askwise policies --json`` and its likes print of an entry."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from askwise.core.catalogue import ParameterInfo
from askwise.core.json_types import JsonLimits, NumberOfOptions, Word
from askwise.core.jsonable import Jsonable


@dataclass(frozen=True)
class DescribedEntry(Jsonable):
    """What all entries have.

    Attributes
    ----------
    name : str
        Its name.
    paper : str
        Where it comes from: a paper's number, ``beyond`` one, or words; empty if it does not say.
    summary : str
        What it does, in one sentence.
    outcomes : list of str
        The answers that it works on.
    parameters : dict
        Every parameter with its default; None for one that must be given.
    parameter_details : list of ParameterInfo
        What each parameter takes and means.
    description : str
        The whole description, as ``show`` prints it.
    """

    name: Word
    paper: str
    summary: str
    outcomes: Annotated[list[Literal["utility", "options"]], JsonLimits(minItems=1)]
    parameters: dict[str, Any]
    parameter_details: list[ParameterInfo]
    description: str


@dataclass(frozen=True)
class DescribedPolicy(DescribedEntry):
    """A policy.

    Attributes
    ----------
    family : str
        The family it belongs to, or the distribution that adds it.
    needs_budget : bool
        Whether a campaign needs a budget for it.
    plans : bool
        Whether its plans cover everybody who has joined.
    purposes : list of str
        What its decisions may be for.
    rule : str
        How it chooses, in words; empty if it does not say.
    """

    family: str
    needs_budget: bool
    plans: bool
    purposes: list[str]
    rule: str


@dataclass(frozen=True)
class DescribedRule(DescribedEntry):
    """A stopping rule.

    Attributes
    ----------
    guarantees : bool
        Whether it keeps a stated error on every question, rather than trading error for cost.
    promise : str
        What exactly it guarantees or trades, and what it assumes.
    most_options : int or None
        The most options that it can tell apart; None for any number.
    dial : str
        The parameter that trades error for cost; empty if there is none.
    """

    guarantees: bool
    promise: str
    most_options: NumberOfOptions | None
    dial: str


@dataclass(frozen=True)
class DescribedAggregator(DescribedEntry):
    """An aggregator.

    Attributes
    ----------
    labels_tables : bool
        Whether it can label a table of answers, as ``askwise aggregate`` does.
    uses_contexts : bool
        Whether the contexts of tasks make a difference to it.
    """

    labels_tables: bool
    uses_contexts: bool


@dataclass(frozen=True)
class DescribedMechanism(DescribedEntry):
    """A mechanism.

    Attributes
    ----------
    bidding : bool
        Whether workers bid before the first ask.
    truthful : bool
        Whether it is proved that a worker's best bid is their cost, as far as ``promise`` says.
    promise : str
        What exactly is proved.
    goes_with : str
        The policies with which it may be used.
    """

    bidding: bool
    truthful: bool
    promise: str
    goes_with: str
