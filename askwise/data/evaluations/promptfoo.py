"""Results of promptfoo: ``results.json`` (version 3), or its JSON Lines with a result a line.

What is rated is an output: that of a test and of a prompt at a provider. It is called
``TEST:PROMPT`` by their numbers. Each assertion of the test is a rating; people rate in the web
viewer, which writes one more of type "human".
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from askwise.data.evaluations.files import is_json, read_json, read_records, refuse_other_format
from askwise.data.evaluations.ratings import Export, Rating, number, passed, text

HUMAN = "human"
"""The type of an assertion that a person has made in the viewer."""

HINT = "component results whose assertion has the type human"

WANTED = "results.json as promptfoo eval --output writes it (version 3), or its .jsonl"


def read(path: Path) -> Export:
    """Read the component results of every output."""
    left_out: Counter[str] = Counter()
    ratings: list[Rating] = []
    for result in _results(path):
        test, prompt = text(result.get("testIdx")), text(result.get("promptIdx"))
        if test is None or prompt is None:
            raise refuse_other_format(path, "promptfoo", WANTED)
        found = list(_of_output(f"{test}:{prompt}", result.get("gradingResult")))
        ratings += found
        left_out["outputs without a grade"] += not found
    return Export(ratings, left_out, HINT)


def _results(path: Path) -> list[dict[str, Any]]:
    if not is_json(path):
        return read_records(path, ("testIdx", "promptIdx", "gradingResult"))
    found = read_json(path)
    # The file holds the evaluation, and that holds what the viewer shows, one object an output.
    for _ in range(2):
        found = found.get("results") if isinstance(found, dict) else None
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise refuse_other_format(path, "promptfoo", WANTED)
    return found


def _of_output(task: str, grading: Any) -> Iterator[Rating]:
    if not isinstance(grading, dict):
        return
    parts = [part for part in grading.get("componentResults") or () if isinstance(part, dict)]
    for part in parts:
        assertion = part.get("assertion")
        if not isinstance(assertion, dict):
            # A set of assertions holds those in it.
            yield from _of_output(task, part)
            continue
        kind, name = text(assertion.get("type")), text(assertion.get("metric"))
        person = kind == HUMAN
        yield Rating(
            task,
            HUMAN if person else name or kind or "assertion",
            HUMAN if person else _provider(assertion.get("provider")),
            person,
            number(part.get("score")),
            passed(part.get("pass")),
            unnamed=name is None and not person,
        )


def _provider(given: Any) -> str | None:
    """The model that grades, if the assertion names one."""
    return text(given.get("id")) if isinstance(given, dict) else text(given)
