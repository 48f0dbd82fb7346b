"""The regret bound of paper 002."""

import math

from askwise.core.checks import whole
from askwise.core.errors import InvalidParameter


def bbta_regret(answers: int, *, contexts: int, workers: int, explore: int = 1) -> float:
    """Theorem 1: by how many losses BBTA exceeds the best worker of each context, at most.

    Parameters
    ----------
    answers : int
        The budget T, in answers.
    contexts, workers : int
        S and K.
    explore : int
        N', the tasks of each context that everyone is asked about.

    A loss is an answer that differs from the weighted vote: the bound is about agreement, not
    about truth. It is proved for drawing among all workers; ``bbta`` never asks a pair twice and
    draws among the rest, for which it is not proved.

    Examples
    --------
    >>> round(bbta_regret(15 * 351, contexts=3, workers=30))
    2520
    """
    for name, value in (("contexts", contexts), ("workers", workers)):
        whole(value, name, least=1)
    whole(explore, "explore", least=0)
    whole(answers, "answers", least=0)
    left = answers - contexts * workers * explore
    if left < 0:
        raise InvalidParameter(
            f"answers is {answers}: exploration alone takes {contexts * workers * explore}",
            field="answers",
        )
    log = math.log(workers)
    adaptive = 2.0 * math.sqrt(left * contexts * workers * log)
    return adaptive + contexts * (explore**2 / 4.0 * math.sqrt(log / workers) + explore)
