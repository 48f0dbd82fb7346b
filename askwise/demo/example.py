"""The example campaign of ``askwise serve --demo``: reviews of a lamp, some of them answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from askwise.core.choices import Batch
from askwise.data.orders import people_of_text, read_order

if TYPE_CHECKING:
    from askwise.campaign import Campaign
    from askwise.store import Store

NAME = "example-reviews"
YOU = "you"
"""The worker whose link is printed."""

ANSWERED = 18
"""Answers that ann and ben have given before you look."""

QUESTION = "Does the writer recommend the lamp?"
INSTRUCTIONS = (
    "Read the whole review. Choose **unclear** if good and bad balance out, or if it is not about "
    "the lamp."
)
OPTIONS = [
    {"name": "yes", "meaning": "They would buy it again"},
    {"name": "no", "meaning": "They are disappointed, or warn others"},
    {"name": "unclear", "meaning": "It can't be told"},
]

REVIEWS = (
    ("yes", "Warm light, easy to set up. I bought a second one for the bedroom."),
    ("no", "The switch broke after a week and nobody answers my mails."),
    ("unclear", "Arrived on Tuesday. Haven't unpacked it yet."),
    ("yes", "Best desk lamp I have had. The arm stays where I put it."),
    ("no", "Flickers. My eyes hurt after ten minutes. Sent it back."),
    ("unclear", "Nice lamp, awful cable. I use it, but I keep thinking about returning it."),
    ("yes", "My daughter reads with it every night and loves the colour."),
    ("no", "Looks cheap, is cheap. Spend ten more and get a real one."),
    ("yes", "Was sceptical because of the price. No regrets at all."),
    ("no", "Smells of burnt plastic when it is on for an hour."),
    ("unclear", "Is there a version with a clamp?"),
    ("yes", "Light enough to carry around, bright enough to sew by."),
    ("no", "Two of three arrived with a cracked shade."),
    ("yes", "Does exactly what it says. Would order again."),
    ("unclear", "My husband likes it, I don't."),
    ("no", "Pretty in the picture, dim on the desk."),
    ("yes", "Survived a fall from the table without a scratch. Impressive."),
    ("no", "The manual is missing and the parts don't fit."),
    ("yes", "Finally a lamp that doesn't blind me on video calls."),
    ("unclear", "Five stars for the seller. The lamp is for a friend."),
)
"""What a reader who took their time would say, and the review."""


def make_example(store: Store) -> Campaign:
    """Create the example campaign in a store, and let two people answer some of it."""
    from askwise.campaign import Campaign

    order = read_order(
        [{"id": f"review-{at}", "review": words} for at, (_, words) in enumerate(REVIEWS, 1)],
        question=QUESTION,
        options=OPTIONS,
        title="Example: reviews of a lamp",
        instructions=INSTRUCTIONS,
        currency="USD",
        people=people_of_text(f"ann, ben, {YOU}", price="0.05"),
        budget="3",
        seed=1,
    )
    campaign = Campaign.create(store=store, name=NAME, **order.fields_with((), ()))
    meant = {task.id: option for task, (option, _) in zip(order.tasks, REVIEWS, strict=True)}
    for number in range(ANSWERED):
        batch = campaign.ask(workers=["ann" if number % 2 else "ben"])
        if not isinstance(batch, Batch):
            break
        asked = batch[0]
        # Ben errs now and then, so that there is something to look at.
        slips = asked.worker == "ben" and number % 6 == 4
        campaign.tell(asked.id, "unclear" if slips else meant[str(asked.task)])
    return campaign
