"""What can go wrong with a request to Prolific: refused, not answered, or not known;
and with what it sends."""

from typing import ClassVar

from askwise.core.errors import AskwiseError
from askwise.core.reasons import Reason


class ProlificRefused(AskwiseError):
    """Prolific refuses a request.

    Attributes
    ----------
    status : int
        The status of its reply.
    """

    code = "prolific_refused"
    default_reason: ClassVar[Reason] = "refused"

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class ProlificUnreachable(AskwiseError):
    """Prolific can't be reached, or has too much to do: nothing was done, try again later."""

    code = "prolific_unreachable"
    default_reason: ClassVar[Reason] = "service_unreachable"


class ProlificUnclear(AskwiseError):
    """A request was sent and its reply never came: whether it was carried out is not known."""

    code = "prolific_unclear"
    default_reason: ClassVar[Reason] = "write_in_doubt"


class InvalidEvent(AskwiseError):
    """An event that is not Prolific's, is too old, or can't be read."""

    code = "invalid_signature"
    default_reason: ClassVar[Reason] = "invalid_signature"
