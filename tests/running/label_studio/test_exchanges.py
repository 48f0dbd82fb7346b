"""The fake Label Studio replies as a real one did, and does."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from scripts import label_studio
from scripts.installing import Unavailable
from tests.running.label_studio.exchanges import course, recorded
from tests.running.label_studio.fake import ADMIN, FakeLabelStudio
from tests.running.label_studio.real import RealServer


def test_the_fake_one_replies_as_was_recorded() -> None:
    fake = FakeLabelStudio(("ann@example.org",))

    def client(token: str) -> httpx.Client:
        headers = {"Authorization": f"Token {token}"}
        return httpx.Client(base_url="http://fake", headers=headers, transport=fake)

    assert course(client(ADMIN), client("token-2")) == recorded()


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_a_real_one_replies_as_was_recorded(tmp_path: Path) -> None:
    try:
        server = RealServer(tmp_path / "data")
    except (Unavailable, OSError) as reason:
        pytest.skip(f"no Label Studio: {reason}")
    try:
        headers = {"Authorization": f"Token {label_studio.TOKEN}"}
        owner = httpx.Client(base_url=server.url, headers=headers, timeout=120, trust_env=False)
        assert course(owner, server.person("ann@example.org").http) == recorded()
    finally:
        server.kill()
