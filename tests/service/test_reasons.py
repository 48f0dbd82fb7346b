"""Reasons over HTTP: a status for each, the same on both sides, and a line for each in the docs."""

from __future__ import annotations

import ast
import itertools
import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

import askwise
from askwise.campaign.settling import ENDS, SETTLED
from askwise.client.errors import BY_CODE, Refused, error_of
from askwise.core import errors
from askwise.core.reasons import REASONS
from askwise.service.errors import CODES, STATUS, body_of, reply_to, status_of
from askwise.service.errors import RequestRefused as Refusal
from docs.blocks import DOCS

CLASSES = sorted(
    {kind for kind in BY_CODE.values() if kind.__module__ == errors.__name__},
    key=lambda kind: kind.code,
)
ELSEWHERE = {
    "bad_backup", "file_error", "invalid_signature", "service_unreachable", "store_empty",
    "store_not_empty", "usage",
}  # fmt: skip
"""Reasons that a service never replies with."""


def test_every_reason_has_a_status() -> None:
    assert set(STATUS) == REASONS


def test_the_client_knows_every_class_of_the_core() -> None:
    made = {kind for kind in vars(errors).values() if isinstance(kind, type)}
    assert {kind for kind in made if issubclass(kind, errors.AskwiseError)} == {
        *CLASSES,
        errors.AskwiseError,
    }


def over_the_wire(error: errors.AskwiseError) -> errors.AskwiseError:
    reply = reply_to(error)
    return error_of(reply.status_code, json.loads(bytes(reply.body)))


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.code)
def test_an_error_is_the_same_on_both_sides(kind: type[errors.AskwiseError]) -> None:
    for reason in sorted(REASONS):
        if (kind, reason) == (errors.TooLarge, "body_too_large"):
            continue  # a body's size is the service's matter: the client has Refused for it
        there = kind("no such thing", field="task", reason=reason)  # type: ignore[arg-type]
        here = over_the_wire(there)
        assert (type(here), here.reason, here.field) == (kind, reason, "task")
    here = over_the_wire(kind("no"))
    assert (type(here), here.reason) == (kind, kind.default_reason)


@pytest.mark.parametrize("reason", sorted(REASONS))
def test_a_refusal_of_the_service_keeps_its_reason(reason: Any) -> None:
    here = over_the_wire(Refusal(reason, "no"))
    assert here.reason == reason
    if isinstance(here, Refused):
        assert (here.code, here.status) == (CODES.get(reason, reason), STATUS[reason])


@pytest.mark.parametrize("odd", ["whim", None, 7, ["conflict"], {}])
def test_a_reason_of_a_newer_service_becomes_the_default_of_the_class(odd: Any) -> None:
    told = {"code": "conflict", "reason": odd, "message": "no", "field": None}
    here = error_of(409, {"error": told})
    assert (type(here), here.reason) == (errors.Conflict, "conflict")
    here = error_of(418, {"error": {**told, "code": "teapot"}})
    assert (type(here), here.reason) == (Refused, "refused")
    del told["reason"]
    assert error_of(409, {"error": told}).reason == "conflict"


def test_a_status_does_not_depend_on_message_or_field() -> None:
    for reason, field in itertools.product(sorted(REASONS), (None, "store", "assignment", "value")):
        error = errors.StoreError("x", field=field, reason=reason)  # type: ignore[arg-type]
        assert status_of(error) == STATUS[reason]  # type: ignore[index]


# The page on the API.

HELPERS = {"conflict": "conflict", "invalid_answer": "invalid_answer", "_place": "unknown_name"}
"""Functions that are given a reason and make the error, by its code."""


def table() -> dict[str, tuple[str, set[str], str]]:
    """The documented reasons: status, codes, what to do."""
    text = (DOCS / "how-to" / "api.md").read_text(encoding="utf-8").split("\n### Reasons\n")[1]
    rows = re.findall(r"^\| `(\w+)` \| (\d+|–) \| (.+?) \| (.+?) \|$", text.split("\n## ")[0], re.M)
    found = {
        name: (status, set(re.findall(r"`(\w+)`", codes)), do) for name, status, codes, do in rows
    }
    assert len(found) == len(rows)
    return found


def codes_in_use() -> dict[str, set[str]]:
    """The codes under which each reason is raised, as far as the sources name both."""
    names = {kind.__name__: kind.code for kind in CLASSES}
    found: dict[str, set[str]] = defaultdict(set)
    for kind in CLASSES:
        found[kind.default_reason].add(kind.code)
    for path in Path(askwise.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                for given in node.args:
                    word = ast.literal_eval(given) if isinstance(given, ast.Constant) else None
                    if node.func.id in HELPERS and word in REASONS:
                        found[word].add(HELPERS[node.func.id])
                for given in node.keywords:
                    named = given.arg == "reason" and isinstance(given.value, ast.Constant)
                    if named and node.func.id in names:
                        found[ast.literal_eval(given.value)].add(names[node.func.id])
    for reason in SETTLED.values():  # looked up, not written out
        found[reason].add("conflict")
    for status in ENDS:  # an answer after the lease is taken
        found[SETTLED[status]].add("invalid_answer")
    late = ("task_closed", "task_removed", "campaign_stopped", "worker_limit_reached")
    for reason in (*late, "pair_asked_again"):
        found[reason].add("invalid_answer")  # of a late answer
    return found


def test_every_reason_is_documented_with_its_status_and_codes() -> None:
    documented = table()
    assert set(documented) == REASONS
    used = codes_in_use()
    for reason, (status, codes, _) in documented.items():
        assert status == ("–" if reason in ELSEWHERE else str(STATUS[reason])), reason  # type: ignore[index]
        if reason in used:
            assert codes == used[reason], reason
        elif reason not in ELSEWHERE:
            assert codes == {CODES.get(reason, reason)}, reason  # type: ignore[call-overload]


def test_the_one_shape_has_the_reason() -> None:
    told = body_of("rate_limited", "wait")["error"]
    assert list(told) == ["code", "reason", "message", "field"]
