"""Campaigns as files: what is in them, that they are harmless, and that they can be read back."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from askwise.campaign import Campaign
from askwise.core.choices import Batch
from askwise.core.events import Event
from askwise.core.problem import Worker
from askwise.data import read_labels
from askwise.service import exports
from askwise.service.app import make_app
from askwise.service.exports import CALL_COLUMNS, EXPORTS, export, safe_cell
from askwise.service.settings import Settings

FORMULAS = ("=1+1", "+SUM(A1)", "-2+3", "@cmd", "'quoted")


def work(campaign: Campaign, *values: float | str) -> None:
    for value in values:
        batch = campaign.ask()
        assert isinstance(batch, Batch)
        campaign.tell(batch[0].id, value)


def text_of(campaign: Campaign, what: str) -> str:
    return b"".join(export(campaign, what)).decode()


def rows_of(campaign: Campaign, what: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text_of(campaign, what), newline="")))


@pytest.fixture
def campaign() -> Campaign:
    made = Campaign.create(
        name="cats",
        workers=[Worker("ann", "0.10"), Worker("bob", "0.10")],
        tasks=["t1", "t2", "t3"],
        options=["yes", "no"],
        budget="1",
        policy="random-pairs",
        seed=2,
    )
    work(made, "yes", "no", "yes", "yes")
    made.ask()
    return made


def test_payments_and_the_log_have_what_calls_cost() -> None:
    made = Campaign.create(
        workers=[Worker("ann", "0.10")], tasks=["t1", "t2"], options=["yes", "no"], budget="1",
        policy="random-pairs",
    )  # fmt: skip
    first, second = made.ask(2)
    more = {"probabilities": {"yes": 0.75, "no": 0.25}, "rationale": "Meow.", "reference": "r-1"}
    made.tell(first.id, "yes", cost="0.02", **more)  # type: ignore[arg-type]
    made.fail(second.id, "filtered", "0.01")
    (paid,) = rows_of(made, "payments.csv")
    assert (paid["answers"], paid["failures"], paid["paid"]) == ("1", "1", "0.03")
    answer, failure = map(json.loads, text_of(made, "log.jsonl").splitlines()[-2:])
    assert {name: answer[name] for name in more} == more
    assert (answer["price"], answer["cost"]) == ("0.02", "0.02")
    assert (failure["why"], failure["price"], failure["cost"]) == ("filtered", "0.01", "0.01")


def test_calls_have_their_costs_reasons_and_words() -> None:
    made = Campaign.create(
        workers=[Worker("ann", "0.10")], tasks=["t1", "t2", "t3", "t4"], options=["yes", "no"],
        budget="1", policy="random-pairs", name="calls", clock=lambda: 0.0,
    )  # fmt: skip
    first, second, third, fourth = made.ask(4)
    more = {"probabilities": {"yes": 0.75, "no": 0.25}, "rationale": "=Meow", "reference": "r-1"}
    made.tell(first.id, "yes", cost="0.02", **more)  # type: ignore[arg-type]
    made.fail(second.id, "filtered", "0.01")
    made.decline(third.id)
    made.tell(fourth.id, "no", cost="0.30")
    rows = rows_of(made, "calls.csv")
    common = {"worker": "ann", "time": "1970-01-01T00:00:00Z", "ceiling": "0.1"}
    none = dict.fromkeys(CALL_COLUMNS, "")
    assert rows == [
        {**none, **common, "assignment": first.id, "task": first.task, "state": "answered",
         "value": "yes", "booked": "0.02", "cost": "0.02",
         "probabilities": '{"yes": 0.75, "no": 0.25}', "rationale": "'=Meow", "reference": "r-1"},
        {**none, **common, "assignment": second.id, "task": second.task, "state": "failed",
         "why": "filtered", "booked": "0.01", "cost": "0.01"},
        {**none, **common, "assignment": fourth.id, "task": fourth.task, "state": "answered",
         "value": "no", "booked": "0.3", "cost": "0.3", "over_ceiling": "yes"},
    ]  # fmt: skip


def test_calls_show_answers_as_they_were_changed_last() -> None:
    now = [0.0]
    made = Campaign.create(
        workers=[Worker("ann", "0.10")], tasks=["t1", "t2"], options=["yes", "no"],
        budget="1", policy="random-pairs", name="calls", clock=lambda: now[0],
    )  # fmt: skip
    first, second = made.ask(2)
    made.tell(first.id, "yes", rationale="Meow.", reference="r-1")
    made.tell(second.id, "yes")
    now[0] = 60.0
    made.revise(first.id, "no", rationale="Woof.")
    made.withdraw(second.id, "Deleted.")
    rows = rows_of(made, "calls.csv")
    shown = ("state", "value", "why", "booked", "rationale", "reference", "time", "revised")
    times = ("1970-01-01T00:00:00Z", "1970-01-01T00:01:00Z")
    assert [tuple(row[name] for name in shown) for row in rows] == [
        ("answered", "no", "", "0.1", "Woof.", "", *times),
        ("withdrawn", "", "Deleted.", "0.1", "", "", *times),
    ]
    assert [row["label"] for row in rows_of(made, "votes.csv")] == ["no"]


def test_labels_of_options_stand_beside_their_names_where_they_differ() -> None:
    options: list[Any] = [{"name": "y", "label": "Yes, a cat"}, {"name": "n", "label": "No"}]
    made = Campaign.create(
        workers=[Worker("ann", "0.10")], tasks=["t1", "t2"], budget="1", policy="random-pairs",
        content={"question": "A cat?", "options": options},
    )  # fmt: skip
    work(made, "y")
    rows = {row["value"]: row["option_label"] for row in rows_of(made, "answers.csv")}
    assert rows == {"y": "Yes, a cat", "": ""}
    lines = [json.loads(line) for line in text_of(made, "answers.jsonl").splitlines()]
    assert {row["value"]: row["option_label"] for row in lines} == {"y": "Yes, a cat", None: None}
    (label,) = rows_of(made, "votes.csv")
    assert label["label"] == "y"


def test_options_that_are_their_own_labels_add_no_column(campaign: Campaign) -> None:
    assert "option_label" not in text_of(campaign, "answers.csv").splitlines()[0]
    made = Campaign.create(
        workers=[Worker("ann", 1)], tasks=["t"], budget=1, policy="random-pairs",
        content={"question": "A cat?", "options": ["yes", "no"]},
    )  # fmt: skip
    assert "option_label" not in text_of(made, "answers.csv")
    assert "option_label" not in text_of(made, "answers.jsonl")


def test_results_have_the_texts_beside_the_final_labels() -> None:
    tasks: list[Any] = [
        {"id": "t1", "payload": {"text": "=A sofa", "value": 3, "tags": ["a", "b"]}},
        {"id": "t2", "payload": "only text"},
        "t3",
    ]
    made = Campaign.create(
        workers=[Worker("ann", "0.10")], tasks=tasks, budget="1", policy="random-pairs",
        options=["yes", "no"], seed=1,
    )  # fmt: skip
    made.set_label("t1", "no", by="eve")
    made.remove("t3")
    first, last = rows_of(made, "results.csv")
    head = ("task", "text", "payload_value", "tags", "value", "decided_by")
    shown = ("t1", "'=A sofa", "3", '["a", "b"]', "no", "eve")
    assert tuple(first[name] for name in head) == shown
    assert (last["task"], last["text"], last["value"]) == ("t2", "only text", "")


def test_results_are_rounded_for_people_and_answers_are_exact() -> None:
    made = Campaign.create(
        workers=[Worker("ann", "0.10")], tasks=["t"], budget="1", policy="hem",
        options=["yes", "no"], seed=1,
    )  # fmt: skip
    made.tell(made.ask()[0].id, "yes")
    (row,), (exact,) = rows_of(made, "results.csv"), rows_of(made, "answers.csv")
    assert len(exact["confidence"]) > 8
    assert len(row["confidence"]) <= 8
    assert float(row["confidence"]) == pytest.approx(float(exact["confidence"]), rel=1e-5)


def test_answers_are_one_row_a_task(campaign: Campaign) -> None:
    shown = rows_of(campaign, "answers.csv")
    wanted = campaign.answers()
    assert [row["task"] for row in shown] == ["t1", "t2", "t3"]
    assert [row["value"] or None for row in shown] == [each.value for each in wanted]
    assert [float(row["confidence"]) if row["confidence"] else None for row in shown] == [
        each.confidence for each in wanted
    ]
    assert [row["rests_on"] or None for row in shown] == [each.rests_on for each in wanted]
    lines = [json.loads(line) for line in text_of(campaign, "answers.jsonl").splitlines()]
    assert lines == [each.to_json() for each in wanted]


def test_payments_are_exact(campaign: Campaign) -> None:
    shown = {
        row["worker"]: (row["answers"], row["paid"]) for row in rows_of(campaign, "payments.csv")
    }
    wanted = {each.worker: (str(each.answers), str(each.paid)) for each in campaign.payments()}
    assert shown == wanted


def test_the_log_folds_back_to_its_events(campaign: Campaign) -> None:
    lines = text_of(campaign, "log.jsonl").splitlines()
    assert [Event.from_json(json.loads(line)) for line in lines] == campaign.log()


def test_labels_are_read_back_as_they_were_given(campaign: Campaign, tmp_path: Path) -> None:
    file = tmp_path / "votes.csv"
    file.write_bytes(b"".join(export(campaign, "votes.csv")))
    table = read_labels(file)
    found = {
        (table.task_names[task], table.worker_names[worker], table.label_names[label])
        for task, worker, label in zip(table.tasks, table.workers, table.labels, strict=True)
    }
    given_answers = {
        (event.task, event.worker, event.value)
        for event in campaign.log()
        if event.kind.name == "ANSWER"
    }
    assert found == given_answers
    assert len(table.tasks) == 4


def test_answers_are_not_offered_as_labels_but_found_under_their_former_name(
    campaign: Campaign,
) -> None:
    assert "labels.csv" not in EXPORTS
    assert text_of(campaign, "labels.csv") == text_of(campaign, "votes.csv")


def test_units_of_work_have_labels_too(tmp_path: Path) -> None:
    units = Campaign.create(
        workers=[Worker("ann", 1)], outcome={"kind": "utility", "low": -1, "high": 1},
        budget=5, policy="uniform",
    )  # fmt: skip
    work(units, -0.5, 1)
    assert rows_of(units, "votes.csv") == [
        {"task": "unit", "worker": "ann", "label": "-0.5"},
        {"task": "unit", "worker": "ann", "label": "1.0"},
    ]
    file = tmp_path / "votes.csv"
    file.write_text(text_of(units, "votes.csv"))
    assert read_labels(file).label_names == ("-0.5", "1.0")


def test_no_cell_begins_a_formula() -> None:
    made = Campaign.create(
        workers=[Worker(name, "0.10") for name in FORMULAS],
        tasks=list(FORMULAS),
        options=[*FORMULAS, "-3"],
        budget=10,
        policy="random-pairs",
        seed=1,
    )
    work(made, *FORMULAS, "-3")
    for what in ("answers.csv", "votes.csv", "payments.csv"):
        rows = list(csv.reader(io.StringIO(text_of(made, what), newline="")))
        for cell in (cell for row in rows for cell in row):
            assert not cell.startswith(("=", "+", "@", "\t", "\r")), what
            assert not cell.startswith("-") or float(cell) == -3, what
    labels = {row["label"] for row in rows_of(made, "votes.csv")}
    assert labels == {*(f"'{option}" for option in FORMULAS), "-3"}


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_cell_is_what_was_there_or_follows_an_apostrophe(text: str) -> None:
    cell = safe_cell(text)
    assert cell.removeprefix("'") == text if cell.startswith("'") else cell == text
    buffer = io.StringIO(newline="")
    csv.writer(buffer).writerow([cell, "x"])
    assert next(csv.reader(io.StringIO(buffer.getvalue(), newline=""))) == [cell, "x"]


SHORT = ("payments.csv", "payouts.csv", "payout-history.csv", "bonuses.csv")
TEXTS = [what for what in EXPORTS if not what.endswith(".zip")]


def test_files_are_made_piece_by_piece(campaign: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = {what: text_of(campaign, what) for what in TEXTS}
    monkeypatch.setattr(exports, "ROWS", 2)
    for what in TEXTS:
        pieces = list(export(campaign, what))
        assert b"".join(pieces).decode() == whole[what]
        assert len(pieces) >= 1 + (what not in SHORT)


def test_all_tables_come_in_one_file(
    campaign: Campaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exports, "PIECE", 1000)
    pieces = list(export(campaign, "tables.zip"))
    assert len(pieces) > 1
    with zipfile.ZipFile(io.BytesIO(b"".join(pieces))) as packed:
        files = {name: packed.read(name) for name in packed.namelist()}
    place = campaign.export(tmp_path / "cats", "jsonl")
    assert files == {f"cats/{path.name}": path.read_bytes() for path in place.iterdir()}


def test_the_log_ends_where_it_was_when_it_was_asked_for(campaign: Campaign) -> None:
    before = campaign.status().seq
    pieces = export(campaign, "log.jsonl")
    campaign.pause()
    assert len(b"".join(pieces).splitlines()) == before


def test_a_campaign_in_which_nothing_happened_has_files() -> None:
    made = Campaign.create(
        workers=[], tasks=["t"], options=["a", "b"], policy="random-pairs", name="empty"
    )
    assert text_of(made, "votes.csv") == "task,worker,label\r\n"
    assert text_of(made, "log.jsonl") == ""
    assert len(rows_of(made, "answers.csv")) == 1


# Over HTTP.


@pytest.fixture
def client() -> Iterator[TestClient]:
    app = make_app(Settings(store="memory"))
    with TestClient(app) as made:
        service = app.state.service
        secret, _ = service.identities.issue("viewer", "tests")
        made.headers["Authorization"] = f"Bearer {secret}"
        Campaign.create(
            store=service.campaigns.store,
            name="cats",
            workers=[Worker("ann", "0.10"), Worker("bob", "0.20", limit=3)],
            tasks=["t1", "t2"],
            options=["yes", "no"],
            policy="random-pairs",
            seed=1,
        )
        work(service.campaigns.get("cats"), "yes", "yes", "no")
        yield made


def test_each_file_comes_with_its_name_and_kind(client: TestClient) -> None:
    for what in EXPORTS:
        reply = client.get(f"/campaigns/cats/export/{what}")
        assert reply.status_code == 200
        kind = exports.MEDIA[what.rpartition(".")[2]]
        assert reply.headers["content-type"].removesuffix("; charset=utf-8") == kind
        assert reply.headers["content-disposition"] == f'attachment; filename="cats-{what}"'
        assert reply.content


def test_what_is_no_file_is_refused_in_the_one_shape(client: TestClient) -> None:
    for path in ("/campaigns/cats/export/secrets.csv", "/campaigns/dogs/export/log.jsonl"):
        reply = client.get(path)
        assert reply.status_code in (404, 422)
        assert set(reply.json()) == {"error"}


def test_workers_come_with_what_is_known_of_them(client: TestClient) -> None:
    reply = client.get("/campaigns/cats/workers?limit=1")
    first = reply.json()
    second = client.get(f"/campaigns/cats/workers?after={first['next']}").json()
    ann, bob = first["items"][0], second["items"][0]
    assert (ann["id"], bob["id"], second["next"]) == ("ann", "bob", None)
    assert (bob["price"], bob["limit"]) == ("0.2", 3)
    assert ann["answered"] + bob["answered"] == 3
    assert ann["share"] + bob["share"] == pytest.approx(1.0)
    again = client.get("/campaigns/cats/workers", headers={"If-None-Match": reply.headers["etag"]})
    assert again.status_code == 304
