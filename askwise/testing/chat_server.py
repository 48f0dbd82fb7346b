"""A chat endpoint on this machine, OpenAI-compatible, that does what a script says.

It is for tests, demonstrations and trying judges without a key: it answers by a function of yours,
misbehaves as told, counts tokens by a rule of its own (four bytes each) and keeps a bill of all
that it would charge for. It listens on 127.0.0.1 and uses the standard library alone.
"""

import asyncio
import json
import math
import socket
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self

from askwise.sources.chat.forms import TOOL
from askwise.sources.chat.pricing import TokenPrice, TokenUsage

Drop = Literal["unread", "unanswered", "halfway"]
"""When a connection is dropped: before the request is taken, after it is billed, in the reply."""


@dataclass(frozen=True)
class Asked:
    """A request as a script sees it."""

    number: int
    """Its place among all requests, from 0."""
    body: Mapping[str, Any]
    headers: Mapping[str, str]

    @property
    def prompt(self) -> str:
        """All text of its messages."""
        texts = []
        for message in self.body.get("messages", ()):
            content = message.get("content")
            parts = content if isinstance(content, list) else [{"text": content}]
            texts += [str(part["text"]) for part in parts if part.get("text")]
        return "\n\n".join(texts)

    @property
    def item(self) -> str:
        """What is to be judged: the text between the last marks of the prompt."""
        head, _, _ = self.prompt.rpartition("\n</item")
        return head.rpartition("<item>\n")[2]

    @property
    def labels(self) -> list[str]:
        """The options that the prompt lists."""
        listed = self.prompt.partition("Options:\n")[2].split("\n\n")[0]
        return [line.partition(". ")[2].split(": ")[0] for line in listed.splitlines()]


@dataclass(frozen=True)
class Scripted:
    """What a server does about a request.

    Parameters
    ----------
    says : str
        The label that is answered, in the form that is asked for; or any other text.
    chances : mapping of a label to a probability, optional
        What is told where tokens are to be weighed; otherwise the answer has 0.9.
    status : int
        The status; from 300 on, ``says`` is the message of the error.
    code, param : str, optional
        The words of an error for programs.
    headers : mapping
        Further headers of the reply.
    usage : mapping or None or "count"
        The ``usage`` that is told: none, this one, or the true one.
    billed : bool, optional
        Whether it goes on the bill; by default replies below 300 do.
    latency : float
        Seconds before the reply.
    drip : float
        Seconds between the bytes of the reply.
    drop : "unread", "unanswered" or "halfway", optional
        When the connection is dropped.
    raw : bytes, optional
        The body instead of JSON.
    refusal : str, optional
        The model's words for declining.
    finish : str
        The reason for which the reply ended.
    id : str, optional
        The completion's id; by default another each time.
    plain : bool
        Whether ``says`` is the text of the reply, in whatever form an answer was asked for.
    """

    says: str = ""
    chances: Mapping[str, float] | None = None
    status: int = 200
    code: str | None = None
    param: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    usage: Mapping[str, Any] | Literal["count"] | None = "count"
    billed: bool | None = None
    latency: float = 0.0
    drip: float = 0.0
    drop: Drop | None = None
    raw: bytes | None = None
    refusal: str | None = None
    finish: str = "stop"
    id: str | None = None
    plain: bool = False


@dataclass(frozen=True)
class Charge:
    """A line of the server's bill."""

    id: str
    usage: TokenUsage
    cost: int
    """In millionths."""
    delivered: bool
    """Whether the whole reply was sent."""


Script = Callable[[Asked], "Scripted | str"]


class ChatServer:
    """An endpoint with one or more models.

    Parameters
    ----------
    script : callable, or mapping of a model to one
        What to do about a request: a :class:`Scripted`, or the label to answer.
    price : mapping or 0
        What tokens cost, as for :class:`askwise.sources.chat.Chat`.
    takes : collection of str
        Which of ``json_schema``, ``tool`` and ``logprobs`` it takes; others are refused with 400.
    keys : collection of str
        The keys that it takes; without any, it asks for none.
    port : int
        Where it listens; 0 takes a free one.

    Examples
    --------
    >>> import asyncio
    >>> from askwise.core.content import Content
    >>> from askwise.sources import Question
    >>> from askwise.sources.chat import Chat
    >>> asked = Question(Content("Spam?", options=["no", "yes"]), "t1", "You have won")
    >>> with ChatServer(lambda asked: "yes" if "won" in asked.item else "no") as server:
    ...     asyncio.run(Chat("any", server.url, price=0).answer(asked)).value
    'yes'
    """

    def __init__(
        self,
        script: Script | Mapping[str, Script],
        *,
        price: Any = 0,
        takes: frozenset[str] | set[str] = frozenset({"json_schema", "tool", "logprobs"}),
        keys: frozenset[str] | set[str] = frozenset(),
        port: int = 0,
    ) -> None:
        self.script = script
        self.price = TokenPrice.read(price)
        self.takes, self.keys, self.port = takes, keys, port
        self.asked: list[Asked] = []
        self.charges: list[Charge] = []
        self.busiest = 0
        """The most requests that were under way at a time."""
        self.url = ""
        self._busy = 0
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._over: asyncio.Event | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    @property
    def bill(self) -> int:
        """All that is charged, in millionths."""
        return sum(charge.cost for charge in self.charges)

    def start(self) -> Self:
        """Listen, in a thread of its own; ``with`` does the same.

        Raises
        ------
        OSError
            The port is taken.
        """
        self._socket = socket.create_server(("127.0.0.1", self.port))
        self._thread.start()
        self._ready.wait()
        return self

    def stop(self) -> None:
        """Close all connections."""
        assert self._loop is not None
        assert self._over is not None
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join()

    def __enter__(self) -> Self:
        """Start."""
        return self.start()

    def __exit__(self, *error: object) -> None:
        """Stop."""
        self.stop()

    def _run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self._loop, self._over = asyncio.get_running_loop(), asyncio.Event()
        connections: set[asyncio.Task[Any]] = set()

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            connections.add(task)
            try:
                while await self._exchange(reader, writer):
                    pass
            except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                pass  # the caller has gone, or the server stops
            finally:
                connections.discard(task)
                writer.transport.abort()

        server = await asyncio.start_server(serve, sock=self._socket, limit=2**26)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        self._ready.set()
        await self._over.wait()
        server.close()
        for task in list(connections):
            task.cancel()
        await asyncio.gather(*connections, return_exceptions=True)

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """One request and its reply; false if the connection is over."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.strip().split("\r\n")
        named = (line.partition(":") for line in lines)
        headers = {name.strip().lower(): value.strip() for name, _, value in named}
        raw = await reader.readexactly(int(headers.get("content-length", 0)))
        self._busy += 1
        self.busiest = max(self.busiest, self._busy)
        try:
            return await self._answer(first, headers, raw, writer)
        finally:
            self._busy -= 1

    async def _answer(
        self, first: str, headers: dict[str, str], raw: bytes, writer: asyncio.StreamWriter
    ) -> bool:
        method, path, _ = first.split(" ", 2)
        body = json.loads(raw or b"{}")
        asked = Asked(len(self.asked), body, headers)
        self.asked.append(asked)
        wanted = self._script(asked)
        if (method, path) != ("POST", "/v1/chat/completions"):
            wanted = Scripted(f"{method} {path} is not known", status=404)
        if wanted.latency:
            await asyncio.sleep(wanted.latency)
        if wanted.drop == "unread":
            return False
        usage, id = count(asked, wanted), wanted.id or f"chatcmpl-{asked.number}"
        billed = wanted.status < 300 if wanted.billed is None else wanted.billed
        if billed:
            self.charges.append(Charge(id, usage, self.price.bill(usage), delivered=False))
        if wanted.drop == "unanswered":
            return False
        place = len(self.charges) - 1
        sent = _encoded(wanted, _body(asked, wanted, usage, id))
        whole = wanted.drop is None
        for start in range(0, len(sent), 64 if wanted.drip else len(sent)):
            piece = sent[start : start + 64] if wanted.drip else sent
            writer.write(piece if whole else piece[: len(piece) // 2])
            await writer.drain()
            await asyncio.sleep(wanted.drip)
        if whole and billed:
            self.charges[place] = replace(self.charges[place], delivered=True)
        return whole

    def _script(self, asked: Asked) -> Scripted:
        if self.keys and asked.headers.get("authorization", "")[7:] not in self.keys:
            return Scripted("Incorrect API key provided", status=401, code="invalid_api_key")
        body = asked.body
        for wish, name in (
            ("response_format", "json_schema"),
            ("tools", "tool"),
            ("logprobs", "logprobs"),
        ):
            if wish in body and name not in self.takes:
                return Scripted(f"{wish} is not supported", status=400, param=wish)
        script = self.script
        if isinstance(script, Mapping):
            if body.get("model") not in script:
                return Scripted("no such model", status=404, code="model_not_found")
            script = script[body["model"]]
        made = script(asked)
        return made if isinstance(made, Scripted) else Scripted(made)


def count(asked: Asked, wanted: Scripted) -> TokenUsage:
    """Tokens of a call by this server's rule: four bytes each, rounded up, one at least."""
    prompt = json.dumps(asked.body.get("messages", []), ensure_ascii=False).encode()
    text = _text(asked, wanted)
    most = asked.body.get("max_completion_tokens", asked.body.get("max_tokens", math.inf))
    return TokenUsage(_tokens(prompt), 0, int(min(most, _tokens(text.encode()))))


def _tokens(text: bytes) -> int:
    return max(1, -(-len(text) // 4))


def _text(asked: Asked, wanted: Scripted) -> str:
    """What the model writes: an answer in the form that is asked for."""
    if wanted.plain or wanted.refusal is not None:
        return wanted.refusal or wanted.says
    labels = asked.labels
    if "response_format" in asked.body or "tools" in asked.body:
        return json.dumps({"answer": wanted.says}, ensure_ascii=False)
    if asked.prompt.endswith("and nothing else.") and wanted.says in labels:
        return str(labels.index(wanted.says) + 1)
    return f"Answer: {wanted.says}" if wanted.says in labels else wanted.says


def _body(asked: Asked, wanted: Scripted, usage: TokenUsage, id: str) -> dict[str, Any]:
    told: Any = wanted.usage
    if told == "count":
        told = {
            "prompt_tokens": usage.input,
            "completion_tokens": usage.output,
            "total_tokens": usage.input + usage.output,
        }
    made: dict[str, Any] = {"id": id} if told is None else {"id": id, "usage": told}
    if wanted.status >= 300:
        if wanted.billed is not True:
            made.pop("usage", None)
        error = {"message": wanted.says, "code": wanted.code, "param": wanted.param}
        return {**made, "error": error}
    text = _text(asked, wanted)
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if wanted.refusal is not None:
        message = {"role": "assistant", "content": None, "refusal": wanted.refusal}
    elif "tools" in asked.body and not wanted.plain:
        call = {"id": "call-1", "type": "function", "function": {"name": TOOL, "arguments": text}}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
    choice: dict[str, Any] = {"index": 0, "message": message, "finish_reason": wanted.finish}
    if asked.body.get("logprobs"):
        choice["logprobs"] = {"content": _weighed(asked, wanted, text)}
    model = asked.body.get("model")
    return {**made, "object": "chat.completion", "model": model, "choices": [choice]}


def _weighed(asked: Asked, wanted: Scripted, text: str) -> list[dict[str, Any]]:
    """Tokens with their rivals: the answer is one token, what stands around it is another."""
    labels = asked.labels
    if wanted.says not in labels:
        return [{"token": text, "logprob": 0.0, "top_logprobs": []}]
    rest = 0.1 / max(1, len(labels) - 1)
    chances = wanted.chances or {label: 0.9 if label == wanted.says else rest for label in labels}
    number = text == str(labels.index(wanted.says) + 1)
    written = {label: str(at + 1) if number else label for at, label in enumerate(labels)}
    said = written[wanted.says]
    before, _, after = text.rpartition(said)
    rivals = [
        {"token": written[label], "logprob": math.log(chance)}
        for label, chance in chances.items()
        if chance > 0
    ]
    tokens = [
        {"token": before, "logprob": 0.0, "top_logprobs": []},
        {"token": said, "logprob": math.log(chances[wanted.says]), "top_logprobs": rivals},
        {"token": after, "logprob": 0.0, "top_logprobs": []},
    ]
    return [token for token in tokens if token["token"]]


def _encoded(wanted: Scripted, body: dict[str, Any]) -> bytes:
    content = json.dumps(body).encode() if wanted.raw is None else wanted.raw
    headers = {
        "Content-Type": "application/json",
        "Content-Length": str(len(content)),
        **wanted.headers,
    }
    lines = [f"{name}: {value}\r\n" for name, value in headers.items()]
    return f"HTTP/1.1 {wanted.status} Scripted\r\n{''.join(lines)}\r\n".encode() + content
