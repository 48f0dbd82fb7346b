"""Judges from a TOML file: ``[[judge]]`` for each worker, ``[defaults]`` for what they share."""

import dataclasses
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from askwise.core.errors import AskwiseError, InvalidProblem
from askwise.core.fields import refuse_unknown
from askwise.core.money import from_micro
from askwise.core.problem import Worker
from askwise.data.tables import read_text, read_toml
from askwise.sources.base import Question, Source, sources
from askwise.sources.cache import ReplyCache

CHAT_FIELDS = (
    *("id", "family", "source", "model", "base_url", "key_env", "price", "max_tokens"),
    *("temperature", "rationale", "orders", "template", "answer", "reasoning", "image_tokens"),
    *("parameters", "rpm", "tpm", "concurrency", "timeout", "retries", "paid_retries"),
)
"""What a judge that is a chat model may have."""

_OTHER_NAMES = {"concurrency": "slots", "answer": "form"}
"""What a file calls otherwise than the source does."""


@dataclass(frozen=True)
class Judge:
    """A worker that is a model, and the source that answers for it."""

    id: str
    source: Source
    family: str | None = None

    def worker(self, questions: Iterable[Question]) -> Worker:
        """As a worker: its price is the most that any of these questions can cost.

        Raises
        ------
        InvalidProblem
            A question can't be put to it.
        """
        most = 0
        for question in questions:
            try:
                most = max(most, self.source.ceiling(question))
            except AskwiseError as error:
                raise InvalidProblem(
                    f"judge {self.id!r}, task {question.task!r}: {error}", field=error.field
                ) from None
        return Worker(
            self.id,
            from_micro(most),
            kind="model",
            family=self.family,
            source=self.source.signature(),
        )


def read_judges(path: str | os.PathLike[str], cache: ReplyCache | None = None) -> list[Judge]:
    """Read judges, and refuse what can't work before anything is spent.

    Parameters
    ----------
    path : path
        The file. Templates that it names are beside it.
    cache : ReplyCache, optional
        Where the replies of chat models are kept.

    Raises
    ------
    InvalidProblem
        The file, or a judge in it, is not what it should be: a key that is missing in the
        environment, a price that is not said, a template that names what there is not.
    OSError
        A file can't be read.
    """
    file = Path(path)
    raw = read_toml(file, "a file of judges", ("defaults", "judge"))
    defaults, listed = raw.get("defaults", {}), raw.get("judge", [])
    if not isinstance(defaults, dict):
        raise InvalidProblem(f"{file}: defaults is not a table: write [defaults]", field="defaults")
    if "id" in defaults:
        raise InvalidProblem(f"{file}: defaults has an id: each judge has its own", field="id")
    if not isinstance(listed, list) or not listed or not all(isinstance(j, dict) for j in listed):
        raise InvalidProblem(f"{file} has no judge: write [[judge]] for each", field="judge")
    judges: list[Judge] = []
    for number, fields in enumerate(listed, 1):
        label = f"{file}: judge {fields.get('id', number)!r}"
        try:
            judge = _made(fields, defaults, file.parent, cache)
        except AskwiseError as error:
            raise InvalidProblem(f"{label}: {error}", field=error.field) from None
        if judge.id in [each.id for each in judges]:
            raise InvalidProblem(f"{label} appears twice: give each its own id", field="id")
        judges.append(judge)
    return judges


def make_judge(fields: Mapping[str, Any], cache: ReplyCache | None = None) -> Judge:
    """A judge from the fields that a ``[[judge]]`` of a file has.

    Examples
    --------
    >>> fields = {"id": "mini", "model": "mini", "base_url": "http://127.0.0.1:8080/v1"}
    >>> make_judge(fields | {"price": 0}).id
    'mini'
    """
    try:
        return _made(fields, {}, Path(), cache)
    except AskwiseError as error:
        label = f"judge {fields.get('id', '')!r}"
        raise InvalidProblem(f"{label}: {error}", field=error.field) from None


def _made(
    own: Mapping[str, Any], defaults: Mapping[str, Any], folder: Path, cache: ReplyCache | None
) -> Judge:
    fields = {**defaults, **own}
    kind = fields.pop("source", "chat")
    if not isinstance(kind, str):
        raise InvalidProblem(f"source is {kind!r}: give its name, such as 'chat'", field="source")
    if not sources.get(kind).called:
        raise InvalidProblem(
            f"source is {kind!r}, whose people are not called but answer on their own: a judge is "
            "a model or a program, so name people in a file of people instead",
            field="source",
        )
    if kind == "chat":
        fields = _chat_fields(fields, folder)
        fields["cache"] = cache
    else:
        # Of what judges share, another source takes what it knows.
        known = {each.name for each in dataclasses.fields(sources.get(kind))} | {"family"}
        fields = {
            name: value
            for name, value in fields.items()
            if name in own or _OTHER_NAMES.get(name, name) in known
        }
    if "id" not in fields:
        raise InvalidProblem("it lacks 'id'", field="id")
    id, family = fields.pop("id"), fields.pop("family", None)
    Worker(id, 0, kind="model", family=family)  # refuses what is not an id or a family
    named = {_OTHER_NAMES.get(name, name): value for name, value in fields.items()}
    source = sources.make({"name": kind, **named})
    source.check()
    return Judge(id, source, family)


def _chat_fields(fields: dict[str, Any], folder: Path) -> dict[str, Any]:
    refuse_unknown(fields, CHAT_FIELDS, "a judge")
    template = fields.get("template", "")
    # A template without a brace would show no task: it is the name of a file.
    if isinstance(template, str) and template and "{" not in template:
        beside = folder / template
        if not beside.is_file():
            raise InvalidProblem(
                f"template is {template!r}, but there is no file {beside}", field="template"
            )
        fields = {**fields, "template": read_text(beside)}
    return fields
