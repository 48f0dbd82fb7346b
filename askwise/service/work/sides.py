"""In which order a worker sees the sides of a pair: drawn for each task and worker, kept nowhere.

People who compare two things tend to prefer one place on the page. Where options name the sides,
half of the workers see them the other way round, and what they choose is turned back.
"""

from askwise.campaign.state import CampaignState
from askwise.core import draws
from askwise.core.content import Content


def has_sides(content: Content | None) -> bool:
    """Whether the order of a pair can change: its options say which side they name."""
    return content is not None and any(option.side is not None for option in content.options)


def is_swapped(state: CampaignState, task: str | None, worker: str) -> bool:
    """Whether this worker sees the sides of this task in the other order."""
    if task is None or not has_sides(state.spec.content):
        return False
    ledger = state.ledger
    return drawn(state.spec.seed, int(ledger.task_at(task)), int(ledger.worker_at(worker)))


def drawn(seed: int, task: int, worker: int) -> bool:
    """Toss the coin of a task and a worker, both by their place in the ledger.

    Examples
    --------
    >>> tosses = [drawn(7, task, worker) for task in range(30) for worker in range(30)]
    >>> 400 < sum(tosses) < 500
    True
    """
    draw = draws.Draw(*draws.stream(seed, draws.SIDES, 0), task)
    return bool(draws.words(draw, worker)[0] & 1)
