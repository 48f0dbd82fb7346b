"""What people write to the shop, and what the shop sells: read from ``texts.toml``."""

import tomllib
from importlib import resources
from typing import Any, NamedTuple


class Manner(NamedTuple):
    """A way to put something: what it is, what it may be taken for, how common it is."""

    truth: str
    mistaken_for: str
    weight: int
    patterns: list[str]


class Goods(NamedTuple):
    """One thing that the shop sells, with words that fit it.

    ``faults`` and ``merits`` follow "it", ``queries`` follow "does it", ``fear`` follows "it would
    be"; ``boast`` is what the shop's page says of it.
    """

    name: str
    faults: list[str]
    merits: list[str]
    queries: list[str]
    fear: str
    boast: str


TEXTS: dict[str, Any] = tomllib.loads(
    resources.files(__package__).joinpath("texts.toml").read_text(encoding="utf-8")
)
"""Openings, remarks and closings, and the words that are drawn, each by its kind."""

MANNERS = {name: Manner(**said) for name, said in TEXTS["manners"].items()}
GOODS = [Goods(**said) for said in TEXTS["goods"]]
