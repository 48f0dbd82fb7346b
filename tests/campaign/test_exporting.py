"""A campaign as a folder of tables: nothing is lost, and other programs can read it."""

from __future__ import annotations

import csv
import json
from collections import Counter, defaultdict
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml

from askwise import Campaign, Event, Worker
from askwise.campaign.exporting import FORMATS, TABLES
from askwise.campaign.exporting import folder as folders
from askwise.core.errors import AskwiseError
from askwise.data.columns import as_written
from askwise.store import open_store
from docs.blocks import DOCS

Rows = list[dict[str, Any]]


def busy() -> Campaign:
    """A campaign in which everything has happened that the tables speak of."""
    campaign = Campaign.create(
        workers=[
            Worker("ann", "0.50", kind="person", limit=20),
            Worker("gpt", "0.25", kind="model", family="big", source="chat:0123456789abcdef"),
            Worker("=cy", "0.10"),
            Worker("vet", "2", trusted=True),
        ],
        tasks=[
            {"id": "t1", "context": "day", "payload": {"text": "-1, «naïve» 猫\nsecond line"}},
            {"id": "t2", "workers": ["ann", "gpt", "=cy"]},
            *("t3", "t4", "t5"),
        ],
        options=["yes", "no"],
        budget="20",
        policy="uniform",
        stopping={"name": "fixed", "n": 3},
        lease=60,
        seed=3,
        name="busy",
        clock=iter([10.0 + at / 8 for at in range(10_000)]).__next__,
    )
    told = 0
    while batch := campaign.ask():
        (each,) = batch
        told += 1
        if told == 2:
            campaign.fail(each.id, "refused", cost="0.01", reference="req-2")
        elif told == 4:
            campaign.decline(each.id)
        elif told == 6:
            campaign.expire(each.id)
        elif each.worker == "gpt":
            sure = {"yes": 0.1 + 0.2, "no": 0.7}
            campaign.tell(each.id, "no", cost="0.30", probabilities=sure, rationale="=sum, 'so'")
        else:
            campaign.tell(each.id, "yes")
    campaign.truth("t3", "no")
    campaign.set_label("t4", "no", by="ann")
    campaign.bonus("ann", "0.3", "the hard ones", by="bo")
    campaign.pay("ann", "0.6", by="bo", reference="SEPA 7", on="1970-01-01")
    campaign.leave("=cy")
    return campaign


@pytest.fixture(scope="module")
def campaign() -> Campaign:
    return busy()


def read(folder: Path, table: str, file_format: str) -> Rows:
    """The rows of a table, read without anything of ours but what takes the apostrophe off."""
    path = folder / f"{table}.{file_format}"
    if not path.exists():
        return []
    if file_format == "parquet":
        return pytest.importorskip("pyarrow.parquet").read_table(path).to_pylist()
    text = path.read_text(encoding="utf-8")
    if file_format == "jsonl":
        return [json.loads(line) for line in text.splitlines()]
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [{name: as_written(cell) or None for name, cell in row.items()} for row in rows]


@pytest.fixture(params=FORMATS)
def written(request: pytest.FixtureRequest, campaign: Campaign, tmp_path: Path) -> Any:
    """Every table as it was written, by its name, and the folder."""
    if request.param == "parquet":
        pytest.importorskip("pyarrow")
    place = campaign.export(tmp_path / "out", request.param)
    return {table: read(place, table, request.param) for table in TABLES}, place


def test_an_export_changes_nothing(campaign: Campaign, tmp_path: Path) -> None:
    before = campaign.log()
    campaign.export(tmp_path / "out", "csv")
    assert campaign.log() == before


def test_every_table_has_the_columns_of_its_schema(written: Any) -> None:
    tables, _ = written
    for name, rows in tables.items():
        assert list(rows[0]) == [column.name for column in TABLES[name].columns]


def test_votes_and_labels_can_be_recomputed_from_the_files(
    written: Any, campaign: Campaign
) -> None:
    tables, _ = written
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    for row in tables["answers"]:
        if row["state"] == "answered":
            votes[row["task"]][row["value"]] += 1
    for row, answer in zip(tables["tasks"], campaign.answers(), strict=True):
        count = votes[row["task"]]
        assert int(row["answers"]) == count.total() == answer.count
        best = row["truth"] or count.most_common(1)[0][0]
        assert answer.value == row["value"] == ("no" if row["decided_by"] else best)
    assert [row["truth"] for row in tables["tasks"]] == [None, None, "no", None, None]
    assert [row["decided_by"] for row in tables["tasks"]] == [None, None, None, "ann", None]


def test_payments_can_be_recomputed_from_the_files(written: Any, campaign: Campaign) -> None:
    tables, _ = written
    money: dict[str, dict[str, Decimal]] = defaultdict(lambda: defaultdict(Decimal))
    for row in tables["answers"]:
        money[row["worker"]]["paid"] += Decimal(row["booked"])
    for row in tables["payouts"]:
        money[row["worker"]][row["kind"]] += Decimal(row["amount"])
    shown = {row["worker"]: row for row in tables["payments"]}
    for each in campaign.payments():
        mine, row = money[each.worker], shown[each.worker]
        assert mine["paid"] == Decimal(row["paid"]) == each.paid
        assert mine["paid"] + mine["bonus"] == Decimal(row["earned"]) == each.earned
        assert mine["payout"] == Decimal(row["paid_out"]) == each.paid_out
        assert Decimal(row["owed"]) == each.owed
    spent = sum((each["paid"] + each["bonus"] for each in money.values()), Decimal(0))
    assert spent == campaign.status().spent


def test_decisions_have_their_propensities_and_what_became_of_them(
    written: Any, campaign: Campaign
) -> None:
    tables, _ = written
    asked = [event for event in campaign.log() if event.kind.name == "ASKED"]
    assert [int(row["seq"]) for row in tables["decisions"]] == [event.seq for event in asked]
    for row, event in zip(tables["decisions"], asked, strict=True):
        assert (row["task"], row["worker"]) == (event.task, event.worker)
        assert float(row["propensity"]) == event.propensity
        assert row["state"] == campaign.assignment(row["assignment"]).state
        assert row["purpose"] == "round"
    states = Counter(row["state"] for row in tables["decisions"])
    assert states["failed"] == states["declined"] == states["expired"] == 1
    settled = {row["assignment"] for row in tables["answers"]}
    wanted = {row["assignment"] for row in tables["decisions"]}
    assert settled < wanted


def test_what_sources_said_is_there_to_the_last_character(written: Any, campaign: Campaign) -> None:
    tables, _ = written
    said = {row["assignment"]: row for row in tables["answers"]}
    for event in campaign.log():
        if event.probabilities is not None:
            row = said[f"busy:{event.assignment}"]
            assert json.loads(row["probabilities"]) == event.probabilities
            assert (row["rationale"], row["cost"]) == (event.rationale, "0.3")
    failed = next(row for row in tables["answers"] if row["state"] == "failed")
    assert (failed["why"], failed["booked"], failed["reference"]) == ("refused", "0.01", "req-2")
    first = tables["tasks"][0]
    assert json.loads(first["payload"])["text"] == "-1, «naïve» 猫\nsecond line"
    assert json.loads(tables["tasks"][1]["workers"]) == ["ann", "gpt", "=cy"]


def test_events_and_the_campaign_as_created_are_the_whole_campaign(
    written: Any, campaign: Campaign
) -> None:
    tables, place = written
    whole = json.loads((place / "campaign.json").read_text(encoding="utf-8"))
    store = open_store("memory")
    store.create(whole["name"], json.dumps(whole["spec"]), 0.0)
    events = [Event.from_json(json.loads(row["event"])) for row in tables["events"]]
    assert events == campaign.log()
    with store.write(whole["name"]) as transaction:
        transaction.append(events, 0)
    again = Campaign.open(store, whole["name"])
    assert again.answers() == campaign.answers()
    assert again.payments() == campaign.payments()
    assert again.status() == campaign.status()
    assert whole["status"] == campaign.status().to_json()


def head_of(place: Path) -> dict[str, Any]:
    _, head, _ = (place / "README.md").read_text(encoding="utf-8").split("---\n", 2)
    found = yaml.safe_load(head)
    assert isinstance(found, dict)
    return found


def test_the_card_names_exactly_the_files(written: Any) -> None:
    _, place = written
    named = {each["config_name"]: each["data_files"] for each in head_of(place)["configs"]}
    files = {path.name for path in place.iterdir()} - {"README.md", "campaign.json"}
    assert set(named.values()) == files
    assert all(file.split(".")[0] == name for name, file in named.items())
    assert [each["config_name"] for each in head_of(place)["configs"] if "default" in each] == [
        "tasks"
    ]


def test_hugging_face_reads_the_folder_from_the_disk(
    written: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    datasets = pytest.importorskip("datasets", reason="the package datasets is not installed")
    tables, place = written
    for name, rows in tables.items():
        read_back = datasets.load_dataset(
            str(place), name, split="train", cache_dir=str(tmp_path / "cache")
        )
        assert read_back.num_rows == len(rows)
        assert read_back.column_names == list(rows[0])


def test_the_card_tells_of_workers_and_what_is_not_certified(written: Any) -> None:
    _, place = written
    card = (place / "README.md").read_text(encoding="utf-8")
    assert "Nothing was to be certified: how many labels are wrong is not known." in card
    assert "| gpt | model |" in card
    assert head_of(place)["pretty_name"] == "busy"


def test_the_card_carries_the_certificate(tmp_path: Path) -> None:
    campaign = Campaign.create(
        workers=[Worker("gpt", "0.1"), Worker("vet", "1", trusted=True)],
        tasks=[f"t{at}" for at in range(12)],
        options=["yes", "no"],
        budget="20",
        policy="uniform",
        stopping={"name": "fixed", "n": 1},
        certify={"error": 0.3, "confidence": 0.8, "by": ["vet"], "audits": 8},
        seed=1,
        name="sure",
    )
    while batch := campaign.ask():
        for each in batch:
            campaign.tell(each.id, "yes")
    place = campaign.export(tmp_path / "out", "jsonl")
    statement = campaign.certificate().statement
    assert statement in (place / "README.md").read_text(encoding="utf-8")
    whole = json.loads((place / "campaign.json").read_text(encoding="utf-8"))
    assert whole["certificate"] == campaign.certificate().to_json()
    tasks = read(place, "tasks", "jsonl")
    assert {row["certificate"] for row in tasks} <= {"certified", "audited", "uncertified"}
    assert any(row["certificate"] == "certified" for row in tasks)


def test_names_do_not_break_the_card(tmp_path: Path) -> None:
    campaign = Campaign.create(
        workers=[Worker("a|b `c` <i>", "1")],
        tasks=["t1"],
        options=["yes: no", "---"],
        policy="uniform",
        name="odd-1",
        content={"question": "Is *this* # [it](x)?\n---\nreally", "options": ["yes: no", "---"]},
    )
    place = campaign.export(tmp_path / "out", "csv")
    card = (place / "README.md").read_text(encoding="utf-8")
    assert "| a\\|b \\`c\\` \\<i\\> |" in card
    assert "> Is \\*this\\* \\# \\[it\\](x)? --- really" in card
    assert head_of(place)["pretty_name"] == "odd-1"


def test_numbers_stay_numbers_and_a_campaign_without_tasks_has_one_row(tmp_path: Path) -> None:
    campaign = Campaign.create(
        workers=[Worker("ann", "1")], outcome="utility", budget="3", policy="uniform", name="units"
    )
    for value in (0.25, 0.1 + 0.2):
        campaign.tell(campaign.ask()[0].id, value)
    place = campaign.export(tmp_path / "out", "jsonl")
    assert [row["value"] for row in read(place, "answers", "jsonl")] == [0.25, 0.1 + 0.2]
    (task,) = read(place, "tasks", "jsonl")
    assert (task["task"], task["answers"]) == (None, 2)
    # Nothing was paid out, so there is no such file.
    assert not (place / "payouts.jsonl").exists()
    assert "payouts" not in {each["config_name"] for each in head_of(place)["configs"]}


def test_parquet_has_the_types_of_the_schema_even_where_all_cells_are_empty(
    campaign: Campaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr(folders, "ROWS", 1)
    place = campaign.export(tmp_path / "out")
    types = {"text": "string", "money": "string", "JSON": "string", "answer": "string"}
    types |= {"whole": "int64", "number": "double", "yes/no": "bool"}
    for name, table in TABLES.items():
        schema = parquet.read_schema(place / f"{name}.parquet")
        found = [(field.name, str(field.type)) for field in schema]
        assert found == [(column.name, types[column.kind]) for column in table.columns]


def test_the_schema_page_is_the_schema() -> None:
    page = (DOCS / "how-to" / "export.md").read_text(encoding="utf-8")
    _, _, shown = page.partition("## Schema\n")
    sections = {part.split("\n", 1)[0]: part for part in shown.split("### ")[1:]}
    assert list(sections) == list(TABLES)
    for name, table in TABLES.items():
        rows = [f"| `{each.name}` | {each.kind} | {each.meaning} |" for each in table.columns]
        lines = [name, "", table.row, "", "| column | kind | meaning |", "|---|---|---|", *rows]
        assert sections[name].strip().split("\n") == lines


def test_a_folder_that_holds_something_is_left_alone(campaign: Campaign, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    for target in (tmp_path, tmp_path / "mine.txt"):
        with pytest.raises(AskwiseError, match="give a new folder") as refused:
            campaign.export(target, "csv")
        assert refused.value.field == "to"
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_format_that_is_not_known_is_refused(campaign: Campaign, tmp_path: Path) -> None:
    with pytest.raises(AskwiseError, match="format is 'xlsx': known: csv, jsonl, parquet"):
        campaign.export(tmp_path / "out", "xlsx")


def test_an_export_that_breaks_off_leaves_nothing_behind(
    campaign: Campaign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> str:
        raise OSError("disk full")

    monkeypatch.setattr(folders, "card_of", broken)
    with pytest.raises(OSError, match="disk full"):
        campaign.export(tmp_path / "out", "csv")
    assert list(tmp_path.iterdir()) == []
