"""Processes that are killed at random moments: every delivery comes, under one id, in order."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from askwise.core.events import Kind
from askwise.service.webhooks.posting import Network
from askwise.service.webhooks.webhooks import Webhooks
from askwise.store import open_store
from docs.blocks import ROOT
from tests.service.webhooks.bench import buy, receiving, units

SCRIPT = Path(__file__).parent / "courier_process.py"


def start(url: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, str(SCRIPT), url],
        env={**os.environ, "ASKWISE_JIT": "0", "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "started\n"
    return process


def end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
    assert process.stdout is not None
    process.stdout.close()


@pytest.mark.slow
def test_nothing_is_lost_and_nothing_made_twice_by_kills(store_url: str) -> None:
    store = open_store(store_url)
    campaign = units(store, budget=200)
    shelf = Webhooks(store, Network(private=True))
    drawn = random.Random(1)
    with receiving() as receiver:
        hook = shelf.make(receiver.url, ["answer.settled", "budget.used", "campaign.done"])[1]
        processes = [start(store_url), start(store_url)]
        try:
            load = threading.Thread(target=buy, args=(campaign, 200))
            load.start()
            for _ in range(10):
                time.sleep(drawn.uniform(0.05, 0.5))
                end(processes.pop(drawn.randrange(2)))
                processes.append(start(store_url))
            load.join()
            deadline = time.monotonic() + 60
            while len({got.message["id"] for got in receiver.got}) < 202 or shelf.waiting(hook.id):
                assert time.monotonic() < deadline
                time.sleep(0.1)
        finally:
            for process in processes:
                end(process)
        first = list({message["id"]: message for message in receiver.messages}.values())
    answers = [event.seq for event in campaign.log() if event.kind == Kind.ANSWER]
    assert len(first) == 202
    assert [each["seq"] for each in first if each["event"] == "answer.settled"] == answers
    assert [each["seq"] for each in first if each["event"] == "budget.used"] == [answers[159]]
    assert [each["seq"] for each in first if each["event"] == "campaign.done"] == [answers[-1]]
    store.close()
