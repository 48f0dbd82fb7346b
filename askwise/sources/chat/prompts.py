"""Prompts: a template of the user's, or ours, filled with a question; nothing in it can run."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from typing import Any

from askwise.core.errors import InvalidParameter, InvalidProblem, nearest
from askwise.core.prompts import answers_text, example_text, fenced, item_text
from askwise.sources.base import Question
from askwise.sources.extras import needed

FIELDS = (
    *("title", "question", "instructions", "options", "range", "answers", "examples", "item"),
    *("parts", "payload", "task"),
)
"""What a template may name."""

SYSTEM = "You judge items one at a time, carefully and by the instructions alone."


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a model is shown: text, and pictures by their addresses."""

    text: str
    images: tuple[str, ...] = ()

    def messages(self, instruction: str) -> list[dict[str, Any]]:
        """As messages of a chat; ``instruction`` says how to answer."""
        text = f"{self.text}\n\n{instruction}"
        pictures = [{"type": "image_url", "image_url": {"url": url}} for url in self.images]
        content: Any = [{"type": "text", "text": text}, *pictures] if pictures else text
        return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": content}]


@dataclass(frozen=True)
class PromptTemplate:
    """A Jinja2 template, in a sandbox; an empty text stands for our own.

    It may name ``title``, ``question``, ``instructions``, ``options`` (each with ``name``,
    ``label``, ``meaning``), ``range``, ``answers`` (the options as a list of lines), ``examples``
    (as text), ``item`` (what the task shows, between marks), ``parts`` (the same one by one),
    ``payload`` and ``task``. How to answer is said after it, as the endpoint needs it.

    Examples
    --------
    >>> from askwise.core.content import Content
    >>> asked = Question(Content("Spam?", options=["no", "yes"]), "t1", {"subject": "Hi"})
    >>> PromptTemplate("{{ question }} {{ payload.subject }}").fill(asked).text
    'Spam? Hi'
    >>> PromptTemplate("{{ questoin }}").check()
    Traceback (most recent call last):
    askwise.core.errors.InvalidParameter: template names 'questoin': did you mean 'question'...
    """

    text: str = ""

    def check(self) -> None:
        """Refuse a template that can't be read, or that names what there is not."""
        jinja2 = _jinja2()
        try:
            tree = self._environment.parse(self.source)
        except jinja2.TemplateSyntaxError as error:
            raise InvalidParameter(
                f"template, line {error.lineno}: {error.message}", field="template"
            ) from None
        unknown = jinja2.meta.find_undeclared_variables(tree) - set(FIELDS)
        for name in sorted(unknown):
            raise InvalidParameter(
                f"template names {name!r}: {nearest(name, FIELDS)}", field="template"
            )

    def fill(self, question: Question, *, swapped: bool = False) -> Prompt:
        """The prompt of a question; with ``swapped``, the sides of a pair in the other order.

        Raises
        ------
        InvalidProblem
            The task shows nothing, lacks a field, or has a template fail.
        """
        content = question.content
        parts = content.parts(question.payload, swapped=swapped)
        if not parts:
            raise InvalidProblem(
                f"payload of task {question.task!r} is empty: there is nothing to show",
                field="payload",
            )
        jinja2 = _jinja2()
        try:
            text = self._filled(
                title=content.title,
                question=content.question,
                instructions=content.instructions.strip(),
                options=content.options,
                range=content.range,
                answers=answers_text(content),
                examples=[example_text(content, each) for each in content.examples],
                item=fenced(item_text(parts)),
                parts=parts,
                payload=question.payload,
                task=question.task,
            )
        except jinja2.TemplateError as error:
            raise InvalidProblem(
                f"template fails on task {question.task!r}: {error}", field="template"
            ) from None
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            raise InvalidProblem(
                f"template fails on task {question.task!r}: {type(error).__name__}: {error}",
                field="template",
            ) from None
        return Prompt(text.strip(), tuple(part.value for part in parts if part.show == "image"))

    @property
    def source(self) -> str:
        """The template itself, also where it is ours."""
        if self.text:
            return self.text
        return files(__package__).joinpath("prompt.jinja").read_text(encoding="utf-8")

    @cached_property
    def _environment(self) -> Any:
        jinja2 = _jinja2()
        return jinja2.sandbox.ImmutableSandboxedEnvironment(
            undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
        )

    @cached_property
    def _filled(self) -> Callable[..., str]:
        self.check()
        return self._environment.from_string(self.source).render


def _jinja2() -> Any:
    """Jinja2, with what a prompt needs of it."""
    for module in ("jinja2.meta", "jinja2.sandbox"):
        needed(module, "prompts")
    return needed("jinja2", "prompts")
