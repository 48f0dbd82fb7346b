"""Messages drawn from the phrases, the same for the same seed."""

import random
from dataclasses import dataclass

from askwise.core.content import Content
from askwise.demo.messages.texts import GOODS, MANNERS, TEXTS, Goods

OPTIONS = ("complaint", "question", "praise")

CONTENT = Content(
    "What is this message to a shop?",
    title="Messages to a shop",
    options=[
        {
            "name": "complaint",
            "meaning": "Something is wrong and the writer minds, however politely they say so.",
        },
        {"name": "question", "meaning": "The writer wants to know something; nothing is wrong."},
        {"name": "praise", "meaning": "The writer is content, and wants nothing."},
    ],
    instructions=(
        "Judge what the writer means, not the words they use. If a message complains, it is a "
        "complaint, whatever else it says. If it praises and asks, it is a question."
    ),
)


@dataclass(frozen=True)
class Message:
    """A message to the shop.

    Attributes
    ----------
    id : str
        The task.
    text : str
        What it says.
    truth : str
        What it is.
    mistaken_for : str
        What somebody who reads in a hurry takes it for.
    manner : str
        How it is put; the plain ones are easy.
    """

    id: str
    text: str
    truth: str
    mistaken_for: str
    manner: str

    @property
    def hard(self) -> bool:
        """Whether it is put in a way that misleads."""
        return not self.manner.startswith("plain ")


def make_messages(count: int, seed: int = 1) -> list[Message]:
    """Draw messages; no two have the same text.

    Examples
    --------
    >>> message = make_messages(1)[0]
    >>> message.id, message.truth in OPTIONS
    ('message-001', True)
    """
    draw = random.Random(seed)
    manners = list(MANNERS)
    weights = [MANNERS[manner].weight for manner in manners]
    made: dict[str, Message] = {}
    while len(made) < count:
        manner = draw.choices(manners, weights)[0]
        kind = MANNERS[manner]
        text = _written(draw.choice(kind.patterns), draw)
        if text not in made:
            id = f"message-{len(made) + 1:03}"
            made[text] = Message(id, text, kind.truth, kind.mistaken_for, manner)
    return list(made.values())


def _written(pattern: str, draw: random.Random) -> str:
    """A pattern filled, perhaps with an opening, a remark and a closing."""
    words = _words(draw.choice(GOODS), draw)
    parts = [_filled(pattern, words)]
    if draw.random() < 0.25:
        parts.insert(0, draw.choice(TEXTS["openings"]))
    if draw.random() < 0.2:
        parts.append(_filled(draw.choice(TEXTS["remarks"]), words))
    if draw.random() < 0.25:
        parts.append(_filled(draw.choice(TEXTS["closings"]), words))
    return " ".join(parts)


def _words(goods: Goods, draw: random.Random) -> dict[str, str]:
    """One word or phrase for each slot."""
    who, span = draw.choice(TEXTS["people"]), draw.choice(TEXTS["spans"])
    return {
        "thing": goods.name,
        "fault": draw.choice(goods.faults),
        "merit": draw.choice(goods.merits),
        "query": draw.choice(goods.queries),
        "fear": goods.fear,
        "Boast": goods.boast.capitalize(),
        "day": draw.choice(TEXTS["days"]),
        "place": draw.choice(TEXTS["places"]),
        "who": who,
        "Who": who[0].upper() + who[1:],
        "span": span,
        "Span": span.capitalize(),
        "span_word": draw.choice(("weekend", "week", "afternoon")),
        "land": draw.choice(TEXTS["lands"]),
        "name": draw.choice(TEXTS["names"]),
    }


def _filled(pattern: str, words: dict[str, str]) -> str:
    filled = pattern.format(**words)
    return filled[0].upper() + filled[1:]
