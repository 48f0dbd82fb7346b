"""``askwise label`` from a file to labels: agreed to, killed, resumed, refused in one line."""

from __future__ import annotations

import csv
import json
import os
import shlex
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from decimal import Decimal
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from askwise.campaign import Campaign
from askwise.cli.label.output import watching
from askwise.core.events import Kind
from askwise.labelling import LabelProgress, kept_command
from askwise.store import open_store
from askwise.testing.chat_server import Asked, ChatServer, Scripted
from tests.cli.helpers import askwise, environment, in_this_process, on_terminal

pytestmark = pytest.mark.usefixtures("pictures")

PRICE = '{input = "0.15", output = "0.60"}'
ITEMS = "id,text\n" + "".join(
    f"m{at},Message {at}: {'you have won' if at % 3 == 0 else 'see you'}{'!' if at % 2 else ''}\n"
    for at in range(24)
)


def careful(asked: Asked) -> Scripted:
    return Scripted("spam" if "won" in asked.item else "ham", latency=0.01)


def hasty(asked: Asked) -> Scripted:
    return Scripted("spam" if "!" in asked.item else "ham", latency=0.01)


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer(
        {"big": careful, "small": hasty},
        price={"input": "0.15", "output": "0.60"},
        keys={"sk-secret-key"},
    ) as running:
        yield running


@pytest.fixture
def folder(tmp_path: Path, server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "items.csv").write_text(ITEMS, encoding="utf-8")
    (tmp_path / "judges.toml").write_text(
        f'[defaults]\nbase_url = "{server.url}"\nkey_env = "JUDGE_KEY"\nprice = {PRICE}\n'
        '[[judge]]\nid = "big"\nmodel = "big"\n[[judge]]\nid = "small"\nmodel = "small"\n',
        encoding="utf-8",
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JUDGE_KEY", "sk-secret-key")
    return tmp_path


ORDER = (
    *("label", "items.csv", "--question", "Is it spam?", "--options", "spam,ham"),
    *("--judges", "judges.toml", "--budget", "1", "--seed", "1"),
)


def test_a_file_becomes_labels_a_report_and_a_bill_that_is_the_endpoints(
    folder: Path, server: ChatServer
) -> None:
    done = in_this_process(*ORDER, "--yes", "--pilot", "8")
    assert done.exit_code == 0, done.output
    with (folder / "labels.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["id", "label", "confidence", "rests_on", "text"]
    assert len(rows) == 24
    assert (folder / "report.html").is_file()
    campaign = Campaign.open(f"sqlite:///{folder}/labels.sqlite", "label")
    assert campaign.status().spent == Decimal(server.bill) / 1_000_000
    assert "24 of 24 items labelled" in done.stdout
    assert "Pilot: 8 items" in done.stderr
    assert "Policy hem" in done.stderr


def test_nothing_is_spent_before_somebody_agrees(folder: Path, server: ChatServer) -> None:
    done = in_this_process(*ORDER)
    assert done.exit_code == 2
    assert "may spend up to 0.0" in done.stderr
    assert "--yes" in done.stderr
    assert server.bill == 0
    assert not (folder / "labels.sqlite").exists()
    assert not (folder / "labels.csv").exists()


def test_a_terminal_is_asked_and_may_say_no(
    folder: Path, server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("typer.confirm", lambda *_, **__: False)
    code, seen = on_terminal(*ORDER)
    assert code == 1
    assert "nothing was spent" in seen
    assert server.bill == 0


def test_json_says_it_for_programs(folder: Path) -> None:
    done = in_this_process(*ORDER, "--yes", "--json", "--pilot", "0")
    found = json.loads(done.stdout)
    assert found["labelled"] == 24
    assert found["end"] == {"status": "done", "why": "tasks"}
    assert [each["id"] for each in found["judges"]] == ["big", "small"]


def test_killed_and_resumed_nothing_is_paid_twice_beyond_what_was_on_its_way(
    folder: Path, server: ChatServer
) -> None:
    process = subprocess.Popen(
        askwise(*ORDER, "--yes", "--pilot", "0"),
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 60
    while len(server.asked) < 20 and time.monotonic() < deadline:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    before = len(server.asked)
    assert before >= 20
    done = in_this_process("label", "--resume")
    assert done.exit_code == 0, done.output
    campaign = Campaign.open(f"sqlite:///{folder}/labels.sqlite", "label")
    answers = [(e.task, e.worker) for e in campaign.log() if e.kind == Kind.ANSWER]
    assert sorted(answers) == sorted(
        (f"m{at}", who) for at in range(24) for who in ("big", "small")
    )
    # Eight calls are under way at the most: so many replies may never have been received.
    assert 48 <= len(server.asked) <= 56
    assert campaign.status().spent <= Decimal(server.bill) / 1_000_000


def test_a_resumed_job_takes_more_money_and_no_other_question(folder: Path) -> None:
    poor = [*ORDER, "--yes", "--pilot", "0"]
    poor[poor.index("--budget") + 1] = "0.0006"
    first = in_this_process(*poor)
    assert "does not cover another answer" in first.stdout
    other = in_this_process("label", "--resume", "--question", "Is it ham?")
    assert other.exit_code == 2
    assert "started with 'Is it spam?'" in other.stderr
    less = in_this_process("label", "--resume", "--budget", "0.0003")
    assert less.exit_code == 2
    more = in_this_process("label", "--resume", "--budget", "1")
    assert more.exit_code == 0, more.output
    assert "24 of 24 items labelled" in more.stdout
    assert "of 1.00" in more.stdout


def test_a_budget_that_was_raised_need_not_be_said_again(folder: Path) -> None:
    poor = [*ORDER, "--yes", "--pilot", "0"]
    poor[poor.index("--budget") + 1] = "0.0006"
    in_this_process(*poor)
    in_this_process("label", "--resume", "--budget", "0.001")
    again = in_this_process("label", "--resume")
    assert again.exit_code == 0, again.output
    assert "of 0.001" in again.stdout


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ('model = "big"', 'model = "small"', "worker 'big' was created with the source"),
        ('id = "big"', 'id = "huge"', "'huge' is not among the judges and people"),
        ('[[judge]]\nid = "big"\nmodel = "big"\n', "", "was started with 'big', who is missing"),
    ],
)
def test_other_judges_are_refused_and_the_budget_stays(
    folder: Path, server: ChatServer, before: str, after: str, words: str
) -> None:
    in_this_process(*ORDER, "--yes", "--pilot", "0")
    file, asked = folder / "judges.toml", len(server.asked)
    file.write_text(file.read_text(encoding="utf-8").replace(before, after), encoding="utf-8")
    done = in_this_process("label", "--resume", "--budget", "2")
    assert done.exit_code == 2
    assert words in done.stderr
    assert len(server.asked) == asked
    assert Campaign.open(f"sqlite:///{folder}/labels.sqlite", "label").status().budget == 1


def test_truths_may_be_found_out_later(folder: Path) -> None:
    in_this_process(*ORDER, "--yes", "--pilot", "0")
    lines = ITEMS.splitlines()
    told = [
        f"{lines[0]},gold",
        *(f"{line},{'spam' if at < 3 else ''}" for at, line in enumerate(lines[1:])),
    ]
    (folder / "items.csv").write_text("\n".join(told) + "\n", encoding="utf-8")
    done = in_this_process("label", "--resume", "--truth", "gold")
    assert done.exit_code == 0, done.output
    with (folder / "labels.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["label"] for row in rows[:3]] == ["spam"] * 3
    assert [row["rests_on"] for row in rows[:3]] == ["truth"] * 3


def test_a_job_is_not_begun_twice(folder: Path, server: ChatServer) -> None:
    in_this_process(*ORDER, "--yes", "--pilot", "0")
    bill = server.bill
    again = in_this_process(*ORDER, "--yes", "--pilot", "0")
    assert again.exit_code == 2
    assert "resume it" in again.stderr
    assert server.bill == bill


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('model = "big"', 'model = "nope"', "big: .*(404|not known)"),
        ('key_env = "JUDGE_KEY"', 'key_env = "NO_SUCH_KEY"', "NO_SUCH_KEY"),
        (f"price = {PRICE}", "", "lacks 'price'"),
        ('model = "big"', 'model = "o3"', "max_tokens is missing"),
        ('model = "big"', 'model = "big"\ntemplate = "{{ nonsense }}"', "nonsense"),
        ('id = "big"', 'id = "small"', "twice"),
    ],
)
def test_judges_that_can_not_work_are_refused_in_one_line_and_nothing_is_spent(
    folder: Path, server: ChatServer, old: str, new: str, words: str
) -> None:
    file = folder / "judges.toml"
    text = file.read_text(encoding="utf-8").replace(old, new)
    # One judge: with two, the other would go on.
    file.write_text(text.replace('model = "small"', 'model = "nix"'), encoding="utf-8")
    done = in_this_process(*ORDER, "--yes", "--pilot", "0")
    assert done.exit_code == 2, done.output
    errors = [line for line in done.stderr.splitlines() if line.startswith("error:")]
    assert len(errors) == 1
    import re

    assert re.search(words, errors[0]), errors
    assert server.bill == 0
    assert not (folder / "labels.csv").exists()


def test_requests_that_are_always_refused_end_the_job_and_the_next_try_begins_it(
    folder: Path, server: ChatServer
) -> None:
    script, server.script = server.script, lambda _: Scripted("no such parameter", status=400)
    done = in_this_process(*ORDER, "--yes", "--pilot", "0")
    assert done.exit_code == 2
    assert "HTTP 400: no such parameter; nothing was spent" in done.stderr.splitlines()[-1]
    server.script = script
    again = in_this_process(*ORDER, "--yes", "--pilot", "0")
    assert again.exit_code == 0, again.output
    assert "24 of 24 items labelled" in again.stdout


@pytest.mark.parametrize(
    ("text", "given", "words"),
    [
        (ITEMS, ("--budget", "5 dollars"), "budget is '5 dollars': give a number, such as 5"),
        (ITEMS, ("--options", "yes"), "options is 'yes': name two or more, separated by commas"),
        ("foo,bar\none,two\n", (), "columns foo, bar: say which one holds the text (--text)"),
        ("", (), "items.csv is empty: its first line must name the columns"),
    ],
)
def test_what_is_wrong_with_an_order_is_said_with_what_would_be_valid(
    folder: Path, text: str, given: tuple[str, ...], words: str
) -> None:
    (folder / "items.csv").write_text(text, encoding="utf-8")
    done = in_this_process(*ORDER, "--yes", *given)
    assert done.exit_code == 2
    assert done.stderr.startswith("error: ")
    assert words in done.stderr.splitlines()[-1]


def test_a_resumed_job_says_in_words_what_it_was_started_without(folder: Path) -> None:
    in_this_process(*ORDER, "--yes", "--pilot", "0")
    switched = in_this_process("label", "--resume", "--escalate")
    assert "--escalate is on, but the job was started without --escalate" in switched.stderr
    text = in_this_process("label", "--resume", "--text", "comment")
    assert "--text is 'comment', but the job was started without --text" in text.stderr


def test_a_table_in_a_pipe_is_headed_and_does_not_call_agreement_right(folder: Path) -> None:
    done = in_this_process(*ORDER, "--yes", "--pilot", "0")
    rows = [line.split("\t") for line in done.stdout.splitlines() if "\t" in line]
    assert rows[0][0] == "who"
    assert rows[0][5:] == ["right, or agrees", "judged by", "of"]
    assert [row[0] for row in rows[1:]] == ["big", "small"]
    assert {row[6] for row in rows[1:]} == {"agreement"}


@pytest.mark.parametrize("width", [60, 80])
def test_that_people_are_waited_for_is_seen_on_a_narrow_terminal(
    width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = StringIO()
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    console = Console(file=screen, width=width, force_terminal=True)
    monkeypatch.setattr("askwise.cli.label.output.output.console", lambda **_: console)
    progress = LabelProgress(
        *("labelling", 1000, 1000, 0, 2000, 12, 0, Decimal("12.34"), Decimal("87.66")),
        waits=True,
    )
    with watching(quiet=False) as watch:
        watch(progress)
    assert "waiting for people" in screen.getvalue()
    assert "87.66 left" in " ".join(screen.getvalue().split())


def names_in(folder: Path) -> list[str]:
    return open_store(f"sqlite:///{folder}/labels.sqlite").names()


def test_a_start_that_asked_nobody_is_gone_on_with_by_the_same_command(
    folder: Path, server: ChatServer
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    file = folder / "judges.toml"
    there = f"http://127.0.0.1:{port}/v1"
    file.write_text(file.read_text("utf-8").replace(server.url, there), encoding="utf-8")
    done = in_this_process(*ORDER, "--yes", "--pilot", "0")
    assert "nothing was spent" in done.stderr
    price = {"input": "0.15", "output": "0.60"}
    with ChatServer({"big": careful, "small": hasty}, price=price, port=port):
        again = in_this_process(*ORDER, "--yes", "--pilot", "0")
    assert again.exit_code == 0, again.output
    assert names_in(folder) == ["label"]


def test_a_start_with_other_settings_tells_of_the_one_that_asked_nobody(
    folder: Path, server: ChatServer
) -> None:
    server.script, script = lambda _: Scripted("no such parameter", status=400), server.script
    in_this_process(*ORDER, "--yes", "--pilot", "0")
    server.script = script
    again = in_this_process(*ORDER, "--yes", "--pilot", "0")
    assert "'label', begun before" in again.stderr
    assert "askwise status label --store sqlite:///labels.sqlite" in again.stderr
    assert names_in(folder) == ["label", "label-2"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("--budget", "0"), "budget is 0: it buys nothing"),
        (("--policy", "hemm"), "did you mean 'hem'"),
        (("--policy", "bbta", "--pilot", "10"), "bbta"),
    ],
)
def test_a_refused_command_leaves_what_resume_goes_on_with(
    folder: Path, server: ChatServer, given: tuple[str, ...], words: str
) -> None:
    script = server.script
    server.script = lambda _: Scripted("no such parameter", status=400)
    in_this_process(*ORDER, "--yes", "--pilot", "0")
    kept = kept_command(open_store(f"sqlite:///{folder}/labels.sqlite"))
    refused = in_this_process(*ORDER, "--yes", *given)
    assert refused.exit_code == 2
    assert words in refused.stderr
    assert len(refused.stderr.splitlines()) == 1
    server.script = script
    assert kept_command(open_store(f"sqlite:///{folder}/labels.sqlite")) == kept
    resumed = in_this_process("label", "--resume")
    assert "buys nothing" not in resumed.output


def test_an_unknown_policy_is_refused_before_anybody_agrees_and_leaves_no_store(
    folder: Path,
) -> None:
    done = in_this_process(*ORDER, "--policy", "hemm")
    assert done.exit_code == 2
    assert "policy 'hemm' is not known: did you mean 'hem'?" in done.stderr
    assert not (folder / "labels.sqlite").exists()


def test_a_few_items_are_said_to_be_too_few_for_a_pilot(folder: Path) -> None:
    (folder / "items.csv").write_text("id,text\na,You have won!\nb,See you\n", encoding="utf-8")
    asked = in_this_process(*ORDER, "--yes", "--pilot", "30")
    assert "pilot is 30: 2 items are too few for a pilot, which takes 5 or more" in asked.stderr
    done = in_this_process(*ORDER, "--yes")
    assert done.exit_code == 0, done.output
    assert "Skipping the pilot: 2 items are too few for a pilot" in done.stderr


def test_the_key_is_nowhere_but_in_the_environment(folder: Path) -> None:
    done = in_this_process(*ORDER, "--yes", "--pilot", "0")
    kept = [file for file in folder.iterdir() if file.is_file()]
    assert len(kept) >= 5
    for file in kept:
        assert b"sk-secret-key" not in file.read_bytes(), file
    assert "sk-secret-key" not in done.output


def test_options_that_a_judge_never_says_are_failures_with_their_cost(
    folder: Path, server: ChatServer
) -> None:
    order = list(ORDER)
    order[order.index("spam,ham")] = "offer,none"
    done = in_this_process(*order, "--yes", "--pilot", "0")
    assert done.exit_code == 0, done.output
    assert "0 of 24 items labelled" in done.stdout
    campaign = Campaign.open(f"sqlite:///{folder}/labels.sqlite", "label")
    assert campaign.status().failures == 48
    assert campaign.status().spent == Decimal(server.bill) / 1_000_000


def test_a_content_file_says_it_all(folder: Path) -> None:
    (folder / "question.toml").write_text(
        'question = "Is it spam?"\ncurrency = "EUR"\n[[options]]\nname = "spam"\n'
        'meaning = "Wants money"\n[[options]]\nname = "ham"\n',
        encoding="utf-8",
    )
    order = [word for word in ORDER if word not in ("--question", "Is it spam?", "--options")]
    order.remove("spam,ham")
    done = in_this_process(*order, "--content", "question.toml", "--yes", "--pilot", "0")
    assert done.exit_code == 0, done.output
    assert "EUR" in done.stdout


def test_without_a_key_that_was_there_a_resumed_job_says_so(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    poor = [*ORDER, "--yes", "--pilot", "0"]
    poor[poor.index("--budget") + 1] = "0.0006"
    in_this_process(*poor)
    monkeypatch.delenv("JUDGE_KEY")
    done = in_this_process("label", "--resume", "--budget", "1")
    assert done.exit_code == 2
    assert "JUDGE_KEY" in done.stderr
    assert os.path.exists(folder / "labels.csv")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("--out", "labels.txt"), "labels.txt has an ending that is not known"),
        (("--out", "."), "has an ending that is not known"),
        (("--out", "items.csv"), "out is 'items.csv', which is the file of items too"),
        (("--report", "judges.toml"), "report is 'judges.toml', which is the file of judges too"),
        (("--report", "labels.csv"), "report is 'labels.csv', which is the file of out too"),
        (("--report", "."), "report is '.', a directory"),
    ],
)
def test_files_that_can_not_be_written_are_refused_before_anything_is_spent(
    folder: Path, server: ChatServer, given: tuple[str, str], words: str
) -> None:
    done = in_this_process(*ORDER, "--yes", "--pilot", "0", *given)
    assert done.exit_code == 2
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not server.asked
    assert sorted(each.name for each in folder.iterdir()) == ["items.csv", "judges.toml"]
    assert (folder / "items.csv").read_text(encoding="utf-8") == ITEMS


def test_a_job_that_is_stopped_says_the_command_that_goes_on_with_it(
    folder: Path, server: ChatServer
) -> None:
    process = subprocess.Popen(
        askwise(*ORDER, "--yes", "--pilot", "0", "--out", "my labels.csv", "--name", "mail"),
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while len(server.asked) < 4 and time.monotonic() < deadline:
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    command = "askwise label --resume --out 'my labels.csv' --name mail"
    assert said.splitlines()[-1] == f"interrupted; to go on: {command}"
    done = in_this_process(*shlex.split(command)[1:])
    assert done.exit_code == 0, done.output


def test_a_job_that_is_found_by_its_store_is_written_where_it_is_said(folder: Path) -> None:
    store = ("--store", "sqlite:///kept.sqlite")
    in_this_process(*ORDER, "--yes", "--pilot", "0", *store, "--out", "first.csv")
    (folder / "first.csv").unlink()
    in_this_process("label", "--resume", *store, "--out", "second.csv")
    assert not (folder / "first.csv").exists()
    assert (folder / "second.csv").is_file()
    assert {each.name for each in folder.glob("*.html")} == {
        f"{n}-report.html" for n in ("first", "second")
    }
    in_this_process("label", "--resume", *store)
    assert (folder / "first.csv").is_file()


def test_costs_beyond_the_budget_are_named(folder: Path, server: ChatServer) -> None:
    usage = {"prompt_tokens": 1_000_000, "completion_tokens": 1}
    server.script = lambda _: Scripted("spam", usage=usage)
    poor = [*ORDER, "--yes", "--pilot", "0"]
    poor[poor.index("--budget") + 1] = "0.1"
    done = in_this_process(*poor)
    assert "spent 0.1 of 0.1; calls cost " in done.stdout
    assert " more by their replies, which the budget did not hold" in done.stdout


@pytest.mark.slow
def test_a_certificate_that_is_not_reached_is_an_exit_code_and_resuming_asks_nobody(
    folder: Path,
) -> None:
    judges = folder / "judges.toml"
    judges.write_text(judges.read_text().replace('model = "small"', 'model = "big"'))
    # All labels look alike, so the first set holds 22 of the 24 and takes 15 audits; ana makes 11.
    (folder / "people.csv").write_text("id,price,limit\nana,0.01,11\n", encoding="utf-8")
    audited = ("--people", "people.csv", "--by", "ana", "--certify", "0.9", "--port", "0")
    done = in_this_process(*ORDER, *audited, "--target-error", "0.05", "--yes", "--pilot", "0")
    assert done.exit_code == 1
    assert "No label is certified. Of 24 labels, 24 rest on agreement alone" in done.stdout
    assert "start another job with another --out" in done.stdout
    assert "/join/" in done.stderr
    again = in_this_process("label", "--resume", "--yes", "--budget", "2")
    assert again.exit_code == 1
    assert "start another job with another --out" in again.stdout
    assert "/join/" not in again.stderr


def test_a_report_of_another_job_is_not_overwritten(folder: Path, server: ChatServer) -> None:
    (folder / "t-report.html").write_text("another", encoding="utf-8")
    done = in_this_process(*ORDER, "--yes", "--out", "t.csv")
    assert done.exit_code == 2
    assert "t-report.html exists already: give another --report" in done.stderr
    assert not server.asked
