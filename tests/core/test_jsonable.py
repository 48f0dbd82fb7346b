"""Dataclasses as JSON and back."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, NamedTuple

from askwise.core.jsonable import Jsonable


@dataclass(frozen=True, slots=True)
class Item(Jsonable):
    name: str
    price: Decimal | None


class Parcel(NamedTuple):
    postage: Decimal
    items: int = 1


@dataclass(frozen=True, slots=True)
class Order(Jsonable):
    total: Decimal
    items: tuple[Item, ...]
    rows: tuple[tuple[str | None, int], ...]
    details: dict[str, float | None]
    best: Item | None = None
    parcels: tuple[Parcel, ...] = ()
    note: Any = field(default=None, compare=False)


ORDER = Order(
    Decimal("0.30"), (Item("tea", Decimal(1)), Item("air", None)), ((None, 1),), {"weight": None}
)


def test_fields_are_written_in_their_order_with_money_as_strings() -> None:
    assert json.dumps(ORDER.to_json()) == (
        '{"total": "0.30", "items": [{"name": "tea", "price": "1"}, {"name": "air", "price": null}]'
        ', "rows": [[null, 1]], "details": {"weight": null}, "best": null, "parcels": []}'
    )


def test_what_was_written_is_read_back_as_it_was() -> None:
    best, parcels = Item("cake", Decimal("1e-6")), (Parcel(Decimal("0.5"), 2),)
    for order in (ORDER, Order(Decimal(2), (), (), {}, best, parcels)):
        assert Order.from_json(json.loads(json.dumps(order.to_json()))) == order


def test_what_is_not_compared_is_not_written() -> None:
    assert "note" not in Order(Decimal(2), (), (), {}, note="shown to nobody").to_json()


def test_fields_of_a_later_version_are_passed_over() -> None:
    assert Item.from_json({"name": "tea", "price": "1", "colour": "green"}) == Item(
        "tea", Decimal(1)
    )
    later = {**ORDER.to_json(), "parcels": [{"postage": "1", "colour": "brown"}]}
    assert Order.from_json(later).parcels == (Parcel(Decimal(1)),)
