"""``askwise certify``: draw, audit, state."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from askwise.auditing import plan_audits
from tests.schemas import faults

Call = Callable[..., Any]

TASKS = 120


@pytest.fixture
def labels(workplace: Path) -> str:
    """All labels are right but those of every tenth task."""
    rows = [f"t{at:03d},yes,{1 - at / TASKS:.4f}" for at in range(TASKS)]
    (workplace / "labels.csv").write_text("task,label,score\n" + "\n".join(rows) + "\n")
    return "labels.csv"


@pytest.fixture
def drawn(call: Call, labels: str) -> str:
    call("certify", labels, *["--draw", "60", "--error", "0.1", "--seed", "1", "--out", "draw.csv"])
    return "draw.csv"


def tell(workplace: Path, truths: dict[str, str]) -> str:
    rows = [f"{task},{label}" for task, label in truths.items()]
    (workplace / "truths.csv").write_text("task,label\n" + "\n".join(rows) + "\n")
    return "truths.csv"


def test_audits_go_on_until_the_labels_are_certified(
    call_json: Call, workplace: Path, labels: str, drawn: str
) -> None:
    given = ("certify", labels, "--draw-file", drawn, "--next", "10")
    found = call_json(*given)
    assert found["outcome"] == "open"
    told: dict[str, str] = {}
    while found["next"]:
        told |= {task: "no" if task.endswith("7") else "yes" for task in found["next"]}
        found = call_json(*given, "--audit", tell(workplace, told))
        assert faults("certificate", found) == []
        assert found["audited"] == len(told)
    assert found["wrong"] == sum(label == "no" for label in told.values())
    assert found["error"] == 0.1
    assert len(told) <= 60


def test_a_beginning_of_the_draw_is_enough(
    call: Call, call_json: Call, workplace: Path, labels: str, drawn: str
) -> None:
    with open(workplace / drawn, newline="") as file:
        order = [row["task"] for row in csv.DictReader(file)]
    assert sorted(order) == [f"t{at:03d}" for at in range(TASKS)]
    truths = tell(workplace, dict.fromkeys(order[:60], "yes"))
    found = call_json("certify", labels, "--draw-file", drawn, "--audit", truths)
    assert (found["audited"], found["wrong"]) == (60, 0)
    lines = call("certify", labels, "--draw-file", drawn, "--audit", truths).stdout
    assert f"statement\t{found['statement']}" in lines
    assert "Of 60 labels drawn at random and audited, none was wrong" in lines


def test_audits_may_be_made_all_at_once(
    call: Call, call_json: Call, workplace: Path, labels: str
) -> None:
    at_once = ["--draw", "40", "--error", "0.1", "--at-once", "--seed", "3", "--out", "draw.csv"]
    call("certify", labels, *at_once)
    with open(workplace / "draw.csv", newline="") as file:
        order = [row["task"] for row in csv.DictReader(file)]
    given = ("certify", labels, "--draw-file", "draw.csv", "--audit")
    found = call_json(*given, tell(workplace, dict.fromkeys(order[:40], "yes")))
    assert found["outcome"] == "certified"
    assert found["next"] == []


def test_ids_that_look_like_formulas_come_back_as_they_were(
    call: Call, call_json: Call, workplace: Path
) -> None:
    rows = [f"{sign}t{at},{sign},{at}" for at in range(10) for sign in "=+-@"]
    (workplace / "labels.csv").write_text("task,label,score\n" + "\n".join(rows) + "\n")
    call("certify", "labels.csv", *["--draw", "40", "--error", "0.2", "--out", "draw.csv"])
    given = ("certify", "labels.csv", "--draw-file", "draw.csv")
    (first,) = call_json(*given)["next"]
    truths = tell(workplace, {first: first[0]})
    assert call_json(*given, "--audit", truths)["wrong"] == 0


def test_a_draw_is_not_written_over_another_file(
    refusal: Call, workplace: Path, labels: str, drawn: str
) -> None:
    for there in (labels, drawn):
        before = (workplace / there).read_text()
        assert "exists already" in refusal("certify", labels, *["--draw", "5", "--out", there])
        assert (workplace / there).read_text() == before


@pytest.mark.parametrize(
    ("column", "value"), [("error", "0.2"), ("audits", "90"), ("escalate", "yes")]
)
def test_a_record_that_was_changed_is_refused(
    refusal: Call, workplace: Path, labels: str, drawn: str, column: str, value: str
) -> None:
    with open(workplace / drawn, newline="") as file:
        rows = [{**row, column: value} for row in csv.DictReader(file)]
    with open(workplace / drawn, "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    assert "is not what seed 1 draws" in refusal("certify", labels, "--draw-file", drawn)


def test_the_same_seed_draws_the_same(call: Call, workplace: Path, labels: str, drawn: str) -> None:
    call(
        "certify", labels, *["--draw", "60", "--error", "0.1", "--seed", "1", "--out", "again.csv"]
    )
    assert (workplace / "again.csv").read_bytes() == (workplace / drawn).read_bytes()
    call("certify", labels, *["--draw", "60", "--error", "0.1", "--out", "other.csv"])
    assert (workplace / "other.csv").read_bytes() != (workplace / drawn).read_bytes()


def test_a_draw_with_too_few_audits_to_certify_anything_is_refused(
    call: Call, refusal: Call, workplace: Path, labels: str
) -> None:
    given = ("certify", labels, "--error", "0.1", "--out", "draw.csv", "--draw")
    assert "give 16 or more" in refusal(*given, "15")
    assert not (workplace / "draw.csv").exists()
    assert "outcome\topen" in call(*given, "16").stdout


def test_nothing_is_called_certified_beside_words_that_deny_it(
    call_json: Call, labels: str
) -> None:
    """With escalation a tenth of the labels may be wrong whatever is audited."""
    found = call_json("certify", labels, *["--escalate", "--error", "0.1", "--out", "draw.csv"])
    assert (found["outcome"], found["certified"]) == ("open", [])
    assert not any(each["certified"] for each in found["sets"])
    assert found["statement"].startswith(
        "None of the 120 labels is certified (0 labels audited, 0 of them wrong): at most 10% are "
        "wrong once all but 12 are replaced by answers of the trusted source; further audits"
    )


def test_what_aggregate_writes_can_be_certified(
    call: Call, call_json: Call, workplace: Path
) -> None:
    rows = [f"t{task},w{worker},{task % 2}" for task in range(30) for worker in range(3)]
    (workplace / "answers.csv").write_text("task,worker,label\n" + "\n".join(rows) + "\n")
    (workplace / "known.csv").write_text("task,label\nt0,0\nt1,1\n")
    call("aggregate", "answers.csv", *["--learn-from", "known.csv", "--out", "labels.csv"])
    call(
        "certify",
        "labels.csv",
        *["--draw", "28", "--error", "0.2", "--seed", "2", "--out", "draw.csv"],
    )
    # Tasks whose truth was given are not audited.
    assert call_json("certify", "labels.csv", "--draw-file", "draw.csv")["tasks"] == 28


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("", "draw is missing"),
        ("--draw 5", "out is missing"),
        ("--draw 0 --out d.csv", "audits is 0"),
        ("--draw 5 --error 1 --out d.csv", "error is 1.0"),
        ("--draw 5 --confidence 0 --out d.csv", "confidence is 0.0"),
        ("--draw-file draw.csv --next -1", "next is -1"),
        ("--draw 5 --out d.csv --next 3", "--next can't be combined with --draw"),
        ("--draw-file draw.csv --error 0.05", "error is 0.05, and the draw was made for 0.1"),
        ("--draw-file draw.csv --confidence 0.95", "confidence is 0.95"),
        ("--draw-file draw.csv --escalate", "the draw was made without"),
        ("--draw-file draw.csv --audit other.csv", "task 'cat'"),
        ("--draw-file labels.csv", "no column 'order'"),
    ],
)
def test_bad_input_is_refused_in_one_line(
    refusal: Call, workplace: Path, labels: str, drawn: str, given: str, said: str
) -> None:
    (workplace / "other.csv").write_text("task,label\ncat,yes\n")
    assert said in refusal("certify", labels, *given.split())


def test_labels_that_changed_since_the_draw_are_refused(
    refusal: Call, workplace: Path, labels: str, drawn: str
) -> None:
    file = workplace / labels
    file.write_text(file.read_text().replace("t003,yes", "t003,no"))
    assert "changed since" in refusal("certify", labels, "--draw-file", drawn)


def test_a_draw_that_was_changed_is_refused(
    refusal: Call, workplace: Path, labels: str, drawn: str
) -> None:
    file = workplace / drawn
    head, first, second, *rest = file.read_text().splitlines()
    swapped = [f"1,{second.split(',', 1)[1]}", f"2,{first.split(',', 1)[1]}"]
    file.write_text("\n".join([head, *swapped, *rest]) + "\n")
    assert "is not what seed 1 draws" in refusal("certify", labels, "--draw-file", drawn)
    file.write_text("\n".join([head, first, *rest]) + "\n")
    assert "is not what seed 1 draws" in refusal("certify", labels, "--draw-file", drawn)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("task,label\nt1,yes\n", "no column 'score'"),
        ("task,label,score\nt1,yes,high\n", "score is 'high'"),
        ("task,label,score\nt1,yes,1\nt1,no,1\n", "line 3: task 't1' appears twice"),
        ("task,label,score,rests_on\nt1,yes,1,truth\n", "nothing to certify"),
    ],
)
def test_labels_that_cannot_be_certified_are_refused(
    refusal: Call, workplace: Path, text: str, said: str
) -> None:
    (workplace / "labels.csv").write_text(text)
    assert said in refusal("certify", "labels.csv", *["--draw", "5", "--out", "d.csv"])
    assert not (workplace / "d.csv").exists()


def test_an_unanswered_audit_counts_as_an_error(
    call_json: Call, workplace: Path, labels: str, drawn: str
) -> None:
    first = call_json("certify", labels, "--draw-file", drawn)["next"][0]
    truths = tell(workplace, {first: ""})
    found = call_json("certify", labels, "--draw-file", drawn, "--audit", truths)
    assert json.dumps(found["wrong"]) == "1"


def test_with_escalation_the_number_of_audits_is_planned(
    call: Call, workplace: Path, labels: str
) -> None:
    found = call(*("certify", labels, "--escalate", "--error", "0.1", "--out", "draw.csv"))
    with open(workplace / "draw.csv", newline="") as file:
        audits = {row["audits"] for row in csv.DictReader(file)}
    assert audits == {str(plan_audits(TASKS, error=0.1).audits)}
    assert f"{audits.pop()} audits at most" in " ".join(found.stderr.split())
