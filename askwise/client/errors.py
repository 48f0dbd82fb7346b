"""What can go wrong between a program and a service, and the service's errors as ours."""

from __future__ import annotations

from typing import Any

from askwise.core import errors


class Unreachable(errors.StoreError):
    """The service can't be reached, or did not answer in time, after all retries.

    Whether a write was done is not known then; do it again with the same ``key``.
    """

    code = "unreachable"


class Refused(errors.AskwiseError):
    """The service refuses a request for a reason that is not the campaign's.

    No key or not a good one, a role that does not allow it, too many requests, a body too large,
    a fault of the service itself: ``code`` and ``status`` tell which.
    """

    code = "refused"

    def __init__(
        self, message: str, *, field: str | None = None, code: str = "refused", status: int = 0
    ) -> None:
        super().__init__(message, field=field)
        self.code = code
        self.status = status


_KINDS: tuple[type[errors.AskwiseError], ...] = (
    errors.InvalidProblem,
    errors.InvalidParameter,
    errors.InvalidAnswer,
    errors.UnknownName,
    errors.UnknownPolicy,
    errors.OverBudget,
    errors.Conflict,
    errors.PolicyFault,
    errors.MechanismFault,
    errors.TooLarge,
    errors.StoreError,
)
BY_CODE = {kind.code: kind for kind in _KINDS}
# A body that lacks the right shape never reached the campaign, which would have said this.
BY_CODE["invalid_request"] = errors.InvalidProblem


def error_of(status: int, raw: Any) -> errors.AskwiseError:
    """The error that a reply stands for, of the class that a campaign here would raise.

    Examples
    --------
    >>> raw = {"error": {"code": "conflict", "message": "the campaign was stopped", "field": None}}
    >>> error_of(409, raw)
    Conflict('the campaign was stopped')
    """
    told = raw.get("error") if isinstance(raw, dict) else None
    if not isinstance(told, dict) or not isinstance(told.get("message"), str):
        return Refused(
            f"the service replied {status} in no shape of ours: is the url that of a service?",
            field="url",
            status=status,
        )
    code, message, field = str(told.get("code")), told["message"], told.get("field")
    # A body beyond the service's size has the name of a problem beyond the exact solver's.
    if code in BY_CODE and status != 413:
        return BY_CODE[code](message, field=field)
    return Refused(message, field=field, code=code, status=status)
