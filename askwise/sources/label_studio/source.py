"""People who answer in Label Studio: where it is, what they are paid, how it is kept in step."""

import dataclasses
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import urlsplit

from askwise.core.checks import whole
from askwise.core.errors import AskwiseError, Conflict, InvalidParameter, InvalidProblem
from askwise.core.fields import check_id
from askwise.core.registry import example
from askwise.data.tables import read_text, read_toml
from askwise.sources.base import OPERATIONAL, FixedPrice, Question, Response, sources

TOKEN_ENV = "LABEL_STUDIO_TOKEN"
SECRET_ENV = "ASKWISE_WEBHOOK_SECRET"
SECRET_HEADER = "X-Askwise-Secret"

SHORTEST_SECRET = 16
"""Least characters of a webhook's secret."""


@dataclass(frozen=True)
class LabelStudioWebhook:
    """How Label Studio says that something has changed.

    Parameters
    ----------
    url : str
        Where Label Studio reaches askwise: ``http://127.0.0.1:8765``.
    listen : str, optional
        Where askwise listens, as ``HOST:PORT``; the host and port of ``url`` by default.
    header : str
        The header that has the secret: Label Studio signs nothing.
    secret_env : str
        The variable of the environment that has it.
    """

    url: str
    listen: str = ""
    header: str = SECRET_HEADER
    secret_env: str = SECRET_ENV

    def __post_init__(self) -> None:
        _check_url(self.url, "webhook.url")
        self.address()
        if not self.header.isascii() or not self.header.replace("-", "").isalnum():
            raise InvalidParameter(
                f"webhook.header is {self.header!r}: give a header's name, such as "
                f"{SECRET_HEADER!r}",
                field="webhook.header",
            )

    def address(self) -> tuple[str, int]:
        """The host and port to listen on."""
        given = self.listen or urlsplit(self.url).netloc
        parts = urlsplit(f"//{given}")
        try:
            port = parts.port
        except ValueError:
            port = None
        if not parts.hostname or port is None:
            raise InvalidParameter(
                f"webhook.listen is {given!r}: give HOST:PORT, such as '127.0.0.1:8765'",
                field="webhook.listen",
            )
        return parts.hostname, port

    def secret(self) -> str:
        """The secret, from the environment."""
        found = os.environ.get(self.secret_env, "")
        if len(found) < SHORTEST_SECRET or not found.isascii() or not found.isprintable():
            raise InvalidParameter(
                f"the variable {self.secret_env} has no secret for the webhook: set it to at least "
                f"{SHORTEST_SECRET} printable characters",
                field="webhook.secret_env",
            )
        return found


@sources.register("label_studio")
@dataclass(eq=False)
class LabelStudio(FixedPrice):
    """People who annotate in a Label Studio, in their own time.

    askwise decides which task gets another answer, Label Studio who gives it; with
    ``one_project_per_worker`` askwise decides both.

    Parameters
    ----------
    url : str
        Its address, such as ``http://127.0.0.1:8080``.
    price : amount of money
        Price per answer of somebody who is not yet a worker of the campaign; they join at this
        price.
    project : int, optional
        The project to use; by default one is created, or the one created earlier is found again.
    token_env : str
        The variable of the environment that has the token: a personal access token or a legacy one.
    token_file : str, optional
        A file that has it, instead of the variable.
    workers : mapping of e-mail addresses to the ids of workers
        What people of Label Studio are called in the campaign; others are ``label-studio-ID``, by
        the number of their account.
    only_workers : bool
        Whether annotations of people who are neither in ``workers`` nor in the campaign are left
        alone. By default they join.
    one_project_per_worker : bool
        Whether each worker has their own project with the tasks they are asked about.
    show_verdicts : bool
        Whether people see what model judges have said. This is quicker, but makes their answers
        depend on the verdicts.
    slots : int
        How many tasks are open at a time, for each worker.
    poll : float
        Seconds between two looks, in addition to webhooks.
    grace : float
        Seconds for which an answer to a task that was closed meanwhile is still paid.
    webhook : LabelStudioWebhook or mapping, optional
        How Label Studio reports that something has changed; without it, askwise only looks now and
        then.

    Examples
    --------
    >>> LabelStudio("http://127.0.0.1:8080", price="0.05").called
    False
    """

    called: ClassVar[bool] = False

    url: str = field(metadata=OPERATIONAL | example('url = "http://127.0.0.1:8080"'))
    project: int | None = field(default=None, kw_only=True, metadata=OPERATIONAL)
    token_env: str = field(default=TOKEN_ENV, kw_only=True, metadata=OPERATIONAL)
    token_file: str | None = field(default=None, kw_only=True, metadata=OPERATIONAL)
    workers: Mapping[str, str] = field(default_factory=dict, kw_only=True, metadata=OPERATIONAL)
    only_workers: bool = field(default=False, kw_only=True, metadata=OPERATIONAL)
    one_project_per_worker: bool = field(default=False, kw_only=True, metadata=OPERATIONAL)
    show_verdicts: bool = field(default=False, kw_only=True)
    slots: int = field(default=5, kw_only=True, metadata=OPERATIONAL)
    poll: float = field(default=30.0, kw_only=True, metadata=OPERATIONAL)
    grace: float = field(default=900.0, kw_only=True, metadata=OPERATIONAL)
    webhook: LabelStudioWebhook | Mapping[str, Any] | None = field(
        default=None, kw_only=True, metadata=OPERATIONAL
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_url(self.url, "url")
        if self.project is not None:
            whole(self.project, "project", least=1, most=2**31)
            if self.one_project_per_worker:
                raise InvalidParameter(
                    "project is given, but one_project_per_worker makes a project for each worker: "
                    "leave one of the two out",
                    field="project",
                )
        for name, value in (("token_env", self.token_env), ("token_file", self.token_file)):
            if not isinstance(value, str) and not (value is None and name == "token_file"):
                raise InvalidParameter(f"{name} is {value!r}: give text", field=name)
        for name in ("only_workers", "one_project_per_worker", "show_verdicts"):
            if not isinstance(getattr(self, name), bool):
                raise InvalidParameter(
                    f"{name} is {getattr(self, name)!r}: give true or false", field=name
                )
        for name, least in (("poll", 0.1), ("grace", 0.0)):
            _check_seconds(getattr(self, name), name, least)
        if not isinstance(self.workers, Mapping):
            raise InvalidParameter(
                f"workers is {self.workers!r}: map e-mail addresses to workers", field="workers"
            )
        self.workers = {
            str(mail).casefold(): check_id(id, "worker id") for mail, id in self.workers.items()
        }
        if len(set(self.workers.values())) < len(self.workers):
            raise InvalidParameter(
                "workers: two addresses name the same worker: a worker is one person",
                field="workers",
            )
        if self.webhook is not None and not isinstance(self.webhook, LabelStudioWebhook):
            self.webhook = _webhook(self.webhook)

    async def answer(self, question: Question) -> Response:
        """Never called: people annotate, and the campaign is told."""
        raise Conflict(
            f"task {question.task!r} is answered in Label Studio, by people: wait for it"
        )

    def ceiling(self, question: Question) -> int:
        """Their price, if the task can be shown."""
        question.content.parts(question.payload)
        return super().ceiling(question)

    def check(self) -> None:
        """Refuse a token or secret that is not there."""
        self.token()
        if isinstance(self.webhook, LabelStudioWebhook):
            self.webhook.secret()

    def token(self) -> str:
        """The token, from the environment or its file; it is kept nowhere else."""
        if self.token_file is not None:
            try:
                found = read_text(Path(self.token_file)).strip()
            except OSError as error:
                raise InvalidParameter(
                    f"token_file is {self.token_file!r}, which can't be read: {error.strerror}",
                    field="token_file",
                ) from None
            where = f"the file {self.token_file}"
        else:
            found = os.environ.get(self.token_env, "").strip()
            where = f"the variable {self.token_env}"
        if not found or not found.isascii() or not found.isprintable():
            raise InvalidParameter(
                f"{where} has no token of Label Studio: copy one from its page Account & Settings",
                field="token",
            )
        return found


def read_label_studio(path: str | os.PathLike[str]) -> LabelStudio:
    """Read the settings from a TOML file.

    Raises
    ------
    InvalidProblem
        The file is not what it should be.
    OSError
        It can't be read.
    """
    file = Path(path)
    known = [each.name for each in dataclasses.fields(LabelStudio) if each.init]
    raw = read_toml(file, "a file for Label Studio", known)
    for name in ("url", "price"):
        if name not in raw:
            raise InvalidProblem(f"{file} lacks {name!r}", field=name)
    if isinstance(raw.get("token_file"), str):
        raw["token_file"] = str(file.parent / raw["token_file"])
    try:
        return LabelStudio(**raw)
    except AskwiseError as error:
        raise InvalidProblem(f"{file}: {error}", field=error.field) from None


def _webhook(raw: object) -> LabelStudioWebhook:
    known = [each.name for each in dataclasses.fields(LabelStudioWebhook)]
    if not isinstance(raw, Mapping) or "url" not in raw or not set(raw) <= set(known):
        raise InvalidParameter(
            f"webhook is {raw!r}: give url and optionally {', '.join(known[1:])}", field="webhook"
        )
    for name, value in raw.items():
        if not isinstance(value, str):
            raise InvalidParameter(
                f"webhook.{name} is {value!r}: give text", field=f"webhook.{name}"
            )
    return LabelStudioWebhook(**raw)


def _check_url(url: object, name: str) -> None:
    parts = urlsplit(url) if isinstance(url, str) else None
    if parts is None or parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidParameter(
            f"{name} is {url!r}: give an address, such as 'http://127.0.0.1:8080'", field=name
        )
    if parts.username is not None or parts.query or parts.fragment:
        raise InvalidParameter(
            f"{name} has a user, a query or a fragment: give the address alone", field=name
        )


def _check_seconds(value: object, name: str, least: float) -> None:
    number = value if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
    if not least <= number < math.inf:
        raise InvalidParameter(f"{name} is {value!r}: give seconds, {least:g} or more", field=name)
