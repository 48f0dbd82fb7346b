"""Why something was refused or failed: one closed set of words.

Programs decide by these words, never by what a message says: messages are for people, and may be
reworded or translated at any time. ``docs/how-to/api.md`` says what to do about each.
"""

from typing import Final, Literal, get_args

Reason = Literal[
    # What an error class stands for by itself, where nothing finer is known.
    "error",
    "invalid_problem",
    "invalid_parameter",
    "invalid_answer",
    "unknown_name",
    "unknown_policy",
    "over_budget",
    "conflict",
    "policy_fault",
    "mechanism_fault",
    "too_large",
    "store_error",
    # A value that the campaign can't take, whatever its state.
    "invalid_value",  # an answer that is none of the options, or out of the range
    "invalid_amount",  # money: not a number, too large, too fine, or above the highest bid
    # Names that stand for nothing.
    "unknown_campaign",
    "unknown_task",
    "unknown_worker",
    "unknown_assignment",
    "unknown_key",  # a key, or a worker's token, in the list of those that were made
    "unknown_hook",
    "unknown_delivery",
    "unknown_export",
    # The state of an assignment.
    "assignment_answered",
    "assignment_declined",
    "assignment_failed",
    "assignment_expired",
    "assignment_withdrawn",  # its answer was
    "not_answered",  # it is out, so there is no answer to change
    "pair_asked_again",  # it expired, and the same task was put to the same worker again
    "worker_limit_reached",  # it expired, and the worker's limit is used up otherwise
    # The state of a campaign and of what is in it.
    "campaign_exists",
    "campaign_archived",  # it is read only, or its log was moved to a file
    "campaign_not_archived",
    "assignments_out",  # so it can't be archived
    "campaign_stopped",
    "campaign_paused",
    "campaign_not_paused",
    "already_running",  # by another process, which holds the claim to it
    "task_exists",
    "task_closed",
    "task_removed",
    "task_answered",  # so it can't be removed: there are answers, a label or audits
    "campaign_answered",  # so it can't be deleted
    "truth_known",  # to be another option
    "answer_is_truth",  # somebody trusted gave it, and it was taken as the truth of its task
    "label_frozen",  # for an audit, which is about the label as it was
    "workers_bid",  # prices follow from answers, which therefore stay as they are
    "too_late",  # for a worker to change an answer: a while ago, or not their last
    "worker_exists",
    "worker_left",
    "worker_suspended",
    "worker_not_suspended",
    "not_for_worker",  # a question to hand over: they had it before, or it is about another
    "no_newcomers",  # the policy takes nobody in after the start
    "no_tasks",  # the campaign buys units of work
    "no_budget",  # the campaign has none that could be added to
    "no_bids",  # the mechanism takes none
    "bidding_closed",
    "not_owed",  # a payout of more than what is owed to the worker
    "not_certifying",  # the campaign was created without certify
    "no_pilot",  # the campaign was created without pilot
    "key_reused",  # a key that stands for another request
    "log_moved",  # somebody else has written in between, or a position is not in the log
    # The store.
    "store_busy",  # locked by another; nothing was written
    "store_unreachable",  # no connection, or it was lost
    "store_unusable",  # the address names nothing that can be a store
    "store_misused",  # closed, inside a write block, in a forked process
    "store_empty",  # nothing to back up
    "store_not_empty",  # nothing is restored into it
    "newer_version",  # written by a newer askwise
    "write_in_doubt",  # whether it was committed is not known
    "unstorable",  # a text or number that no store can keep
    "bad_backup",  # not a backup, or not whole
    # What a service refuses before it reaches a campaign.
    "bad_request",
    "unauthorized",
    "forbidden",
    "not_yours",  # another worker's, or of another campaign
    "form_outdated",
    "other_site",  # a form that another site's page has sent
    "not_found",
    "method_not_allowed",
    "request_timeout",
    "body_too_large",
    "headers_too_large",
    "unsupported_media_type",
    "invalid_request",
    "invalid_form",
    "rate_limited",
    "campaign_unreadable",  # it can't be opened: a plug-in is missing, as a rule
    "fault",  # an error that nobody foresaw
    # What a client and a shell say of themselves.
    "judges_unavailable",  # none of them could be asked, and nobody has answered
    "label_studio_unavailable",  # it does not answer, or not now
    "refused",  # by a service, for a reason that this client does not know
    "service_unreachable",
    "invalid_signature",
    "file_error",
    "usage",
]

REASONS: Final[frozenset[str]] = frozenset(get_args(Reason))
"""All of them."""
