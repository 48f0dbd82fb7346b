"""``askwise demo-live``: the service, and a campaign on it that is answered while you watch.

Judges are called by the runner, on the service's store. People and the expert ask and tell over
HTTP, as their pages would.
"""

from __future__ import annotations

import asyncio
import random
import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from askwise.core.choices import Batch, Done
from askwise.core.errors import AskwiseError
from askwise.demo.labelling import CONFIDENCE, ERROR, SHARE, questions_on
from askwise.demo.messages import CONTENT, Message, make_messages
from askwise.demo.people import EXPERT, PEOPLE, SimulatedPerson
from askwise.demo.stand_ins import STAND_INS, judges_file, serving
from askwise.sources.judges import Judge, read_judges

if TYPE_CHECKING:
    from askwise.client import RemoteCampaign
    from askwise.core.choices import Assignment

NAME = "messages"
YOU = "you"
LEASE = 30.0
"""The fewest seconds that a question is yours: you are not sped up."""

BUDGET_A_MESSAGE = Decimal("0.25")
PACES = {"ida": 16.0, "max": 11.0, EXPERT.id: 24.0}
"""Seconds that somebody takes for an answer."""

JUDGE_SECONDS = 12.0
"""Seconds that a judge takes, sped up like people: else all would be over before you look."""


class LivePerson:
    """Somebody who works over HTTP: asks, thinks, answers, sometimes declines or forgets."""

    def __init__(self, person: SimulatedPerson, messages: Sequence[Message]) -> None:
        self.person = person
        self.pace = PACES[person.id]
        self.known = {message.id: message for message in messages}
        self.draw = random.Random(person.id)

    def work(self, campaign: RemoteCampaign, pause: Callable[[float], bool]) -> None:
        """Work until the campaign is done, or a pause says that all is over."""
        over = False
        while not over:
            try:
                choice = campaign.ask()
                if isinstance(choice, Done):
                    return
                if not isinstance(choice, Batch):
                    over = pause(self.pace)
                    continue
                for assignment in choice:
                    # People take about as long as they take, sometimes much longer.
                    over = pause(self.pace * self.draw.lognormvariate(0, 0.6))
                    self._answer(campaign, assignment)
            except AskwiseError:
                # Their lease was over, or the service is: they ask again.
                over = pause(self.pace)

    def _answer(self, campaign: RemoteCampaign, assignment: Assignment) -> None:
        whim = self.draw.random()
        if whim < 0.02 and not self.person.trusted:
            return  # goes for coffee; the lease gives the question back
        if whim < 0.04 and not self.person.trusted:
            campaign.decline(assignment.id)
            return
        campaign.tell(assignment.id, self.person.says(self.known[str(assignment.task)]))


def described(messages: Sequence[Message], judges: Sequence[Judge], lease: float) -> dict[str, Any]:
    """The campaign, as the service is told it."""
    asked = questions_on(messages)
    workers = [judge.worker(asked) for judge in judges]
    workers += [each.worker for each in (*PEOPLE, EXPERT)]
    return {
        "name": NAME,
        "workers": [*workers, {"id": YOU, "price": PEOPLE[0].price, "kind": "person"}],
        "tasks": [{"id": each.id, "payload": each.text} for each in messages],
        "content": CONTENT.to_json(),
        "budget": str(BUDGET_A_MESSAGE * len(messages)),
        "policy": "hem",
        "certify": {
            "error": ERROR,
            "confidence": CONFIDENCE,
            "by": [EXPERT.id],
            "share": SHARE,
            "escalate": True,
        },
        "lease": lease,
        "seed": 1,
    }


def serve_live(port: int, speed: float, count: int) -> None:
    """Serve a campaign that judges, people and an expert answer, until Ctrl-C."""
    from askwise.service import server
    from askwise.service.auth.identity import Identities
    from askwise.service.settings import Settings
    from askwise.store import open_store

    with tempfile.TemporaryDirectory(prefix="askwise-live-") as directory:
        taken = server.listen("127.0.0.1", port)
        url = f"sqlite:///{Path(directory) / 'live.sqlite'}"
        settings = server.with_address(Settings(store=url, sweep=1.0), taken)
        store = open_store(url)
        secret = Identities(store).first_owner()
        assert secret is not None
        over = threading.Event()
        show = LiveShow(settings.address, secret, url, Path(directory), count, speed, over)
        player = threading.Thread(target=show.play, daemon=True)
        player.start()
        try:
            server.run(settings, store, taken, processes=1, proxies="", logging_level="warning")
        finally:
            over.set()
            player.join(10)


class LiveShow:
    """One campaign from its creation to its certificate."""

    def __init__(
        self,
        address: str,
        secret: str,
        store: str,
        folder: Path,
        count: int,
        speed: float,
        over: threading.Event,
    ) -> None:
        self.address, self.secret, self.store, self.folder = address, secret, store, folder
        self.messages = make_messages(count)
        self.speed, self.over = speed, over

    def play(self) -> None:
        """Make the campaign, let everybody work, and say how it ended."""
        from askwise.client import connect

        slow = tuple(replace(each, seconds=JUDGE_SECONDS / self.speed) for each in STAND_INS)
        with connect(self.address, self.secret) as service, serving(slow) as servers:
            path = self.folder / "judges.toml"
            path.write_text(judges_file(servers, timeout=LEASE / 2), encoding="utf-8")
            judges = read_judges(path)
            lease = max(LEASE, 240 / self.speed)
            campaign = service.create(**described(self.messages, judges, lease))
            print(f"dashboard:       {self.address}/dashboard/{NAME}")
            print(f"sign in with:    {self.secret}")
            print(f"answer yourself: {campaign.invite(YOU).link}")
            print("The judges are rules that stand in for models; people and expert are simulated.")
            print("Ctrl-C ends it; nothing is kept", flush=True)
            asking = threading.Thread(target=self._ask_judges, args=(judges,), daemon=True)
            asking.start()
            for each in (*PEOPLE, EXPERT):
                threading.Thread(target=self._work, args=(campaign, each), daemon=True).start()
            while not self.over.wait(0.5):
                if campaign.over() is not None:
                    self._sum_up(campaign)
                    break
            self.over.wait()
            # People may wait for a service that is gone; they end with the process.
            asking.join(5)

    def _ask_judges(self, judges: Sequence[Judge]) -> None:
        """Run the campaign's judges on the service's store, beside the service."""
        from askwise.campaign import Campaign
        from askwise.running import arun

        async def ask() -> None:
            stop = asyncio.Event()
            watching = asyncio.create_task(self._end(stop))
            try:
                campaign = Campaign.open(self.store, NAME)
                sources = {judge.id: judge.source for judge in judges}
                await arun(campaign, sources, wait=True, grace=2.0, stop=stop)
            finally:
                watching.cancel()
                for judge in judges:
                    await judge.source.aclose()

        asyncio.run(ask())

    async def _end(self, stop: asyncio.Event) -> None:
        """Stop the run of the judges when all is over."""
        while not self.over.is_set():
            await asyncio.sleep(0.1)
        stop.set()

    def _work(self, campaign: RemoteCampaign, person: SimulatedPerson) -> None:
        from askwise.client import connect

        secret = campaign.invite(person.id).secret
        with connect(self.address, secret) as mine:
            LivePerson(person, self.messages).work(
                mine.open(NAME), lambda seconds: self.over.wait(seconds / self.speed)
            )

    def _sum_up(self, campaign: RemoteCampaign) -> None:
        truths = {message.id: message.truth for message in self.messages}
        right = sum(answer.value == truths[str(answer.task)] for answer in campaign.answers())
        status = campaign.status()
        print(
            f"done: {right} of {len(truths)} labels are right, for {status.spent:.2f} of "
            f"{status.budget}; the service stays until Ctrl-C"
        )
        print(campaign.certificate().statement, flush=True)
