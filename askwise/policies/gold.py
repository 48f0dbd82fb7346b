"""Which tasks to tell the truth of, drawn at random."""

from functools import lru_cache
from typing import Any

import numpy as np

from askwise.core.compiling import in_plain_python
from askwise.core.draws import threefry
from askwise.kernels import Array, Draw
from askwise.ledger import Ledger
from askwise.ledger import columns as c

_threefry_on_arrays = in_plain_python(threefry)


def drawn_at_random(ledger: Ledger, draw: Draw, count: int) -> list[str]:
    """Draw tasks whose truth is not told yet, in random order; fewer where fewer are left.

    All tasks have one order, which depends on the draw alone: neither on answers nor on truths. So
    the tasks whose truth was told in this order are a simple random sample, and what is still
    wanted stays the same while truths come in. A task that is added takes its place in the order
    and moves no other.

    Parameters
    ----------
    draw : Draw
        What ``needs_gold`` is given: the same at every reading of a campaign.
    count : int
        How many tasks to draw.
    """
    order = random_order(draw, len(ledger.tasks))
    untold = order[ledger.book.tasks[order, c.TRUTH] < 0]
    return [ledger.tasks[at].id for at in untold[:count].tolist()]


@lru_cache(maxsize=8)
def random_order(draw: Draw, tasks: int) -> Array:
    """Tasks by a number that each of them draws. Kept, as a page may ask for it every second."""
    places: Any = np.arange(tasks)
    words = _threefry_on_arrays(draw.key0, draw.key1, draw.decision & 0xFFFFFFFF, places)
    return np.lexsort(words)
