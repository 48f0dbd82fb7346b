"""A study on the contract mock, a service in this process, and participants with browsers."""

from __future__ import annotations

import re
import time
from functools import cached_property
from typing import Any

import httpx
from starlette.testclient import TestClient

from askwise.campaign import Campaign
from askwise.running.prolific import KeptStudy, Recruiter, StudyBook, create_study
from askwise.service.app import make_app
from askwise.service.open_campaigns import OpenCampaigns
from askwise.service.participants import Participants
from askwise.service.routing.application import Application
from askwise.service.settings import Settings
from askwise.sources.prolific import Prolific, ProlificApi
from askwise.store import Store, open_store
from askwise.testing.prolific_server import ProlificServer

ADDRESS = "https://ask.example.org"


def person(number: int) -> str:
    """A participant's id, as Prolific makes them."""
    return f"{number:024x}"


def offer(**terms: Any) -> Prolific:
    """A study of two questions at 0.40 each and a reward of 0.50."""
    given: dict[str, Any] = {
        **{"reward": "0.50", "price": "0.40", "questions": 2, "minutes": 3},
        **{"places": 2, "step": 2, "most": 20, **terms},
    }
    return Prolific("Cats", "Say whether you see a cat.", **given)


def connected(server: ProlificServer) -> ProlificApi:
    """The mock's API, without pauses."""
    return ProlificApi(server.token, server.url, pauses=(0.0, 0.0), sleep=lambda _: None)


class Participant:
    """A participant with a browser that has no scripts."""

    def __init__(self, bench: StudyBench, id: str, submission: str) -> None:
        self.bench, self.id, self.submission = bench, id, submission
        self.client = TestClient(bench.app, base_url=ADDRESS)
        self.page = ""
        self.status = 0

    def land(self, link: str | None = None) -> str:
        """Open the study from Prolific."""
        address = (link or self.bench.server.link(self.submission)).removeprefix(ADDRESS)
        return self._take(self.client.get(address))

    def look(self) -> str:
        """Look at the page again."""
        return self._take(self.client.get(self.bench.home))

    def send(self, verb: str, **fields: str) -> str:
        """Send the form of a verb."""
        found = re.search(
            rf'<form [^>]*action="{self.bench.home}/{verb}".*?</form>', self.page, re.S
        )
        assert found is not None, f"no form to {verb} in {self.page}"
        hidden = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', found[0]))
        return self._take(self.client.post(f"{self.bench.home}/{verb}", data={**hidden, **fields}))

    @property
    def state(self) -> str:
        """What the page shows."""
        found = re.search(r'data-(?:state|why)="(\w+)"', self.page)
        return "" if found is None else found[1]

    @property
    def code(self) -> str:
        """The completion code that the page shows; empty before."""
        found = re.search(r'id="code">(\w+)<', self.page)
        return "" if found is None else found[1]

    def work(self, answer: str = "yes", most: int = 1000) -> str:
        """Answer until the page shows the code, or so often; returns the code."""
        if self.state == "start":
            self.send("next")
        while self.state == "question" and most > 0:
            self.send("answer", value=answer)
            most -= 1
        return self.code

    def take_part(self) -> str:
        """Land, answer everything, hand in the code."""
        self.land()
        code = self.work()
        assert code, self.page
        self.bench.server.submit(self.submission, code)
        return code

    def _take(self, reply: httpx.Response) -> str:
        self.status, self.page = reply.status_code, reply.text
        return self.page


class StudyBench:
    """A campaign with a study, and all that belongs to it."""

    def __init__(self, server: ProlificServer, store: Store | None = None) -> None:
        self.server = server
        self.store = open_store("memory") if store is None else store
        self.name = "cats"
        self.api = connected(server)
        self.campaigns = OpenCampaigns(self.store, 60.0)
        self.participants = Participants(self.campaigns, lambda: self.api)

    @cached_property
    def app(self) -> Application:
        """A service on the store."""
        made = make_app(Settings(store="memory", address=ADDRESS), self.store)
        made.state.service.participants = Participants(
            made.state.service.campaigns, lambda: self.api
        )
        return made

    @property
    def home(self) -> str:
        return f"/work/{self.name}"

    @property
    def campaign(self) -> Campaign:
        """The campaign, opened anew: another process than the service."""
        return Campaign.open(self.store, self.name)

    @property
    def recruiter(self) -> Recruiter:
        return Recruiter(self.campaign, self.api)

    @property
    def study(self) -> KeptStudy:
        found = StudyBook(self.store, self.name).latest()
        assert found is not None
        return found

    def create(self, tasks: int = 4, votes: int = 3, budget: str = "20", **terms: Any) -> KeptStudy:
        """Create a campaign that takes so many answers to each task, and draft its study."""
        Campaign.create(
            store=self.store,
            name=self.name,
            workers=[],
            tasks=[{"id": f"t{n}", "payload": f"Picture {n}"} for n in range(tasks)],
            content={"question": "Is it a cat?", "options": ["yes", "no"], "currency": "GBP"},
            budget=budget,
            policy="random-pairs",
            stopping={"name": "fixed", "n": votes},
            seed=1,
        )
        return create_study(self.campaign, offer(**terms), ADDRESS, self.api)

    def come(self, number: int) -> Participant:
        """Let a participant take a place on Prolific."""
        return Participant(self, person(number), self.server.join(self.study.study, person(number)))

    def take_part(self, number: int, answers: int = 1000) -> str:
        """Let a participant come, answer and hand in the code, without a page."""
        who, submission = person(number), self.server.join(self.study.study, person(number))
        self.participants.admit(self.study.door, who, self.study.study, submission)
        campaign = self.campaigns.get(self.name)
        while answers and (batch := campaign.ask(workers=[who])):
            campaign.tell(batch[0].id, "yes")
            answers -= 1
        session = self.participants.session(campaign, who)
        assert session is not None
        shown = self.participants.view(campaign, session, "over", time.time())
        assert shown is not None
        self.server.submit(submission, shown.code)
        return submission

    @property
    def there(self) -> dict[str, Any]:
        """The study on Prolific."""
        return self.server.studies[self.study.study]
