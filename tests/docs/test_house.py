"""The picture of the architecture page is what the code says."""

from __future__ import annotations

import pytest

from docs.house import PICTURE, drawn, floors, graph, reduced


@pytest.fixture(scope="module")
def house() -> dict[str, set[str]]:
    return graph()


def test_the_import_graph_is_drawn_from_the_code(house: dict[str, set[str]]) -> None:
    picture = drawn(floors(), reduced(house))
    assert PICTURE.read_text(encoding="utf-8") == picture, "run: python -m docs.house"


def test_every_room_has_a_floor_and_every_line_leads_downward(
    house: dict[str, set[str]],
) -> None:
    levels, edges = floors(), house
    floor_of = {room: at for at, level in enumerate(levels) for room in level}
    assert set(edges) <= set(floor_of)
    for room, others in edges.items():
        assert all(floor_of[other] > floor_of[room] for other in others)


def test_a_line_that_follows_from_others_is_left_out() -> None:
    edges = {"a": {"b", "c", "d"}, "b": {"c"}, "c": set(), "d": {"c"}}
    assert reduced(edges) == {"a": {"b", "d"}, "b": {"c"}, "c": set(), "d": {"c"}}
    picture = drawn([["a"], ["b", "d"], ["c"]], reduced(edges))
    assert picture.count("<path") == 4
    assert "<title>a imports c</title>" not in picture
