"""What is believed of crowds before anything is asked, as a TOML file."""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from askwise.core.checks import whole
from askwise.core.errors import InvalidProblem, nearest
from askwise.core.fields import refuse_unknown
from askwise.core.money import Amount, from_micro, to_micro
from askwise.core.problem import listed
from askwise.data.tables import placed, read_toml

Accuracy = float | Sequence[float]
"""How often the right option is given, or from where to where that varies."""

Range = tuple[float, float]

MOST_OPTIONS = 1000

_NEAR_ONE = 0.005
"""How far shares may sum from 1: thirds are written 0.33."""


@dataclass(frozen=True, slots=True)
class Crowd:
    """A crowd, and what is believed of it.

    Parameters
    ----------
    id : str
        Unique name.
    price : str, int, Decimal or float
        What one answer costs.
    accuracy : float or range of two, optional
        How often it gives the right option, its errors spread evenly over the others. A range
        says that it varies evenly, from question to question. May be left out where every kind
        of question names it.
    """

    id: str
    price: Amount
    accuracy: Accuracy | None = None

    def __post_init__(self) -> None:
        _check_name(self.id, "id", "id of a crowd")
        micro = to_micro(self.price, f"price of crowd {self.id!r}")
        object.__setattr__(self, "price", from_micro(micro))

    @property
    def micro(self) -> int:
        """Price in micro-units."""
        return to_micro(self.price, "price")


@dataclass(frozen=True, slots=True)
class QuestionKind:
    """Questions of one kind, such as easy ones.

    Parameters
    ----------
    name : str
        Unique name.
    share : float
        Which part of the questions they are.
    accuracy : mapping of crowd to accuracy
        Where it differs from what the crowds have of their own.
    """

    name: str
    share: float
    accuracy: Mapping[str, Accuracy] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check_name(self.name, "name", "name of a kind")
        share = self.share
        if not _is_number(share) or not 0 < share <= 1:
            raise InvalidProblem(
                f"share of kind {self.name!r} is {share!r}: give a number above 0 and at most 1",
                field="share",
            )
        if not isinstance(self.accuracy, Mapping):
            raise InvalidProblem(
                f"accuracy of kind {self.name!r} is {self.accuracy!r}: give one for each crowd, "
                "such as { panel = 0.9, vendor = 0.7 }",
                field="accuracy",
            )


@dataclass(frozen=True)
class Beliefs:
    """Crowds and kinds of questions with this many options, as far as they are known beforehand.

    Parameters
    ----------
    crowds : sequence of Crowd or of mappings of its fields
        Who may be asked.
    kinds : sequence of QuestionKind or of mappings of its fields, optional
        Which kinds of questions there are; without, all are of one.
    options : int
        How many options a question has.

    Examples
    --------
    >>> found = Beliefs([{"id": "panel", "price": "0.10", "accuracy": [0.6, 0.9]}])
    >>> found.prices, found.ranges
    ((Decimal('0.1'),), (((0.6, 0.9),),))
    """

    crowds: Sequence[Crowd]
    kinds: Sequence[QuestionKind] = ()
    options: int = 2

    def __post_init__(self) -> None:
        whole(self.options, "options", least=2, most=MOST_OPTIONS)
        crowds = tuple(_made(each, Crowd, "crowd") for each in listed(self.crowds, "crowds"))
        kinds = tuple(_made(each, QuestionKind, "kind") for each in listed(self.kinds, "kinds"))
        object.__setattr__(self, "crowds", crowds)
        object.__setattr__(self, "kinds", kinds)
        if not crowds:
            raise InvalidProblem(
                "crowds is empty: write [[crowds]] with id, price and accuracy for each of them",
                field="crowds",
            )
        _check_once([crowd.id for crowd in crowds], "crowd", "id")
        _check_once([kind.name for kind in kinds], "kind", "name")
        total = sum(kind.share for kind in kinds)
        if kinds and abs(total - 1) > _NEAR_ONE:
            raise InvalidProblem(
                f"share: those of all kinds sum to {total:.6g}: they must sum to 1", field="share"
            )
        # Found here once, so that nothing is wrong with them later.
        assert self.ranges

    @property
    def prices(self) -> tuple[Decimal, ...]:
        """Prices of the crowds."""
        return tuple(from_micro(crowd.micro) for crowd in self.crowds)

    @property
    def shares(self) -> tuple[float, ...]:
        """Which part of the questions each kind is; they sum to 1."""
        total = sum(kind.share for kind in self.kinds)
        return tuple(kind.share / total for kind in self.kinds) or (1.0,)

    @property
    def ranges(self) -> tuple[tuple[Range, ...], ...]:
        """For each kind, and each crowd, from where to where its accuracy varies."""
        known = [crowd.id for crowd in self.crowds]
        found = []
        for kind in self.kinds:
            for name in kind.accuracy:
                if name not in known:
                    raise InvalidProblem(
                        f"accuracy of kind {kind.name!r} names {name!r}, which is not a crowd: "
                        f"{nearest(str(name), known)}",
                        field="accuracy",
                    )
            found.append(tuple(self._range(crowd, kind) for crowd in self.crowds))
        return tuple(found) or (tuple(self._range(crowd, None) for crowd in self.crowds),)

    def _range(self, crowd: Crowd, kind: QuestionKind | None) -> Range:
        label, given = f"accuracy of crowd {crowd.id!r}", crowd.accuracy
        if kind is not None:
            label += f" on kind {kind.name!r}"
            given = kind.accuracy.get(crowd.id, given)
        if given is None:
            raise InvalidProblem(
                f"{label} is missing: give a number such as 0.8, or a range such as [0.6, 0.9]",
                field="accuracy",
            )
        chance = 1 / self.options
        valid = (
            f"a number from {chance:.4g} (chance, with {self.options} options) to 1, or a range of "
            "two such as [0.6, 0.9]"
        )
        ends: list[Any] = list(given) if isinstance(given, list | tuple) else [given, given]
        if len(ends) != 2 or not all(_is_number(each) for each in ends):
            raise InvalidProblem(f"{label} is {given!r}: give {valid}", field="accuracy")
        low, high = ends
        if low > high:
            raise InvalidProblem(
                f"{label} is {given!r}: give the lower end of the range first", field="accuracy"
            )
        # Chance may be cut after two digits: 0.33 means one third.
        if low < min(chance, math.floor(100 * chance) / 100):
            raise InvalidProblem(
                f"{label} is {given!r}: below chance the right option is not the most probable "
                f"one, and no rule finds it; give {valid}",
                field="accuracy",
            )
        if high > 1:
            raise InvalidProblem(f"{label} is {given!r}: give {valid}", field="accuracy")
        return max(float(low), chance), max(float(high), chance)


def read_crowds(path: str | os.PathLike[str], *, options: int = 2) -> Beliefs:
    """Read beliefs about crowds from a TOML file with ``[[crowds]]`` and, if wanted, ``[[kinds]]``.

    Raises
    ------
    InvalidProblem
        The file is not what it should be; the message names the field.
    OSError
        The file can't be read.
    """
    whole(options, "options", least=2, most=MOST_OPTIONS)
    file = Path(path)
    raw = read_toml(file, "a file of crowds", ("crowds", "kinds"))
    for key, value in raw.items():
        if not isinstance(value, list):
            raise InvalidProblem(
                f"{file}: {key} is one value: write [[{key}]] above the fields of each", field=key
            )
    with placed(str(file)):
        return Beliefs(raw.get("crowds", ()), raw.get("kinds", ()), options)


_NEEDED = {Crowd: ("id", "price"), QuestionKind: ("name", "share")}
"""Fields that must be given; the first says which one it is."""


def _made(raw: Any, noun: Any, word: str) -> Any:
    """Take an instance, or a mapping of its fields."""
    named_by = _NEEDED[noun][0]
    if isinstance(raw, noun):
        return raw
    if not isinstance(raw, Mapping):
        raise InvalidProblem(f"{word} is {raw!r}: give a table with {named_by!r}", field=word)
    name = f"{word} {raw[named_by]!r}" if named_by in raw else f"a {word}"
    known: tuple[str, ...] = noun.__slots__
    refuse_unknown(raw, known, name)
    for key in _NEEDED[noun]:
        if key not in raw:
            raise InvalidProblem(f"{name} lacks {key!r}", field=key)
    return noun(**raw)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _check_name(value: object, field: str, label: str) -> None:
    if not isinstance(value, str) or not 0 < len(value) <= 200 or not value.isprintable():
        raise InvalidProblem(
            f"{label} is {value!r}: give a printable string of 1 to 200 characters", field=field
        )


def _check_once(names: Sequence[str], word: str, field: str) -> None:
    for at, name in enumerate(names):
        if name in names[:at]:
            raise InvalidProblem(f"{word} {name!r} is named twice", field=field)
