"""What ``askwise label`` and ``askwise new`` have in common: options, and the order they make."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from askwise.cli.completing import completes
from askwise.cli.options import option

if TYPE_CHECKING:
    from askwise.data.orders import ItemsOrder

QUESTION = option(None, "TEXT", "What is asked about each item.")
INSTRUCTIONS = option(None, "FILE.md", "How to judge, in Markdown.")
BUDGET = option(None, "MONEY", "Maximum to spend.")
TARGET_ERROR = option(None, "SHARE", "Share of labels that may be wrong; stops when it is reached.")
CERTIFY = option(
    None, "CONFIDENCE", "Certify the target by random audits with this confidence, such as 0.9."
)
BY = option(None, "WHO", "Person who audits (repeatable).")
TEXT = option(None, "COLUMN", "Column to show (repeatable); guessed by default.")
ID = option(None, "COLUMN", "The column of ids.")
TRUTH = option(None, "COLUMN", "The column that holds the truth of some items.")
POLICY = option(
    "auto", "POLICY", "Policy that decides whom to ask next.", completion=completes("policies")
)
SEED = option(None, "S", "Random seed.")

AS_SAID = (
    *("question", "budget", "target_error", "certify", "escalate"),
    *("id", "truth", "policy", "seed"),
)
"""What the order takes as the command was given it."""


def ordered(source: str | Path, said: dict[str, Any], **more: Any) -> ItemsOrder:
    """The order of a command, by what it was given under the names of the options above."""
    from askwise.data.orders import read_order
    from askwise.data.tables import read_text

    guide = said["instructions"]
    return read_order(
        Path(source),
        instructions="" if guide is None else read_text(Path(guide)),
        by=said["by"] or None,
        text=said["text"] or None,
        **{key: said[key] for key in AS_SAID},
        **more,
    )
