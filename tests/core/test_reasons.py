"""Errors say why in a word of a closed set, and nothing decides by what their messages say."""

from __future__ import annotations

import ast
import copy
import pickle
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import askwise
from askwise.client.errors import Refused as ClientRefused
from askwise.client.errors import Unreachable
from askwise.client.webhooks import InvalidSignature
from askwise.core import errors
from askwise.core.errors import AskwiseError, Conflict, InvalidParameter
from askwise.core.reasons import REASONS
from askwise.policies.assured.sets import critical_bids
from tests.core.wording import decisions, decisions_of

PACKAGE = Path(askwise.__file__).parent
CLASSES = [
    each
    for each in vars(errors).values()
    if isinstance(each, type) and issubclass(each, AskwiseError)
]


def test_a_reason_outside_the_set_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="reason is 'whim'"):
        Conflict("no", reason="whim")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="reason is 'whim'"):
        type("Odd", (AskwiseError,), {"default_reason": "whim"})


@pytest.mark.parametrize("kind", [*CLASSES, ClientRefused, Unreachable, InvalidSignature])
def test_every_class_has_a_reason_of_its_own(kind: type[AskwiseError]) -> None:
    assert kind("no").reason == kind.default_reason
    assert "default_reason" in vars(kind)


def test_every_error_has_a_code_of_its_own() -> None:
    home = AskwiseError.__module__
    codes = [kind.code for kind in AskwiseError.__subclasses__() if kind.__module__ == home]
    assert len(set(codes)) == len(codes)
    assert AskwiseError("x").field is None


def test_a_class_of_a_plug_in_has_the_reason_of_its_base() -> None:
    class Odd(Conflict):
        code = "odd"

    assert Odd("no").reason == "conflict"


@pytest.mark.parametrize(
    "clone", [copy.copy, copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e))]
)
def test_a_copy_keeps_the_reason(clone: Any) -> None:
    made = clone(Conflict("no", field="state", reason="campaign_stopped"))
    assert (type(made), str(made), made.field) == (Conflict, "no", "state")
    assert made.reason == "campaign_stopped"


LISTS = {"core/reasons.py", "core/errors.py", "service/errors.py", "service/work/sentences.py"}
"""Modules that list reasons without giving them."""


class Words(NamedTuple):
    """What the package says: the words given as a reason by name, and all of its texts."""

    given: list[tuple[str, int, str]]
    texts: set[str]


@pytest.fixture(scope="module")
def said() -> Words:
    """Read once: to parse the package takes a second."""
    found = Words([], set())
    for path in PACKAGE.rglob("*.py"):
        lists = path.relative_to(PACKAGE).as_posix() in LISTS
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.keyword) and node.arg == "reason":
                value = node.value
                if isinstance(value, ast.Constant) and value.value is not None:
                    found.given.append((path.name, value.lineno, str(value.value)))
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and not lists:
                found.texts.add(node.value)
    return found


def test_the_modules_that_list_reasons_are_there() -> None:
    assert [each for each in LISTS if not (PACKAGE / each).is_file()] == []


def test_every_reason_that_is_given_is_in_the_set(said: Words) -> None:
    assert [each for each in said.given if each[2] not in REASONS] == []


def test_every_reason_of_the_set_is_given_somewhere(said: Words) -> None:
    words = said.texts | {kind.default_reason for kind in CLASSES}
    # Built in service/errors.py itself, which also lists them all with their status.
    words |= {"fault", "unauthorized", "forbidden", "method_not_allowed", "invalid_request"}
    assert REASONS - words == set()


def test_no_module_decides_by_what_a_message_says() -> None:
    found = decisions_of(PACKAGE)
    # Contracts for the authors of stores ask that a message names what is meant.
    assert [each for each in found if not each.startswith("testing/")] == []


@pytest.mark.parametrize(
    "line",
    [
        "if 'busy' in str(error): pass",
        "if str(error) == 'busy': pass",
        "if f'{error}' == 'busy': pass",
        "x = error.args[0] == 'busy'",
        "x = str(error).partition(' and ')[2]",
        "x = str(error).lower().startswith('busy')",
        "x = WORDS[str(error)]",
        "x = WORDS.get(str(error), 'no money left')",
        "x = re.search('busy', str(error))",
        "text = str(error); x = text.split(':')[0]",
        "text = str(error); short = text.strip(); x = 'busy' in short",
        "x = error.diag.message_primary == 'busy'",
        "x = error.strerror.find('busy')",
    ],
)
def test_a_decision_by_a_message_is_found(line: str) -> None:
    caught = f"def f():\n    try:\n        g()\n    except OSError as error:\n        {line}\n"
    assert list(decisions(caught)) == [5]
    handed = f"def f(error: StoreError):\n    {line}\n"
    assert list(decisions(handed)) == [2]


@pytest.mark.parametrize(
    "line",
    [
        "raise Conflict(f'{error}: again')",
        "x = str(error) or type(error).__name__",
        "x = ' '.join(str(error).split())",
        "x = error.reason == 'store_busy'",
        "x = error.sqlite_errorcode == 5",
        "x = 'busy' in name",
        "log(str(error))",
    ],
)
def test_showing_a_message_is_no_decision(line: str) -> None:
    assert list(decisions(f"def f(error: StoreError, name: str):\n    {line}\n")) == []


@pytest.mark.parametrize(
    ("costs", "gains", "demand", "field"),
    [
        ([1, -1], [1.0, 1.0], 1.0, "costs"),
        ([[1], [2, 3]], [1.0, 1.0], 1.0, "costs"),
        ([1, 1], [1.0], 1.0, "gains"),
        ([1, 1], [1.0, 1.0], float("nan"), "demand"),
        ([1, 1], [1.0, 1.0], "much", "demand"),
    ],
)
def test_a_wrong_input_of_bids_is_named_without_reading_the_message(
    costs: Any, gains: Any, demand: Any, field: str
) -> None:
    with pytest.raises(InvalidParameter) as caught:
        critical_bids(costs, gains, demand)
    assert caught.value.field == field
