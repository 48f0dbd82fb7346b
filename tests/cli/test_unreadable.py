"""One campaign that can't be read hides no other."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from tests.cli.conftest import Call


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        ("UPDATE campaigns SET spec = 'no JSON' WHERE name = 'cats'", "JSONDecodeError"),
        ("UPDATE campaigns SET spec = '[]' WHERE name = 'cats'", "TypeError"),
        ("UPDATE campaigns SET spec = '{\"format\": 1}' WHERE name = 'cats'", "workers is missing"),
        ("UPDATE events SET body = '{\"assignment\":99}' WHERE kind = 'ANSWER'", "cats"),
        ("UPDATE events SET body = 'no JSON' WHERE kind = 'ANSWER'", "JSONDecodeError"),
        ("UPDATE events SET kind = 'DANCED' WHERE kind = 'ANSWER'", "KeyError: 'DANCED'"),
    ],
)
def test_a_campaign_that_can_t_be_read_is_listed_with_the_reason(
    damage: str, why: str, cats: str, shop: str, call: Call, call_json: Call
) -> None:
    call("tell", call("ask", cats).stdout.split()[0], "cat")
    with closing(sqlite3.connect("askwise.sqlite")) as raw:
        assert raw.execute(damage).rowcount == 1
        raw.commit()
    broken, fine = (line.split("\t") for line in call("list").stdout.splitlines())
    assert broken[:2] == ["cats", "unreadable"]
    assert why in broken[2]
    assert fine[:3] == ["shop", "running", "uniform"]
    first, second = call_json("list")
    assert first["name"] == "cats"
    assert first["error"]["message"] == broken[2]
    assert second["name"] == "shop"
