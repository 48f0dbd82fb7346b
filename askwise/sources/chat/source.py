"""A chat model as a source: prompts, orders, retries, the bill."""

import asyncio
import dataclasses
import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeVar, get_args

from askwise.core import plugins
from askwise.core.checks import flag, one_of, real, whole
from askwise.core.errors import AskwiseError, InvalidParameter, InvalidProblem
from askwise.core.money import to_micro
from askwise.core.registry import example
from askwise.sources.base import OPERATIONAL, Outage, Question, Response, Source, sources
from askwise.sources.cache import ReplyCache
from askwise.sources.chat.calls import PATIENCE, Called, ModelCalls
from askwise.sources.chat.endpoint import Endpoint
from askwise.sources.chat.forms import Choices, FormName
from askwise.sources.chat.pacing import Breaker, Pace
from askwise.sources.chat.pricing import TokenPrice
from askwise.sources.chat.prompts import SYSTEM, Prompt, PromptTemplate
from askwise.sources.chat.requests import RequestShape, ladder

T = TypeVar("T")

Orders = Literal["both", "random", "as-given"]

KEPT_FAILURES = ("refused", "unreadable", "filtered")
"""Failures that the same call would have again, and that are cached like answers."""

RESERVED = (
    *("model", "messages", "stream", "n", "max_tokens", "max_completion_tokens", "temperature"),
    *("response_format", "tools", "tool_choice", "logprobs", "top_logprobs"),
)
"""Fields of a request that ``parameters`` may not set."""

BARE_REPLY, REASONED_REPLY = 12, 120
"""Tokens of a usual reply: an option in JSON, and one with its reasons."""

_REASONING = re.compile(r"(?:^|[/:_-])(?:o[1-9]|gpt-5|r1|qwq|reasoner|thinking)(?:[-_.:]|$)", re.I)


@sources.register("chat")
@dataclass(eq=False)
class Chat(Source):
    """A model behind an OpenAI-compatible endpoint: a provider's, or one on your own machine.

    Answers are asked for in a form that programs can read; the first that the endpoint takes of a
    JSON schema, a call of a function, one token, a line of text. Where it tells how likely tokens
    are, responses have probabilities. Bills follow the reply's ``usage``; where that is missing or
    can't be true, and where a reply is lost, the most that the call can have cost is booked, and
    the response says so.

    Parameters
    ----------
    model : str
        The model's name at the endpoint.
    base_url : str
        The endpoint's address, to which ``/chat/completions`` is added.
    price : mapping or 0
        ``{"input": "0.15", "cached": "0.075", "output": "0.60", "per": 1000000}``: what tokens of
        the prompt, those of it that the endpoint had cached, and tokens of the reply cost. 0 for a
        model that costs nothing.
    key_env : str, optional
        The variable of the environment that holds the key.
    max_tokens : int, optional
        Maximum number of tokens of a reply; by default as many as the longest option can need, and
        400 more for a rationale. Required for models that reason, because their reasoning is tokens
        too.
    temperature : float, optional
        Sampling temperature; 0 by default, and not sent to models that reason.
    rationale : bool
        Whether the model gives its reasons first.
    orders : "both", "random" or "as-given"
        How pairs are shown: in both orders (two calls; if the answers differ, the call fails with
        ``orders``), in a random order for each task, or as given.
    template : str, optional
        A Jinja2 template of the prompt: see :class:`askwise.sources.chat.prompts.PromptTemplate`.
    form : "auto", "json_schema", "tool", "token" or "pattern"
        The form of answers.
    reasoning : bool, optional
        Whether the model reasons; guessed from its name if not given.
    image_tokens : int, optional
        Maximum number of tokens per picture; pictures are refused without it.
    parameters : mapping, optional
        Further fields of a request, such as ``reasoning_effort``.
    rpm, tpm : int, optional
        Maximum number of requests and tokens per minute.
    timeout : float
        Seconds for one call.
    retries : int
        How often to repeat a call that was temporarily refused or got no connection.
    paid_retries : int
        How often to repeat a call that may have cost something. The ceiling counts these
        repetitions.
    cache : ReplyCache, optional
        Where replies are kept: the same call is then free, and says so.
    slots : int
        Maximum number of calls at a time.

    Examples
    --------
    >>> from askwise.core.content import Content
    >>> judge = Chat("small", "http://127.0.0.1:8080/v1", price={"input": "0.15", "output": "0.6"})
    >>> judge.ceiling(Question(Content("Spam?", options=["no", "yes"]), "t1", "You have won"))
    174
    """

    model: str = field(metadata=example("its name at the endpoint"))
    base_url: str = field(metadata=example('base_url = "http://127.0.0.1:8080/v1"'))
    price: Any = field(
        metadata=example(
            'price = {input = "0.15", output = "0.60", per = 1000000}, or 0 if it costs nothing'
        )
    )
    key_env: str = field(default="", metadata=OPERATIONAL)
    max_tokens: int | None = None
    temperature: float | None = None
    rationale: bool = False
    orders: Orders = "both"
    template: str = ""
    form: FormName | Literal["auto"] = "auto"
    reasoning: bool | None = None
    image_tokens: int | None = field(default=None, metadata=OPERATIONAL)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    rpm: int | None = field(default=None, metadata=OPERATIONAL)
    tpm: int | None = field(default=None, metadata=OPERATIONAL)
    timeout: float = field(default=60.0, metadata=OPERATIONAL)
    retries: int = field(default=4, metadata=OPERATIONAL)
    paid_retries: int = field(default=0, metadata=OPERATIONAL)
    cache: ReplyCache | None = field(default=None, repr=False, metadata=OPERATIONAL)
    slots: int = field(default=4, kw_only=True, metadata=OPERATIONAL)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.model, str) or not self.model.strip():
            raise InvalidParameter(
                f"model is {self.model!r}: give its name at the endpoint", field="model"
            )
        _check_parameters(self)
        price = TokenPrice.read(self.price)
        if self.reasoning is None:
            self.reasoning = _REASONING.search(self.model) is not None
        if self.reasoning and self.max_tokens is None:
            raise InvalidParameter(
                f"max_tokens is missing: the model {self.model!r} reasons, and you pay for its "
                "reasoning; give the maximum number of tokens of a reply, including reasoning",
                field="max_tokens",
            )
        temperature = self.temperature
        if temperature is None and not self.reasoning:
            temperature = 0.0
        self._template = PromptTemplate(self.template)
        self._breaker = Breaker()
        self._pace = Pace(self.rpm, self.tpm)
        self._calls = ModelCalls(
            Endpoint(self.base_url, self.key_env, self.timeout),
            RequestShape(
                self.model, temperature, self.rationale, self.parameters, self.image_tokens or 0
            ),
            price,
            ladder(self.form, weighed=not self.reasoning),
            pace=self._pace,
            breaker=self._breaker,
            retries=self.retries,
            paid_retries=self.paid_retries,
        )

    @property
    def repeat_is_free(self) -> bool:
        """Where there is a cache."""
        return self.cache is not None

    def check(self) -> None:
        """Refuse a key that is missing, and a template that names what there is not."""
        self._calls.endpoint.check()
        self._template.check()

    def outage(self) -> Outage | None:
        """Whether the breaker is open, or the endpoint has asked for a long wait."""
        held = self._pace.held()
        if held > PATIENCE:
            return Outage("the endpoint's limits are used up", held)
        return self._breaker.outage()

    def identity(self) -> dict[str, Any]:
        """What answers depend on: the model and where it is, the prompt, the parameters."""
        said = {name: value for name, value in super().identity().items() if name != "price"}
        return said | {"template": self._template.source, "system": SYSTEM}

    def ceiling(self, question: Question) -> int:
        """The most that all calls for a question cost."""
        return sum(
            self._most(question, self._prompt(question, swapped)) * (1 + self.paid_retries)
            for swapped in self._orders(question)
        )

    def estimate(self, question: Question) -> int:
        """What the calls for a question are likely to cost, each with a reply of usual length."""
        choices, most = Choices.of(question.content), self._max_tokens(question)
        reply = most // 2 if self.reasoning else REASONED_REPLY if self.rationale else BARE_REPLY
        return sum(
            self._calls.likely(self._prompt(question, swapped), choices, most, reply)
            for swapped in self._orders(question)
        )

    async def answer(self, question: Question) -> Response:
        """Call the model; for a pair in both orders, twice."""
        heard: list[Response] = []
        for swapped in self._orders(question):
            try:
                heard.append(await self._heard(question, swapped))
            except AskwiseError as error:
                heard.append(Response(failure="rejected", detail=str(error)))
            if heard[-1].failure is not None:
                break
        return _together(heard)

    async def aclose(self) -> None:
        """Let go of the connections."""
        await self._calls.endpoint.aclose()

    def _orders(self, question: Question) -> tuple[bool, ...]:
        """Whether the sides are swapped, for each call."""
        if not question.content.pair or self.orders == "as-given":
            return (False,)
        if self.orders == "both":
            return (False, True)
        # Drawn by the question alone, so that it is the same when it is put again.
        drawn = hashlib.sha256(f"{self._digest}\n{question.task}\n{question.draw}".encode())
        return (drawn.digest()[0] % 2 == 1,)

    def _prompt(self, question: Question, swapped: bool) -> Prompt:
        prompt = self._template.fill(question, swapped=swapped)
        if prompt.images and self.image_tokens is None:
            raise InvalidProblem(
                f"task {question.task!r} shows a picture whose cost is unknown: give "
                "image_tokens, the maximum number of tokens per picture",
                field="image_tokens",
            )
        return prompt

    def _max_tokens(self, question: Question) -> int:
        if self.max_tokens is not None:
            return self.max_tokens
        longest = max((len(each.label.encode()) for each in question.content.options), default=24)
        return 40 + longest + (400 if self.rationale else 0)

    def _most(self, question: Question, prompt: Prompt) -> int:
        choices = Choices.of(question.content)
        return self._calls.most(prompt, choices, self._max_tokens(question))

    async def _heard(self, question: Question, swapped: bool) -> Response:
        """One call, or what is kept of an earlier one."""
        prompt = self._prompt(question, swapped)
        key = self._key(question, prompt, swapped)
        try:
            kept = await self._off_loop(self._kept, key, question)
        except Exception as error:  # whatever the cache is; to call now might be to pay twice
            return Response(failure="unavailable", detail=f"the cache: {plugins.reason(error)}")
        if kept is not None:
            return kept
        out = self.outage()
        if out is not None:
            return Response(failure="unavailable", detail=out.why)
        choices = Choices.of(question.content)
        called = await self._calls.call(prompt, choices, self._max_tokens(question))
        response = _response(question, called, swapped)
        if response.failure is None or response.failure in KEPT_FAILURES:
            return await self._off_loop(self._keep, key, question, response)
        return response

    async def _off_loop(self, act: Callable[..., T], *given: Any) -> T:
        """Use the cache, in another thread if it may take a while."""
        if getattr(self.cache, "blocking", False):
            return await asyncio.to_thread(act, *given)
        return act(*given)

    def _keep(self, key: str, question: Question, response: Response) -> Response:
        """Keep a response; one that can't be kept is paid and told all the same."""
        if self.cache is None:
            return response
        try:
            kept = {**response.to_json(), "assignment": question.assignment}
            self.cache[key] = json.dumps(kept, ensure_ascii=False)
        except Exception as error:
            told = f"it is not in the cache: {plugins.reason(error)}"
            before = f"{response.detail}; " if response.detail else ""
            return dataclasses.replace(response, detail=before + told)
        return response

    def _key(self, question: Question, prompt: Prompt, swapped: bool) -> str:
        """The key of a call: the model with all that it is told, the order and the draw."""
        written = json.dumps(
            [self._digest, prompt.text, prompt.images, question.content.names(), swapped,
             self._max_tokens(question), question.draw]
        )  # fmt: skip
        return hashlib.sha256(written.encode()).hexdigest()

    def _kept(self, key: str, question: Question) -> Response | None:
        """What was kept of a call; the assignment that it was made for is told its cost again.

        A process may have been killed before the campaign knew of it. Others have it for nothing.
        """
        text = None if self.cache is None else self.cache.get(key)
        if text is None:
            return None
        try:
            raw = json.loads(text)
            payer = raw.pop("assignment", "")
            raw["cost"] = to_micro(raw["cost"], "cost")
            if not payer or payer != question.assignment:
                raw |= {"cost": 0, "estimated": False}
            return Response(**{**raw, "cached": True})
        except (TypeError, KeyError, ValueError, AskwiseError):
            return None  # written by another version

    @cached_property
    def _digest(self) -> str:
        return self.digest()


def _response(question: Question, called: Called, swapped: bool) -> Response:
    """A call by the campaign's names, whatever the order in which sides were shown."""
    names = question.options

    def named(at: int) -> str:
        return question.content.unswapped(names[at]) if swapped else names[at]

    value: str | float | None = called.choice
    if value is not None and names:
        value = named(int(value))
    chances = None
    if called.probabilities is not None:
        by_name = {named(at): chance for at, chance in enumerate(called.probabilities)}
        chances = {name: by_name[name] for name in names}
    return Response(
        value,
        called.failure,
        called.cost,
        chances,
        called.rationale,
        called.reference,
        estimated=called.estimated,
        detail=called.detail,
    )


def _together(heard: list[Response]) -> Response:
    """One response of the calls in one or both orders."""
    last = heard[-1]
    if len(heard) == 1:
        return last
    cost = sum(each.cost for each in heard)
    shared: dict[str, Any] = {
        "cost": cost,
        "cached": all(each.cached for each in heard),
        "estimated": any(each.estimated for each in heard),
        "reference": ", ".join(each.reference for each in heard if each.reference) or None,
        "detail": "; ".join(each.detail for each in heard if each.detail) or None,
    }
    if last.failure is not None:
        failure = "error" if last.failure == "unavailable" and cost else last.failure
        return dataclasses.replace(last, failure=failure, **shared)
    first = heard[0]
    if first.value != last.value:
        said = f"{first.value!r} in one order, {last.value!r} in the other"
        return Response(failure="orders", **{**shared, "detail": said})
    chances = None
    if first.probabilities is not None and last.probabilities is not None:
        after = last.probabilities
        chances = {name: (p + after[name]) / 2 for name, p in first.probabilities.items()}
    return dataclasses.replace(first, probabilities=chances, **shared)


def _check_parameters(chat: Chat) -> None:
    one_of(chat.orders, "orders", get_args(Orders))
    one_of(chat.form, "form", ("auto", *get_args(FormName)))
    flag(chat.rationale, "rationale")
    if chat.reasoning is not None:
        flag(chat.reasoning, "reasoning")
    for name, least, most in (
        ("max_tokens", 1, 10**7),
        ("image_tokens", 1, 10**7),
        ("rpm", 1, 10**9),
        ("tpm", 1, 10**12),
    ):
        if getattr(chat, name) is not None:
            whole(getattr(chat, name), name, least=least, most=most)
    whole(chat.retries, "retries", least=0, most=100)
    whole(chat.paid_retries, "paid_retries", least=0, most=100)
    real(chat.timeout, "timeout", "seconds above 0", least=1e-3, most=1e6)
    if chat.temperature is not None:
        real(chat.temperature, "temperature", "a number from 0 to 2", least=0, most=2)
    for name in ("key_env", "template"):
        if not isinstance(getattr(chat, name), str):
            raise InvalidParameter(f"{name} is {getattr(chat, name)!r}: give text", field=name)
    if not isinstance(chat.parameters, Mapping):
        raise InvalidParameter(
            f"parameters is {chat.parameters!r}: give fields of a request", field="parameters"
        )
    for name in sorted(set(chat.parameters) & set(RESERVED)):
        raise InvalidParameter(
            f"parameters has {name!r}, which askwise sets itself: leave it out", field="parameters"
        )
