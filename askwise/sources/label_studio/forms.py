"""A question as Label Studio shows it: its labelling configuration, its tasks and its results."""

import html
import json
from collections.abc import Iterable, Mapping
from typing import Any
from xml.etree import ElementTree as Xml

from askwise.core.content import Content, Example
from askwise.core.errors import InvalidAnswer
from askwise.core.parts import Field, Part, Show

TASK = "askwise_task"
"""The field of a task's data that has the task's id in the campaign."""

CONTROL = "askwise_answer"
"""The name of the control that people answer with."""

QUESTION = "askwise_question"
"""The field of a task's data that has the question, where a configuration can't hold it."""

NO_IMAGE = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"
"""A transparent dot: an image that a task does not have."""

_WHOLE: tuple[Show, ...] = ("long_text", "image", "html", "json")
"""How parts of a payload may be shown that has no fields, at most one of each, in order."""

_TAGS = {"image": "Image", "html": "HyperText"}
"""What shows a part; text, if it is not here."""


class LabelStudioForm:
    """How one content is shown and answered in Label Studio.

    Parameters
    ----------
    content : Content
        What is asked.
    payloads : iterable
        Those of the tasks, for a content without fields: which kinds of parts there are.

    Examples
    --------
    >>> form = LabelStudioForm(Content("Spam?", options=["no", "yes"], fields=["subject"]))
    >>> print(form.config())
    <View>
      <Header value="Spam?" />
      <Text name="subject" value="$subject" />
      <Choices name="askwise_answer" toName="subject" choice="single" required="true" ...>
        <Choice value="no" hotkey="1" />
        <Choice value="yes" hotkey="2" />
      </Choices>
    </View>
    >>> form.data("t1", {"subject": "You have won"})
    {'askwise_task': 't1', 'subject': 'You have won'}
    >>> form.value(form.result("yes"))
    'yes'
    """

    def __init__(self, content: Content, payloads: Iterable[Any] = ()) -> None:
        self.content = content
        shown: set[str] = set()
        if not content.fields:
            shown = {part.show for payload in payloads for part in content.parts(payload)}
        self._slots: list[tuple[str, Show, str]] = (
            [slot for field in content.fields for slot in _slots_of(field)]
            if content.fields
            else [(f"shown_{show}", show, "") for show in _WHOLE if show in shown]
        )
        """Name in the data, how it is shown, what stands before it."""
        # A dollar sign begins the name of a field there.
        self._asks_by_data = "$" in content.question

    def config(self) -> str:
        """The labelling configuration, as XML."""
        view = Xml.Element("View")
        asked = f"${QUESTION}" if self._asks_by_data else self.content.question
        Xml.SubElement(view, "Header", value=asked)
        at = 0
        while at < len(self._slots):
            name, show, label = self._slots[at]
            if show == "pair":
                self._add_pair(view, self._slots[at : at + 2])
                at += 2
                continue
            if label:
                Xml.SubElement(view, "Header", value=label, size="5")
            _add_object(view, name, show)
            at += 1
        if not self._slots:
            _add_object(view, TASK, "text")
        self._add_control(view, self._slots[0][0] if self._slots else TASK)
        Xml.indent(view)
        return Xml.tostring(view, encoding="unicode")

    @staticmethod
    def _add_pair(view: Xml.Element, sides: list[tuple[str, Show, str]]) -> None:
        if sides[0][2]:
            Xml.SubElement(view, "Header", value=sides[0][2], size="5")
        both = Xml.SubElement(view, "View", style="display: flex; gap: 1em")
        for name, _, _ in sides:
            side = Xml.SubElement(both, "View", style="flex: 1")
            _add_object(side, name, "text")

    def _add_control(self, view: Xml.Element, about: str) -> None:
        content, common = self.content, {"name": CONTROL, "toName": about}
        if content.range is not None:
            low, high = (f"{end:g}" for end in content.range)
            Xml.SubElement(view, "Number", common, min=low, max=high, required="true")
            return
        choices = Xml.SubElement(
            view, "Choices", common, choice="single", required="true", showInline="true"
        )
        for at, option in enumerate(content.options, 1):
            fields = {"value": option.label}
            if option.label != option.name:
                fields["alias"] = option.name
            if option.meaning:
                fields["hint"] = option.meaning
            if at < 10:
                fields["hotkey"] = str(at)
            Xml.SubElement(choices, "Choice", fields)

    def instructions(self) -> str:
        """What is said before the first task, as HTML."""
        content, said = self.content, []
        if content.instructions:
            said.append(f'<div style="white-space: pre-wrap">{_safe(content.instructions)}</div>')
        meant = [each for each in content.options if each.meaning]
        if meant:
            rows = "".join(f"<li><b>{_safe(o.label)}</b>: {_safe(o.meaning)}</li>" for o in meant)
            said.append(f"<ul>{rows}</ul>")
        said += [self._example(example) for example in content.examples]
        return "\n".join(said)

    def _example(self, example: Example) -> str:
        shown = "<br>".join(
            _safe(" | ".join(part.value) if part.show == "pair" else _text(part))
            for part in self.content.parts(example.payload)
        )
        labels = {option.name: option.label for option in self.content.options}
        answer = _safe(str(labels.get(str(example.answer), example.answer)))
        why = f" ({_safe(example.why)})" if example.why else ""
        return f"<p>{shown}<br>&rarr; <b>{answer}</b>{why}</p>"

    def data(self, task: str, payload: Any) -> dict[str, str]:
        """A task's data: every field that the configuration names is there."""
        found: dict[str, str] = {TASK: task}
        if self._asks_by_data:
            found[QUESTION] = self.content.question
        for name, show, _ in self._slots:
            found[name] = NO_IMAGE if show == "image" else ""
        if not self.content.fields:
            return found | {
                f"shown_{part.show}": _text(part) for part in self.content.parts(payload)
            }
        for field in self.content.fields:
            part = field.part(payload)
            if part is not None:
                found |= zip(_names_of(field), _texts(part), strict=True)
        return found

    def result(self, value: str | float) -> list[dict[str, Any]]:
        """An answer as annotations and predictions have it."""
        about = self._slots[0][0] if self._slots else TASK
        kind, said = (
            ("number", {"number": value})
            if self.content.range is not None
            else ("choices", {"choices": [value]})
        )
        return [{"from_name": CONTROL, "to_name": about, "type": kind, "value": said}]

    def value(self, result: object) -> str | float:
        """The answer that an annotation holds.

        Raises
        ------
        InvalidAnswer
            It holds none, several, or one that the question does not have.
        """
        regions = result if isinstance(result, list) else []
        said = [
            region.get("value")
            for region in regions
            if isinstance(region, Mapping) and region.get("from_name") == CONTROL
        ]
        if len(said) != 1 or not isinstance(said[0], Mapping):
            raise _unreadable(said, f"give exactly one {CONTROL!r}")
        if self.content.range is not None:
            number, (low, high) = said[0].get("number"), self.content.range
            is_number = isinstance(number, int | float) and not isinstance(number, bool)
            if is_number and number is not None and low <= number <= high:
                return float(number)
            raise _unreadable(number, f"give a number from {low:g} to {high:g}")
        chosen = said[0].get("choices")
        if not isinstance(chosen, list) or len(chosen) != 1:
            raise _unreadable(chosen, "choose exactly one option")
        names = {option.label: option.name for option in self.content.options}
        names |= {option.name: option.name for option in self.content.options}
        if not isinstance(chosen[0], str) or chosen[0] not in names:
            raise _unreadable(chosen[0], f"give one of {', '.join(self.content.names())}")
        return names[chosen[0]]


def _slots_of(field: Field) -> list[tuple[str, Show, str]]:
    return [(name, field.show, field.label) for name in _names_of(field)]


def _names_of(field: Field) -> list[str]:
    """Names in the data: those of the payload, as far as a configuration can hold them."""
    own = [field.name] if field.second is None else [field.name, field.second]
    return [
        f"field_{name.encode().hex()}"
        if not name.isidentifier() or not name.isascii() or name.startswith(("askwise_", "field_"))
        else name
        for name in own
    ]


def _add_object(view: Xml.Element, name: str, show: Show) -> None:
    Xml.SubElement(view, _TAGS.get(show, "Text"), name=name, value=f"${name}")


def _text(part: Part) -> str:
    if part.show == "json":
        return json.dumps(part.value, ensure_ascii=False, indent=2)
    return str(part.value)


def _texts(part: Part) -> list[str]:
    return [str(each) for each in part.value] if part.show == "pair" else [_text(part)]


def _safe(text: str) -> str:
    return html.escape(text)


def _unreadable(value: object, valid: str) -> InvalidAnswer:
    message = f"the annotation says {value!r}: {valid}"
    return InvalidAnswer(message, field="value", reason="invalid_value")
