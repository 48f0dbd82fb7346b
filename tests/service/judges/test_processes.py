"""Processes of one service share the runs of judges; no secret of theirs is seen anywhere."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from askwise.testing.chat_server import Asked, ChatServer, Scripted
from tests.service.conftest import Serve
from tests.service.judges.scene import KEY, described, endpoint, judges_file, spam, until
from tests.service.served import Served


def slowly(asked: Asked) -> Scripted:
    return Scripted(spam(asked), latency=0.05)


def started(serve: Serve, store: str, directory: Path, model: ChatServer, processes: int) -> Served:
    options = ("--judges", judges_file(directory, model.url), "--private-judges")
    return serve(store, processes, options, JUDGE_KEY=KEY)


def over(service: Served) -> Any:
    status, found = service.call("GET", "/campaigns/mail/over")
    assert status == 200, found
    return found["why"]


def runner_of(service: Served) -> int:
    status, found = service.call("GET", "/campaigns/mail/run")
    assert status == 200, found
    return found["pid"] if found["running"] else 0


@pytest.mark.parametrize(
    "store_url", ["sqlite", pytest.param("postgres", marks=pytest.mark.slow)], indirect=True
)
def test_when_the_process_that_runs_a_campaign_is_killed_another_goes_on(
    store_url: str, serve: Serve, tmp_path: Path
) -> None:
    with endpoint(slowly) as model:
        service = started(serve, store_url, tmp_path, model, processes=2)
        assert service.call("POST", "/campaigns", described(tasks=40))[0] == 201
        first = until(lambda: runner_of(service))
        until(lambda: len(model.charges) > 4)
        os.kill(first, signal.SIGKILL)
        assert until(lambda: (now := runner_of(service)) != first and now)
        assert until(lambda: over(service)) == "tasks"
        status, answers = service.call("GET", "/campaigns/mail/answers")
        assert status == 200
        assert [each["value"] for each in answers["items"]] == ["spam", "ham"] * 20
        # Six slots: what a killed process had put and not yet kept is put once more.
        assert 80 <= len(model.asked) <= 80 + 6
        status, found = service.call("GET", "/campaigns/mail")
        delivered = sum(charge.cost for charge in model.charges)
        assert round(float(found["spent"]) * 1e6) <= delivered
        assert service.stop() == 0


def test_a_key_is_seen_nowhere(serve: Serve, tmp_path: Path) -> None:
    file = tmp_path / "campaigns.sqlite"

    def telling(asked: Asked) -> Scripted:
        if asked.body["model"] == "big":
            # An endpoint that repeats what it was sent.
            return Scripted(f"Incorrect API key provided: {KEY}", status=401)
        return Scripted(spam(asked))

    with endpoint(telling) as model:
        service = started(serve, f"sqlite:///{file}", tmp_path, model, processes=1)
        seen = [str(service.call("GET", "/judges")[1])]
        one = described("one", workers=[{"judge": "big"}])
        for body in (one, described(), {**one, "name": "bad", "workers": [{"judge": KEY[:2]}]}):
            seen.append(str(service.call("POST", "/campaigns", body)[1]))
        until(lambda: service.call("GET", "/campaigns/mail")[1]["answers"] >= 6)
        until(lambda: service.call("GET", "/campaigns/one/run")[1]["outages"])
        for name in ("one", "mail"):
            for path in ("run", "log", "answers", "workers", "spec"):
                seen.append(str(service.call("GET", f"/campaigns/{name}/{path}")))
        seen.append(Path(f"/proc/{service.pid}/cmdline").read_text())
        assert KEY in Path(f"/proc/{service.pid}/environ").read_text()
        assert service.stop() == 0
        seen.append(service.errors.read_text())
        assert "is refused" in service.errors.read_text()
        for each in tmp_path.rglob("*"):
            if each.is_file():
                seen.append(each.read_bytes().decode("latin-1"))
        assert any(asked.headers.get("authorization") == f"Bearer {KEY}" for asked in model.asked)
        assert not [each[:200] for each in seen if KEY in each]
