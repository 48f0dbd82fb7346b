"""A service to look at: a campaign that a simulated crowd answers over HTTP."""

from __future__ import annotations

import random
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from askwise.cli.options import Port, option
from askwise.cli.outputs import extra
from askwise.core.errors import AskwiseError, InvalidParameter

if TYPE_CHECKING:
    from askwise.client import RemoteCampaign
    from askwise.core.choices import Batch

NAME = "comments"
YOU = "you"
LEASE = 30.0
"""Seconds that a question is yours at the least: you are not sped up."""

PATIENCE = 40
"""How often one of the crowd asks in vain before he goes: what is left may be yours to answer."""

OPTIONS = ("complaint", "question", "praise")

_SAYINGS = {
    "complaint": ("arrived {state}", "stopped working {when}", "is {worse} than the old one"),
    "question": ("fits a small kitchen, does it?", "is sold in {colour} too?", "can be returned?"),
    "praise": ("is a joy to use", "was worth every cent", "still looks new {when}"),
}
_THINGS = ("The kettle", "This lamp", "My new desk", "The blue chair", "That radio", "The fan")
_FILLINGS = {
    "state": ("broken", "late", "without its lid"),
    "when": ("after a week", "after a year", "since Monday"),
    "worse": ("louder", "weaker", "clumsier"),
    "colour": ("green", "red", "white"),
}


@dataclass(frozen=True)
class Simulated:
    """One of the crowd: his price, how often he is right, and the seconds he takes."""

    id: str
    price: str
    skill: float
    pace: float


CROWD = (
    Simulated("ada", "0.12", 0.97, 35),
    Simulated("ben", "0.05", 0.85, 18),
    Simulated("cleo", "0.05", 0.80, 14),
    Simulated("dev", "0.04", 0.74, 12),
    Simulated("eli", "0.03", 0.66, 9),
    Simulated("fay", "0.06", 0.90, 20),
    Simulated("gus", "0.02", 0.50, 6),
    Simulated("hana", "0.08", 0.93, 28),
)


def comments(count: int, seed: int) -> dict[str, tuple[str, str]]:
    """Comments to sort: id, what it says and what it is."""
    draw = random.Random(seed)
    made = {}
    for number in range(count):
        kind = draw.choice(OPTIONS)
        fillings = {name: draw.choice(words) for name, words in _FILLINGS.items()}
        saying = draw.choice(_SAYINGS[kind]).format(**fillings)
        made[f"comment-{number + 1:03}"] = (f"“{draw.choice(_THINGS)} {saying}”", kind)
    return made


def described(tasks: dict[str, tuple[str, str]], lease: float) -> dict[str, Any]:
    """The campaign of the demonstration."""
    people = [{"id": each.id, "price": each.price} for each in CROWD]
    return {
        "name": NAME,
        "workers": [*people, {"id": YOU, "price": "0.05"}],
        "tasks": [
            {"id": id, "payload": {"text": f"What is this comment?\n\n{text}"}}
            for id, (text, _) in tasks.items()
        ],
        "options": list(OPTIONS),
        # Enough to be sure of most.
        "budget": str(Decimal("0.30") * len(tasks)),
        "policy": "hem",
        "stopping": {"name": "posterior", "error": 0.05},
        "lease": lease,
        "seed": 1,
    }


class Person(threading.Thread):
    """Asks for work with a token of his own, thinks, answers; now and then skips or forgets."""

    def __init__(
        self,
        who: Simulated,
        campaign: RemoteCampaign,
        truths: dict[str, str],
        speed: float,
        over: threading.Event,
    ) -> None:
        super().__init__(name=who.id, daemon=True)
        self.who = who
        self.campaign = campaign
        self.truths = truths
        self.speed = speed
        self.over = over
        self.draw = random.Random(who.id)

    def run(self) -> None:
        """Work until there is nothing for him, or the demonstration ends."""
        from askwise.core.choices import Batch, Done

        in_vain = 0
        while not self.over.is_set() and in_vain < PATIENCE:
            try:
                choice = self.campaign.ask()
                if isinstance(choice, Done):
                    return
                if isinstance(choice, Batch):
                    in_vain = 0
                    self._answer(choice)
                else:
                    in_vain += 1
                    self._pause(self.who.pace)
            except AskwiseError:
                # His lease was over, or the service is: he asks again.
                self._pause(self.who.pace)

    def _answer(self, batch: Batch) -> None:
        for assignment in batch:
            # People take about as long as they take, sometimes much longer.
            self._pause(self.who.pace * self.draw.lognormvariate(0, 0.6))
            whim = self.draw.random()
            if whim < 0.02:
                continue  # goes for coffee; the lease gives the question back
            if whim < 0.05:
                self.campaign.decline(assignment.id)
                continue
            truth = self.truths[str(assignment.task)]
            wrong = [option for option in OPTIONS if option != truth]
            right = self.draw.random() < self.who.skill
            self.campaign.tell(assignment.id, truth if right else self.draw.choice(wrong))

    def _pause(self, seconds: float) -> None:
        self.over.wait(seconds / self.speed)


def demo_live(
    port: Port = 8000,
    speed: float = option(20.0, "N", "How many times faster than people."),
    tasks: int = option(90, "N", "How many comments there are to sort."),
) -> None:
    """Serve a campaign that a simulated crowd answers over HTTP, until Ctrl-C."""
    if not 0 < speed <= 10_000:
        raise InvalidParameter(f"speed is {speed:g}: give 1 to 10000", field="speed")
    if not 1 <= tasks <= 10_000:
        raise InvalidParameter(f"tasks is {tasks}: give 1 to 10000", field="tasks")
    with extra("service"), tempfile.TemporaryDirectory(prefix="askwise-live-") as directory:
        from askwise.service import server
        from askwise.service.auth.identity import Identities
        from askwise.service.settings import Settings
        from askwise.store import open_store

        taken = server.listen("127.0.0.1", port)
        url = f"sqlite:///{Path(directory) / 'live.sqlite'}"
        settings = server.with_address(Settings(store=url, sweep=1.0), taken)
        store = open_store(url)
        secret = Identities(store).first_owner()
        assert secret is not None
        over = threading.Event()
        crowd = threading.Thread(
            target=_play, args=(settings.address, secret, tasks, speed, over), daemon=True
        )
        crowd.start()
        try:
            server.run(settings, store, taken, processes=1, proxies="", logging_level="warning")
        finally:
            over.set()
            crowd.join(5)


def _play(
    address: str, secret: str, count: int, speed: float, over: threading.Event,
    say: Callable[[str], None] = print,
) -> None:  # fmt: skip
    """Make the campaign, let the crowd loose, and say what came of it."""
    from askwise.client import connect

    with connect(address, secret) as service:
        made = comments(count, seed=1)
        campaign = service.create(**described(made, lease=max(LEASE, 240 / speed)))
        say(f"dashboard:       {address}/dashboard/{NAME}")
        say(f"sign in with:    {secret}")
        say(f"answer yourself: {campaign.invite(YOU).link}")
        say("Ctrl-C ends it; nothing is kept")
        truths = {id: kind for id, (_, kind) in made.items()}
        people = [
            Person(
                who,
                connect(address, campaign.invite(who.id).secret).open(NAME),
                truths,
                speed,
                over,
            )
            for who in CROWD
        ]
        for person in people:
            person.start()
        while any(person.is_alive() for person in people) and not over.is_set():
            time.sleep(0.2)
        if not over.is_set():
            answers = campaign.answers()
            right = sum(answer.value == truths[str(answer.task)] for answer in answers)
            status = campaign.status()
            say(
                f"the crowd is done: {right} of {count} right with {status.answers} answers for "
                f"{status.spent} of {status.budget}; the service stays until Ctrl-C"
            )
