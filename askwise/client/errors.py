"""What can go wrong between a program and a service, and the service's errors as ours."""

from typing import Any, ClassVar, cast

from askwise.core import errors
from askwise.core.reasons import REASONS, Reason


class Unreachable(errors.StoreError):
    """The service can't be reached, or did not answer in time, after all retries.

    Whether a write was done is not known then; do it again with the same ``key``.
    """

    code = "unreachable"
    default_reason: ClassVar[Reason] = "service_unreachable"


class Refused(errors.AskwiseError):
    """The service refuses a request for a reason that is not the campaign's.

    No key or not a good one, a role that does not allow it, too many requests, a body too large,
    a fault of the service itself: ``reason`` tells which, ``code`` and ``status`` more roughly.
    """

    code = "refused"
    default_reason: ClassVar[Reason] = "refused"

    def __init__(
        self,
        message: str,
        *,
        field: str | None = None,
        reason: Reason | None = None,
        code: str = "refused",
        status: int = 0,
    ) -> None:
        super().__init__(message, field=field, reason=reason)
        self.code = code
        self.status = status


BY_CODE: dict[str, type[errors.AskwiseError]] = {
    kind.code: kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, errors.AskwiseError) and kind.code != "error"
}
# A body that lacks the right shape never reached the campaign, which would have said this.
BY_CODE["invalid_request"] = errors.InvalidProblem


def error_of(status: int, raw: Any) -> errors.AskwiseError:
    """The error that a reply stands for, of the class and with the reason of one raised here.

    A reason that is not known, as of a newer service, becomes the default of the class.

    Examples
    --------
    >>> told = {"code": "conflict", "reason": "campaign_stopped", "message": "it was stopped"}
    >>> error = error_of(409, {"error": {**told, "field": None}})
    >>> error, error.reason
    (Conflict('it was stopped'), 'campaign_stopped')
    """
    told = raw.get("error") if isinstance(raw, dict) else None
    if not isinstance(told, dict) or not isinstance(told.get("message"), str):
        return Refused(
            f"the service replied {status} in no shape of ours: is the url that of a service?",
            field="url",
            status=status,
        )
    code, message, field = str(told.get("code")), told["message"], told.get("field")
    reason = told.get("reason")
    # A body beyond the service's size has the name of a problem beyond the exact solver's.
    if code in BY_CODE and (code, status) != ("too_large", 413):
        error = BY_CODE[code](message, field=field)
    else:
        error = Refused(message, field=field, code=code, status=status)
    if isinstance(reason, str) and reason in REASONS:
        error.reason = cast(Reason, reason)
    return error
