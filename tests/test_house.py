"""The house itself, by ``scripts/floor_plan.py``: no circles, one name for one thing."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

from scripts import floor_plan

PACKAGE = Path(__file__).parent.parent / "askwise"


@pytest.fixture(scope="module")
def imports() -> dict[str, set[str]]:
    """What each module imports; read once, as to parse the package takes seconds."""
    known = floor_plan.modules_of(PACKAGE)
    return {name: floor_plan.imports_of(name, path, known) for name, path in known.items()}


@pytest.mark.parametrize("depth", [2, 3])
def test_no_folders_import_each_other_in_a_circle(depth: int, imports: dict[str, set[str]]) -> None:
    known = floor_plan.modules_of(PACKAGE)
    rooms = {name: floor_plan.room_of(name, path, depth, known) for name, path in known.items()}
    edges: dict[str, set[str]] = defaultdict(set)
    allowed = floor_plan.allowed_upward(PACKAGE.parent / "pyproject.toml")
    for name, others in imports.items():
        for other in others:
            if rooms[name] != "." and (name, other) not in allowed:
                edges[rooms[name]].add(rooms[other])
    for room in list(edges):
        edges[room].discard(room)
    assert floor_plan.cycles(edges) == []


def test_a_module_beside_folders_is_a_room_of_its_own_from_depth_two_on() -> None:
    known = {
        "p.service": Path("p/service/__init__.py"),
        "p.service.app": Path("p/service/app.py"),
        "p.service.api": Path("p/service/api/__init__.py"),
        "p.service.api.bodies": Path("p/service/api/bodies.py"),
        "p.client": Path("p/client/__init__.py"),
        "p.client.keys": Path("p/client/keys.py"),
    }
    rooms = [floor_plan.room_of(name, path, 2, known) for name, path in known.items()]
    assert rooms == ["service", "service/app.py", "service/api", "service/api", *2 * ["client"]]
    assert floor_plan.room_of("p.service.app", known["p.service.app"], 1, known) == "service"


def test_one_class_name_has_one_meaning() -> None:
    assert floor_plan.shared_names(PACKAGE.rglob("*.py")) == {}


def test_files_that_share_a_first_word_are_a_folder() -> None:
    assert floor_plan.shared_prefixes(PACKAGE.rglob("*.py")) == {}


def test_pages_import_nothing_from_routes(imports: dict[str, set[str]]) -> None:
    pages = [name for name in imports if ".service.dashboard" in name or ".service.work" in name]
    for name in pages:
        routes = {other for other in imports[name] if ".service.api.routes" in other}
        assert not routes
