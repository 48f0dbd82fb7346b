"""What a call brings beside an answer: why it failed, how sure the source was, and what it said."""

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Final, Literal, get_args

from askwise.core.errors import InvalidAnswer
from askwise.core.fields import by_name

FailureWhy = Literal[
    "refused",  # the source declined to answer: a model that will not judge the text
    "unreadable",  # a reply came, and it is none of the options
    "filtered",  # a content filter on the way kept the question or the reply back
    "too_long",  # the question is larger than the source, or the price, allows
    "rejected",  # the source says that the question is no valid request
    "timed_out",  # no reply came in time, and the call is paid for nevertheless
    "lost",  # the connection broke before the reply was there, which may be paid for
    "orders",  # both orders of a pair were asked, and the two replies contradict each other
    "error",  # anything else: the source broke off, or reported an error after it was paid
]
"""Why a call that was paid for has no answer."""

FAILURES: Final[tuple[str, ...]] = get_args(FailureWhy)

LONGEST_RATIONALE: Final = 10_000
LONGEST_REFERENCE: Final = 500
"""The most characters of a rationale and of a reference."""

LONGEST_REMARK: Final = 2_000
LONGEST_NAME: Final = 200
"""The most characters of what people write about a task, and of their names."""

_ONE: Final = 1e-6
"""How far from 1 the sum of probabilities may be."""


def check_failure(why: object) -> FailureWhy:
    """Check why a call failed: a word of the closed set.

    Examples
    --------
    >>> check_failure("refused")
    'refused'
    """
    for known in get_args(FailureWhy):
        if why == known:
            return known
    raise InvalidAnswer(
        f"why is {why!r}: give one of {', '.join(FAILURES)}", field="why", reason="invalid_value"
    )


def check_said(text: object, field: str, longest: int) -> str:
    """Check a rationale or a reference: text that is not too long.

    Examples
    --------
    >>> check_said("req-7", "reference", LONGEST_REFERENCE)
    'req-7'
    """
    if not isinstance(text, str):
        given = f"is a {type(text).__name__}"
    elif len(text) > longest:
        given = f"has {len(text)} characters"
    else:
        return text
    raise InvalidAnswer(
        f"{field} {given}: give a text of at most {longest} characters",
        field=field,
        reason="invalid_value",
    )


def check_remark(text: object, field: str) -> str:
    """Check what somebody says about a task: text that says something, and is not too long.

    Examples
    --------
    >>> check_remark("There is no picture.", "why")
    'There is no picture.'
    """
    if isinstance(text, str) and not text.strip():
        message = f"{field} is empty: say it in up to {LONGEST_REMARK} characters"
        raise InvalidAnswer(message, field=field, reason="invalid_value")
    return check_said(text, field, LONGEST_REMARK)


def check_by(by: object) -> str:
    """Check who has done something by hand: a name.

    Examples
    --------
    >>> check_by("ann")
    'ann'
    """
    if not isinstance(by, str) or not by.strip() or len(by) > LONGEST_NAME:
        raise InvalidAnswer(
            f"by is {by!r}: give the name of the person who decides, in up to {LONGEST_NAME} "
            "characters",
            field="by",
            reason="invalid_value",
        )
    return by


def check_probabilities(given: object, options: Sequence[str]) -> dict[str, float]:
    """Check probabilities by option; those that are not named are 0.

    Returns them in the order of the options.

    Examples
    --------
    >>> check_probabilities({"yes": 1, "no": 0}, ["no", "yes"])
    {'no': 0.0, 'yes': 1.0}
    """
    if not options:
        raise _wrong("are given, but the answers of this campaign are numbers: leave them out")
    if not isinstance(given, Mapping):
        raise _wrong(f"are {given!r}: give a mapping of options to probabilities")
    given = by_name(given, "option")
    for option, chance in given.items():
        if option not in options:
            raise _wrong(f"name {option!r}: the options are {', '.join(options)}")
        is_number = isinstance(chance, Real) and not isinstance(chance, bool)
        if not is_number or not 0.0 <= float(chance) <= 1.0:
            raise _wrong(f"have {chance!r} for {option!r}: give a number from 0 to 1")
    total = sum(float(chance) for chance in given.values())
    if abs(total - 1.0) > _ONE:
        raise _wrong(f"sum to {total:g}: they have to sum to 1")
    return {option: float(given[option]) for option in options if option in given}


def _wrong(what: str) -> InvalidAnswer:
    return InvalidAnswer(f"probabilities {what}", field="probabilities", reason="invalid_value")
