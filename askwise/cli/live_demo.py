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
    from askwise.core.choices import Assignment

NAME = "comments"
YOU = "you"
LEASE = 30.0
"""Seconds that a question is yours at the least: you are not sped up."""

PATIENCE = 40
"""How often one of the crowd asks in vain before they go: what is left may be yours to answer."""

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
class Person:
    """One of the crowd: a price, how often they are right, and the seconds they take."""

    id: str
    price: str
    skill: float
    pace: float

    def work(
        self, campaign: RemoteCampaign, truths: dict[str, str], pause: Callable[[float], bool]
    ) -> None:
        """Ask for work, think, answer, until nothing is left or a pause says that all is over."""
        from askwise.core.choices import Batch, Done

        draw = random.Random(self.id)
        in_vain, over = 0, False
        while not over and in_vain < PATIENCE:
            try:
                choice = campaign.ask()
                if isinstance(choice, Done):
                    return
                if isinstance(choice, Batch):
                    in_vain = 0
                    for assignment in choice:
                        # People take about as long as they take, sometimes much longer.
                        over = pause(self.pace * draw.lognormvariate(0, 0.6))
                        self._answer(campaign, assignment, truths[str(assignment.task)], draw)
                else:
                    in_vain += 1
                    over = pause(self.pace)
            except AskwiseError:
                # Their lease was over, or the service is: they ask again.
                over = pause(self.pace)

    def _answer(
        self, campaign: RemoteCampaign, assignment: Assignment, truth: str, draw: random.Random
    ) -> None:
        whim = draw.random()
        if whim < 0.02:
            return  # goes for coffee; the lease gives the question back
        if whim < 0.05:
            campaign.decline(assignment.id)
            return
        wrong = [option for option in OPTIONS if option != truth]
        right = draw.random() < self.skill
        campaign.tell(assignment.id, truth if right else draw.choice(wrong))


CROWD = (
    Person("ada", "0.12", 0.97, 35),
    Person("ben", "0.05", 0.85, 18),
    Person("cleo", "0.05", 0.80, 14),
    Person("dev", "0.04", 0.74, 12),
    Person("eli", "0.03", 0.66, 9),
    Person("fay", "0.06", 0.90, 20),
    Person("gus", "0.02", 0.50, 6),
    Person("hana", "0.08", 0.93, 28),
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


def _play(address: str, secret: str, count: int, speed: float, over: threading.Event) -> None:
    """Make the campaign, let the crowd loose, and say what came of it."""
    from askwise.client import connect

    with connect(address, secret) as service:
        made = comments(count, seed=1)
        campaign = service.create(**described(made, lease=max(LEASE, 240 / speed)))
        print(f"dashboard:       {address}/dashboard/{NAME}")
        print(f"sign in with:    {secret}")
        print(f"answer yourself: {campaign.invite(YOU).link}")
        print("Ctrl-C ends it; nothing is kept")
        truths = {id: kind for id, (_, kind) in made.items()}
        people = [
            threading.Thread(
                target=person.work,
                args=(connect(address, campaign.invite(person.id).secret).open(NAME), truths),
                kwargs={"pause": lambda seconds: over.wait(seconds / speed)},
                daemon=True,
            )
            for person in CROWD
        ]
        for person in people:
            person.start()
        while any(person.is_alive() for person in people) and not over.is_set():
            time.sleep(0.2)
        if not over.is_set():
            answers = campaign.answers()
            right = sum(answer.value == truths[str(answer.task)] for answer in answers)
            status = campaign.status()
            print(
                f"the crowd is done: {right} of {count} right with {status.answers} answers for "
                f"{status.spent} of {status.budget}; the service stays until Ctrl-C"
            )
