"""How much each source has to do, and when it can be asked again."""

import asyncio
import logging
import math
from dataclasses import dataclass

from askwise.core.errors import InvalidProblem
from askwise.core.problem import Worker
from askwise.sources import Outage, Source

log = logging.getLogger(__name__)

FIRST_REST, LONGEST_REST = 0.2, 60.0
"""Seconds for which a source is left alone that is not there and does not say for how long; they
double each time, up to the longest."""


@dataclass
class SourceLoad:
    """A source, and how much it has to do."""

    source: Source
    busy: int = 0
    refusals: int = 0
    """How often in a row it was not available, and gave no outage."""
    resting: float = 0.0
    """Until when (of the loop's clock) it is left alone after that."""

    def outage(self) -> Outage | None:
        """Why it can't be asked now; None if it can."""
        try:
            out = self.source.outage()
        except Exception as error:
            log.warning("source %r can't say whether it is available: %s", self.source.name, error)
            return Outage(f"it can't say whether it is available: {error}")
        rest = self.resting - asyncio.get_running_loop().time()
        if rest <= 0.0 or (out is not None and out.seconds >= rest):
            return out
        return Outage("it was not available" if out is None else out.why, rest)

    def pause(self) -> float:
        """Seconds for which it can't be asked: 0 if it can, ``inf`` if it won't be back."""
        out = self.outage()
        return 0.0 if out is None else out.seconds

    @property
    def free(self) -> int:
        """How many more questions it takes now."""
        room = self.source.slots - self.busy
        return room if room > 0 and self.pause() <= 0.0 else 0

    def was_unavailable(self) -> None:
        """Leave it alone for a while, longer each time, if it does not say itself for how long."""
        pause = min(LONGEST_REST, FIRST_REST * 2.0**self.refusals)
        self.refusals += 1
        self.resting = asyncio.get_running_loop().time() + pause

    def answered(self) -> None:
        """Note that it is there."""
        self.refusals = 0


def check_source(worker: Worker, source: Source) -> None:
    """Refuse a source that is another than the one that a worker was created with."""
    if worker.source is not None and worker.source != source.signature():
        raise InvalidProblem(
            f"worker {worker.id!r} was created with the source {worker.source}, and this one is "
            f"{source.signature()}: the model, the prompt or a parameter has changed; restore it, "
            "or give the judge another id",
            field="source",
        )


def soonest_back(loads: list[SourceLoad]) -> float:
    """Seconds until the first of those who are out is back; ``inf`` if nobody will be."""
    return min((pause for load in loads if (pause := load.pause()) > 0.0), default=math.inf)
