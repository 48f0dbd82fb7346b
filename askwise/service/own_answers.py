"""The last answer of a worker, which they may change for a while."""

from askwise.campaign import Campaign, revising
from askwise.campaign.refusals import conflict
from askwise.campaign.views.assignments import assignment_id
from askwise.core.errors import AskwiseError
from askwise.core.events import Event, Kind

STRIDE = 256
"""Events that are read first; it is among them as a rule."""


def last_answer(
    campaign: Campaign, worker: str, since: float, most: int | None = None
) -> Event | None:
    """A worker's last answer, if it came after ``since``: found from the end of the log backwards.

    Only the last ``most`` events are looked at, if that is given.
    """
    upto, stride = campaign.store.position(campaign.name), STRIDE
    end = 0 if most is None else max(0, upto - most)
    while upto > end:
        for event in reversed(campaign.log(max(end, upto - stride), upto)):
            if event.time <= since:
                return None
            if event.kind == Kind.ANSWER and event.worker == worker:
                return event
        upto, stride = upto - stride, 2 * stride
    return None


def changeable_answer(
    campaign: Campaign, worker: str, now: float, within: float, most: int | None = None
) -> Event | None:
    """The answer that a worker may change now, ``within`` seconds after they gave it."""
    found = last_answer(campaign, worker, now - within, most) if within > 0 else None
    if found is None or found.assignment is None:
        return None
    with campaign.reading() as state:
        if state.ledger.archived:
            return None
        try:
            revising.changeable(campaign.name, state, found.assignment)
        except AskwiseError:
            return None
        # Somebody else has taken it back: that is not for them to undo.
        return None if found.assignment in state.ledger.withdrawn else found


def check_in_time(
    campaign: Campaign, worker: str, assignment: str, now: float, within: float
) -> None:
    """Refuse a worker's change of an answer that is not their last, or was given a while ago."""
    found = last_answer(campaign, worker, now - within) if within > 0 else None
    if found is not None and assignment_id(campaign.name, found.assignment or 0) == assignment:
        if campaign.assignment(assignment).state == "withdrawn":
            # By somebody else: that is not for them to undo.
            message = f"the answer to assignment {assignment!r} was withdrawn"
            raise conflict("assignment_withdrawn", "assignment", message)
        return
    words = "no answer in this service"
    if within > 0:
        words = f"only their last answer, and only for {within:g} seconds"
    raise conflict(
        "too_late",
        "assignment",
        f"assignment {assignment!r} can't be changed: workers may change {words}",
    )
