"""A worker of a campaign: a person, a crowd or a program."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

from askwise.core.errors import InvalidProblem
from askwise.core.fields import check_flag, check_id, check_real, check_whole, fields_of, is_name
from askwise.core.json_types import MONEY_SCHEMA, Id, Positive, Quantity
from askwise.core.money import Amount, from_micro, to_micro

UNLIMITED = 2**40
"""Stands for "no limit" on the number of answers a worker may give."""

WorkerKind = Literal["person", "model", "crowd"]
"""What a worker may be."""

KINDS: tuple[WorkerKind, ...] = get_args(WorkerKind)


@dataclass(frozen=True, slots=True)
class Worker:
    """Somebody (a person, a crowd, a program) who answers at a price.

    Parameters
    ----------
    id : str
        Unique name.
    price : str, int, Decimal or float
        What one of their answers costs; the most it may cost where its cost is told.
    limit : int, optional
        The most answers they can give in this campaign; a call that fails counts as one.
    rating : float, optional
        What you believe their mean utility to be, in the campaign's range. Used by Bayesian
        policies as a prior.
    rating_weight : float, optional
        How many answers that rating is worth (1 if a rating is given without a weight).
    trusted : bool
        Whether their answer is the truth: an expert, often an expensive one. Policies that know
        about experts decide when one is worth the price; to others it is one more worker.
    kind : "person", "model" or "crowd", optional
        A person or a model is asked about a task at most once, whatever the policy: the same answer
        again would tell nothing new. A crowd (every answer is another member's) may be asked again
        where the campaign lets pairs repeat. Not given: a crowd where pairs may repeat, a person
        elsewhere.
    family : str, optional
        A name shared by workers that err together: prompts of one model, models of one maker,
        annotators of one vendor.
    source : str, optional
        What answers for them, by name and digest, such as "chat:0123456789abcdef": another model,
        prompt or parameter is another source.

    Examples
    --------
    >>> Worker("ann", "0.05", limit=20).price
    Decimal('0.05')
    """

    id: Id
    price: Annotated[Amount, MONEY_SCHEMA]
    limit: Positive | None = None
    rating: float | None = None
    rating_weight: Quantity | None = None
    trusted: bool = False
    kind: WorkerKind | None = None
    family: Id | None = None
    source: Id | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "id", check_id(self.id, "worker id"))
        check_flag(self.trusted, f"trusted of worker {self.id!r}")
        if self.kind is not None and self.kind not in KINDS:
            raise InvalidProblem(
                f"kind of worker {self.id!r} is {self.kind!r}: give 'person', 'model' or 'crowd', "
                "or leave it out",
                field="kind",
            )
        for field, text in (("family", self.family), ("source", self.source)):
            if text is not None and not (is_name(text) and text.strip()):
                raise InvalidProblem(
                    f"{field} of worker {self.id!r} is {text!r}: give a printable string of 1 to "
                    "200 characters that is not blank, or leave it out",
                    field=field,
                )
        name = f"price of worker {self.id!r}"
        object.__setattr__(self, "price", from_micro(to_micro(self.price, name)))
        if self.limit is not None:
            check_whole(self.limit, f"limit of worker {self.id!r}", at_least=1, at_most=UNLIMITED)
        if self.rating is not None:
            rating = check_real(self.rating, f"rating of worker {self.id!r}")
            object.__setattr__(self, "rating", rating)
            if self.rating_weight is None:
                object.__setattr__(self, "rating_weight", 1.0)
        elif self.rating_weight is not None:
            raise InvalidProblem(
                f"rating_weight of worker {self.id!r} is given without a rating",
                field="rating_weight",
            )
        if self.rating_weight is not None:
            name = f"rating_weight of worker {self.id!r}"
            weight = check_real(self.rating_weight, name)
            if weight < 0:
                raise InvalidProblem(f"{name} is {weight!r}: give 0 or more", field="rating_weight")
            object.__setattr__(self, "rating_weight", weight)

    @property
    def micro(self) -> int:
        """Price in micro-units."""
        return to_micro(self.price, "price")

    def to_json(self) -> dict[str, Any]:
        """As JSON, money as a string, what is not set left out."""
        raw = {
            "id": self.id,
            "price": str(self.price),
            "limit": self.limit,
            "rating": self.rating,
            "rating_weight": self.rating_weight,
            "trusted": self.trusted or None,
            "kind": self.kind,
            "family": self.family,
            "source": self.source,
        }
        return {key: value for key, value in raw.items() if value is not None}


def as_worker(raw: Worker | Mapping[str, Any]) -> Worker:
    """Take a Worker or a mapping of its fields."""
    if isinstance(raw, Worker):
        return raw
    return Worker(**fields_of(raw, Worker, "worker", ("price",)))
