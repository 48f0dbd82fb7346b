"""Making and changing a stored campaign."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli import helpers
from tests.cli.helpers import UTILITY

Call = Callable[..., Any]


def test_new_prints_the_name_and_nothing_else(workplace: Path, call: Call) -> None:
    (workplace / "spec.toml").write_text(UTILITY)
    assert call("new", "spec.toml").stdout == "shop\n"
    assert (workplace / "askwise.sqlite").exists()


def test_another_name_may_be_given(workplace: Path, call: Call, call_json: Call) -> None:
    (workplace / "spec.toml").write_text(UTILITY)
    assert call("new", "spec.toml", "--name", "shop-2").stdout == "shop-2\n"
    assert call_json("new", "spec.toml")["name"] == "shop"
    assert [each["name"] for each in call_json("list")] == ["shop", "shop-2"]


def test_a_campaign_without_a_policy_gets_one_and_is_told_why(
    workplace: Path, call: Call, call_json: Call
) -> None:
    (workplace / "spec.toml").write_text(UTILITY.replace('policy = "uniform"', ""))
    made = call("new", "spec.toml")
    assert made.stdout == "shop\n"
    assert made.stderr.startswith("gittins-knapsack: the most utility for a budget")
    assert made.stderr.endswith("; ends when the budget is spent\n")
    status = call_json("status", "shop")
    assert (status["policy"], status["because"]) == ("gittins-knapsack", made.stderr.strip())
    assert f"because\t{status['because']}\n" in call("status", "shop").stdout
    _, seen = helpers.on_terminal("status", "shop")
    assert "auto chose gittins-knapsack: the most utility for a budget" in " ".join(seen.split())


def test_a_campaign_without_a_name_gets_one(workplace: Path, call: Call) -> None:
    (workplace / "spec.toml").write_text(UTILITY.replace('name = "shop"', ""))
    name = call("new", "spec.toml").stdout.strip()
    assert call("status", name).stdout.startswith(f"name\t{name}\n")


def test_the_store_comes_from_the_option_or_the_environment(
    workplace: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    (workplace / "spec.toml").write_text(UTILITY)
    call("new", "spec.toml", "--store", f"sqlite:///{workplace}/other.sqlite")
    monkeypatch.setenv("ASKWISE_STORE", "sqlite:///other.sqlite")
    assert call("list").stdout == "shop\trunning\tuniform\t0\t0\t3\n"
    assert not (workplace / "askwise.sqlite").exists()


def test_an_empty_store_lists_nothing_and_is_not_created(workplace: Path, call: Call) -> None:
    assert call("list").stdout == ""
    assert list(workplace.iterdir()) == []


def test_a_campaign_of_an_unknown_policy_does_not_hide_the_others(
    shop: str, workplace: Path, call: Call, call_json: Call
) -> None:
    from askwise.store import SqliteStore

    store = SqliteStore(workplace / "askwise.sqlite")
    store.create("alien", store.spec(shop).replace('"uniform"', '"of-a-plug-in"'), 0.0)
    store.close()
    alien, other = call_json("list")
    assert alien["name"] == "alien"
    assert alien["error"]["code"] == "unknown_policy"
    assert other["name"] == shop
    assert "alien\tunreadable\tpolicy 'of-a-plug-in' is missing: " in call("list").stdout


def test_workers_and_tasks_are_added_from_options_and_a_file(
    cats: str, workplace: Path, call: Call, call_json: Call
) -> None:
    (workplace / "more.toml").write_text('tasks = ["t5"]\n[[workers]]\nid = "dan"\nprice = 1\n')
    call(
        *("add", cats, "--worker", "id=fay,price=0.02,limit=3", "--task", "t3"),
        *("--task", "id=t4,context=day,payload=A cat, or a dog?", "--file", "more.toml"),
    )
    joined, added = call("log", cats, "--json").stdout.splitlines()
    assert '"workers": [{"id": "fay", "price": "0.02", "limit": 3}, {"id": "dan"' in joined
    assert '{"id": "t4", "context": "day", "payload": "A cat, or a dog?"}' in added
    assert call_json("status", cats)["tasks"] == 5


def test_kinds_and_families_are_given_in_a_table_and_as_options(
    workplace: Path, call: Call, call_json: Call, refusal: Call
) -> None:
    (workplace / "people.csv").write_text("id,price,kind,family\nann,1,person,\ngpt,1,model,x\n")
    (workplace / "poll.toml").write_text(
        'name = "poll"\noptions = ["no", "yes"]\ntasks = ["t1"]\npolicy = "virt-ucb"\n'
        'workers = "people.csv"\n'
    )
    call("new", "poll.toml")
    call("add", "poll", "--worker", "id=bob,price=1,kind=crowd,family=y")
    (joined,) = call("log", "poll", "--json").stdout.splitlines()
    assert '[{"id": "bob", "price": "1", "kind": "crowd", "family": "y"}]' in joined
    for worker in ("ann", "gpt"):
        (asked,) = call_json("ask", "poll", "--worker", worker)["assignments"]
        call("tell", asked["id"], "yes")
        assert call_json("ask", "poll", "--worker", worker, code=3)["status"] == "wait"
    assert "kind of worker 'eve' is 'robot': give 'person', 'model' or 'crowd'" in refusal(
        "add", "poll", "--worker", "id=eve,price=1,kind=robot"
    )


def test_a_worker_leaves_and_comes_back_at_another_price(shop: str, call: Call) -> None:
    call("leave", shop, "bob")
    assert "\nworkers\t1\n" in call("status", shop).stdout
    call("add", shop, "--worker", "id=bob,price=0.2")
    assert "\nworkers\t2\n" in call("status", shop).stdout


def test_money_is_added(shop: str, call_json: Call) -> None:
    assert call_json("top-up", shop, "0.50")["budget"] == "3.5"


def test_pause_resume_and_stop(shop: str, call: Call) -> None:
    call("pause", shop)
    assert call("ask", shop, code=3).stdout == "wait: resume\n"
    call("resume", shop)
    assert call("ask", shop).stdout.startswith("shop:")
    call("stop", shop)
    assert call("ask", shop, code=4).stdout == "done: stopped\n"


def test_a_closed_task_is_not_asked(cats: str, call: Call) -> None:
    call("close", cats, "t1")
    asked = call("ask", cats, "--limit", "9").stdout.splitlines()
    assert {line.split("\t")[2] for line in asked} == {"t2"}


@pytest.mark.parametrize(
    "words",
    [
        ("pause",),
        ("top-up", "1"),
        ("leave", "bob"),
        ("add", "--worker", "id=fay,price=1"),
        ("ask", "--limit", "2"),
    ],
    ids=" ".join,
)
def test_a_write_with_a_key_is_done_once(words: tuple[str, ...], shop: str, call: Call) -> None:
    verb, *rest = words
    first = call(verb, shop, *rest, "--key", "k1").stdout
    log = call("log", shop).stdout
    assert call(verb, shop, *rest, "--key", "k1").stdout == first
    assert call("log", shop).stdout == log


def test_a_write_prints_nothing_or_the_status(shop: str, call: Call, call_json: Call) -> None:
    assert call("pause", shop).stdout == ""
    assert call_json("resume", shop)["state"] == "running"


QUESTION = """\
name = "mails"
policy = "random-pairs"
budget = "5"
workers = [{ id = "ann", price = "0.05" }]
tasks = [{ id = "m1", payload = { subject = "You have won", body = "Click here" } }]

[content]
title = "Spam in mail"
question = "Is this message spam?"
instructions = "Judge what it *wants*."
currency = "EUR"
fields = ["subject", { name = "body", show = "long_text" }]
options = [{ name = "spam", label = "Spam", meaning = "It wants money" }, "ham"]

[[content.examples]]
payload = { subject = "Lunch", body = "At noon?" }
answer = "ham"
why = "A friend asks."
"""


def test_a_question_in_the_file_is_kept_and_told(workplace: Path, call: Call) -> None:
    from askwise import Campaign
    from askwise.core.content import Content

    (workplace / "spec.toml").write_text(QUESTION)
    call("new", "spec.toml")
    kept = Campaign.open(f"sqlite:///{workplace}/askwise.sqlite", "mails").content
    raw = tomllib.loads(QUESTION)["content"]
    assert kept == Content.from_json(raw)
    said = call("status", "mails").stdout
    assert said.endswith("title\tSpam in mail\nquestion\tIs this message spam?\n")


@pytest.mark.parametrize(
    ("line", "instead", "said"),
    [
        ('"ham"]', "[]]", "content.options[1] is []: give a mapping of its fields"),
        ('name = "spam", ', "", "content.options[0] lacks 'name'"),
        ('show = "long_text"', 'show = "video"', "content.fields[1].show of field 'body'"),
        ('answer = "ham"', 'answer = "eggs"', "content.examples[0].answer is 'eggs'"),
        ('question = "Is', 'questions = "Is', "content has no field 'questions'"),
        ('subject = "You', 'sujet = "You', "task 'm1' can't be shown: payload: 'subject'"),
    ],
)
def test_what_is_wrong_with_a_question_is_said_with_its_place(
    workplace: Path, refusal: Call, line: str, instead: str, said: str
) -> None:
    assert line in QUESTION
    (workplace / "spec.toml").write_text(QUESTION.replace(line, instead))
    assert said in refusal("new", "spec.toml")
