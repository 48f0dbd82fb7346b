"""The tables of an export and their columns. ``docs/how-to/export.md`` shows them."""

from collections.abc import Mapping
from typing import Literal, NamedTuple

ColumnKind = Literal["text", "whole", "number", "yes/no", "money", "JSON", "answer"]
"""What a column holds. Money is text, as in JSON elsewhere: exact, and in the campaign's currency.
An answer is the name of an option, or a number in campaigns that have no options."""

TYPES: Mapping[ColumnKind, type] = {
    "text": str,
    "whole": int,
    "number": float,
    "yes/no": bool,
    "money": str,
    "JSON": str,
}
"""Of the cells; an answer is text or a number by the campaign."""


class Column(NamedTuple):
    """A column of a table.

    Attributes
    ----------
    name : str
        What it is called.
    kind : str
        What it holds.
    meaning : str
        What that says; where it may be empty, also when it is.
    """

    name: str
    kind: ColumnKind
    meaning: str


class TableOf(NamedTuple):
    """A table of an export.

    Attributes
    ----------
    row : str
        What a row stands for.
    columns : tuple of Column
        In the order of the file.
    """

    row: str
    columns: tuple[Column, ...]


_TASK = Column("task", "text", "The task; empty where units of work are bought.")
_WORKER = Column("worker", "text", "The worker.")
_SEQ = Column("seq", "whole", "The place in the log, from 1.")
_TIME = Column("time", "number", "When it was written, in seconds since 1970.")

TABLES: Mapping[str, TableOf] = {
    "tasks": TableOf(
        "A task, and its label so far.",
        (
            _TASK,
            Column("context", "text", "The kind of the task, if given."),
            Column("payload", "JSON", "What workers are shown, if anything."),
            Column("workers", "JSON", "The only workers who may be asked about it; empty: all."),
            Column("value", "answer", "Its answer: a label, or a mean; empty while there is none."),
            Column("confidence", "number", "How sure that is; empty where nothing is known."),
            Column("rests_on", "text", "What the confidence is, as in `answers`."),
            Column("outcome", "text", "The state of the task, or how it ended."),
            Column("answers", "whole", "How many answers it has."),
            Column("truth", "text", "Its true option, if that was told."),
            Column("certificate", "text", "What a certificate says of its label, if there is one."),
            Column("assured_error", "number", "The error that the policy assures, if it does."),
            Column("majority_error", "number", "The same by the exact error of the majority."),
            Column("decided_by", "text", "Who set the label by hand, if somebody did."),
        ),
    ),
    "workers": TableOf(
        "A worker who ever joined, what they did and how good they seem.",
        (
            _WORKER,
            Column("price", "money", "The most that one of their answers costs."),
            Column("limit", "whole", "The most answers they can give; empty: no limit."),
            Column("rating", "number", "Their mean utility as believed beforehand, if given."),
            Column("rating_weight", "number", "How many answers that rating is worth."),
            Column("trusted", "yes/no", "Whether their answer counts as the truth."),
            Column("kind", "text", "`person`, `model` or `crowd`, if given."),
            Column("family", "text", "A name shared by workers who err together, if any."),
            Column("source", "text", "What answers for them, if given."),
            Column("joined", "yes/no", "Whether they are in the campaign now."),
            Column("asked", "whole", "Assignments that were ever handed to them."),
            Column("answered", "whole", "Those that they answered."),
            Column("out", "whole", "Those that are open now."),
            Column("expired", "whole", "Those that were released unanswered."),
            Column("declined", "whole", "Those that they turned down."),
            Column("failed", "whole", "Those whose call gave no answer."),
            Column("agreement", "number", "How often their answer is the label; empty: unknown."),
            Column("quality", "number", "How good they seem; empty before that can be judged."),
            Column("quality_low", "number", "The lower end of its 95% interval."),
            Column("quality_high", "number", "The upper end."),
            Column("quality_basis", "text", "What it rests on: `truth`, `agreement`, `utility`."),
            Column("quality_answers", "whole", "How many answers were counted for it."),
        ),
    ),
    "decisions": TableOf(
        "An assignment: whom the campaign decided to ask about what, and what became of it.",
        (
            Column("assignment", "text", "The assignment's id."),
            _SEQ,
            _TIME,
            Column("decision", "whole", "The number of the decision; one may hand out several."),
            Column("purpose", "text", "What the decision was for, in the policy's word, if any."),
            _TASK,
            _WORKER,
            Column(
                "propensity", "number", "The probability of this choice; empty: no closed form."
            ),
            Column("price", "money", "What was reserved for the answer."),
            Column("expires", "number", "When the lease ends, in seconds; empty without a lease."),
            Column("state", "text", "`out`, `answered`, `expired`, `declined` or `failed`."),
        ),
    ),
    "answers": TableOf(
        "An answer, or a call that gave none.",
        (
            Column("assignment", "text", "The assignment that it settles, as in `decisions`."),
            _SEQ,
            _TIME,
            _TASK,
            _WORKER,
            Column("state", "text", "`answered` or `failed`."),
            Column("value", "answer", "What was answered; empty if it failed."),
            Column("why", "text", "Why it failed; empty for an answer."),
            Column("booked", "money", "What was spent on it."),
            Column("cost", "money", "What it cost, if that was told."),
            Column("over_ceiling", "yes/no", "Whether it cost more than was reserved."),
            Column("probabilities", "JSON", "How sure the source was, by option, if it said so."),
            Column("rationale", "text", "The reasons that the source gave, if any."),
            Column("reference", "text", "Such as a model's request id, if there is one."),
        ),
    ),
    "payments": TableOf(
        "What a worker has earned, and how much of it was paid out.",
        (
            _WORKER,
            Column("answers", "whole", "Their answers."),
            Column("failures", "whole", "Their calls that gave no answer."),
            Column("paid", "money", "What answers and failures have earned them."),
            Column("bonus", "money", "What they were given on top of that."),
            Column("earned", "money", "Both together."),
            Column("paid_out", "money", "How much of it was marked as paid."),
            Column("owed", "money", "What is still to be paid."),
            Column("overpaid", "money", "What was paid beyond what they have earned."),
            Column("reserved", "money", "What is reserved for open assignments."),
            Column("currency", "text", "The currency; empty if not given."),
            Column("why", "text", "How the mechanism computed it."),
        ),
    ),
    "payouts": TableOf(
        "Money that was marked as paid to a worker, or given to them as a bonus.",
        (
            _SEQ,
            _TIME,
            Column("kind", "text", "`payout` or `bonus`."),
            _WORKER,
            Column("amount", "money", "How much."),
            Column("on", "text", "The day on which it was paid; empty for a bonus."),
            Column("reference", "text", "The reference of a payout, if any."),
            Column("why", "text", "Why a bonus was given; empty for a payout."),
            Column("by", "text", "Who recorded it."),
        ),
    ),
    "events": TableOf(
        "An event of the log. With campaign.json they are the whole campaign.",
        (
            _SEQ,
            _TIME,
            Column("kind", "text", "What happened."),
            Column("event", "JSON", "The whole event, as `askwise log --json` prints it."),
        ),
    ),
}
"""By name, in the order of the card."""


def types_of(table: str, *, options: bool) -> dict[str, type]:
    """The type of every column of a table; answers are text in campaigns with options."""
    answer = str if options else float
    return {each.name: TYPES.get(each.kind, answer) for each in TABLES[table].columns}
