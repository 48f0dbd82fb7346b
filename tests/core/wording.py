"""Finds code that decides by what the message of an error says.

A message is ``str(error)``, ``repr(error)``, an f-string of it, ``error.args`` and the fields in
which drivers and the system put their sentences, of an error that was caught or is handed in. It
may be shown, logged and put into another message. It may not be compared, searched, cut up, looked
up or matched. Names that a message is bound to are followed within a function; what another
function makes of its text is not.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

SENTENCES = {"args", "message", "msg", "strerror", "message_primary"}
"""Attributes that hold a message."""

CUTTING = {
    "count", "endswith", "find", "index", "partition", "removeprefix", "removesuffix", "rfind",
    "rindex", "rpartition", "rsplit", "split", "splitlines", "startswith",
}  # fmt: skip
"""Methods by which a text is searched or cut up; ``split()`` alone only tidies blanks."""

FINDING = {"findall", "finditer", "fullmatch", "get", "match", "search", "split"}
"""Functions and methods that look for the text that they are given."""


def decisions(source: str) -> Iterator[int]:
    """The lines of ``source`` that decide by a message."""
    for scope in ast.walk(ast.parse(source)):
        if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from sorted(_decisions_in(scope))


def decisions_of(folder: Path) -> list[str]:
    """The same of all modules in a folder, each as ``file:line``."""
    return [
        f"{path.relative_to(folder)}:{line}"
        for path in sorted(folder.rglob("*.py"))
        for line in decisions(path.read_text(encoding="utf-8"))
    ]


def _decisions_in(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[int]:
    errors, texts = _errors_of(function), set[str]()
    if not errors:
        return set()
    while True:
        bound = {
            target.id
            for node in ast.walk(function)
            if isinstance(node, ast.Assign) and _is_message(node.value, errors, texts)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        if bound <= texts:
            break
        texts |= bound
    return {
        node.lineno
        for node in ast.walk(function)
        if isinstance(node, ast.expr) and _decides(node, errors, texts)
    }


def _errors_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    """Names of errors: those that are caught, and parameters that are declared as such."""
    found = {
        node.name
        for node in ast.walk(function)
        if isinstance(node, ast.ExceptHandler) and node.name
    }
    arguments = function.args
    for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        declared = "" if each.annotation is None else ast.unparse(each.annotation)
        if declared.endswith(("Error", "Exception", "Conflict", "Refused")):
            found.add(each.arg)
    return found


def _is_message(node: ast.expr, errors: set[str], texts: set[str]) -> bool:
    def inner(part: ast.expr) -> bool:
        return _is_message(part, errors, texts)

    match node:
        case ast.Name(id=name):
            return name in texts
        case ast.Call(func=ast.Name(id="str" | "repr"), args=[ast.Name(id=name)]):
            return name in errors
        case ast.Call(func=ast.Attribute(value=value, attr="lower" | "strip" | "casefold")):
            return inner(value)
        case ast.JoinedStr(values=values):
            return any(
                isinstance(part, ast.FormattedValue)
                and (
                    inner(part.value)
                    or (isinstance(part.value, ast.Name) and part.value.id in errors)
                )
                for part in values
            )
        case ast.BoolOp(values=values):
            return any(inner(part) for part in values)
        case ast.Subscript(value=value):
            return inner(value)
        case ast.Attribute(value=value, attr=attr) if attr in SENTENCES:
            root = value
            while isinstance(root, ast.Attribute):
                root = root.value
            return isinstance(root, ast.Name) and root.id in errors
    return False


def _decides(node: ast.expr, errors: set[str], texts: set[str]) -> bool:
    def message(part: ast.expr) -> bool:
        return _is_message(part, errors, texts)

    match node:
        case ast.Compare(left=left, comparators=others):
            return any(message(part) for part in (left, *others))
        case ast.Call(func=ast.Attribute(value=value, attr=attr), args=args):
            cuts = attr in CUTTING and not (attr == "split" and not args) and message(value)
            return cuts or (attr in FINDING and any(message(part) for part in args))
        case ast.Subscript(slice=place):
            return message(place)
    return False
