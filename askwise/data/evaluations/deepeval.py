"""Test runs of DeepEval: the JSON file of a run, with its test cases and their metrics.

Each metric has a threshold of its own, and says whether the case passes; whether high or low scores
do depends on the metric. The judge is the model that evaluates. People's ratings are no part of it.
"""

from collections import Counter
from pathlib import Path
from typing import Any

from askwise.data.evaluations.files import read_json, refuse_other_format
from askwise.data.evaluations.ratings import Export, Rating, number, passed, text

HINT = "none, because test runs of DeepEval hold what models say"

WANTED = "the JSON file of a test run, with testCases and their metricsData"


def read(path: Path) -> Export:
    """Read the metrics of every test case."""
    cases = _cases(path)
    left_out: Counter[str] = Counter()
    names = Counter(text(case.get("name")) for case in cases)
    ratings: list[Rating] = []
    for place, case in enumerate(cases):
        name = text(case.get("name"))
        if name is None:
            left_out["test cases without a name"] += 1
            continue
        # Cases of one parametrised test have one name.
        order = case.get("order")
        task = name if names[name] == 1 else f"{name}#{place if order is None else order}"
        metrics = case.get("metricsData") or ()
        left_out["test cases without metrics"] += not metrics
        for metric in metrics:
            broken = text(metric.get("error")) is not None
            ratings.append(
                Rating(
                    task,
                    text(metric.get("name")) or "metric",
                    text(metric.get("evaluationModel")),
                    False,
                    None if broken else number(metric.get("score")),
                    None if broken else passed(metric.get("success")),
                )
            )
    return Export(ratings, left_out, HINT)


def _cases(path: Path) -> list[dict[str, Any]]:
    found = read_json(path)
    if isinstance(found, dict):
        # The last run is kept within another object.
        found = found.get("testRunData", found)
    if not isinstance(found, dict) or not (
        "testCases" in found or "conversationalTestCases" in found
    ):
        raise refuse_other_format(path, "DeepEval", WANTED)
    cases = [*(found.get("testCases") or ()), *(found.get("conversationalTestCases") or ())]
    if not cases:
        raise refuse_other_format(path, "DeepEval", f"{WANTED}; this one has no test case")
    return cases
