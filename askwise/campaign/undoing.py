"""What takes something back: a task is removed, a campaign put away, given another title."""

from askwise.campaign.refusals import conflict
from askwise.campaign.verbs import Verbs
from askwise.campaign.views.assignments import places_out
from askwise.core.errors import InvalidProblem
from askwise.core.events import Kind
from askwise.core.labels import NO_LABEL
from askwise.ledger import Ledger
from askwise.ledger import columns as c
from askwise.ledger.entries import REMOVED

LONGEST_TITLE = 200
"""Characters of a title."""


def check_title(title: object) -> str | None:
    """A title without the space around it; None for the one that the campaign was created with."""
    if title is None:
        return None
    if not isinstance(title, str) or not title.strip() or not title.strip().isprintable():
        raise InvalidProblem(f"title is {title!r}: give printable text, or None", field="title")
    if len(title.strip()) > LONGEST_TITLE:
        message = f"title has {len(title.strip())} characters: give up to {LONGEST_TITLE}"
        raise InvalidProblem(message, field="title")
    return title.strip()


def remove_task(verbs: Verbs, task: str) -> None:
    """Take a task out that nobody has answered; what is out of it is released."""
    ledger = verbs.ledger
    if verbs.state.spec.problem.taskless:
        raise conflict("no_tasks", "task", "this campaign has no tasks: there is none to remove")
    at = verbs.task_at(task)
    row = ledger.book.tasks[at]
    if row[c.TASK_ANSWERED] or row[c.TASK_SPENT] or _was_answered(ledger, at):
        message = f"task {task!r} was answered or paid for: close it, so that nobody else is asked"
        raise conflict("task_answered", "task", message)
    if at in ledger.labels:
        message = f"task {task!r} has a label that was set by hand: it stays with it"
        raise conflict("task_answered", "task", message)
    if any(task in record["tasks"] for record in ledger.draws):
        message = f"task {task!r} is among the labels that were drawn for audits: it stays"
        raise conflict("task_answered", "task", message)
    for place in places_out(ledger):
        if ledger.book.assignments[place, c.TASK] == at:
            verbs.expire(int(ledger.book.assignments[place, c.SEQ]))
    verbs.close_with(at, NO_LABEL, REMOVED)


def _was_answered(ledger: Ledger, task: int) -> bool:
    """Whether an answer about a task was withdrawn: it may be given again."""
    places = [ledger.assignment_at(seq) for seq in ledger.withdrawn]
    return any(ledger.book.assignments[place, c.TASK] == task for place in places)


def archive(verbs: Verbs) -> None:
    """Put a campaign away of which nothing is out."""
    pending = verbs.ledger.total(c.PENDING)
    if pending:
        message = (
            f"campaign {verbs.name!r} has {pending} open assignments: wait for their answers, or "
            "release them, before you archive it"
        )
        raise conflict("assignments_out", "state", message)
    verbs.emit(Kind.ARCHIVED)


def unarchive(verbs: Verbs) -> None:
    """Take a campaign up again."""
    if not verbs.ledger.archived:
        raise conflict("campaign_not_archived", "state", "the campaign is not archived")
    verbs.emit(Kind.UNARCHIVED)


def retitle(verbs: Verbs, title: str | None) -> None:
    """Give a campaign another title; the same again changes nothing."""
    if title != verbs.ledger.title:
        verbs.emit(Kind.RETITLED, text=title)
