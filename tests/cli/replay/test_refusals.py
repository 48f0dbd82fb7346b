"""``askwise replay``: what is wrong is said before anything is written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.replay.sheets import write

BAD = {
    "no labels": (("nowhere.csv", "--gold", "gold.csv"), "nowhere.csv: No such file"),
    "no gold": (("labels.csv", "--gold", "nowhere.csv"), "nowhere.csv: No such file"),
    "no option for gold": (("labels.csv",), "missing option '--gold'"),
    "gold of other tasks": (("labels.csv", "--gold", "other.csv"), "has no task in common"),
    "contexts of other tasks": (
        ("labels.csv", "--gold", "gold.csv", "--contexts", "strange.csv"),
        "has no task in common",
    ),
    "a worker without a price": (
        ("labels.csv", "--gold", "gold.csv", "--prices", "few.csv"),
        "worker 'w2' of labels.csv has none; add a line for them",
    ),
    "a bad price": (("labels.csv", "--gold", "gold.csv", "--prices", "bad.csv"), "bad.csv, line 2"),
    "prices and workers": (
        ("labels.csv", "--gold", "gold.csv", "--prices", "all.csv", "--workers", "all.csv"),
        "workers and prices both say what an answer costs: give one of them",
    ),
    "a worker without a line": (
        ("labels.csv", "--gold", "gold.csv", "--workers", "few.csv"),
        "workers: worker 'w2' of labels.csv is not among them; add a line",
    ),
    "an unknown column": (
        ("labels.csv", "--gold", "gold.csv", "--workers", "more.csv"),
        "more.csv has a column 'mood': known: family, kind, limit, price, worker",
    ),
    "a worker with a bad price": (
        ("labels.csv", "--gold", "gold.csv", "--workers", "bad.csv"),
        "bad.csv, line 2: price of worker 'w1' is 'dear'",
    ),
    "too many truths": (
        ("labels.csv", "--gold", "gold.csv", "--truths", "3"),
        "truths is 3: 5 tasks have gold",
    ),
    "negative truths": (("labels.csv", "--gold", "gold.csv", "--truths", "-1"), "truths is -1"),
    "an unknown rule": (("labels.csv", "--gold", "gold.csv", "--stop", "led"), "'led' is not"),
    "a bad rule": (
        ("labels.csv", "--gold", "gold.csv", "--stop", "lead(lead=0)"),
        "lead is 0",
    ),
    "a missing rule": (
        ("labels.csv", "--gold", "gold.csv", "--against", "b-kube"),
        "stop is missing: policy 'b-kube'",
    ),
    "one class": (("one.csv", "--gold", "gold.csv"), "one.csv has one label, 'a'"),
    "a table of something else": (("gold.csv", "--gold", "gold.csv"), "gold.csv has no column"),
    "an unknown policy": (("labels.csv", "--gold", "gold.csv", "--policy", "hum"), "'hum' is not"),
    "a bad parameter": (
        ("labels.csv", "--gold", "gold.csv", "--policy", "hem(target=2)"),
        "target is 2",
    ),
    "an unknown rival": (
        ("labels.csv", "--gold", "gold.csv", "--against", "bbta,hum"),
        "'hum' is not",
    ),
    "itself as a rival": (("labels.csv", "--gold", "gold.csv", "--against", "hem"), "'hem' twice"),
    "a policy for two options": (
        ("three.csv", "--gold", "gold.csv", "--against", "optkg"),
        "policy 'optkg' works on two",
    ),
    "money that is none": (("labels.csv", "--gold", "gold.csv", "--budget", "much"), "'much'"),
    "no money": (("labels.csv", "--gold", "gold.csv", "--budget", "0"), "budget is 0"),
    "negative money": (("labels.csv", "--gold", "gold.csv", "--budget", "-1"), "'-1'"),
    "too little money": (("labels.csv", "--gold", "gold.csv", "--budget", "0.9"), "buys nothing"),
    "too much money": (("labels.csv", "--gold", "gold.csv", "--budget", "1e30"), "too large"),
    "no runs": (("labels.csv", "--gold", "gold.csv", "--runs", "0"), "runs is 0"),
    "no window": (("labels.csv", "--gold", "gold.csv", "--window", "0"), "window is 0"),
    "a bad seed": (("labels.csv", "--gold", "gold.csv", "--seed", "-1"), "seed is -1"),
    "duplicates that count": (
        ("labels.csv", "--gold", "gold.csv", "--duplicates", "keep"),
        "duplicates is 'keep': give one of drop, refuse",
    ),
    "a file to write in": (
        ("labels.csv", "--gold", "gold.csv", "--out", "gold.csv"),
        "gold.csv is a file: give another directory",
    ),
}


@pytest.mark.parametrize("fault", BAD)
def test_what_is_wrong_is_said_in_one_line(
    fault: str, refusal: Callable[..., str], labels: str, gold: str, workplace: Path
) -> None:
    write("other.csv", ("task", "label"), ("t77", "a"))
    write("strange.csv", ("task", "context"), ("t77", "a"))
    write("few.csv", ("worker", "price"), ("w1", "1"))
    write("bad.csv", ("worker", "price"), ("w1", "dear"))
    write("all.csv", ("worker", "price"), *((f"w{at}", "1") for at in range(1, 5)))
    write("more.csv", ("worker", "price", "mood"), ("w1", "1", "good"))
    write("one.csv", ("task", "worker", "label"), ("t1", "w1", "a"), ("t2", "w1", "a"))
    write("three.csv", ("task", "worker", "label"), ("t1", "w1", "c"), ("t3", "w1", "b"))
    before = sorted(workplace.iterdir())
    words, said = BAD[fault]
    quick = [] if "--budget" in words else ["--budget", "8"]
    assert said in refusal("replay", *words, *quick)
    if "--out" not in words:
        refusal("replay", *words, *quick, "--out", "made/page")
    assert sorted(workplace.iterdir()) == before
