"""One shape for everything that goes wrong, and the status code that fits it."""

import logging
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from starlette.exceptions import HTTPException
from starlette.responses import Response

from askwise.core import errors
from askwise.core.reasons import Reason
from askwise.service.json_reply import JsonReply
from askwise.service.logs import without_secrets

log = logging.getLogger("askwise.service")

LONGEST = 1000
"""The most characters of a message: it may name a value that somebody sent."""


CODES: dict[Reason, str] = {
    "body_too_large": "too_large",
    "campaign_unreadable": "unreadable",
    "form_outdated": "forbidden",
    "not_yours": "forbidden",
    "other_site": "forbidden",
    "rate_limited": "too_many_requests",
}
"""The codes of refusals by the service itself, where the reason is not the code."""


class RequestRefused(errors.AskwiseError):
    """A request that is refused before it reaches a campaign; status and code are its reason's."""

    code = "refused"
    default_reason: ClassVar[Reason] = "refused"

    def __init__(
        self,
        reason: Reason,
        message: str,
        *,
        field: str | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(message, field=field, reason=reason)
        self.code = CODES.get(reason, reason)
        self.headers = headers or {}


def unauthorized(message: str) -> RequestRefused:
    """Build the refusal of a caller who is not known."""
    return RequestRefused("unauthorized", message, headers={"WWW-Authenticate": "Bearer"})


def no_key() -> RequestRefused:
    """Build the refusal of a caller who shows no key."""
    return unauthorized("no key: send the header 'Authorization: Bearer KEY'")


def forbidden(message: str, reason: Reason = "forbidden") -> RequestRefused:
    """Build the refusal of a caller who may not do this."""
    return RequestRefused(reason, message)


_REASONS: dict[int, tuple[Reason, ...]] = {
    400: ("bad_request",),
    401: ("unauthorized", "invalid_signature"),
    403: ("forbidden", "not_yours", "form_outdated", "other_site"),
    404: (
        "not_found", "unknown_name", "unknown_campaign", "unknown_task", "unknown_worker",
        "unknown_assignment", "unknown_key", "unknown_hook", "unknown_delivery", "unknown_export",
    ),
    405: ("method_not_allowed",),
    408: ("request_timeout",),
    409: (
        "conflict", "over_budget", "assignment_answered", "assignment_declined",
        "assignment_failed", "assignment_expired", "assignment_withdrawn", "not_answered",
        "pair_asked_again", "worker_limit_reached", "answer_is_truth", "label_frozen",
        "workers_bid", "too_late",
        "campaign_exists", "campaign_archived", "campaign_stopped", "campaign_paused",
        "campaign_not_paused", "already_running", "task_exists", "task_closed", "task_removed",
        "task_answered", "campaign_answered", "campaign_not_archived", "assignments_out",
        "truth_known", "worker_exists", "worker_left", "worker_suspended", "worker_not_suspended",
        "not_for_worker", "no_newcomers", "no_tasks", "no_budget", "no_bids", "bidding_closed",
        "not_owed", "not_certifying", "no_pilot", "key_reused", "log_moved", "store_empty",
        "store_not_empty",
    ),
    413: ("body_too_large",),
    415: ("unsupported_media_type",),
    422: (
        "invalid_request", "invalid_form", "invalid_problem", "invalid_parameter",
        "invalid_answer", "invalid_value", "invalid_amount", "unknown_policy", "too_large",
        "unstorable", "bad_backup", "usage",
    ),
    429: ("rate_limited",),
    431: ("headers_too_large",),
    500: (
        "error", "fault", "refused", "policy_fault", "mechanism_fault", "campaign_unreadable",
        "file_error",
    ),
    503: (
        "store_error", "store_busy", "store_unreachable", "store_unusable", "store_misused",
        "newer_version", "write_in_doubt", "service_unreachable", "judges_unavailable",
        "label_studio_unavailable",
    ),
}  # fmt: skip
STATUS: dict[Reason, int] = {
    reason: status for status, reasons in _REASONS.items() for reason in reasons
}
"""The status code of every reason. Faults of a policy or mechanism are ours: 500."""


def status_of(error: errors.AskwiseError) -> int:
    """The status code of an error.

    Examples
    --------
    >>> status_of(errors.Conflict("the campaign was stopped", reason="campaign_stopped"))
    409
    >>> (
    ...     status_of(errors.InvalidAnswer("answer is 'maybe'")),
    ...     status_of(errors.InvalidAnswer("answered already", reason="assignment_answered")),
    ... )
    (422, 409)
    """
    return STATUS[error.reason]


def body_of(
    reason: Reason, message: str, field: str | None = None, *, code: str | None = None
) -> dict[str, Any]:
    """The one shape; ``code`` is that of the service's own refusals unless it is given.

    Examples
    --------
    >>> body_of("rate_limited", "too many requests: wait 2 s")["error"]["code"]
    'too_many_requests'
    """
    # A key in the wrong place (a path, a field) is not said aloud.
    field = None if field is None else _short(without_secrets(field), 200)
    message = _short(without_secrets(message), LONGEST)
    code = code or CODES.get(reason, reason)
    return {"error": {"code": code, "reason": reason, "message": message, "field": field}}


def reply_to(error: errors.AskwiseError) -> Response:
    """An error as a reply."""
    status = status_of(error)
    headers = dict(error.headers) if isinstance(error, RequestRefused) else {}
    message = str(error)
    if status == 503:
        headers["Retry-After"] = "1"
        log.error("store", extra={"fields": {"reason": error.reason, "message": message}})
        # What the store says of itself (files, hosts) is for the operator's eyes.
        message = "the store can't be used at the moment: try again with the same Idempotency-Key"
    if status == 500:
        log.error("fault", extra={"fields": {"code": error.code, "message": message}})
    return JsonReply(body_of(error.reason, message, error.field, code=error.code), status, headers)


def fault() -> Response:
    """The reply to whom something happened that nobody foresaw."""
    return JsonReply(body_of("fault", "an error of the service, see its log"), 500)


WORDS: dict[int, Reason] = {
    400: "bad_request", 404: "not_found", 405: "method_not_allowed", 413: "body_too_large",
    415: "unsupported_media_type",
}  # fmt: skip
"""Why the framework refuses a request, by the status that it gives."""


def reply_to_framework(error: HTTPException) -> Response:
    """What the framework refuses (a form it can't read, a file that is not there) as a reply."""
    if error.status_code == 404:
        return reply_to(nothing_here())
    reason = WORDS.get(error.status_code, "refused")
    return JsonReply(body_of(reason, str(error.detail)), error.status_code, error.headers)


def nothing_here() -> RequestRefused:
    """Build the refusal of an address that there is not."""
    return RequestRefused("not_found", "there is nothing at this address: see /docs")


def not_allowed(method: str, allowed: Sequence[str]) -> RequestRefused:
    """Build the refusal of a method that an address does not take."""
    headers = {"Allow": ", ".join(allowed)}
    message = f"{method} is not allowed here: see /docs"
    return RequestRefused("method_not_allowed", message, headers=headers)


class BadShape(RequestRefused):
    """A request that is not of its shape: a field is missing, unknown or of another type."""


def bad_shape(flaw: Mapping[str, Any], *place: str) -> BadShape:
    """Build the refusal of a request by the first flaw that was found in its shape.

    Parameters
    ----------
    flaw : mapping
        As pydantic tells it.
    *place : str
        Where it was found, before what ``flaw`` says of it: "body", or "query" and a name.

    Examples
    --------
    >>> print(bad_shape({"type": "missing", "loc": ("limit",), "msg": ""}, "body"))
    limit is missing
    """
    where, *inner = place + tuple(flaw["loc"])
    # What alternatives of a field are called, in parentheses, is nothing that a caller wrote.
    names = [str(part) for part in inner if not str(part).startswith("(")]
    field = ".".join(names) or None
    why = flaw["msg"].removeprefix("Value error, ")
    why = why[:1].lower() + why[1:]
    value = flaw.get("input")
    shown = f" is {_short(repr(value), 100)}" if isinstance(value, str | int | float) else ""
    if where == "path":
        message = f"{field}{shown}: there is no such thing"
        return BadShape("unknown_name", message, field=field)
    if flaw["type"] == "missing":
        text = f"{field or 'the body'} is missing"
    elif flaw["type"] == "extra_forbidden":
        text = f"{field} is not a field of this request: see /docs for its fields"
    else:
        text = f"{field or 'the body'}{shown}: {why}"
    return BadShape("invalid_request", text, field=field)


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
