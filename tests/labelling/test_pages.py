"""The pages that a process serves for its people while it labels."""

from __future__ import annotations

import logging
from pathlib import Path

from askwise.labelling.pages import people_pages


def test_requests_go_unsaid_only_as_long_as_the_pages_are_served(tmp_path: Path) -> None:
    log = logging.getLogger("askwise.service")
    before = log.level
    with people_pages(f"sqlite:///{tmp_path}/pages.sqlite", "cats", ["ann"], port=0) as pages:
        assert set(pages.links) == {"ann"}
        assert not log.isEnabledFor(logging.INFO)
    assert log.level == before
