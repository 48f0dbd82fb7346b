"""Questions in Label Studio's form, and the settings that say where it is."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askwise.core.content import Content
from askwise.core.errors import AskwiseError, Conflict, InvalidAnswer, InvalidProblem
from askwise.sources import Question, sources
from askwise.sources.label_studio import (
    LabelStudio,
    LabelStudioForm,
    LabelStudioWebhook,
    read_label_studio,
)

SPAM = Content(
    "Is it $pam?",
    options=[{"name": "s", "label": 'It\'s <"spam">', "meaning": "ads & more"}, "ham"],
    fields=["text", {"name": "photo", "show": "image", "optional": True}, "from address"],
    instructions="Be <b>careful</b>",
    examples=[{"payload": {"text": "Buy!", "from address": "x"}, "answer": "s", "why": "it sells"}],
)


def names_in(config: str) -> tuple[set[str], set[str]]:
    """The fields that a configuration needs, and the choices that it has."""
    tags = list(Xml.fromstring(config).iter())
    values = [tag.get("value", "") for tag in tags if tag.tag not in ("Choice", "View")]
    needed = {value[1:] for value in values if value.startswith("$")}
    return needed, {tag.get("alias") or tag.get("value", "") for tag in tags if tag.tag == "Choice"}


def test_a_task_has_every_field_that_the_configuration_names() -> None:
    form = LabelStudioForm(SPAM)
    needed, choices = names_in(form.config())
    data = form.data("t1", {"text": "Hi", "from address": "a@b"})
    assert needed <= set(data)
    assert choices == {"s", "ham"}
    assert data["askwise_question"] == "Is it $pam?"
    assert data["photo"].startswith("data:image/")
    assert set(data.values()) >= {"Hi", "a@b", "t1"}


def test_a_dollar_sign_in_a_question_is_no_field() -> None:
    assert "Is it $pam?" not in LabelStudioForm(SPAM).config()
    assert "Is it spam?" in LabelStudioForm(Content("Is it spam?", options=["a", "b"])).config()


def test_instructions_hold_meanings_and_examples_as_text() -> None:
    said = LabelStudioForm(SPAM).instructions()
    assert "Be &lt;b&gt;careful" in said
    assert "ads &amp; more" in said
    assert "it sells" in said
    assert LabelStudioForm(Content("Spam?", options=["a", "b"])).instructions() == ""


@pytest.mark.parametrize(
    ("payload", "shown"),
    [
        ("words", {"shown_long_text": "words"}),
        (
            {"text": "words", "size": 3},
            {"shown_long_text": "words", "shown_json": '{\n  "size": 3\n}'},
        ),
        ({"html": "<p>x</p>"}, {"shown_html": "<p>x</p>"}),
        (None, {}),
    ],
)
def test_a_payload_without_fields_shows_itself(payload: Any, shown: dict[str, str]) -> None:
    form = LabelStudioForm(Content("Spam?", options=["a", "b"]), [payload])
    data = form.data("t1", payload)
    assert data == {"askwise_task": "t1"} | shown
    assert names_in(form.config())[0] == (set(shown) or {"askwise_task"})


def test_a_pair_is_shown_side_by_side() -> None:
    pair = {"name": "left", "second": "right", "show": "pair"}
    form = LabelStudioForm(Content("Which?", options=["l", "r"], fields=[pair]))
    assert form.data("t", {"left": "a", "right": "b"}) == {
        "askwise_task": "t",
        "left": "a",
        "right": "b",
    }
    assert 'name="right"' in form.config()


@given(st.lists(st.text("ab<>&\"'$é ", min_size=1, max_size=6), min_size=2, unique_by=str.casefold))
def test_every_option_comes_back_as_it_was_written(names: list[str]) -> None:
    names = [each for each in names if each.strip() == each]
    if len(names) < 2:
        return
    form = LabelStudioForm(Content("?", options=names))
    assert names_in(form.config())[1] == set(names)
    assert [form.value(form.result(each)) for each in names] == names


def test_a_label_is_read_as_its_option() -> None:
    form = LabelStudioForm(SPAM)
    (region,) = form.result("s")
    assert form.value([region | {"value": {"choices": ['It\'s <"spam">']}}]) == "s"


def test_a_number_is_asked_for_where_the_answer_is_one() -> None:
    form = LabelStudioForm(Content("How good?", range=(0, 5), fields=["text"]))
    assert '<Number name="askwise_answer" toName="text" min="0" max="5"' in form.config()
    assert form.value(form.result(2.5)) == 2.5
    with pytest.raises(InvalidAnswer, match="from 0 to 5"):
        form.value(form.result(6))


@pytest.mark.parametrize(
    "result",
    [
        None,
        [],
        [{"from_name": "other", "value": {"choices": ["ham"]}}],
        [{"from_name": "askwise_answer", "value": {"choices": ["ham", "s"]}}],
        [{"from_name": "askwise_answer", "value": {"choices": ["eggs"]}}],
        [{"from_name": "askwise_answer", "value": {"choices": [["ham"]]}}],
        [{"from_name": "askwise_answer", "value": {}}] * 2,
    ],
)
def test_what_holds_no_answer_is_refused(result: Any) -> None:
    with pytest.raises(InvalidAnswer):
        LabelStudioForm(SPAM).value(result)


def test_people_there_are_not_called() -> None:
    source = sources.make({"name": "label_studio", "url": "http://127.0.0.1:1", "price": "0.05"})
    question = Question(Content("?", options=["a", "b"]), "t1", "text")
    assert source.ceiling(question) == 50_000
    with pytest.raises(Conflict, match="Label Studio"):
        asyncio.run(source.answer(question))


@pytest.mark.parametrize(
    ("given_", "field"),
    [
        ({"url": "127.0.0.1:8080"}, "url"),
        ({"url": "http://user:pass@host"}, "url"),
        ({"project": 0}, "project"),
        ({"project": 3, "one_project_per_worker": True}, "project"),
        ({"poll": 0}, "poll"),
        ({"grace": "long"}, "grace"),
        ({"only_workers": 1}, "only_workers"),
        ({"workers": {"a@b": "x", "c@d": "x"}}, "workers"),
        ({"workers": ["ann"]}, "workers"),
        ({"webhook": {"listen": "x:1"}}, "webhook"),
        ({"webhook": {"url": "http://host"}}, "webhook.listen"),
        ({"webhook": {"url": "http://host:1", "header": "X Y"}}, "webhook.header"),
        ({"webhook": {"url": 3}}, "webhook.url"),
    ],
)
def test_a_setting_that_can_not_be_is_refused_by_name(given_: Any, field: str) -> None:
    with pytest.raises(AskwiseError) as refused:
        LabelStudio(**({"url": "http://127.0.0.1:8080"} | given_))
    assert refused.value.field == field


def test_the_token_comes_from_the_environment_or_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LABEL_STUDIO_TOKEN", raising=False)
    with pytest.raises(AskwiseError, match="LABEL_STUDIO_TOKEN has no token"):
        LabelStudio("http://host").check()
    monkeypatch.setenv("LABEL_STUDIO_TOKEN", "abc")
    assert LabelStudio("http://host").token() == "abc"
    (tmp_path / "token").write_text("def\n")
    (tmp_path / "s.toml").write_text('url = "http://host"\nprice = 0.05\ntoken_file = "token"\n')
    found = read_label_studio(tmp_path / "s.toml")
    assert found.token() == "def"
    assert "def" not in repr(found)


def test_a_short_secret_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    hook = LabelStudioWebhook("http://host:8765")
    assert hook.address() == ("host", 8765)
    monkeypatch.setenv("ASKWISE_WEBHOOK_SECRET", "short")
    with pytest.raises(AskwiseError, match="at least 16"):
        hook.secret()


@pytest.mark.parametrize(
    ("text", "field"),
    [("price = 1", "url"), ('url = "http://h"', "price"), ('url = "x"\nprice = 1', "url"),
     ('url = "http://h"\nprice = 1\ntoken = "x"', "token")],
)  # fmt: skip
def test_a_file_that_lacks_something_is_refused(tmp_path: Path, text: str, field: str) -> None:
    (tmp_path / "s.toml").write_text(text)
    with pytest.raises(InvalidProblem) as refused:
        read_label_studio(tmp_path / "s.toml")
    assert refused.value.field == field
