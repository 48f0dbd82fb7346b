"""The store that the page on writing one's own shows: one JSON file for one process."""

from __future__ import annotations

from typing import Any

from docs.blocks import DOCS, blocks_of

_PAGE = DOCS / "write-your-own-store.md"
_space: dict[str, Any] = {"__name__": "json_store"}
for _block in blocks_of(_PAGE.read_text(encoding="utf-8")):
    if _block.title == "json_store.py":
        exec(compile("\n" * _block.line + _block.code, str(_PAGE), "exec"), _space)

JsonStore: Any = _space["JsonStore"]
