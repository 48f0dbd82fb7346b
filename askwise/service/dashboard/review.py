"""The review queue: what somebody should look at, task by task."""

from starlette.responses import Response

from askwise.campaign.views.review import REVIEW_QUEUES, review
from askwise.service.api.shapes.requests import Name
from askwise.service.dashboard import tables as rows
from askwise.service.dashboard.campaign import Words, frame
from askwise.service.dashboard.home import PageNumber
from askwise.service.dashboard.visit import Viewing, cut
from askwise.service.pages.base import pages

router = pages()

WORDS = {
    "unsure": "Least sure",
    "contested": "Contested",
    "flagged": "Flagged",
    "audit": "Random audit",
}
"""What each queue is called."""


@router.get("/dashboard/{name}/review")
def queue(visit: Viewing, name: Name, queue: Words = "unsure", page: PageNumber = 1) -> Response:
    """The tasks that need a look; each leads to its page, where its label can be set."""
    campaign = visit.service.campaigns.get(name)
    chosen = next((each for each in REVIEW_QUEUES if each == queue), REVIEW_QUEUES[0])
    facts = visit.overviews.facts(name)
    with campaign.reading() as state:
        order = review(state, facts.answers, chosen)
    shown = cut(len(order), page)
    found = rows.task_rows(campaign, facts, order[shown.start : shown.end].tolist())
    return visit.page(
        "dashboard/review.html",
        **frame(visit, name, "review"),
        facts=facts,
        rows=found,
        cut=shown,
        queue=chosen,
        queues=WORDS,
    )
