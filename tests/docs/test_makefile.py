"""What the Makefile offers, and what the documentation says of it."""

from __future__ import annotations

import subprocess

from docs.blocks import DOCS, ROOT


def test_make_serve_starts_the_service_and_the_first_page_names_it() -> None:
    dry = subprocess.run(
        ["make", "-n", "serve", "STORE=sqlite:///x.sqlite", "SERVE=--port 9000"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "askwise serve --store sqlite:///x.sqlite --port 9000" in dry.stdout
    listed = subprocess.run(["make"], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "make serve " in listed.stdout
    first = (DOCS / "index.md").read_text(encoding="utf-8")
    for named in ("make serve", "askwise serve", "how-to/dashboard.md", "how-to/workers.md"):
        assert named in first
