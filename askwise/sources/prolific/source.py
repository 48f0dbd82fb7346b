"""Prolific's participants as a source: what a study offers them, and what they cost at most."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from askwise.core.checks import whole
from askwise.core.errors import Conflict, InvalidParameter
from askwise.core.money import Amount, to_micro
from askwise.sources.base import OPERATIONAL, FixedPrice, Question, Response, sources
from askwise.sources.prolific.api import MINOR

LONGEST_TITLE = 120
LONGEST_DESCRIPTION = 10_000

OURS = frozenset(
    {
        *("name", "internal_name", "description", "external_study_url", "prolific_id_option"),
        *("completion_codes", "completion_code", "completion_option", "total_available_places"),
        *("estimated_completion_time", "reward", "submissions_config", "access_details"),
    }
)
"""Fields of a study that are set by askwise."""


@sources.register("prolific")
@dataclass(eq=False)
class Prolific(FixedPrice):
    """People who come from Prolific and answer on the workers' page.

    It is not called: participants land on the page, and what they answer is told to the campaign
    there. A participant is paid what their answers earn, and the reward at least: the reward is
    paid by approving their submission, what they earn above it as a bonus.

    Parameters
    ----------
    title : str
        Title of the study on Prolific.
    description : str
        Description that participants read there.
    reward : amount of money
        Minimum pay of a participant, in whole cents.
    minutes : int
        How long a participant is expected to take.
    questions : int
        Maximum number of questions per participant.
    price : amount of money
        Pay per answer.
    places : int
        Number of participants to begin with.
    step : int
        Number of places to add at a time while the campaign needs more people.
    most : int
        Maximum number of participants.
    extra : mapping, optional
        Further fields of the study, such as ``filters``, ``device_compatibility`` or ``project``.
    slots : int
        How many open questions one of them may have at a time.

    Examples
    --------
    >>> study = Prolific(
    ...     "Cats",
    ...     "Say whether you see a cat.",
    ...     reward="1.20",
    ...     questions=20,
    ...     minutes=6,
    ...     price="0.08",
    ... )
    >>> study.called, study.most_for_one
    (False, 1600000)
    """

    called: ClassVar[bool] = False

    title: str = field(default="", metadata=OPERATIONAL)
    description: str = field(default="", metadata=OPERATIONAL)
    reward: Amount = field(default="1.00", kw_only=True, metadata=OPERATIONAL)
    minutes: int = field(default=5, kw_only=True, metadata=OPERATIONAL)
    questions: int = field(default=20, kw_only=True, metadata=OPERATIONAL)
    places: int = field(default=5, kw_only=True, metadata=OPERATIONAL)
    step: int = field(default=5, kw_only=True, metadata=OPERATIONAL)
    most: int = field(default=100, kw_only=True, metadata=OPERATIONAL)
    extra: Mapping[str, Any] = field(default_factory=dict, kw_only=True, metadata=OPERATIONAL)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, longest in (("title", LONGEST_TITLE), ("description", LONGEST_DESCRIPTION)):
            text = getattr(self, name)
            if not isinstance(text, str) or len(text) > longest:
                raise InvalidParameter(
                    f"{name} is {text!r}: give up to {longest} characters", field=name
                )
        whole(self.minutes, "minutes", least=1, most=24 * 60 - 1)
        whole(self.questions, "questions", least=1, most=100_000)
        whole(self.most, "most", least=1, most=1_000_000)
        whole(self.places, "places", least=1, most=self.most)
        whole(self.step, "step", least=1, most=1_000_000)
        if self.base < MINOR or self.base % MINOR:
            raise InvalidParameter(
                f"reward is {self.reward}: give an amount above 0 in whole cents", field="reward"
            )
        if not isinstance(self.extra, Mapping):
            raise InvalidParameter(f"extra is {self.extra!r}: give an object", field="extra")
        for name in self.extra:
            if name in OURS:
                raise InvalidParameter(
                    f"extra has {name!r}, which askwise sets itself: leave it out", field="extra"
                )

    @property
    def base(self) -> int:
        """The reward, in millionths."""
        return to_micro(self.reward, "reward")

    @property
    def most_for_one(self) -> int:
        """The most that one participant can be paid, in millionths."""
        return max(self.base, self.questions * to_micro(self.price, "price"))

    def check_told(self) -> None:
        """Refuse a study that participants would be told nothing of."""
        for name in ("title", "description"):
            if not getattr(self, name).strip():
                raise InvalidParameter(
                    f"{name} is missing: participants choose a study by it", field=name
                )

    async def answer(self, question: Question) -> Response:
        """Never called: the page tells the campaign what they answer."""
        raise Conflict(f"task {question.task!r} is answered on a page, by participants: wait")

    def ceiling(self, question: Question) -> int:
        """Their price, if the task can be shown."""
        question.content.parts(question.payload)
        return super().ceiling(question)
