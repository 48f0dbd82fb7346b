"""Views that are lists and show themselves: answers and payments, with their pictures."""

from collections.abc import Iterable
from typing import Any

from askwise.campaign.views.answers import Answer
from askwise.campaign.views.payments import Payment
from askwise.core.shown import ShownList

NO_LABEL = "no answer yet"


class AnswerTable(ShownList[Answer]):
    """Answers: a list, and a table and a picture in a notebook."""

    def __init__(self, rows: Iterable[Answer] = (), kind: type = Answer) -> None:
        super().__init__(rows, kind)

    def plot(self) -> Any:
        """How many tasks have each label, by what the confidence in it rests on.

        Where answers are numbers, how many tasks are in each tenth of their range. Needs
        Matplotlib, which is in the extra ``askwise[lab]``.
        """
        from askwise.figures import draw_bars

        tasks: dict[str, dict[str, float]] = {}
        for label, on in _labels(self):
            parts = tasks.setdefault(label, {})
            parts[on] = parts.get(on, 0) + 1
        count = len(self)
        title = f"{count:,} task{'' if count == 1 else 's'} by label"
        return draw_bars(tasks or {NO_LABEL: {}}, title=title, x_label="tasks")


class PaymentTable(ShownList[Payment]):
    """Payments: a list, and a table and a picture in a notebook."""

    shown = ("worker", "answers", "earned", "paid_out", "owed", "reserved", "last_paid", "currency")

    def __init__(self, rows: Iterable[Payment] = (), kind: type = Payment) -> None:
        super().__init__(rows, kind)

    def plot(self) -> Any:
        """What each worker was paid out, is owed and has reserved.

        Needs Matplotlib, which is in the extra ``askwise[lab]``.
        """
        from askwise.figures import draw_bars

        bars = {
            each.worker: {
                "paid out": float(each.paid_out),
                "owed": float(each.owed),
                "reserved": float(each.reserved),
            }
            for each in sorted(self, key=lambda each: each.earned, reverse=True)
        }
        currency = next((each.currency for each in self if each.currency), "")
        label = f"money ({currency})" if currency else "money"
        title = f"Earned: {sum(each.earned for each in self):f}"
        return draw_bars(bars or {"nobody": {}}, title=title, x_label=label)


def _labels(answers: Iterable[Answer]) -> list[tuple[str, str]]:
    """Label and what it rests on, of each task, in the order of labels."""
    told = list(answers)
    numbers = [each.value for each in told if isinstance(each.value, float)]
    low, high = min(numbers, default=0.0), max(numbers, default=1.0)
    width = (high - low) / 10 or 1.0
    found = []
    for each in told:
        if each.value is None:
            found.append((1, NO_LABEL, "nothing"))
        elif isinstance(each.value, float):
            begin = low + width * min(9, int((each.value - low) / width))
            found.append((0, f"{begin:.3g} to {begin + width:.3g}", "answers"))
        else:
            on = "set by hand" if each.decided_by is not None else each.rests_on or "agreement"
            found.append((0, each.value, on))
    if not numbers:
        found.sort()
    else:
        found.sort(key=lambda each: (each[0], float(each[1].split()[0]) if not each[0] else 0.0))
    return [(label, on) for _, label, on in found]
