"""One call: a question is put to its source, and what came back is told to the campaign."""

import asyncio
import logging
from functools import partial

from askwise.campaign import Campaign
from askwise.campaign.views.assignments import times_asked
from askwise.core.calls import LONGEST_RATIONALE, LONGEST_REFERENCE, check_failure
from askwise.core.choices import Assignment
from askwise.core.content import Content
from askwise.core.errors import AskwiseError, Conflict, InvalidAnswer, OverBudget
from askwise.core.money import from_micro, to_micro
from askwise.core.text import flaw
from askwise.running.counts import CallCounts
from askwise.running.writing import WriteThreads
from askwise.sources import Question, Response, Source

log = logging.getLogger(__name__)

UNUSABLE = ("invalid_answer", "invalid_value", "invalid_amount", "unstorable")
"""Why an answer is refused that no later try would mend: it is a failure of its source."""


class Calls:
    """Puts questions to sources, and settles them.

    Parameters
    ----------
    counts : mapping of a worker to the counts of their calls
        What came back is counted here.
    """

    def __init__(
        self,
        campaign: Campaign,
        content: Content,
        counts: dict[str, CallCounts],
        threads: WriteThreads,
    ) -> None:
        self._campaign = campaign
        self._content = content
        self._counts = counts
        self._threads = threads
        self._repeats = bool(campaign.spec["repeat"])
        self.unsettled: dict[str, Assignment] = {}
        """What was taken on, and is neither settled nor given back."""

    def question(self, assignment: Assignment) -> Question:
        """What an assignment asks; reads the campaign where pairs may repeat."""
        before = 0
        if self._repeats:
            with self._campaign.reading() as state:
                before = times_asked(self._campaign.name, state, assignment.id)
        return Question(
            content=self._content,
            task=assignment.task or "",
            payload=assignment.payload,
            assignment=assignment.id,
            worker=assignment.worker,
            draw=before,
        )

    async def put(self, source: Source, question: Question, assignment: Assignment) -> Response:
        """Put a question; whatever the source does, there is a response."""
        most = to_micro(assignment.price, "price")
        try:
            ceiling = source.ceiling(question)
        except AskwiseError as error:
            return Response(failure="rejected", detail=str(error))
        except Exception as error:
            log.exception("source of worker %r has no ceiling for it", question.worker)
            return Response(failure="error", detail=str(error))
        if ceiling > most:
            return Response(
                failure="too_long",
                detail=f"it may cost {from_micro(ceiling)}, and {assignment.price} is reserved",
            )
        try:
            response = await source.answer(question)
            if not isinstance(response, Response):
                raise TypeError(f"it answered with a {type(response).__name__}")
        except asyncio.CancelledError:
            # Put, and cut off: it may have been paid, so it is booked as if it was.
            lost = Response(failure="lost", cost=ceiling, estimated=True)
            await asyncio.shield(self.settle(assignment, lost))
            raise
        except Exception as error:
            # A source of others that breaks its word: what was paid is not known.
            log.exception("source of worker %r broke on task %r", question.worker, question.task)
            return Response(failure="error", cost=most, estimated=True, detail=str(error))
        return response

    async def settle(self, assignment: Assignment, response: Response) -> None:
        """Tell the campaign what came back."""
        cost, reference = from_micro(response.cost), _usable(response.reference, LONGEST_REFERENCE)
        if response.value is not None:
            settle = partial(
                self._campaign.tell,
                assignment.id,
                response.value,
                cost=cost,
                probabilities=response.probabilities,
                rationale=_usable(response.rationale, LONGEST_RATIONALE),
                reference=reference,
            )
        else:
            why = check_failure(response.failure)
            settle = partial(
                self._campaign.fail, assignment.id, why, cost=cost, reference=reference
            )
        counts = self._counts[assignment.worker]
        try:
            await self._threads.do(settle, key=f"run:{assignment.id}")
        except (InvalidAnswer, OverBudget, Conflict) as refused:
            if refused.reason in UNUSABLE:
                log.warning("the answer to %s can't be used: %s", assignment.id, refused)
                response = Response(failure="unreadable", cost=response.cost)
                fail = partial(self._campaign.fail, assignment.id, "unreadable", cost=cost)
                await self._threads.do(fail, key=f"run:{assignment.id}")
                counts.count(response)
            else:
                counts.untaken += 1
                log.warning("the answer to %s was not taken: %s", assignment.id, refused)
        else:
            counts.count(response)
        self.unsettled.pop(assignment.id, None)

    async def give_back(self, assignment: Assignment) -> None:
        """Let a campaign have an assignment again that was not put to anybody."""
        self.unsettled.pop(assignment.id, None)
        self._counts[assignment.worker].returned += 1
        try:
            await asyncio.shield(self._threads.do(self._campaign.expire, assignment.id))
        except AskwiseError as error:
            log.warning("%s could not be given back: %s", assignment.id, error)


def _usable(text: str | None, longest: int) -> str | None:
    """What a source says beside its answer, as far as a campaign can keep it."""
    return None if text is None or flaw(text) is not None else text[:longest]
