"""Beliefs about crowds: what a file may say, and what is refused."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from askwise.core.errors import AskwiseError
from askwise.data import Beliefs, Crowd, QuestionKind, read_crowds

TEXT = """
[[crowds]]
id = "panel"
price = "0.10"
accuracy = 0.8

[[crowds]]
id = "vendor"
price = 0.04
accuracy = [0.55, 0.9]

[[kinds]]
name = "easy"
share = 0.6

[[kinds]]
name = "hard"
share = 0.4
accuracy = { panel = [0.6, 0.7], vendor = 0.5 }
"""


def read(folder: Path, text: str, options: int = 2) -> Beliefs:
    file = folder / "spec.toml"
    file.write_text(text)
    return read_crowds(file, options=options)


def test_a_kind_says_where_crowds_differ_from_their_own_accuracy(tmp_path: Path) -> None:
    beliefs = read(tmp_path, TEXT)
    assert beliefs.ranges == (
        ((0.8, 0.8), (0.55, 0.9)),
        ((0.6, 0.7), (0.5, 0.5)),
    )
    assert beliefs.prices == (Decimal("0.1"), Decimal("0.04"))
    assert beliefs.shares == (0.6, 0.4)


def test_without_kinds_there_is_one_and_a_price_may_be_zero(tmp_path: Path) -> None:
    beliefs = read(tmp_path, '[[crowds]]\nid = "us"\nprice = 0\naccuracy = 1\n')
    assert beliefs.ranges == (((1.0, 1.0),),)
    assert beliefs.shares == (1.0,)
    assert beliefs.prices == (Decimal(0),)


def test_chance_may_be_cut_after_two_digits() -> None:
    third = Beliefs([Crowd("a", 1, 0.33)], options=3)
    assert third.ranges == (((1 / 3, 1 / 3),),)
    assert Beliefs([Crowd("a", 1, 0.5)]).ranges == (((0.5, 0.5),),)


def test_shares_written_as_thirds_sum_to_one() -> None:
    kinds = [QuestionKind(name, 0.333) for name in "abc"]
    assert sum(Beliefs([Crowd("a", 1, 0.9)], kinds).shares) == pytest.approx(1)


REFUSED = [
    ("[[crowds]]", "[[crowd]]", "a file of crowds has no field 'crowd': did you mean 'crowds'?"),
    (TEXT, "", "crowds is empty: write [[crowds]] with id, price and accuracy for each of them"),
    (TEXT, "crowds = 3", "crowds is one value: write [[crowds]] above the fields of each"),
    (TEXT, "crowds = [3]", "crowd is 3: give a table with 'id'"),
    (TEXT, "[[crowds]\n", "is not TOML: "),
    ('id = "vendor"', 'id = "panel"', "crowd 'panel' is named twice"),
    ('id = "vendor"', "id = 3", "id of a crowd is 3: give a printable string of 1 to 200"),
    ('id = "vendor"', "", "a crowd lacks 'id'"),
    ("price = 0.04", "", "crowd 'vendor' lacks 'price'"),
    ("price = 0.04", "prize = 0.04", "crowd 'vendor' has no field 'prize': did you mean 'price'?"),
    ("price = 0.04", "price = -1", "price of crowd 'vendor' is -1: give an amount of 0 or more"),
    ("price = 0.04", "price = nan", "price of crowd 'vendor' is nan: give a finite amount"),
    ("price = 0.04", "price = 1e-7", "at most six decimals"),
    ("accuracy = 0.8", "accuracy = 0.4", "accuracy of crowd 'panel' on kind 'easy' is 0.4: below"),
    ("accuracy = 0.8", "accuracy = 1.1", "is 1.1: give a number from 0.5 (chance, with 2 options)"),
    ("accuracy = 0.8", "accuracy = true", "is True: give a number from 0.5"),
    ("accuracy = 0.8", "accuracy = [0.8]", "is [0.8]: give a number from 0.5"),
    ("accuracy = 0.8", "accuracy = [0.9, 0.8]", "give the lower end of the range first"),
    ("accuracy = 0.8", "accuracy = inf", "is inf: give a number from 0.5"),
    ("accuracy = 0.8", "", "accuracy of crowd 'panel' on kind 'easy' is missing: give a number"),
    ('name = "hard"', 'name = "easy"', "kind 'easy' is named twice"),
    ('name = "hard"', "", "a kind lacks 'name'"),
    ("share = 0.4", "share = 0.3", "share: those of all kinds sum to 0.9: they must sum to 1"),
    ("share = 0.4", "share = 0", "share of kind 'hard' is 0: give a number above 0 and at most 1"),
    ("share = 0.4", "shared = 0.4", "kind 'hard' has no field 'shared': did you mean 'share'?"),
    (
        "vendor = 0.5",
        "vendro = 0.5",
        "names 'vendro', which is not a crowd: did you mean 'vendor'?",
    ),
    ("accuracy = {", "accuracy = 0.7 # {", "accuracy of kind 'hard' is 0.7: give one for each"),
]


@pytest.mark.parametrize(("old", "new", "message"), REFUSED, ids=[each[1] for each in REFUSED])
def test_what_is_wrong_is_said_in_one_message(
    old: str, new: str, message: str, tmp_path: Path
) -> None:
    assert old in TEXT
    with pytest.raises(AskwiseError) as caught:
        read(tmp_path, TEXT.replace(old, new, 1))
    assert message in str(caught.value)
    assert str(tmp_path / "spec.toml") in str(caught.value)
    assert caught.value.field


@pytest.mark.parametrize("options", [1, 0, 1001, True, 2.5])
def test_a_question_has_two_to_a_thousand_options(options: Any, tmp_path: Path) -> None:
    with pytest.raises(AskwiseError, match=f"options is {options}: give a whole number from 2"):
        read(tmp_path, TEXT, options)


def test_a_missing_file_is_the_systems_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_crowds(tmp_path / "nowhere.toml")
