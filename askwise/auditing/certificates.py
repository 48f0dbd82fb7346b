"""What audits show of labels: which of them are certified, and the statement about them."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, ClassVar, Literal

from askwise.auditing.climbs import AuditedSet, Climb
from askwise.auditing.draws import AuditDraw, Labels, digest_of, exactly
from askwise.auditing.limits import fewest_audits
from askwise.core.checks import whole
from askwise.core.errors import InvalidAnswer, InvalidParameter
from askwise.core.json_types import Count, Level, Positive
from askwise.core.jsonable import Jsonable
from askwise.core.shown import ShownResult

CertifyOutcome = Literal["certified", "open", "hopeless"]


@dataclass(frozen=True)
class Certificate(ShownResult, Jsonable):
    """What may be believed of labels because some of them were drawn at random and audited.

    Attributes
    ----------
    error : float
        The share of wrong labels that is allowed.
    confidence : float
        How sure the statement is.
    escalate : bool
        Whether the statement is about all labels, those that are not certified being replaced by
        answers of the trusted source.
    tasks : int
        How many labels there were at the draw.
    audited : int
        Audits so far.
    wrong : int
        Audits that found a wrong label, before any correction.
    certified : tuple of str
        Tasks whose labels are certified, the surest first.
    outcome : CertifyOutcome
        ``certified``: some are (with ``escalate``, the others being replaced); ``open``: none yet,
        but audits to come may change that; ``hopeless``: none, and no audits that may still be made
        can change it.
    next : tuple of str
        Tasks to audit next, in this order; no more than certify the next set if all are found
        right, and none if audits can't certify more.
    sets : tuple of AuditedSet
        The nested sets as far as they were looked at; with ``escalate`` from the first that is not
        so small that all of it may be wrong.
    fewest : int
        Audits without an error that a draw needs at least to certify anything.
    replaced : bool
        Whether the trusted source has replaced all labels that are not certified.
    statement : str
        What may be said, in words for a report.
    """

    written: ClassVar = (
        *("error", "confidence", "escalate", "tasks", "audited", "wrong", "outcome", "certified"),
        *("next", "fewest", "sets", "statement"),
    )

    error: Level
    confidence: Level
    escalate: bool
    tasks: Positive
    audited: Count
    wrong: Count
    certified: tuple[str, ...]
    outcome: CertifyOutcome
    next: tuple[str, ...]
    sets: tuple[AuditedSet, ...]
    fewest: Positive
    replaced: bool = False

    @property
    def statement(self) -> str:
        """What may be said, in words for a report."""
        share, sure = _percent(self.error), _percent(self.confidence)
        found = f"{_counted(self.audited, 'label')} audited, {self.wrong:,} of them wrong"
        if self.outcome != "certified":
            more = "further audits may change that"
            if self.outcome == "hopeless" and not self.audited:
                more = (
                    "this draw has too few audits to change that, even if none finds an error: "
                    f"draw at least {self.fewest:,}"
                )
            elif self.outcome == "hopeless":
                more = "the audits that are left in this draw can't change that"
            if self.escalate:
                return f"{self._none_certified(found)}; {more}."
            return (
                f"Of no set of the {_counted(self.tasks, 'label')} can it be said that at most "
                f"{share} are wrong ({found}); {more}."
            )
        wrong = f"{self.wrong:,} were" if self.wrong > 1 else "1 was" if self.wrong else "none was"
        return (
            f"At most {share} of {self._which()} are wrong, with {sure} confidence"
            f"{self._replacements()}. Of {_counted(self.audited, 'label')} drawn at random and "
            f"audited, {wrong} wrong. The statement relies on the audits being right, and on "
            "nothing about who gave the labels."
        )

    def _headline(self) -> str:
        return self.statement

    def _records(self) -> list[dict[str, Any]]:
        return [each._asdict() for each in self.sets]

    def plot(self) -> Any:
        """The share of wrong labels that audits found, beside what is allowed.

        Needs Matplotlib, which is in the extra ``askwise[lab]``.
        """
        from askwise.auditing.pictures import audits_figure

        return audits_figure(self.sets, self.error)

    def _none_certified(self, found: str) -> str:
        """Say what holds without any audit, as the trusted source replaces labels."""
        kept = math.floor(exactly(self.error) * self.tasks)
        replaced = f"all but {kept:,}" if kept else "all"
        return (
            f"None of the {_counted(self.tasks, 'label')} is certified ({found}): at most "
            f"{_percent(self.error)} are wrong once {replaced} are replaced by answers of the "
            "trusted source"
        )

    def _which(self) -> str:
        """Name the labels that the statement is about."""
        kept = len(self.certified)
        if kept == self.tasks or self.escalate:
            return f"all {self.tasks:,} labels" if self.tasks > 1 else "the one label"
        return f"these {kept:,} labels, the surest of {self.tasks:,},"

    def _replacements(self) -> str:
        """Say which labels the trusted source has replaced, or has to before this holds."""
        left = self.tasks - len(self.certified)
        if not self.escalate or not left:
            return ""
        if self.replaced:
            return f", counting the {left:,} that the trusted source replaced"
        uncertified = f"{_counted(left, 'uncertified label')} {'is' if left == 1 else 'are'}"
        return f", once the {uncertified} replaced by the trusted source's answers"


def certify(
    labels: Labels, drawn: AuditDraw, truths: Mapping[str, str], *, ahead: int = 1
) -> Certificate:
    """Say what audits show of labels.

    Parameters
    ----------
    labels : mapping of a task to its label and score
        As they were at the draw.
    drawn : AuditDraw
        See :func:`draw`.
    truths : mapping of a task to its true label
        Of audited tasks: a beginning of the draw, or tasks as :attr:`Certificate.next` named them.
        A truth that is empty, because the trusted source could not say, counts as an error.
    ahead : int
        The most tasks to audit next that are named.

    Raises
    ------
    InvalidParameter
        The labels have changed since the draw.
    InvalidAnswer
        An audit that was not drawn, or is out of order: the statement rests on the draw.

    Examples
    --------
    >>> from askwise.auditing import draw
    >>> labels = {f"t{n}": ("yes", n) for n in range(200)}
    >>> drawn = draw(labels, error=0.1, audits=60, seed=1, at_once=True)
    >>> found = certify(labels, drawn, {task: "yes" for task in drawn.tasks[:60]})
    >>> found.outcome, len(found.certified)
    ('certified', 200)
    >>> print(found.statement)
    At most 10% of all 200 labels are wrong, with 90% confidence. Of 60 labels drawn at random and
    audited, none was wrong. The statement relies on the audits being right, and on nothing about
    who gave the labels.
    """
    whole(ahead, "next", least=0)
    if digest_of(labels) != drawn.digest:
        raise InvalidParameter(
            "labels have changed since the draw: certify the labels that were drawn from, or draw "
            "again",
            field="labels",
        )
    climb = Climb(drawn)
    places = {task: place for place, task in enumerate(drawn.tasks)}
    wrong = {}
    for task, truth in truths.items():
        if task not in places:
            raise InvalidAnswer(
                f"audit of task {task!r}: it was not drawn; audit the tasks of the draw in its "
                "order",
                field="task",
            )
        wrong[places[task]] = not truth or truth != labels[task][0]
    _check_words(labels, truths)
    _check_order(climb, wrong)
    for place, found in wrong.items():
        climb.hear(place, found)
    return certificate_of(climb, ahead)


def certificate_of(climb: Climb, ahead: int = 1, *, replaced: bool = False) -> Certificate:
    """What the audits of a climb show.

    Where all labels that they do not certify are ``replaced`` by answers of the trusted source, the
    statement about all labels holds whatever they show.
    """
    drawn = climb.drawn
    looked_at = min(climb.certified + 1, len(drawn.sizes))
    sets = tuple(
        AuditedSet(size, drawn.too_many(size) - 1, *climb.counted(at), at < climb.certified)
        for at, size in list(enumerate(drawn.sizes))[drawn.tested : looked_at]
    )
    surest = sorted((rank, place) for place, rank in enumerate(drawn.ranks) if rank < climb.size)
    outcome: CertifyOutcome = "open" if climb.hopeful() else "hopeless"
    if replaced or climb.certified > drawn.tested:
        outcome = "certified"
    return Certificate(
        error=drawn.error,
        confidence=drawn.confidence,
        escalate=drawn.escalate,
        tasks=len(drawn.tasks),
        audited=len(climb.wrong),
        wrong=sum(climb.wrong.values()),
        # With escalation the first set needs no audit; it is not news until a larger one is.
        certified=tuple(drawn.tasks[place] for _, place in surest if outcome == "certified"),
        outcome=outcome,
        next=tuple(drawn.tasks[place] for place in climb.wanted(ahead)),
        sets=sets,
        fewest=_fewest(drawn, drawn.sizes[drawn.tested]),
        replaced=replaced,
    )


def _fewest(drawn: AuditDraw, size: int) -> int:
    """The fewest audits without an error that certify a set; at once, others come in between."""
    found = fewest_audits(size, drawn.too_many(size), drawn.doubt)
    return int((drawn.ranks < size).nonzero()[0][found - 1]) + 1 if drawn.at_once else found


def _check_order(climb: Climb, wrong: Mapping[int, bool]) -> None:
    """Refuse audits that are not a beginning of the drawn order, of all tasks or of a set's.

    Of the sets that hold a task, the smallest asks for the fewest audits before it.
    """
    drawn = climb.drawn
    if len(wrong) > drawn.audits:
        raise InvalidAnswer(
            f"{len(wrong):,} audits, and the draw is for {drawn.audits:,} at most: leave the "
            "later ones out, or draw again",
            field="audits",
        )
    for at in range(len(drawn.sizes)):
        smaller = drawn.sizes[at - 1] if at else 0
        missing = None
        for place in _inside(drawn, drawn.sizes[at], max(wrong, default=-1)):
            if place not in wrong:
                missing = place if missing is None else missing
            elif missing is not None and drawn.ranks[place] >= smaller:
                raise InvalidAnswer(
                    f"audit of task {drawn.tasks[place]!r}: it is out of order, task "
                    f"{drawn.tasks[missing]!r} comes before it; audit that one too",
                    field="task",
                )


def _check_words(labels: Labels, truths: Mapping[str, str]) -> None:
    """Refuse a truth that is a label in another spelling: it would count as an error.

    One that nothing is labelled as is an error indeed.
    """
    known = {label for label, _ in labels.values()}
    spelled = {_folded(label): label for label in known}
    for task, truth in truths.items():
        if truth and truth not in known and _folded(truth) in spelled:
            raise InvalidAnswer(
                f"audit of task {task!r}: its label is {truth!r}, and others are labelled "
                f"{spelled[_folded(truth)]!r}; write the same label in the same way",
                field="label",
            )


def _folded(label: str) -> str:
    """A label without regard to case, spaces around it, and how a number is written."""
    text = label.strip().casefold()
    try:
        return str(float(text))
    except ValueError:
        return text


def _inside(drawn: AuditDraw, size: int, last: int) -> list[int]:
    """The places of a set's tasks up to one place."""
    return (drawn.ranks[: last + 1] < size).nonzero()[0].tolist()


def _percent(share: float) -> str:
    """Write a share out: 0.05 is 5%."""
    percent = Decimal(str(share)) * 100
    return f"{percent.normalize():f}%"


def _counted(number: int, thing: str) -> str:
    return f"{number:,} {thing}" + ("" if number == 1 else "s")
