"""Results show themselves: as lists, small tables, data frames and pictures."""

from __future__ import annotations

import json
import pickle
import sys
from decimal import Decimal
from typing import Any

import pytest

from askwise import Campaign, Worker
from askwise.auditing import check
from askwise.core.errors import InvalidParameter
from askwise.core.shown import ShownList
from askwise.lab.replaying.replay import replay


@pytest.fixture(scope="module")
def campaign() -> Campaign:
    made = Campaign.create(
        workers=[
            Worker("ann", "0.10"),
            Worker("<b>bob</b>", "0.20"),
            Worker("vet", 1, trusted=True),
        ],
        tasks=[f"t{at}" for at in range(30)],
        options=["yes", "no"],
        budget=40,
        policy="random-pairs",
        certify={"error": 0.2, "confidence": 0.8, "by": ["vet"], "share": 0.6},
        seed=1,
    )
    while batch := made.ask(20):
        for each in batch:
            made.tell(each.id, "yes" if each.task != "t7" else "no")
    made.pay("ann", "1", by="me")
    return made


def shown(campaign: Campaign) -> dict[str, Any]:
    """Everything that draws itself."""
    rows = {"task": [], "worker": [], "label": []}  # type: dict[str, list[str]]
    for task in "abcdef":
        for worker in ("gpt", "mini"):
            rows["task"].append(task)
            rows["worker"].append(worker)
            rows["label"].append("yes" if task < "d" else "no")
    people = {**rows, "worker": ["ann" if each == "gpt" else "ben" for each in rows["worker"]]}
    pandas = pytest.importorskip("pandas")
    gold = dict(zip(rows["task"], rows["label"], strict=True))
    found = replay(
        pandas.DataFrame(rows), gold, policy="random-pairs", against=(), budget=8, runs=1
    )
    return {
        "campaign": campaign,
        "answers": campaign.answers(),
        "payments": campaign.payments(),
        "certificate": campaign.certificate(),
        "replay": found,
        "check": check(rows, people),
    }


def test_each_has_a_frame_a_small_table_and_a_picture(campaign: Campaign) -> None:
    sizes = {"campaign": 30, "answers": 30, "payments": 3, "check": 2}
    for name, each in shown(campaign).items():
        frame = each.to_frame()
        assert len(frame) == sizes.get(name, len(frame)), name
        assert len(frame), name
        html = each._repr_html_()
        assert html.startswith("<div>"), name
        assert "<b>" not in html, name
        assert "script" not in html, name
        assert "style=" not in html, name
        assert len(html) < 8000, name
        figure = each.plot()
        assert "<svg" in figure._repr_html_(), name
        assert figure.get_suptitle(), name


def test_a_table_is_a_list(campaign: Campaign) -> None:
    answers = campaign.answers()
    assert isinstance(answers, list)
    assert answers == list(answers)
    assert list(answers) == answers
    assert type(answers[:3]) is type(answers)
    assert answers[:3] == list(answers)[:3]
    assert answers[0].task == "t0"
    assert pickle.loads(pickle.dumps(answers)) == answers
    assert json.dumps(ShownList([1, 2])) == "[1, 2]"
    assert campaign.assignments().columns()[:2] == ["id", "task"]
    assert list(campaign.bonuses().to_frame().columns)[:2] == ["seq", "time"]


def test_money_in_frames_is_exact_and_kinds_have_names(campaign: Campaign) -> None:
    payments = campaign.payments().to_frame().set_index("worker")
    assert payments.loc["ann", "paid_out"] == Decimal(1)
    log = campaign.log().to_frame()
    assert len(log) == campaign.status().seq
    asked = log[log["kind"] == "ASKED"]
    assert set(asked["price"]) == {Decimal("0.1"), Decimal("0.2"), Decimal(1)}


def test_long_tables_say_how_many_rows_there_are_and_text_is_escaped(campaign: Campaign) -> None:
    assert "10 more rows" in campaign.answers()._repr_html_()
    assert "&lt;b&gt;bob&lt;/b&gt;" in campaign.payments()._repr_html_()
    assert "more rows" not in campaign.payments()._repr_html_()


def test_nothing_can_be_shown_too() -> None:
    empty = Campaign.create(
        workers=[Worker("ann", 1)], outcome="utility", policy="uniform", budget=3
    )
    assert empty.payments().plot() is not None
    assert empty.plot() is not None
    assert empty.log().to_frame().empty
    assert empty.answers().plot() is not None
    batch = empty.ask()
    empty.tell(batch[0].id, 0.5)
    assert empty.answers().plot() is not None
    assert empty._repr_html_()


@pytest.mark.parametrize(
    ("missing", "verb", "said"),
    [
        ("pandas", "to_frame", r"pandas: pip install 'askwise\[tables\]'"),
        ("matplotlib", "plot", r"matplotlib: pip install 'askwise\[lab\]'"),
    ],
)
def test_what_is_not_installed_says_which_extra_it_takes(
    campaign: Campaign, monkeypatch: pytest.MonkeyPatch, missing: str, verb: str, said: str
) -> None:
    for name in [each for each in sys.modules if each.split(".")[0] == missing]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)
    for each in (campaign, campaign.payments(), campaign.certificate()):
        with pytest.raises(InvalidParameter, match=said):
            getattr(each, verb)()
