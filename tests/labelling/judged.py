"""A question with two judges, a careful and a hasty one, and an expert, all functions."""

from __future__ import annotations

from typing import Any

from askwise.sources import Question, Response
from askwise.sources.function import Function
from askwise.sources.judges import Judge

QUESTION = "Does it want money?"
OPTIONS = "spam,ham"
TEXTS = [
    f"Message {at}: {'you have won money' if at % 3 == 0 else 'see you at noon'}"
    f"{'!' if at % 2 else '.'}"
    for at in range(60)
]
TRUTHS = {f"item-{at + 1:02}": "spam" if at % 3 == 0 else "ham" for at in range(60)}


def careful(question: Question) -> Response:
    return Response("spam" if "won" in question.payload else "ham", cost=3000)


def hasty(question: Question) -> Response:
    return Response("spam" if "!" in question.payload else "ham", cost=500)


def expert(question: Question) -> Response:
    return Response(TRUTHS[question.task], cost=20_000)


def judges(**settings: Any) -> list[Judge]:
    return [
        Judge("careful", Function(careful, price="0.004", **settings)),
        Judge("hasty", Function(hasty, price="0.001", **settings)),
    ]


def order(**changes: Any) -> dict[str, Any]:
    """What ``label`` takes."""
    made: dict[str, Any] = {"question": QUESTION, "options": OPTIONS, "judges": judges()}
    return {**made, "budget": "5", "seed": 1, **changes}


def certified(**changes: Any) -> dict[str, Any]:
    """The same with an expert who audits."""
    audits: dict[str, Any] = {"people": [{"id": "vet", "price": "0.02"}], "by": "vet"}
    audits |= {"sources": {"vet": Function(expert, price="0.02")}}
    return order(**{**audits, "target_error": 0.2, "certify": 0.9, **changes})
