"""Bad input: one clear line on stderr, exit code 2, nothing changed."""

from __future__ import annotations

import json
import shutil
import sqlite3
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from askwise.campaign import Campaign
from askwise.store import SqliteStore
from tests.cli.helpers import UTILITY, content

Call = Callable[..., Any]
Refusal = Callable[..., str]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('price = "0.05"', 'price = "-1"', "price of worker 'ann' is '-1': give an amount of 0"),
        ('price = "0.05"', "price = -0.5", "price of worker 'ann' is -0.5: give an amount of 0"),
        ('price = "0.05"', "price = nan", "price of worker 'ann' is nan: give a finite amount"),
        ('price = "0.05"', 'price = "NaN"', "price of worker 'ann' is 'NaN': give a number"),
        ('price = "0.05"', 'price = "0.0000001"', "at most six decimals"),
        ("limit = 2", "limit = 0", "limit of worker 'bob' is 0: give a whole number from 1"),
        ("limit = 2", "limt = 2", "has no field 'limt': did you mean 'limit'?"),
        ('id = "bob"', 'id = "ann"', "worker 'ann' is named twice"),
        ('budget = "3"', 'budget = "0.01"', "budget is 0.01: it buys nothing, the cheapest"),
        ('budget = "3"', "budget = inf", "budget is inf: give a finite amount"),
        ('budget = "3"', 'bugdet = "3"', "no field 'bugdet': did you mean 'budget'"),
        (
            '"uniform"',
            '"unifrom"',
            "policy 'unifrom' is not known: did you mean 'uniform' or 'virt-uniform'?",
        ),
        (
            '"uniform"',
            '{name = "knowledge-gradient", scren = 0.1}',
            "'knowledge-gradient' has no parameter 'scren': did you mean 'screen'?",
        ),
        (
            '"uniform"',
            '{name = "knowledge-gradient", screen = 2}',
            "screen is 2: give a share from 0 to 1",
        ),
        (
            '"uniform"',
            '{name = "auto", target = 2}',
            "target is 2: give a number between 0 and 1",
        ),
        (
            '"uniform"',
            '{name = "auto", target = 0.1}',
            "target is given in a utility campaign, which has no labels: leave it out",
        ),
        (
            'outcome = "utility"',
            'outcome = "utility"\noptions = ["cat", "dog"]',
            "give exactly one of options (a list of names) and outcome",
        ),
        ('outcome = "utility"', 'outcome = "usefulness"', "outcome is 'usefulness'"),
        ('name = "shop"', 'name = "my shop"', "name is 'my shop': give 1 to 64 letters"),
        ("seed = 7", "seed = -7", "seed is -7: give a whole number from 0"),
        ("seed = 7", "lease = 0", "lease is 0: give the seconds (above 0)"),
        ("seed = 7", 'stopping = "fixd"', "stopping 'fixd' is not known: did you mean 'fixed'?"),
        ("seed = 7", 'stopping = "fixed"', "stopping 'fixed' closes tasks, this campaign has none"),
        ("seed = 7", "seed = ", "spec.toml is not TOML: Invalid value (at line"),
    ],
)
def test_a_campaign_that_can_not_be_is_not_made(
    old: str, new: str, message: str, workplace: Path, refusal: Refusal
) -> None:
    assert old in UTILITY
    (workplace / "spec.toml").write_text(UTILITY.replace(old, new, 1))
    assert message in refusal("new", "spec.toml")
    assert [path.name for path in workplace.iterdir()] == ["spec.toml"]


def test_without_workers_it_is_said_how_to_write_them(workplace: Path, refusal: Refusal) -> None:
    (workplace / "spec.toml").write_text('outcome = "utility"\npolicy = "uniform"\n')
    assert "workers is missing: give tables [[workers]]" in refusal("new", "spec.toml")


@pytest.fixture(scope="module")
def busy_shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a campaign: shop:2 is answered, shop:3 declined, shop:5 and shop:6 are out."""
    file = tmp_path_factory.mktemp("busy") / "askwise.sqlite"
    store = SqliteStore(file)
    campaign = Campaign.create(store=store, **tomllib.loads(UTILITY))
    campaign.ask(limit=4, key="k")
    campaign.tell("shop:2", 0.5)
    campaign.decline("shop:3")
    store.close()
    return file


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("new", "nowhere.toml"), "nowhere.toml: No such file or directory"),
        (("new", "."), ".: Is a directory"),
        (("new", "spec.toml"), "campaign 'shop' exists already: choose another name"),
        (("ask", "shpo"), "campaign 'shpo' is not known: did you mean 'shop'?"),
        (("ask", "shop", "--limit", "0"), "limit is 0: give a whole number from 1"),
        (("ask", "shop", "--limit", "many"), "'--limit': 'many' is not a whole number"),
        (
            ("ask", "shop", "--worker", "anne"),
            "worker 'anne' is not in this campaign: did you mean 'ann'?",
        ),
        (("ask", "shop", "--key", ""), "key is '': give 1 to 200 characters"),
        (("ask",), "missing argument 'NAME' (see askwise ask --help)"),
        (("ask", "shop", "--limit=many"), "'--limit': 'many' is not a whole number"),
        (("ask", "shop", "--limmit", "3"), "no such option: --limmit: did you mean --limit?"),
        (("label", "--judge", "j.toml"), "no such option: --judge: did you mean --judges or"),
        (("aks", "shop"), "no such command 'aks'"),
        (("tell", "shop:5", "1.5"), "answer is 1.5: the campaign's range is 0 to 1"),
        (("tell", "shop:5", "-0.5"), "answer is -0.5: the campaign's range is 0 to 1"),
        (("tell", "shop:5", "nan"), "answer is nan: the campaign's range is 0 to 1"),
        (("tell", "shop:5", "good"), "answer is 'good': give a number from 0 to 1"),
        (("tell", "shop:2", "0.5"), "assignment 'shop:2' is answered already"),
        (("tell", "shop:3", "0.5"), "assignment 'shop:3' was declined"),
        (("tell", "shop:1", "0.5"), "assignment 'shop:1' is not known"),
        (("tell", "shop:99", "0.5"), "assignment 'shop:99' is not known: did you mean 'shop:"),
        (("tell", "shop", "0.5"), "assignment is 'shop': ids look like NAME:12"),
        (("tell", "sho:2", "0.5"), "campaign 'sho' is not known: did you mean 'shop'?"),
        (("tell", "shop:5", "0.5", "--key", "k"), "key 'k' was used for another request"),
        (("expire", "shop:2"), "assignment 'shop:2' is answered already"),
        (("decline", "shop:99"), "assignment 'shop:99' is not known"),
        (
            ("explain", "shop:1"),
            "assignment 'shop:1' is not known: event 1 of the log is not an ASKED event",
        ),
        (("explain", "shop"), "assignment is 'shop': ids look like NAME:12"),
        (("truth", "shop", "t1", "cat"), "a utility campaign has no true option"),
        (("close", "shop", "t1"), "this campaign has no tasks to close"),
        (("leave", "shop", "anne"), "worker 'anne' is not in this campaign: did you mean 'ann'?"),
        (("add", "shop"), "nothing to add: give --worker, --task or --file"),
        (("add", "shop", "--worker", "fay"), "worker 'fay' lacks 'price'"),
        (("add", "shop", "--worker", "id=fay,prize=1"), "no field 'prize': did you mean 'price'?"),
        (("add", "shop", "--worker", "id=fay,price=-1"), "is '-1': give an amount of 0 or more"),
        (("add", "shop", "--worker", "fay,price=1"), "give FIELD=VALUE,..."),
        (("add", "shop", "--worker", "id=a,id=b,price=1"), "id is given twice"),
        (("add", "shop", "--worker", "id=ann,price=1"), "'ann' is in this campaign already"),
        (("add", "shop", "--task", "t1"), "this campaign buys units of work: it has no tasks"),
        (("add", "shop", "--file", "nowhere.toml"), "nowhere.toml: No such file"),
        (("top-up", "shop", "-1"), "amount is '-1': give an amount of 0 or more"),
        (("top-up", "shop", "0"), "amount is 0: give more than 0"),
        (("top-up", "shop", "much"), "amount is 'much': give a number, such as 5"),
        (("resume", "shop"), "the campaign is not paused"),
        (("log", "shop", "--after", "-1"), "after is -1: give the number of an event"),
        (
            ("status", "shop", "--store", "memory"),
            "store is 'memory', which is gone when the command ends",
        ),
        (
            ("status", "shop", "--store", "shop.db"),
            "store is 'shop.db', which begins with no scheme that is known: give",
        ),
        (("status", "shop", "--store", "sqlite:///no/x.db"), "there is no directory"),
        (("status", "shop", "--store", "sqlite:///none.db"), "there is no store"),
        (("status", "shop", "--store", "sqlite:///spec.toml"), "is not a database"),
    ],
    ids=lambda part: " ".join(part) if isinstance(part, tuple) else None,
)
def test_a_bad_command_is_refused_and_changes_nothing(
    words: tuple[str, ...], message: str, busy_shop: Path, workplace: Path, refusal: Refusal
) -> None:
    shutil.copy(busy_shop, workplace / "askwise.sqlite")
    (workplace / "spec.toml").write_text(UTILITY)
    before = content(workplace / "askwise.sqlite")
    names = sorted(path.name for path in workplace.iterdir())
    assert message in refusal(*words)
    assert content(workplace / "askwise.sqlite") == before
    assert sorted(path.name for path in workplace.iterdir()) == names


def test_an_answer_after_its_lease_is_refused_once_its_task_is_closed(
    cats: str, workplace: Path, call: Call, refusal: Refusal
) -> None:
    call("ask", cats)
    call("expire", "cats:2")
    call("close", cats, "t1")
    before = content(workplace / "askwise.sqlite")
    assert refusal("tell", "cats:2", "dog") == (
        "assignment 'cats:2' has expired and its task is closed"
    )
    assert content(workplace / "askwise.sqlite") == before


def test_an_option_that_is_not_offered_is_refused(cats: str, call: Call, refusal: Refusal) -> None:
    call("ask", cats)
    assert refusal("tell", "cats:2", "bird") == "answer is 'bird': give one of cat, dog"
    assert refusal("truth", cats, "t1", "bird") == "option is 'bird': give one of cat, dog"


def test_another_truth_is_a_conflict(cats: str, call: Call, refusal: Refusal) -> None:
    call("truth", cats, "t1", "dog")
    assert refusal("truth", cats, "t1", "cat") == (
        "option is 'cat', but the truth of task 't1' was told to be 'dog': the first truth stays; "
        "check which one is right"
    )


def test_a_store_of_a_newer_askwise_is_left_alone(
    shop: str, workplace: Path, refusal: Refusal
) -> None:
    file = workplace / "askwise.sqlite"
    connection = sqlite3.connect(file)
    connection.execute("PRAGMA user_version = 999")
    connection.close()
    before = content(file)
    assert "newer" in refusal("status", shop)
    assert "newer" in refusal("ask", shop)
    assert "newer" in refusal("new", "spec.toml", "--name", "another")
    assert content(file) == before


def test_a_file_of_another_program_is_left_alone(workplace: Path, refusal: Refusal) -> None:
    file = workplace / "askwise.sqlite"
    connection = sqlite3.connect(file)
    connection.execute("CREATE TABLE songs (name TEXT)")
    connection.commit()
    connection.close()
    before = file.read_bytes()
    assert "is not an askwise store but a file of another program" in refusal("list")
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (
            ("ask", "shop", "--limit", "0"),
            {
                "code": "invalid_problem",
                "reason": "invalid_problem",
                "message": "limit is 0: give a whole number from 1",
                "field": "limit",
            },
        ),
        (
            ("new", "nowhere.toml"),
            {
                "code": "file_error",
                "reason": "file_error",
                "message": "nowhere.toml: No such file or directory",
                "field": None,
            },
        ),
        (
            ("ask",),
            {
                "code": "usage",
                "reason": "usage",
                "message": "missing argument 'NAME' (see askwise ask --help)",
                "field": "name",
            },
        ),
    ],
    ids=lambda part: " ".join(part) if isinstance(part, tuple) else None,
)
def test_with_json_an_error_is_an_object(
    words: tuple[str, ...], expected: dict[str, Any], shop: str, call: Call
) -> None:
    result = call(*words, "--json", code=2)
    assert result.stdout == ""
    assert json.loads(result.stderr) == {"error": expected}


def test_a_demo_that_can_not_be_drawn_leaves_no_files(workplace: Path, refusal: Refusal) -> None:
    assert "seed is -1: give a whole number from 0" in refusal("demo", "--seed", "-1")
    assert "leave it out of market" in refusal("demo", "market", "--seed", "2")
    assert list(workplace.iterdir()) == []
