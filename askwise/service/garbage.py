"""Memory of a process that serves until it ends."""

import gc

BETWEEN = 10_000
"""Objects that are made, and not freed, between two searches for garbage.

Requests that are under way are hundreds of objects each, and all of them are alive: with the usual
700 a search came every few requests and found nothing, for a tenth of the CPU of a cycle.
"""


def search_less_for_garbage() -> None:
    """Leave what is in memory now out of every search to come, and search less often.

    Modules, routes and shapes stay until the end, and to look through them takes a tenth of a
    second, during which nobody is answered.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(BETWEEN, *gc.get_threshold()[1:])
