"""The import graph of the architecture page, drawn from the code: ``python -m docs.house``.

Rooms are the folders of the package, floors the layers of the linter's contract. An import that
follows from others is left out: what a room reaches by way of another it may use itself as well.
A test fails when the picture is not what the code says.
"""

from __future__ import annotations

import contextlib
import io
import tomllib
from collections.abc import Mapping
from pathlib import Path

from askwise.figures.looks import COLOURS, INK
from askwise.figures.svg import on_dark
from docs.blocks import DOCS, ROOT
from scripts import floor_plan

PICTURE = DOCS / "assets" / "house.svg"
WIDTH, HEIGHT, GAP, FLOOR = 112, 32, 16, 74
"""Of a box; between boxes; from floor to floor."""

_FRONT_DOOR = "."
"""What stands in no folder: the package itself, and pytest's plug-in."""


def floors(project: Path = ROOT / "pyproject.toml") -> list[list[str]]:
    """The rooms of each layer, from the top down."""
    contracts = tomllib.loads(project.read_text(encoding="utf-8"))["tool"]["importlinter"]
    (house,) = (each for each in contracts["contracts"] if each["id"] == "house")
    return [
        [room.strip() for room in layer.split("|") if "(" not in room] for layer in house["layers"]
    ]


def graph() -> dict[str, set[str]]:
    """Which room imports from which."""
    known = floor_plan.modules_of(ROOT / "askwise")
    rooms = {name: floor_plan.room_of(name, path, 1, known) for name, path in known.items()}
    with contextlib.chdir(ROOT), contextlib.redirect_stdout(io.StringIO()):
        edges = floor_plan.between_rooms(floor_plan.imports_in(known, known), rooms)
    return {
        room: set(edges.get(room, ())) - {_FRONT_DOOR}
        for room in set(rooms.values()) - {_FRONT_DOOR}
    }


def reduced(edges: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """A graph without cycles, without the edges that follow from others.

    Examples
    --------
    >>> reduced({"a": {"b", "c"}, "b": {"c"}, "c": set()})
    {'a': {'b'}, 'b': {'c'}, 'c': set()}
    """
    reach: dict[str, set[str]] = {}

    def below(room: str) -> set[str]:
        if room not in reach:
            reach[room] = set(edges[room]).union(*(below(other) for other in edges[room]))
        return reach[room]

    return {
        room: {each for each in others if not any(each in below(o) for o in others - {each})}
        for room, others in edges.items()
    }


DARK = (
    "<style>@media (prefers-color-scheme: dark) {"
    f" rect {{ fill: {on_dark('#ffffff')}; stroke: {on_dark(INK)} }}"
    f" text {{ fill: {on_dark(INK)} }} }}</style>"
)
"""The picture on dark ground."""


def drawn(levels: list[list[str]], edges: Mapping[str, set[str]]) -> str:
    """The graph as SVG: a row of boxes for each floor, a line for each import."""
    levels = [[room for room in level if room in edges] for level in levels]
    levels = [level for level in levels if level]
    widest = max(map(len, levels))
    width = widest * (WIDTH + GAP) + GAP
    places: dict[str, tuple[float, float]] = {}
    for row, level in enumerate(levels):
        left = (width - len(level) * (WIDTH + GAP) + GAP) / 2
        # A room alone on its floor stands aside, so that lines pass it by.
        left += (0, -150, 150)[row % 3] if len(level) == 1 and row < len(levels) - 3 else 0
        for at, room in enumerate(level):
            places[room] = left + at * (WIDTH + GAP), GAP + row * FLOOR
    height = GAP + len(levels) * FLOOR - (FLOOR - HEIGHT) + GAP
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" font-family="DejaVu Sans, sans-serif" font-size="14">',
        DARK,
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for room in sorted(edges):
        for other in sorted(edges[room]):
            (x, y), (to_x, to_y) = places[room], places[other]
            x, y, to_x = x + WIDTH / 2, y + HEIGHT, to_x + WIDTH / 2
            bend = (to_y - y) / 2
            colour = COLOURS[sorted(edges).index(room) % len(COLOURS)]
            lines.append(
                f'<path d="M{x:g} {y:g} C{x:g} {y + bend:g} {to_x:g} {to_y - bend:g} '
                f'{to_x:g} {to_y:g}" fill="none" stroke="{colour}" stroke-width="1.5">'
                f"<title>{room} imports {other}</title></path>"
            )
    for room, (x, y) in sorted(places.items()):
        lines.append(
            f'<rect x="{x:g}" y="{y:g}" width="{WIDTH}" height="{HEIGHT}" rx="5" fill="#f6f6f6" '
            f'stroke="{INK}"/><text x="{x + WIDTH / 2:g}" y="{y + 21:g}" text-anchor="middle" '
            f'fill="{INK}">{room}</text>'
        )
    return "\n".join([*lines, "</svg>", ""])


def main() -> None:
    """Draw it."""
    PICTURE.write_text(drawn(floors(), reduced(graph())), encoding="utf-8")


if __name__ == "__main__":
    main()
