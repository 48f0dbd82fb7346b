"""What the commands print as JSON, and what they read as TOML, is what the schemas say."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from jsonschema import Draft202012Validator

from askwise import Campaign
from askwise.core import errors
from askwise.core.choices import Done, Wait
from askwise.core.events import Kind
from askwise.core.reasons import Reason
from askwise.data.campaigns import FIELDS
from tests.cli import page
from tests.cli.helpers import OPTIONS, RATED, UTILITY
from tests.schemas import NAMES, faults, schema

SAMPLED = UTILITY.replace("shop", "sampled").replace('"uniform"', '"thompson-knapsack"')
KINDS = UTILITY.replace("limit = 2", 'kind = "model"\nfamily = "maker"', 1)
LOOKING = UTILITY.replace("shop", "looking").replace('"uniform"', '"knowledge-gradient"')

Call = Callable[..., Any]


@pytest.fixture
def look(call: Call, call_json: Call) -> Call:
    """Hold everything that can be read of a campaign against the schemas."""

    def all_of_it(name: str, *, explain: bool = False) -> None:
        for verb in (
            "status",
            "results",
            "answers",
            "agreement",
            "judges",
            "payments",
            "assignments",
        ):
            assert faults(verb, call_json(verb, name)) == [], verb
        for line in call("log", name, "--json").stdout.splitlines():
            event = json.loads(line)
            assert faults("event", event) == [], event
            if explain and event["kind"] == "ASKED":
                explanation = call_json("explain", f"{name}:{event['seq']}")
                assert faults("explanation", explanation) == []
                assert explanation["reproduced"] is True

    return all_of_it


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_is_one(name: str) -> None:
    Draft202012Validator.check_schema(schema(name))


@pytest.mark.parametrize(
    ("text", "values"),
    [(UTILITY, "0.5"), (RATED, "-1"), (OPTIONS, "dog"), (SAMPLED, "1"), (LOOKING, "0.25")],
    ids=["utility", "utility with tasks", "options", "without propensity", "knowledge-gradient"],
)
def test_a_campaign_from_beginning_to_end(
    text: str,
    values: str,
    workplace: Path,
    call: Call,
    call_json: Call,
    look: Call,
) -> None:
    (workplace / "spec.toml").write_text(text)
    name = call_json("new", "spec.toml")["name"]
    look(name)
    batch = call_json("ask", name, "--limit", "3", "--worker", "bob", "--key", "k")
    assert faults("ask", batch) == []
    first = batch["assignments"][0]["id"]
    look(name)
    assert faults("status", call_json("tell", first, values, "--key", "answer")) == []
    assert faults("ask", call_json("ask", name, "--limit", "2")) == []
    look(name, explain=True)


AUCTION = """
name = "auction"
options = ["no", "yes"]
tasks = ["t1"]
workers = [{id = "ann", price = "1"}, {id = "bob", price = "2"}]
policy = {name = "ccb-s", solver = "exact"}
mechanism = {name = "self-resampling", c_max = "5"}
"""


CERTIFIED = """
name = "certified"
options = ["cat", "dog"]
tasks = ["t1", "t2"]
budget = 10
workers = [{id = "ann", price = "1"}, {id = "vet", price = "1", trusted = true}]
policy = "random-pairs"
lease = 600
certify = {error = 0.1, confidence = 0.5, by = ["vet"]}
"""


SCREENED = """
name = "screened"
options = ["cat", "dog"]
tasks = [{tasks}]
workers = [{{id = "ann", price = "1", kind = "person"}}]
policy = "random-pairs"
seed = 1

[screening]
qualify = 5
rate = 0.5
warn_below = 0.9
pause_below = 0.6
""".format(tasks=", ".join(f'"t{at}"' for at in range(60)))


def test_every_kind_of_event_that_there_is(
    workplace: Path, cats: str, shop: str, call: Call, call_json: Call, look: Call
) -> None:
    call("ask", cats, "--limit", "5")
    for assignment in ("cats:2", "cats:3"):
        call("tell", assignment, "dog")
    call("expire", "cats:4")
    call("ask", cats)
    (out, *_) = call_json("assignments", cats)
    call("decline", out["id"])
    (first, second, *_) = call_json("assignments", cats)
    told = ("--cost", "9", "--probability", "cat=0.9", "--probability", "dog=0.1")
    call("tell", first["id"], "cat", *told, "--rationale", "It purrs.", "--reference", "r-1")
    call("fail", second["id"], "unreadable", "--cost", "0.01", "--reference", "r-2")
    changed = ("--probability", "cat=1", "--rationale", "A cat.", "--reference", "r-3")
    call("revise", "cats:2", "cat", *changed, "--by", "eve")
    call("withdraw", "cats:3", "It was deleted.", "--by", "eve")
    call("truth", cats, "t2", "cat")
    call("ask", cats)
    (third, *_) = call_json("assignments", cats)
    call("flag", third["id"], "The picture is missing.")
    call("comment", cats, "t1", "Ask the vet.", "--by", "eve")
    call("set-label", cats, "t1", "cat", "--by", "eve", "--why", "It purrs.")
    call("add", cats, "--task", "id=t3,payload=x", "--worker", "id=fay,price=1,limit=2,rating=0.5")
    call("add", cats, "--worker", "id=gpt,price=1,kind=model,family=maker")
    call("close", cats, "t3")
    call("leave", cats, "bob")
    call("bonus", cats, "fay", "0.01", "For coming.", "--by", "eve")
    call("pay", cats, "fay", "--reference", "SEPA 4711", "--on", "2024-06-03", "--by", "eve")
    assert faults("payouts", call_json("payouts", cats)) == []
    call("pause", cats)
    assert faults("ask", call_json("ask", cats, code=3)) == []
    call("resume", cats)
    look(cats)
    call("stop", cats)
    assert faults("ask", call_json("ask", cats, code=4)) == []
    look(cats, explain=True)
    call("top-up", shop, "1")
    look(shop)
    (workplace / "auction.toml").write_text(AUCTION)
    call("new", "auction.toml")
    call("bid", "auction", "bob", "1.5")
    call("ask", "auction")
    look("auction", explain=True)
    (workplace / "certified.toml").write_text(CERTIFIED)
    call("new", "certified.toml")
    audited = Campaign.open("sqlite:///askwise.sqlite", "certified")
    while batch := audited.ask():
        call("renew", batch[0].id)
        audited.tell(batch[0].id, "cat")
    look("certified", explain=True)
    (workplace / "screened.toml").write_text(SCREENED)
    call("new", "screened.toml")
    screened = Campaign.open("sqlite:///askwise.sqlite", "screened")
    for at in range(30):
        screened.truth(f"t{at}", "cat")
    while batch := screened.ask():
        screened.tell(batch[0].id, "cat" if screened.status().answers < 5 else "dog")
    assert faults("workers", call_json("workers", "screened")) == []
    call("reinstate", "screened", "ann", "--by", "eve", "--why", "An illness.")
    call("suspend", "screened", "ann", "--by", "eve")
    look("screened")
    call("retitle", "certified", "Certified cats")
    call("archive", "certified")
    call("unarchive", "certified")
    call("forget", "certified", "vet", "--as", "w7")
    look("certified", explain=False)
    names = (cats, shop, "auction", "certified", "screened")
    logs = "".join(call("log", name).stdout for name in names)
    met = {line.split("\t")[2] for line in logs.splitlines()}
    assert met == {kind.name for kind in Kind}


def test_the_schemas_know_every_kind_wait_end_and_error() -> None:
    kinds = [kind.name for kind in Kind]
    event = schema("event")
    assert event["properties"]["kind"]["enum"] == kinds
    assert [each["$ref"].rpartition("/")[2] for each in event["oneOf"]] == kinds
    ask = schema("ask")["$defs"]
    assert all(faults("ask", Wait(what).to_json()) == [] for what in _words(Wait, "what"))
    assert ask["Wait"]["properties"]["what"]["enum"] == list(_words(Wait, "what"))
    assert ask["Done"]["properties"]["why"]["enum"] == list(_words(Done, "why"))
    codes = set(schema("error")["$defs"]["Problem"]["properties"]["code"]["enum"])
    assert codes == {*_codes(errors.AskwiseError), "file_error", "usage"}
    assert schema("error")["$defs"]["Problem"]["properties"]["reason"]["enum"] == [
        *get_args(Reason)
    ]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ask", {"status": "batch", "assignments": []}),
        ("ask", {"status": "wait", "what": "tea"}),
        ("event", {"kind": "PAUSED", "seq": 1, "time": 0.0, "worker": "ann"}),
        ("event", {"kind": "LEFT", "seq": 1, "time": 0.0}),
        ("event", {"kind": "PAID", "seq": 1, "time": 0.0, "worker": "ann", "price": "1"}),
        ("event", {"kind": "TOPPED_UP", "seq": 1, "time": 0.0, "price": 0.5}),
        ("payments", [{"worker": "ann"}]),
        ("error", {"error": {"code": "oops", "reason": "usage", "message": "", "field": None}}),
        ("error", {"error": {"code": "usage", "reason": "oops", "message": "", "field": None}}),
        ("error", {"error": {"code": "usage", "message": "", "field": None}}),
    ],
    ids=str,
)
def test_the_schemas_refuse_what_is_wrong(name: str, value: Any) -> None:
    assert faults(name, value) != []


@pytest.mark.parametrize("words", [("ask", "nobody"), ("ask",), ("new", "nowhere.toml")], ids=str)
def test_errors_are_as_their_schema_says(words: tuple[str, ...], call: Call) -> None:
    assert faults("error", json.loads(call(*words, "--json", code=2).stderr)) == []


@pytest.mark.parametrize(
    "text",
    [UTILITY, RATED, OPTIONS, SAMPLED, LOOKING, page.files()["cats.toml"], KINDS],
    ids=["utility", "rated", "options", "sampled", "looking", "the page's", "kinds"],
)
def test_a_campaign_that_can_be_made_is_one_by_the_schema(text: str) -> None:
    assert faults("campaign", tomllib.loads(text)) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('name = "shop"', 'name = "my shop"'),
        ('budget = "3"', 'budget = "-3"'),
        ('budget = "3"', "bugdet = 3"),
        ('outcome = "utility"', ""),
        ('outcome = "utility"', 'outcome = "usefulness"'),
        ('outcome = "utility"', 'options = ["cat", "dog"]'),
        ('policy = "uniform"', "policy = {epsilon = 1}"),
        ("seed = 7", "seed = -1"),
        ("seed = 7", "lease = 0"),
        ("seed = 7", 'repeat = "no"'),
        ('price = "0.05"', "price = -1"),
        ('price = "0.05"', ""),
        ("limit = 2", "limit = 0"),
        ("limit = 2", "rating_weight = 2"),
        ("limit = 2", 'kind = "robot"'),
        ("limit = 2", 'family = ""'),
        ("limit = 2", "family = 3"),
    ],
)
def test_the_schema_and_the_command_refuse_the_same(
    old: str, new: str, workplace: Path, refusal: Call
) -> None:
    text = UTILITY.replace(old, new, 1)
    (workplace / "spec.toml").write_text(text)
    assert faults("campaign", tomllib.loads(text)) != []
    refusal("new", "spec.toml")


def test_the_schema_of_a_campaign_has_its_fields() -> None:
    assert tuple(schema("campaign")["properties"]) == FIELDS


def _words(noun: type, field: str) -> Iterator[str]:
    """The words that a Literal allows."""
    from typing import get_args, get_type_hints

    yield from get_args(get_type_hints(noun)[field])


def _codes(error: type[errors.AskwiseError]) -> Iterator[str]:
    yield error.code
    for below in error.__subclasses__():
        if below.__module__ == errors.__name__:  # others are of the service and its client
            yield from _codes(below)
