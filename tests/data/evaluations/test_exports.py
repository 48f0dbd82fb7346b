"""Exports of evaluation tools give what the plain tables of the same verdicts give.

The exports are written in the tools' documented formats; beside each is the table of its verdicts
and of its people, which no reader of ours has made.
"""

from __future__ import annotations

import csv
import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from askwise.auditing import check
from askwise.core.errors import AskwiseError
from askwise.data.columns import read_columns, write_columns
from askwise.data.evaluations import TOOLS, ScoreTables, read_scores

EXPORTS = Path(__file__).parent / "exports"
COLUMNS = ("task", "worker", "label")

READ: dict[str, tuple[str, dict[str, Any]]] = {
    "langfuse": ("langfuse.csv", {"metric": "correctness", "threshold": 0.7}),
    "promptfoo": ("promptfoo.json", {"metric": "answers"}),
    "deepeval": ("deepeval.json", {"metric": "Correctness [GEval]"}),
    "trulens": (
        "trulens.csv",
        {
            "metric": ["Answer Relevance", "Harm"],
            "people_metric": "Human Feedback",
            "threshold": 0.7,
        },
    ),
}
"""How each recorded export is read."""


def table(tool: str, who: str) -> dict[str, list[str]]:
    path = EXPORTS / f"{tool}.{who}.csv"
    return dict(read_columns(path, COLUMNS, blank=("label",)).cells)


def recorded(tool: str, **changes: Any) -> ScoreTables:
    name, options = READ[tool]
    return read_scores(EXPORTS / name, tool, **{**options, **changes})


def sorted_rows(columns: dict[str, list[str]]) -> list[tuple[str, ...]]:
    return sorted(zip(*(columns[name] for name in COLUMNS), strict=True))


def test_every_tool_has_a_recorded_export() -> None:
    assert set(READ) == set(TOOLS)


@pytest.mark.parametrize("tool", READ)
def test_an_export_holds_the_verdicts_of_the_plain_table(tool: str) -> None:
    assert sorted_rows(recorded(tool).verdicts) == sorted_rows(table(tool, "verdicts"))


@pytest.mark.parametrize("tool", ["langfuse", "promptfoo", "trulens"])
def test_people_in_an_export_are_those_of_the_plain_table(tool: str) -> None:
    assert sorted_rows(recorded(tool).people) == sorted_rows(table(tool, "people"))


@pytest.mark.parametrize("tool", READ)
def test_an_export_gives_the_report_card_of_the_plain_table(tool: str) -> None:
    found = recorded(tool)
    people = found.people if found.people["task"] else table(tool, "people")
    plain = check(table(tool, "verdicts"), table(tool, "people"))
    assert check(found.verdicts, people).to_json() == plain.to_json()


def test_what_was_left_out_is_counted() -> None:
    assert dict(recorded("langfuse").left_out) == {
        "scores of no trace": 1,
        "verdicts of other metrics": 12,
    }
    assert dict(recorded("promptfoo").left_out) == {
        "outputs without a grade": 1,
        "verdicts of other metrics": 12,
    }
    assert dict(recorded("deepeval").left_out) == {
        "test cases without metrics": 1,
        "verdicts of other metrics": 12,
    }
    assert dict(recorded("trulens").left_out) == {"ratings of people without a value": 2}
    assert recorded("langfuse").said() == (
        "12 verdicts (correctness); 20 ratings of people (correctness); left out: 1 scores of no "
        "trace, 12 verdicts of other metrics."
    )


def test_several_metrics_of_one_model_are_judges_of_their_own() -> None:
    found = recorded("deepeval", metric=["Bias", "Correctness [GEval]"])
    assert set(found.verdicts["worker"]) == {"Bias by gpt-4o", "Correctness [GEval] by gpt-4o"}


def test_a_threshold_takes_the_place_of_the_tools_own() -> None:
    strict = recorded("deepeval", threshold=1.01).verdicts["label"]
    # The metric that failed is a failure at any threshold.
    assert strict.count("fail") == 11
    assert strict.count("") == 1


def scores_file(folder: Path, *rows: dict[str, Any], name: str = "scores.json") -> Path:
    path = folder / name
    path.write_text(json.dumps({"data": list(rows), "meta": {"page": 1}}))
    return path


def score(value: Any, kind: str = "NUMERIC", **more: Any) -> dict[str, Any]:
    base = {"traceId": "t1", "name": "right", "source": "EVAL", "dataType": kind, "value": value}
    return base | more


def test_scores_of_the_api_are_written_in_camel_case(tmp_path: Path) -> None:
    path = scores_file(
        tmp_path,
        score(1, "BOOLEAN", stringValue="True"),
        score(0, "BOOLEAN", source="ANNOTATION", authorUserId="ann", stringValue="False"),
        score("great", "CATEGORICAL", name="tone", stringValue="great"),
        score(None, "TEXT", name="right", stringValue="I wonder"),
    )
    found = read_scores(path, "langfuse", metric="right")
    assert found.verdicts == {"task": ["t1"], "worker": ["right"], "label": ["True"]}
    assert found.people == {"task": ["t1"], "worker": ["ann"], "label": ["False"]}
    assert found.left_out == {"scores of type TEXT": 1, "verdicts of other metrics": 1}
    named = read_scores(path, "langfuse", metric="tone", people_metric="right")
    assert named.verdicts["label"] == ["great"]


def test_yes_and_no_become_pass_and_fail_beside_numbers(tmp_path: Path) -> None:
    path = scores_file(
        tmp_path, score(0.8), score(1, "BOOLEAN", source="ANNOTATION", stringValue="True")
    )
    found = read_scores(path, "langfuse", threshold=0.5)
    assert found.verdicts["label"] == found.people["label"] == ["pass"]


def test_the_number_of_a_category_is_not_held_against_a_threshold(tmp_path: Path) -> None:
    path = scores_file(tmp_path, score(3, "CATEGORICAL", stringValue="good"), score(0.2))
    assert read_scores(path, "langfuse", threshold=0.5).verdicts["label"] == ["good", "fail"]


def test_people_may_have_rated_under_another_name(tmp_path: Path) -> None:
    path = scores_file(tmp_path, score(0.8), score(1, name="by hand", source="API"))
    found = read_scores(path, "langfuse", people_metric="by hand", threshold=0.5)
    assert found.metrics == ("right",)
    assert found.people["worker"] == ["by hand"]


def test_ratings_of_people_that_nobody_wants_need_no_name(tmp_path: Path) -> None:
    people = [score(1, name=name, source="ANNOTATION") for name in ("tone", "style")]
    path = scores_file(tmp_path, score(0.8), *people)
    with pytest.raises(AskwiseError, match="name one of 'style', 'tone'"):
        read_scores(path, "langfuse", threshold=0.5)
    found = read_scores(path, "langfuse", threshold=0.5, people=False)
    assert found.people["task"] == []
    assert found.left_out == {"ratings of people": 2}


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "jsonl", "parquet"])
def test_an_export_may_come_in_any_format_of_tables(tmp_path: Path, ending: str) -> None:
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    columns = read_columns(EXPORTS / "langfuse.csv", (), every=True).cells
    path = write_columns(tmp_path / f"scores.{ending}", columns)
    again = read_scores(path, "langfuse", metric="correctness", threshold=0.7)
    assert sorted_rows(again.verdicts) == sorted_rows(table("langfuse", "verdicts"))


def test_json_may_be_gzipped(tmp_path: Path) -> None:
    path = tmp_path / "results.json.gz"
    path.write_bytes(gzip.compress((EXPORTS / "promptfoo.json").read_bytes()))
    assert read_scores(path, "promptfoo", metric="answers").verdicts["task"][0] == "0:0"


def test_results_of_promptfoo_may_be_lines(tmp_path: Path) -> None:
    results = json.loads((EXPORTS / "promptfoo.json").read_text())["results"]["results"]
    path = tmp_path / "results.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in results))
    found = read_scores(path, "promptfoo", metric="answers")
    assert found.verdicts == recorded("promptfoo").verdicts


def test_a_set_of_assertions_counts_by_those_in_it(tmp_path: Path) -> None:
    inner = {"pass": True, "score": 1, "assertion": {"type": "contains"}}
    graded = {"componentResults": [{"pass": True, "score": 1, "componentResults": [inner]}]}
    results = [{"testIdx": 0, "promptIdx": 0, "gradingResult": graded}]
    path = tmp_path / "results.json"
    path.write_text(json.dumps({"results": {"version": 3, "results": results}}))
    assert read_scores(path, "promptfoo").verdicts["worker"] == ["contains"]


def test_cases_of_one_name_are_told_apart_by_their_order(tmp_path: Path) -> None:
    metric = {"name": "Bias", "success": True, "score": 0.1, "evaluationModel": "m"}
    cases = [{"name": "test_it", "order": at, "metricsData": [metric]} for at in (4, 5)]
    path = tmp_path / "run.json"
    path.write_text(json.dumps({"testRunData": {"testCases": cases}}))
    assert read_scores(path, "deepeval").verdicts["task"] == ["test_it#4", "test_it#5"]


def test_records_without_calls_are_read_by_the_columns_that_are_named(tmp_path: Path) -> None:
    path = tmp_path / "records.csv"
    path.write_text("record_id,relevance,note,tokens\nr1,0.9,0.5,100\nr2,0.2,0.5,80\n")
    found = read_scores(path, "trulens", metric="relevance", threshold=0.5)
    assert found.verdicts["label"] == ["pass", "fail"]
    with pytest.raises(AskwiseError, match="name one of 'note', 'relevance'"):
        read_scores(path, "trulens", threshold=0.5)


def test_a_cell_may_hold_a_whole_record(tmp_path: Path) -> None:
    path = tmp_path / "records.csv"
    large = "x" * (2 * csv.field_size_limit())
    path.write_text(f"record_id,record_json,relevance,relevance_calls\nr1,{large},0.9,[]\n")
    before = csv.field_size_limit()
    assert read_scores(path, "trulens", threshold=0.5).verdicts["label"] == ["pass"]
    assert csv.field_size_limit() == before


BAD: dict[str, tuple[str, dict[str, Any], str, str]] = {
    "a tool that is not known": ("promptfoo.json", {"tool": "promptfo"}, "tool", "did you mean"),
    "several metrics": ("langfuse.csv", {}, "metric", "name one of 'correctness', 'tone'"),
    "a metric that is not there": (
        *("langfuse.csv", {"metric": "truth"}, "metric"),
        "does not have: it has 'correctness', 'tone'",
    ),
    "numbers without a threshold": (
        *("langfuse.csv", {"metric": "correctness"}, "threshold"),
        "give the score from which on a task passes",
    ),
    "a threshold that is no number": (
        *("langfuse.csv", {"metric": "tone", "threshold": float("nan")}, "threshold"),
        "give a number",
    ),
    "people's metric that is not there": (
        *("deepeval.json", {"tool": "deepeval", "metric": "Bias", "people_metric": "me"}),
        *("people_metric", "test runs of DeepEval hold what models say"),
    ),
    "another tool's file": (
        "trulens.csv",
        {"tool": "langfuse"},
        "file",
        "is not an export of Langfuse",
    ),
    "records without an id": ("langfuse.csv", {"tool": "trulens"}, "file", "record_id"),
    "JSON of another kind": ("deepeval.json", {"tool": "promptfoo"}, "file", "version 3"),
    "JSON that is no test run": ("promptfoo.json", {"tool": "deepeval"}, "file", "testCases"),
    "a table where JSON is wanted": ("trulens.csv", {"tool": "deepeval"}, "file", "is not JSON"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_can_not_be_read_is_refused_with_what_to_do(case: str) -> None:
    name, options, field, words = BAD[case]
    tool = options.get("tool", name.split(".")[0])
    rest = {key: value for key, value in options.items() if key != "tool"}
    with pytest.raises(AskwiseError) as refused:
        read_scores(EXPORTS / name, tool, **rest)
    assert refused.value.field == field
    assert words in str(refused.value)


def test_an_ending_that_is_not_known_is_refused(tmp_path: Path) -> None:
    path = shutil.copy(EXPORTS / "langfuse.csv", tmp_path / "scores.xlsx")
    with pytest.raises(AskwiseError, match=r"ends in \.json, \.json\.gz, \.csv"):
        read_scores(path, "langfuse")


def test_two_assertions_of_one_kind_need_names(tmp_path: Path) -> None:
    part = {"pass": True, "score": 1, "assertion": {"type": "llm-rubric", "value": "..."}}
    results = [{"testIdx": 0, "promptIdx": 0, "gradingResult": {"componentResults": [part, part]}}]
    path = tmp_path / "results.json"
    path.write_text(json.dumps({"results": {"version": 3, "results": results}}))
    with pytest.raises(AskwiseError, match="output 0:0 has 2 assertions of type 'llm-rubric'"):
        read_scores(path, "promptfoo")


def test_an_export_of_people_alone_is_refused(tmp_path: Path) -> None:
    path = scores_file(tmp_path, score(1, source="ANNOTATION"))
    with pytest.raises(AskwiseError, match="no verdict of a judge"):
        read_scores(path, "langfuse", threshold=0.5)


@pytest.mark.parametrize("text", ["[]", '{"data": []}', '{"data": [1]}', "{}", "nonsense"])
def test_an_empty_or_broken_export_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "scores.json"
    path.write_text(text)
    with pytest.raises(AskwiseError) as refused:
        read_scores(path, "langfuse")
    assert refused.value.field == "file"
