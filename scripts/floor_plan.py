"""Print the house: its rooms, their lines of code, who imports whom, and what is out of order.

Lines of code leave out blank lines, comments and docstrings. Imports inside functions count like
all others: a cycle that only shows at run time is a cycle. Out of order are cycles, classes of two
modules that share a name, and three files of a folder that share a first word. Exits with 1 if
there is any.

    python scripts/floor_plan.py [--depth N] [--lines-only] [--leave-out PREFIX ...] [PACKAGE]
"""

from __future__ import annotations

import argparse
import ast
import io
import sys
import tokenize
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

_NOT_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}

SHARED = frozenset({"State", "Params"})
"""Classes that many modules have: beliefs, and parameters as numbers, of the policy or rule whose
module it is."""

APART = ("policies/crowds/virt",)
"""Files that share a first word: one file per policy, under its registered name."""


def modules_of(package: Path) -> dict[str, Path]:
    """Every module of a package by its dotted name."""
    found = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def code_lines(source: str) -> int:
    """Count lines that hold code: no blanks, comments or docstrings."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _NOT_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        # A string on its own documents what stands above it; it is a statement, so its lines
        # hold nothing else.
        if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Constant):
            continue
        if isinstance(node.value.value, str):
            lines.difference_update(range(node.lineno, (node.end_lineno or 0) + 1))
    return len(lines)


def imports_of(module: str, path: Path, known: Mapping[str, Path]) -> set[str]:
    """The modules of the package that a module imports, at the top or inside functions."""
    found: set[str] = set()
    is_package = path.name == "__init__.py"
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                here = module.split(".")
                here = here[: len(here) - node.level + is_package]
                base = ".".join([*here, base]) if base else ".".join(here)
            names = [
                f"{base}.{alias.name}" if f"{base}.{alias.name}" in known else base
                for alias in node.names
            ]
        else:
            continue
        found.update(name for name in names if name in known)
    return found - {module}


def cycles(graph: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """Strongly connected components of more than one node (Tarjan, without recursion)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    on_stack: set[str] = set()
    found = []
    for root in sorted(graph):
        if root in index:
            continue
        work = [(root, iter(sorted(graph[root])))]
        index[root] = low[root] = len(index)
        stack.append(root)
        on_stack.add(root)
        while work:
            node, rest = work[-1]
            for other in rest:
                if other not in graph:
                    continue
                if other not in index:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    on_stack.add(other)
                    work.append((other, iter(sorted(graph[other]))))
                    break
                if other in on_stack:
                    low[node] = min(low[node], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    group = []
                    while not group or group[-1] != node:
                        group.append(stack.pop())
                        on_stack.discard(group[-1])
                    if len(group) > 1:
                        found.append(sorted(group))
    return found


def shared_names(paths: Iterable[Path]) -> dict[str, list[Path]]:
    """Names of classes that several modules have, with these; a leading underscore is no name."""
    found: dict[str, list[Path]] = defaultdict(list)
    for path in paths:
        body = ast.parse(path.read_text()).body
        for name in {each.name.lstrip("_") for each in body if isinstance(each, ast.ClassDef)}:
            found[name].append(path)
    return {
        name: where
        for name, where in sorted(found.items())
        if len(where) > 1 and name not in SHARED
    }


def shared_prefixes(paths: Iterable[Path]) -> dict[Path, list[Path]]:
    """Files that share a first word and should be a folder, by that folder."""
    found: dict[Path, list[Path]] = defaultdict(list)
    for path in paths:
        word = path.stem.removeprefix("test_").partition("_")[0]
        if word:
            found[path.parent / word].append(path)
    return {
        folder: files
        for folder, files in sorted(found.items())
        if len(files) > 2 and not folder.as_posix().endswith(APART)
    }


def allowed_upward(project: Path) -> set[tuple[str, str]]:
    """The imports that the linter's plan of the house leaves out: names that programs hold."""
    if not project.is_file():
        return set()
    settings = tomllib.loads(project.read_text())["tool"].get("importlinter", {})
    found = set()
    for contract in settings.get("contracts", []):
        if contract["type"] == "layers":
            for line in contract.get("ignore_imports", []):
                importer, _, imported = line.partition(" -> ")
                found.add((importer, imported))
    return found


def room_of(module: str, path: Path, depth: int, known: Mapping[str, Path]) -> str:
    """The folder that a module stands in, at most ``depth`` below the package.

    From depth 2 on, a module that stands beside folders is a room of its own, ``service/app.py``.
    It may import from one of them and be imported by another without a cycle between folders.
    """
    parts = module.split(".")
    is_package = path.name == "__init__.py"
    folders = parts if is_package else parts[:-1]
    within = folders[1 : depth + 1]
    if not is_package and depth > 1 and len(within) == len(folders) - 1 < depth:
        beside = f"{'.'.join(folders)}."
        if any(
            other.startswith(beside) and each.name == "__init__.py" for other, each in known.items()
        ):
            return "/".join([*within, f"{parts[-1]}.py"])
    return "/".join(within) or "."


def imports_in(kept: Mapping[str, Path], known: Mapping[str, Path]) -> dict[str, set[str]]:
    """Who imports whom, without the imports that the linter's plan leaves out, which it says."""
    imports = {name: imports_of(name, path, known) for name, path in kept.items()}
    for importer, imported in sorted(allowed_upward(Path("pyproject.toml"))):
        if imported in imports.get(importer, ()):
            imports[importer].remove(imported)
            print(f"held by programs: {importer} -> {imported}")
    return imports


def between_rooms(
    imports: Mapping[str, Iterable[str]], rooms: Mapping[str, str]
) -> dict[str, Counter[str]]:
    """How many imports lead from one room to another."""
    edges: dict[str, Counter[str]] = defaultdict(Counter)
    for name, others in imports.items():
        for other in others:
            if rooms[other] != rooms[name]:
                edges[rooms[name]][rooms[other]] += 1
    return edges


def main() -> int:
    """Print the plan."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("package", nargs="?", default="askwise")
    parser.add_argument("--depth", type=int, default=1, help="how deep folders are told apart")
    parser.add_argument("--lines-only", action="store_true", help="print the total alone")
    parser.add_argument("--leave-out", nargs="*", default=[], help="prefixes, as in askwise.lab")
    options = parser.parse_args()
    known = modules_of(Path(options.package))
    kept = {
        name: path
        for name, path in known.items()
        if not any(f"{name}.".startswith(f"{prefix}.") for prefix in options.leave_out)
    }
    lines = {name: code_lines(path.read_text()) for name, path in kept.items()}
    if options.lines_only:
        print(sum(lines.values()))
        return 0
    imports = imports_in(kept, known)
    rooms = {name: room_of(name, path, options.depth, known) for name, path in known.items()}
    edges = between_rooms(imports, rooms)
    files = Counter(rooms[name] for name in kept)
    total: Counter[str] = Counter()
    for name, count in lines.items():
        total[rooms[name]] += count
    width = max(map(len, files))
    for room in sorted(files):
        others = ", ".join(f"{other} {count}" for other, count in sorted(edges[room].items()))
        print(
            f"{room:<{width}}  {files[room]:>4} files  {total[room]:>6} lines  -> {others or '-'}"
        )
    print(f"{'all':<{width}}  {sum(files.values()):>4} files  {sum(total.values()):>6} lines")
    # The package's own front door stands above all rooms.
    between = {room: set(edges[room]) for room in files if room != "."}
    found = [("modules", group) for group in cycles(imports)]
    found += [("folders", group) for group in cycles(between)]
    for kind, group in found:
        print(f"cycle of {kind}: {', '.join(group)}")
    print("no cycles" if not found else f"{len(found)} cycles")
    names = shared_names(kept.values())
    for name, where in names.items():
        print(f"one name for several classes: {name} in {', '.join(map(str, where))}")
    prefixes = shared_prefixes(kept.values())
    for folder, files in prefixes.items():
        print(f"files that could be the folder {folder}: {', '.join(each.name for each in files)}")
    return 1 if found or names or prefixes else 0


if __name__ == "__main__":
    sys.exit(main())
