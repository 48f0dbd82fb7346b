"""The page about the policy "auto" says what the code does."""

from __future__ import annotations

from askwise.campaign.choosing import PREFERENCES
from docs.blocks import DOCS
from tests.docs.test_names import table_under, text_of

PAGE = text_of(DOCS / "how-to" / "auto.md")


def test_the_table_is_the_one_that_choices_are_made_by() -> None:
    shown = table_under(PAGE, "What is chosen")
    rows = [
        (row.when, row.policy if row.rule is None else f"{row.policy}, until {row.rule}", row.why)
        for row in PREFERENCES
    ]
    assert [tuple(row) for row in shown] == [
        tuple(cell.replace("`", "") for cell in row) for row in rows
    ]
