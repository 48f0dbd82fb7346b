from __future__ import annotations

import os
from pathlib import Path

import pytest

from askwise.core.files import write_atomic


def test_a_write_that_is_interrupted_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_atomic(tmp_path / "folder" / "note.txt", "whole")

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    for step in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, step, interrupted)
            with pytest.raises(KeyboardInterrupt):
                write_atomic(path, "half")
        assert os.listdir(path.parent) == ["note.txt"]
        assert path.read_text() == "whole"
