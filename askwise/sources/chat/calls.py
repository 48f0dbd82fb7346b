"""Calls of a chat model: forms tried in turn, repetitions, what each attempt cost."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from askwise.sources.base import Failure
from askwise.sources.chat import forms
from askwise.sources.chat.endpoint import Endpoint, HttpReply, NoReply, NotSent
from askwise.sources.chat.forms import Choices, ReadAnswer
from askwise.sources.chat.pacing import Breaker, Pace, asked_wait
from askwise.sources.chat.pricing import TokenPrice, TokenUsage
from askwise.sources.chat.prompts import Prompt
from askwise.sources.chat.requests import LimitName, RequestShape, Rung

FIRST_WAIT, LONGEST_WAIT = 0.5, 20.0
"""Seconds before the first repetition, and before any, at most, unless the endpoint asks for
more. Drawn evenly from 0: calls that failed together do not come back together.
"""

PATIENCE = 60.0
"""An endpoint that asks for a longer wait than this is out until then."""

BOOKED = "the most that it can have cost is booked"

AGAIN = (408, 409, 425, 429, 500, 502, 503, 504, 529)
"""Statuses that another attempt may better."""

OTHERWISE = (400, 404, 422, 501)
"""Statuses by which endpoints refuse a form of answer, among other things."""

FOR_GOOD = {
    "insufficient_quota": "the account has no money left",
    "model_not_found": "the model is not known",
}
"""Words of endpoints for what no waiting mends."""

Then = Literal["done", "again", "otherwise", "strayed", "out"]
"""What to do about an attempt: nothing; repeat it; ask for another form of answer, now or from the
next call on; give the judge up."""

TOO_LONG = {"context_length_exceeded", "exceed_context_size_error", "string_above_max_length"}
FILTERED = {"content_filter", "content_policy_violation"}


@dataclass(frozen=True, slots=True)
class Called:
    """The result of a call: the place of the chosen label (or the number), or a failure."""

    choice: int | float | None = None
    failure: Failure | None = None
    cost: int = 0
    estimated: bool = False
    probabilities: tuple[float, ...] | None = None
    rationale: str | None = None
    reference: str | None = None
    detail: str | None = None
    then: Then = "done"


class ModelCalls:
    """Calls one model, and remembers which form of answer its endpoint takes.

    Parameters
    ----------
    endpoint : Endpoint
        Where it is.
    shape : RequestShape
        What its requests have in common.
    price : TokenPrice
        What its tokens cost.
    rungs : sequence of Rung
        The forms of answer to try in turn.
    pace, breaker : Pace, Breaker
        How fast it may be called, and whether at all.
    retries, paid_retries : int
        How often a call is repeated: at all, and if it may have cost something.
    draw : callable
        Numbers from 0 to 1, for the waits.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        shape: RequestShape,
        price: TokenPrice,
        rungs: Sequence[Rung],
        *,
        pace: Pace,
        breaker: Breaker,
        retries: int,
        paid_retries: int,
        draw: Callable[[], float] = random.random,
    ) -> None:
        self.endpoint, self.shape, self.price, self.rungs = endpoint, shape, price, rungs
        self.pace, self.breaker = pace, breaker
        self.retries, self.paid_retries = retries, paid_retries
        self._draw = draw
        self._around: dict[Choices, int] = {}
        self._first = 0
        self._settled = False
        self._limit: LimitName = "max_tokens"

    def most(self, prompt: Prompt, choices: Choices, max_tokens: int) -> int:
        """The most that one attempt costs, in millionths."""
        if choices not in self._around:
            usable = self._usable(choices, 0).values()
            self._around[choices] = self.shape.most_input(choices, usable)
        return self.price.most(self._around[choices] + self.shape.most_tokens(prompt), max_tokens)

    def likely(self, prompt: Prompt, choices: Choices, max_tokens: int, reply: int) -> int:
        """What one attempt with a reply of this many tokens is likely to cost, in millionths."""
        most = self.most(prompt, choices, max_tokens)
        tokens = self.shape.likely_tokens(prompt, self._around[choices])
        return min(most, self.price.most(tokens, min(reply, max_tokens)))

    async def call(self, prompt: Prompt, choices: Choices, max_tokens: int) -> Called:
        """Call until there is an answer, or a failure that no repetition betters.

        A call that may have cost something is repeated only as far as the ceiling counts it.
        """
        most = self.most(prompt, choices, max_tokens)
        usable = self._usable(choices, self._first)
        cost, estimated, tries = 0, False, 0
        while True:
            at = next(iter(usable))
            got = await self._attempt(prompt, choices, usable[at], max_tokens, most)
            cost, estimated = cost + got.cost, estimated or got.estimated
            if got.then == "otherwise" and not got.cost and len(usable) > 1:
                del usable[at]
                continue
            if got.then != "again":
                break
            tries += 1
            dear = got.cost > 0 and cost + most > most * (1 + self.paid_retries)
            if tries > self.retries or dear or self.pace.held() > PATIENCE:
                break
            spread = min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** (tries - 1))
            await self.pace.sleep(self._draw() * spread)
        self._learn(at, got)
        if got.failure == "unavailable" and cost:
            got = replace(got, failure="error")
        return replace(got, cost=cost, estimated=estimated)

    def _learn(self, at: int, got: Called) -> None:
        """Remember what an endpoint takes, and whether it works at all."""
        why = got.detail or ""
        if got.then == "again":
            self.breaker.failed(why)
        elif got.failure == "unavailable":
            self.breaker.break_for_good(why)
        elif got.then == "otherwise":
            # All forms were refused: perhaps it is this question, perhaps not.
            self.breaker.failed(why)
        else:
            self.breaker.worked()
            # A form that has worked is not given up for one question on which it did not.
            if self._settled:
                return
            if got.then == "strayed":
                at += [rung.form for rung in self.rungs[at:]].count(self.rungs[at].form)
            self._first = max(self._first, min(at, len(self.rungs) - 1))
            self._settled = got.then == "done" and got.failure is None

    def _usable(self, choices: Choices, first: int) -> dict[int, Rung]:
        found = {
            at: rung
            for at, rung in enumerate(self.rungs)
            if forms.usable(rung.form, choices, self.shape.rationale)
            and (choices.range is None or rung.top == 0)
        }
        last = max(found)
        return {at: rung for at, rung in found.items() if at >= min(first, last)}

    async def _attempt(
        self, prompt: Prompt, choices: Choices, rung: Rung, max_tokens: int, most: int
    ) -> Called:
        limit = self._limit
        body = self.shape.body(prompt, choices, rung, max_tokens, limit)
        likely = len(prompt.text) // 3 + max_tokens
        correct = await self.pace.turn(likely)
        try:
            reply = _honest(await self.endpoint.post(body))
        except NotSent as error:
            return Called(failure="unavailable", detail=str(error), then="again")
        except NoReply as error:
            return Called(
                failure="timed_out" if error.late else "lost",
                cost=most,
                estimated=most > 0,
                detail=f"{error}; {BOOKED}" if most else str(error),
                then="again",
            )
        self.pace.obey(reply.headers)
        answered = 200 <= reply.status < 300
        usage = TokenUsage.read(_of(reply.body, "usage"), spoke=answered)
        if usage is not None:
            correct(usage.input + usage.output)
        if answered:
            return self._read(reply, usage, choices, rung, most)
        if reply.error().get("param") == limit == "max_tokens":
            self._limit = "max_completion_tokens"
            return await self._attempt(prompt, choices, rung, max_tokens, most)
        paid = 0 if usage is None else self.price.bill(usage)
        return replace(self._refused(reply), cost=paid, reference=_id_of(reply))

    def _refused(self, reply: HttpReply) -> Called:
        """What a reply means that is not an answer."""
        words = reply.words()
        said = self.endpoint.redacted(str(reply.error().get("message", "")))
        detail = f"HTTP {reply.status}" + (f": {said}" if said else "")
        for word in sorted(words & set(FOR_GOOD)):
            return _out(f"{FOR_GOOD[word]} ({detail})")
        if reply.status in (401, 403):
            holder = self.endpoint.key_env
            key = f"the key in {holder}" if holder else "a call without a key (give key_env)"
            return _out(f"{key} is refused ({detail})")
        if reply.status == 402:
            return _out(f"the account has no money left ({detail})")
        too_many = reply.error().get("param") == "input_tokens"
        if reply.status == 413 or words & TOO_LONG or too_many:
            return Called(failure="too_long", detail=detail)
        if words & FILTERED:
            return Called(failure="filtered", detail=detail)
        if reply.status in AGAIN:
            self.pace.hold(asked_wait(reply.headers))
            return Called(failure="unavailable", detail=detail, then="again")
        if reply.status == 404:
            unknown = f"{self.endpoint.url} or the model {self.shape.model!r} is not known"
            return replace(_out(f"{unknown} ({detail})"), then="otherwise")
        if reply.status in OTHERWISE:
            return Called(failure="rejected", detail=detail, then="otherwise")
        if 300 <= reply.status < 400:
            to = self.endpoint.redacted(reply.headers.get("location", "nowhere"))
            return _out(f"base_url leads to {to}: redirects are not followed")
        return _out(detail)

    def _read(
        self,
        reply: HttpReply,
        usage: TokenUsage | None,
        choices: Choices,
        rung: Rung,
        most: int,
    ) -> Called:
        """What a reply answers, and what it cost."""
        got = self._understood(reply, choices, rung)
        if usage is not None:
            return replace(got, cost=self.price.bill(usage), reference=_id_of(reply))
        if not most:
            return replace(got, reference=_id_of(reply))
        detail = f"{got.detail + '; ' if got.detail else ''}it did not report its usage; {BOOKED}"
        return replace(got, cost=most, estimated=True, reference=_id_of(reply), detail=detail)

    def _understood(self, reply: HttpReply, choices: Choices, rung: Rung) -> Called:
        listed = _of(reply.body, "choices")
        first = listed[0] if isinstance(listed, list) and listed else None
        message = _of(first, "message")
        if not isinstance(message, Mapping):
            return Called(
                failure="unreadable", detail="the reply is not a completion", then="again"
            )
        ended = _of(first, "finish_reason")
        if ended == "content_filter":
            return Called(failure="filtered", detail="the endpoint's filter withheld the reply")
        if message.get("refusal"):
            words = self.endpoint.redacted(str(message["refusal"]))
            return Called(failure="refused", detail=words)
        said = forms.read(rung.form, message, choices)
        then: Then = "done" if said.as_asked or ended == "length" else "strayed"
        if said.choice is None:
            cut = " (it was cut off: max_tokens is too low)" if ended == "length" else ""
            shown = self.endpoint.redacted(said.text)[:80]
            detail = f"it said {shown!r}, which is not {choices.words()}{cut}"
            return Called(failure="unreadable", detail=detail, then=then)
        return Called(
            said.choice,
            probabilities=_probabilities(said, _of(first, "logprobs"), choices, rung),
            rationale=said.rationale,
            then=then,
        )


def _honest(reply: HttpReply) -> HttpReply:
    """A reply whose status is that of the error in it, if there is one in place of an answer."""
    if reply.status >= 300 or not reply.error() or _of(reply.body, "choices"):
        return reply
    code = reply.error().get("code")
    return replace(reply, status=code if isinstance(code, int) and 400 <= code < 600 else 500)


def _out(why: str) -> Called:
    """The judge is given up."""
    return Called(failure="unavailable", detail=why, then="out")


def _probabilities(
    said: ReadAnswer, logprobs: object, choices: Choices, rung: Rung
) -> tuple[float, ...] | None:
    by_number = rung.form == "token" and said.as_asked
    numbers = [str(at + 1) for at in range(len(choices.labels))]
    return forms.probabilities_of(said, logprobs, numbers if by_number else choices.labels)


def _of(raw: object, key: str) -> Any:
    return raw.get(key) if isinstance(raw, Mapping) else None


def _id_of(reply: HttpReply) -> str | None:
    found = _of(reply.body, "id") or reply.headers.get("x-request-id")
    return found[:200] if isinstance(found, str) else None
