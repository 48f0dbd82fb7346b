"""Pictures of a campaign."""

from collections.abc import Iterable
from typing import Any

from askwise.campaign.views.timeline import Timeline
from askwise.core.events import Event
from askwise.core.money import MICRO
from askwise.core.problem import Problem
from askwise.figures import ReferenceRow, Row, draw


def money_figure(name: str, problem: Problem, events: Iterable[Event]) -> Any:
    """What was spent and reserved as answers came, and the budget."""
    timeline = Timeline(problem)
    timeline.take(events)
    found = timeline.series()
    # Of all moments with as many answers, the last.
    last = {int(count): at for at, count in enumerate(found.answers)}
    rows, budget = [], []
    for count, at in last.items():
        spent, held = int(found.spent[at]) / MICRO, int(found.reserved[at]) / MICRO
        for series, money in (("spent", spent), ("spent and reserved", spent + held)):
            rows.append(Row("", series, count, "money", money, money, money, 0))
        if found.budget is not None:
            cap = int(found.budget[at]) / MICRO
            budget.append(ReferenceRow.at("budget", count, "money", cap, style="line"))
    if not rows:
        rows = [Row("", "spent", 0, "money", 0.0, 0.0, 0.0, 0)]
    return draw(
        rows,
        title=f"{name}: money as answers came",
        metric="money",
        x_label="answers",
        y_label="money",
        reference=budget,
    )
