"""Where things are beside the tests."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
"""The folder that has ``askwise`` and ``tests``."""

DOCS = ROOT / "docs"
REFERENCE = DOCS / "reference"
"""The pages and the schemas of what programs read."""

DATA = Path(os.environ.get("ASKWISE_DATA") or ROOT.parent / "shared" / "data")
"""Recorded answers and tables, where they are; what needs them is skipped without."""
