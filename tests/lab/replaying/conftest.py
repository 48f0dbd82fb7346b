"""Tables of recorded answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from askwise.data.labels import LabelTable, read_labels
from tests.lab.replaying.recordings import ANSWERS, Make


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Write answers down as a table and read it."""

    def table(answers: str = ANSWERS, **more: Any) -> LabelTable:
        file = tmp_path / "labels.csv"
        rows = [",".join(each.split()) for each in answers.strip().split(",") if each.strip()]
        file.write_text("task,worker,label\n" + "\n".join(rows) + "\n", encoding="utf-8")
        return read_labels(file, **more)

    return table
