"""What a worker is told, by the reason of an error, of a wait or of an end.

Nothing here depends on how a message is worded. A word that is not known, as of a plug-in or of a
newer version, is answered with words that are true of anything.
"""

_NEUTRAL = "that could not be done: go back and continue from there"

SENTENCES: dict[str, str] = {
    # Of what they sent.
    "invalid_answer": "your answer could not be accepted",
    "invalid_value": "that is not one of this question's answers",
    "invalid_amount": "that price was not accepted: enter an amount",
    "unstorable": "that can't be saved in this form",
    "form_outdated": "this form is out of date: go back, reload the page and try again",
    "key_reused": "this form was used already: go back, reload the page and try again",
    "other_site": "this form was sent by another site",
    "not_yours": "this question is not yours: go back to your own",
    "forbidden": "your link does not allow this",
    # Of their question.
    "over_budget": "there is no money left for it",
    "assignment_answered": "you had answered that question already",
    "assignment_declined": "you had skipped that question already",
    "assignment_failed": "that question was taken back",
    "assignment_expired": "the time for that question is up",
    "pair_asked_again": "you were asked the question again",
    "worker_limit_reached": "you have reached your number of answers",
    "task_closed": "it is no longer needed",
    "too_late": "it is too late to change that answer",
    "assignment_withdrawn": "that answer was withdrawn",
    "label_frozen": "the answers to that question are being checked: yours can't be changed",
    "answer_is_truth": "that answer is already in use: it can't be changed",
    "workers_bid": "answers can't be changed in this campaign",
    "not_answered": "you have not answered that question yet",
    "task_removed": "it is no longer needed",
    "unknown_task": "that question does not exist",
    "unknown_assignment": "that question does not exist",
    # Of the campaign.
    "campaign_stopped": "the campaign has ended",
    "campaign_archived": "the campaign has ended",
    "unknown_campaign": "this campaign does not exist",
    "unknown_worker": "you are not part of this campaign",
    "worker_left": "you are no longer part of this campaign",
    "bidding_closed": "the bidding has closed: your price stays",
    "no_bids": "prices are set in this campaign: you can't name yours",
    "log_moved": "something else changed at the same moment: go back and try again",
    # Nothing that a worker could do anything about; the service's log says more.
    **dict.fromkeys(
        (
            "error", "fault", "policy_fault", "mechanism_fault", "campaign_unreadable",
            "too_large", "store_error", "store_unreachable", "store_unusable", "store_misused",
            "newer_version",
        ),
        "the service can't do that at the moment: go back and try again in a moment",
    ),
    "store_busy": "the service is busy: go back and try again in a moment",
    "write_in_doubt": "this may not have been saved: go back and check",
    # Too coarse to say more.
    **dict.fromkeys(
        ("conflict", "invalid_problem", "invalid_parameter", "unknown_name"), _NEUTRAL
    ),
}  # fmt: skip
"""Words for a worker, by reason: no capital, no full stop, as messages are written."""

NEVER_SHOWN: frozenset[str] = frozenset(
    {
        # Of what only requesters and owners do.
        "campaign_exists", "campaign_paused", "campaign_not_paused", "task_exists", "truth_known",
        "already_running", "worker_exists", "worker_suspended", "worker_not_suspended",
        "no_newcomers", "no_tasks", "no_budget", "unknown_policy", "unknown_key",
        "task_answered", "campaign_answered", "campaign_not_archived", "assignments_out",
        "unknown_hook", "unknown_delivery", "unknown_export", "invalid_form", "not_certifying",
        "no_pilot", "judges_unavailable", "not_owed", "not_for_worker",
        "label_studio_unavailable",
        # A stranger has a page of their own, which says what to do.
        "unauthorized",
        # Refused before a page is reached, with the error as JSON.
        "bad_request", "not_found", "method_not_allowed", "request_timeout", "body_too_large",
        "headers_too_large", "unsupported_media_type", "invalid_request", "rate_limited",
        # Of the shell and of the client.
        "store_empty", "store_not_empty", "bad_backup", "file_error", "usage", "refused",
        "service_unreachable", "invalid_signature",
    }
)  # fmt: skip
"""Reasons that no worker's page meets; should one come all the same, it is told neutrally."""

TOO_LATE: frozenset[str] = frozenset(
    {
        *("task_closed", "task_removed", "campaign_stopped", "campaign_archived"),
        *("worker_limit_reached", "pair_asked_again", "over_budget"),
    }
)
"""Why an answer that came after its time was not taken."""

RELEASED: frozenset[str] = frozenset(
    {"assignment_answered", "assignment_declined", "assignment_failed", "assignment_expired"}
)
"""Why a question can't be given back: they do not have it any more."""

WAITS: dict[str, str] = {
    "truth": "Your answers are being checked. More questions may follow.",
    "answers": "The next question depends on answers that are still to come.",
    "workers": "There is no question for you at the moment.",
    "resume": "The campaign is paused. Questions continue when its requester resumes it.",
}
"""What a worker is told while there is nothing to ask them, by what must come first."""

ENDS: dict[str, str] = {
    "budget": "There is no money left for more questions.",
    "limits": "You have reached your number of questions.",
    "tasks": "There are no questions left for you.",
    "target": "Enough answers are in.",
    "agreement": "Enough answers agree.",
    "certified": "The answers have been checked. Nothing is left to ask.",
    "hopeless": "Enough answers have been checked. Nothing is left to ask.",
    "stopped": "The campaign has ended. What you have earned is yours.",
    "worthless": "There are no more questions for you.",
}
"""What a worker is told when there is nothing more to ask them, by why."""


SUSPENDED: dict[str, str] = {
    "qualification": "Thank you for your answers. Too few of the first questions were answered as "
    "expected, so you get no further questions for now.",
    "gold": "Thank you for your answers. Too many of them differ from answers that are known, so "
    "you get no further questions for now.",
    "decision": "The requester has paused your work for now.",
}
"""What a worker is told who is handed nothing, by why."""

WARNED = (
    "Some of your answers differ from answers that are known. Please take your time, and look at "
    "the instructions again. If this continues, you may get no more questions."
)
"""What a worker is told who was warned."""


def words_of(reason: str) -> str:
    """Words for a worker, by the reason of an error.

    Examples
    --------
    >>> words_of("campaign_stopped")
    'the campaign has ended'
    >>> words_of("something new")
    'that could not be done: go back and continue from there'
    """
    return SENTENCES.get(reason, _NEUTRAL)


def sentence_of(reason: str) -> str:
    """The same as a sentence.

    Examples
    --------
    >>> sentence_of("campaign_stopped")
    'The campaign has ended.'
    """
    words = words_of(reason)
    return f"{words[0].upper()}{words[1:]}."


def wait_of(what: str) -> str:
    """What a worker is told while something must come first.

    Examples
    --------
    >>> wait_of("tea")
    'There is no question for you at the moment.'
    """
    return WAITS.get(what, "There is no question for you at the moment.")


def end_of(why: str) -> str:
    """What a worker is told at the end.

    Examples
    --------
    >>> end_of("tea")
    'There are no more questions for you.'
    """
    return ENDS.get(why, "There are no more questions for you.")
