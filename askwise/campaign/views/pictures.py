"""Pictures of a campaign."""

from collections.abc import Iterable
from typing import Any

from askwise.campaign.views.timeline import Timeline
from askwise.core.events import Event
from askwise.core.money import MICRO
from askwise.core.problem import Problem
from askwise.figures import Row, draw


def money_figure(name: str, problem: Problem, events: Iterable[Event]) -> Any:
    """What was spent and reserved as answers came, and the budget."""
    timeline = Timeline(problem)
    timeline.take(events)
    found = timeline.series()
    # Of all moments with as many answers, the last.
    last = {int(count): at for at, count in enumerate(found.answers)}
    rows = []
    for count, at in last.items():
        curves = {
            "spent": found.spent[at],
            "spent and reserved": found.spent[at] + found.reserved[at],
        }
        if found.budget is not None:
            curves["budget"] = found.budget[at]
        for series, micro in curves.items():
            money = int(micro) / MICRO
            rows.append(Row("", series, count, "money", money, money, money, 0))
    if not rows:
        rows = [Row("", "spent", 0, "money", 0.0, 0.0, 0.0, 0)]
    return draw(
        rows,
        title=f"{name}: money as answers came",
        metric="money",
        x_label="answers",
        y_label="money",
    )
