"""TOML from strangers: read as the parser reads it, or refused before it."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askwise.service.api import toml
from askwise.service.api.actions import fields_of
from askwise.service.api.toml import LONGEST_KEY, read_toml
from askwise.service.errors import RequestRefused

LONG = ".".join("a" * (LONGEST_KEY + 1))
FITS = ".".join("a" * LONGEST_KEY)


@pytest.fixture
def unparsed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fails the test if the parser is given anything."""

    def never(text: str) -> None:
        pytest.fail("it was parsed")

    monkeypatch.setattr(toml.tomllib, "loads", never)


@pytest.mark.parametrize(
    "text",
    [
        f"{LONG} = 1",
        f"[{LONG}]",
        f"[[{LONG}]]",
        f"x = {{ {LONG} = 1 }}",
        f"x = [{{ y = 1, {LONG} = 1 }}]",
        LONG.replace(".", " \t. ") + " = 1",
        LONG.replace("a", '"a.b"') + " = 1",
        LONG.replace("a", "'a'") + " = 1",
        LONG.replace("a", '""') + " = 1",
        f'x = "one" # "\n{LONG} = 1',
        f'x = {{ y = """a"""", {LONG} = 1 }}',
        f"x = {{ y = '''a''''', {LONG} = 1 }}",
        f'x = {{ y = """a\\"""b""", {LONG} = 1 }}',
        f'x = {{ y = "\\\\", {LONG} = 1 }}',
        f"x = {{ y = '\\', {LONG} = 1 }}",
        f"x = {{ y = \"\", z = '', {LONG} = 1 }}",
    ],
)
@pytest.mark.usefixtures("unparsed")
def test_a_key_of_many_parts_is_refused_before_it_is_parsed(text: str) -> None:
    with pytest.raises(ValueError, match=f"has more than {LONGEST_KEY} parts"):
        read_toml(text.encode())


@pytest.mark.usefixtures("unparsed")
@pytest.mark.parametrize("begin", ["", "["])
def test_a_large_body_of_dots_is_refused_as_a_request(begin: str) -> None:
    body = f"x = 1\n{begin}{'a.' * 2**19}a = 1".encode()
    with pytest.raises(RequestRefused) as caught:
        fields_of("application/toml", body)
    assert caught.value.reason == "bad_request"
    assert "a key in line 2 has more than" in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        f"{FITS} = 1",
        f"[{FITS}]\n{FITS} = 1",
        f'x = "{LONG}"',
        f"x = '{LONG}'",
        f'x = """\n{LONG} = 1\n"""',
        f"x = '''\n{LONG} = 1\n'''",
        f"# {LONG} = 1",
        f"x = 1 # {LONG}",
        'x = """a\\"""' + LONG + '"""',
        f"x = [{', '.join(['1.5'] * 99)}]",
    ],
)
def test_dots_that_are_in_no_key_are_taken(text: str) -> None:
    assert read_toml(text.encode()) == tomllib.loads(text)


PIECES = st.sampled_from(
    ['"', "'", '"""', "'''", "\\", "\n", "#", ".", "a", " ", "=", "[", "]", "{", "}", ",", LONG]
)


@given(st.lists(PIECES, max_size=30).map("".join))
def test_a_document_is_read_as_the_parser_reads_it_unless_it_is_deep(text: str) -> None:
    due, found = (_read_by(read, text) for read in (tomllib.loads, _in_bytes))
    if due is None or found is not None:
        assert found == due
    else:
        assert _depth(due) > LONGEST_KEY


def _in_bytes(text: str) -> dict[str, Any]:
    return read_toml(text.encode())


def _read_by(read: Callable[[str], dict[str, Any]], text: str) -> dict[str, Any] | None:
    try:
        return read(text)
    except ValueError:
        return None


def _depth(value: Any) -> int:
    """How many lists and tables are within each other."""
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, list):
        return 0
    return 1 + max(map(_depth, value), default=0)


@given(st.text("\"'\\\n#.a =[", max_size=200))
def test_a_document_is_split_without_a_gap(text: str) -> None:
    assert "".join(token[0] for token in toml._TOKENS.finditer(text)) == text
