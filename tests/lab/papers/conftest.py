"""Reports of studies are written without their PNG, which is drawn from the same figure as the SVG.

That both are whole is tested with figures, with the runner and on the command line.
"""

from __future__ import annotations

from typing import Any

import pytest

from askwise.figures import plots


@pytest.fixture(autouse=True)
def without_png(monkeypatch: pytest.MonkeyPatch) -> None:
    really = plots.render

    def render(figure: Any, form: str, *how: Any) -> bytes:
        return b"" if form == "png" else really(figure, form, *how)

    monkeypatch.setattr(plots, "render", render)
