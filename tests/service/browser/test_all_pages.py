"""Every page of a campaign in which everything has happened: accessible, narrow enough, small."""

from __future__ import annotations

import pytest

from askwise import Assignment, Batch, Campaign, Worker
from askwise.campaign.forgetting import forget_worker
from askwise.campaign.views.review import REVIEW_QUEUES
from askwise.core.events import Kind
from tests.service.browser.driving import Browser, Site, sign_in

MOST_BYTES = 300_000

ANN = "ann.lee@example.org"
PEOPLE = [
    *(Worker(name, "0.05", kind="person") for name in (ANN, "ben", "cleo", "dan")),
    Worker("vet", "0.2", trusted=True),
]
GOLD, TASKS = [f"gold-{at}" for at in range(16)], [f"review-{at}" for at in range(16)]
ASKED = {
    "title": "Lamps that people wrote about",
    "question": "Does the writer recommend the lamp?",
    "options": [{"name": "yes", "meaning": "They would buy it again"}, {"name": "no"}],
    "instructions": "Read the whole review. Sarcasm counts as it is meant.",
    "currency": "USD",
}


def truth_of(task: str) -> str:
    return ("no", "yes")[int(task.rpartition("-")[2]) % 2]


def said_by(worker: str, task: str) -> str:
    """Dan errs always, the others about every fifth task."""
    errs = worker == "dan" or int(task.rpartition("-")[2]) % 5 == len(worker) % 5
    return ("yes", "no")[(truth_of(task) == "yes") == errs]


def everything(site: Site, name: str) -> Campaign:
    """A campaign in which all that can happen has happened, but for its end."""
    tasks = [{"id": task, "payload": f"The lamp of {task} came late."} for task in (*GOLD, *TASKS)]
    campaign = site.create(
        name,
        workers=PEOPLE,
        tasks=tasks,
        content=ASKED,
        budget="30",
        policy="random-pairs",
        stopping={"name": "lead", "lead": 2},
        screening={"qualify": 5, "pass_share": 0.6, "rate": 0.2},
        certify={"error": 0.4, "confidence": 0.6, "by": ["vet"], "share": 0.3},
        seed=2,
    )
    campaign.truths({task: truth_of(task) for task in GOLD})
    campaign.add(tasks=["extra-1"])
    campaign.remove("extra-1")
    told = answer(campaign, 30)
    campaign.revise(told[-1].id, "yes", rationale="Read again.", by="eve")
    campaign.withdraw(told[-2].id, "They were asked by mistake.", by="eve")
    batch = campaign.ask(workers=["ben"])
    campaign.flag(batch[0].id, "The text is cut off.")
    campaign.fail(campaign.ask(workers=["cleo"])[0].id, "timed_out")
    campaign.set_label(TASKS[0], "no", by="eve", why="It is sarcasm.")
    campaign.comment(TASKS[0], "Ask the shop.", by="eve")
    campaign.suspend("cleo", by="eve", why="On holiday.")
    campaign.bonus("ben", "0.75", why="For the flag.", by="eve")
    campaign.pay("ben", "0.5", by="eve", reference="Bank 17")
    forget_worker(site.service.campaigns.store, name, ANN, campaign.log()[-1].time)
    campaign.retitle("Lamps, all of them")
    return campaign


def answer(campaign: Campaign, most: int = 500) -> list[Assignment]:
    """Answer one question after the other."""
    told: list[Assignment] = []
    while len(told) < most and isinstance(batch := campaign.ask(), Batch):
        (each,) = batch
        campaign.tell(each.id, said_by(each.worker, each.task or ""), rationale="It says so.")
        told.append(each)
    return told


def pages_of(campaign: Campaign) -> dict[str, str]:
    """The paths of all pages about a campaign."""
    asked = next(event.seq for event in campaign.log() if event.kind == Kind.ASKED)
    changed = next(event.assignment for event in campaign.log() if event.kind == Kind.REVISED)
    paths = {tab: f"/{tab}" for tab in ("tasks", "workers", "decisions", "payments", "hooks")}
    paths |= {tab: f"/{tab}" for tab in ("manage", "stop", "delete")}
    paths |= {f"review-{queue}": f"/review?queue={queue}" for queue in REVIEW_QUEUES}
    paths |= {f"worker-{one}": f"/worker?id={one}" for one in ("ben", "dan", "vet")}
    paths |= {"task": f"/task?id={TASKS[0]}", "gold": f"/task?id={GOLD[0]}"}
    paths |= {"preview": f"/preview?id={TASKS[1]}", "pay": "/payments?worker=ben"}
    paths |= {"asked": f"/asked/{asked}", "changed": f"/asked/{changed}", "overview": ""}
    return {what: f"/dashboard/{campaign.name}{path}" for what, path in paths.items()}


@pytest.mark.slow
def test_all_pages_of_a_campaign_in_which_everything_has_happened(
    browser: Browser, site: Site
) -> None:
    campaign = everything(site, "everything")
    own = site.link("everything", "ben")
    sign_in(browser, site, "/dashboard")
    walk(browser, site, campaign, "running")
    answer(campaign)
    campaign.archive()
    walk(browser, site, campaign, "archived", "overview", "workers", "payments", "manage", "task")
    browser.open(f"{site.url}/dashboard?archived=yes")
    browser.look("everything-list")
    browser.open(own)
    browser.look("everything-own-archived")


def walk(browser: Browser, site: Site, campaign: Campaign, when: str, *only: str) -> None:
    """Look at pages, all of them by default; each is small enough with what it loads."""
    for what, path in pages_of(campaign).items():
        if not only or what in only:
            browser.open(f"{site.url}{path}")
            browser.find("h1")
            browser.look(f"everything-{when}-{what}")
            loaded = browser.run(
                "return performance.getEntriesByType('resource')"
                ".concat(performance.getEntriesByType('navigation'))"
                ".reduce((sum, each) => sum + each.decodedBodySize, 0)"
            )
            assert loaded < MOST_BYTES, f"{path} is {loaded} bytes"
