"""What a campaign says when it refuses: a word for programs, the field at fault, a sentence."""

from askwise.core.errors import Conflict, InvalidAnswer
from askwise.core.reasons import Reason


def conflict(reason: Reason, field: str, message: str) -> Conflict:
    """It clashes with the state that the campaign is in."""
    return Conflict(message, field=field, reason=reason)


def invalid_answer(reason: Reason, field: str, message: str) -> InvalidAnswer:
    """The campaign can't take the answer."""
    return InvalidAnswer(message, field=field, reason=reason)
