"""Judges from a TOML file."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
from pathlib import Path
from typing import Any

import pytest

from askwise.core.errors import AskwiseError, InvalidProblem
from askwise.core.problem import Worker
from askwise.sources import Source, sources
from askwise.sources.chat import Chat
from askwise.sources.function import Function
from askwise.sources.judges import make_judge, read_judges
from askwise.testing.chat_server import ChatServer
from tests.sources.chat.stubs import question

WHOLE = """
[defaults]
base_url = "http://127.0.0.1:8080/v1"
key_env = "JUDGE_KEY"
family = "small models"
timeout = 20

[[judge]]
id = "mini"
model = "mini-1"
price = {input = "0.15", cached = "0.075", output = "0.60", per = 1000000}
max_tokens = 50
temperature = 0.5
rpm = 100
tpm = 100000
concurrency = 7
retries = 2
orders = "random"
template = "strict.jinja"
answer = "tool"

[[judge]]
id = "local"
model = "tiny"
key_env = ""
family = "tiny models"
price = 0
template = "{{ question }} {{ item }}"

[[judge]]
id = "rule"
source = "function"
call = "json:dumps"
price = "0.001"
concurrency = 2
"""


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGE_KEY", "sk-secret")


def write(folder: Path, text: str) -> Path:
    (folder / "strict.jinja").write_text("Be strict. {{ item }}")
    (folder / "judges.toml").write_text(text)
    return folder / "judges.toml"


def test_every_judge_is_a_worker_with_a_source_of_its_own(tmp_path: Path) -> None:
    cache: dict[str, str] = {}
    mini, local, rule = read_judges(write(tmp_path, WHOLE), cache)
    assert isinstance(mini.source, Chat)
    assert mini.source.template == "Be strict. {{ item }}"
    assert (mini.source.slots, mini.source.form, mini.source.max_tokens) == (7, "tool", 50)
    assert (mini.source.rpm, mini.source.tpm, mini.source.retries) == (100, 100_000, 2)
    assert (mini.source.temperature, mini.source.orders) == (0.5, "random")
    assert mini.source.cache is cache
    assert (mini.family, local.family, rule.family) == (
        "small models",
        "tiny models",
        "small models",
    )
    assert isinstance(local.source, Chat)
    assert (local.source.timeout, local.source.template) == (20, "{{ question }} {{ item }}")
    assert isinstance(rule.source, Function)
    assert rule.source.slots == 2


def test_a_worker_s_price_is_the_most_that_any_question_can_cost(tmp_path: Path) -> None:
    text = WHOLE.split('[[judge]]\nid = "local"')[0]
    (mini,) = read_judges(write(tmp_path, text))
    short, long = question("short"), question("long " * 100, "t2")
    worker = mini.worker([short, long])
    assert isinstance(worker, Worker)
    assert (worker.id, worker.kind, worker.family) == ("mini", "model", "small models")
    assert worker.micro == mini.source.ceiling(long) > mini.source.ceiling(short)
    with pytest.raises(InvalidProblem, match="judge 'mini', task 't3': payload"):
        mini.worker([short, question(None, "t3")])


@pytest.mark.parametrize(
    ("before", "after", "said", "field"),
    [
        ("price = 0\n", "", "source 'chat' lacks 'price': give .* or 0 if it costs", "price"),
        ("price = 0\n", "price = 3\n", "judge 'local': price is 3", "price"),
        ('price = {input = "0.15", cached = "0.075",', "price = {", "price lacks 'input'", "price"),
        (
            'model = "tiny"',
            'model = "o3-mini"',
            "max_tokens is missing: the model 'o3-mini'",
            "max_tokens",
        ),
        ('id = "local"', 'id = "mini"', "judge 'mini' appears twice", "id"),
        ('id = "local"\n', "", "judge 2: it lacks 'id'", "id"),
        ('id = "local"', "id = 7.5", "judge 7.5: worker id is 7.5", "worker id"),
        ('model = "tiny"\n', "", "judge 'local': source 'chat' lacks 'model'", "model"),
        ('"{{ question }} {{ item }}"', '"{{ itme }}"', "names 'itme': did you mean", "template"),
        ('"strict.jinja"', '"lax.jinja"', "there is no file .*lax.jinja", "template"),
        ("rpm = 100", "rmp = 100", "a judge has no field 'rmp': did you mean 'rpm'", "rmp"),
        ("rpm = 100", "rpm = 0", "judge 'mini': rpm is 0", "rpm"),
        ('key_env = ""', 'key_env = "NOT_SET_ANYWHERE"', "NOT_SET_ANYWHERE.*set it", "key_env"),
        ('orders = "random"', 'orders = "any"', "give one of both, random, as-given", "orders"),
        ('answer = "tool"', 'answer = "xml"', "give one of auto, json_schema", "form"),
        ('call = "json:dumps"', 'call = "json:nothing"', "judge 'rule': call is", "call"),
        ('call = "json:dumps"', 'cal = "json:dumps"', "has no parameter 'cal'", "cal"),
        ('source = "function"', 'source = "functoin"', "did you mean 'function'", "source"),
        ('source = "function"', "source = 3", "source is 3", "source"),
        ("[defaults]", "[default]", "no field 'default': did you mean 'defaults'", "default"),
        ("timeout = 20", 'id = "all"', "each judge has its own", "id"),
    ],
)
def test_what_is_wrong_is_one_line_that_names_the_judge(
    before: str, after: str, said: str, field: str, tmp_path: Path
) -> None:
    assert before in WHOLE
    with pytest.raises(InvalidProblem, match=said) as caught:
        read_judges(write(tmp_path, WHOLE.replace(before, after, 1)))
    assert str(caught.value).startswith(str(tmp_path / "judges.toml"))
    assert "\n" not in str(caught.value)
    assert "sk-secret" not in str(caught.value)
    assert caught.value.field == field


COMPLETE: dict[str, dict[str, Any]] = {
    "chat": {"model": "m", "base_url": "http://127.0.0.1:8080/v1", "price": 0},
    "command": {"command": "cat"},
    "function": {"call": "json:dumps"},
    "label_studio": {"url": "http://127.0.0.1:8080"},
    "people": {},
    "prolific": {"title": "Cats", "description": "Do you see a cat?"},
    "replay": {"file": "answers.csv"},
}
"""What each source needs at least."""


def made(name: str, settings: dict[str, Any]) -> Source:
    """A source as files make it: that of a judge, or one of people, which no judge has."""
    if sources.get(name).called:
        return make_judge({"id": "j", "source": name, **settings}).source
    source = sources.make({"name": name, **settings})
    source.check()
    return source


def test_every_source_names_a_setting_that_is_missing_unknown_or_of_another_type(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LABEL_STUDIO_TOKEN", "0123456789abcdef0123456789abcdef")
    Path("answers.csv").write_text("task,worker,label\nt1,ann,yes\n")
    assert sources.names() == list(COMPLETE)
    for name, needed in COMPLETE.items():
        assert made(name, needed).name == name
        with pytest.raises(AskwiseError, match=r"no (parameter|field) 'colour'") as caught:
            made(name, {**needed, "colour": "red"})
        assert caught.value.field == "colour"
        for each in dataclasses.fields(sources.get(name)):
            if each.default is each.default_factory is dataclasses.MISSING:
                less = {key: value for key, value in needed.items() if key != each.name}
                said = f"source '{name}' lacks '{each.name}': give "
                with pytest.raises(AskwiseError, match=said) as caught:
                    made(name, less)
                assert caught.value.field == each.name
            for odd in (-3, 2.5, True, [], [3], {}, {"a": 1}):
                # Some settings take some of these; any other ends in one line.
                with contextlib.suppress(AskwiseError):
                    made(name, {**needed, each.name: odd})


@pytest.mark.parametrize("name", ["label_studio", "people", "prolific"])
def test_people_are_no_judges(name: str) -> None:
    with pytest.raises(InvalidProblem, match=f"judge 'j': source is '{name}'.*file of people"):
        make_judge({"id": "j", "source": name, **COMPLETE[name]})


def test_a_file_without_judges_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidProblem, match=r"has no judge: write \[\[judge\]\]"):
        read_judges(write(tmp_path, ""))
    with pytest.raises(InvalidProblem, match="is not TOML"):
        read_judges(write(tmp_path, "[[judge"))


def test_a_judge_of_a_file_answers(tmp_path: Path) -> None:
    with ChatServer(lambda asked: "yes", keys={"sk-secret"}) as server:
        text = f"""
            [[judge]]
            id = "mini"
            model = "mini-1"
            base_url = "{server.url}"
            key_env = "JUDGE_KEY"
            price = 0
        """
        (judge,) = read_judges(write(tmp_path, text))
        assert asyncio.run(judge.source.answer(question())).value == "spam"
