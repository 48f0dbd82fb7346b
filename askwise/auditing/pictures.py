"""Pictures of report cards and certificates."""

from collections.abc import Iterable
from typing import Any

from askwise.auditing.climbs import AuditedSet
from askwise.auditing.intervals import Interval, share
from askwise.figures import Dot, draw_dots

FOUND = "found by audits"


def judges_figure(judges: Iterable[tuple[str, Interval | None]], panel: Interval | None) -> Any:
    """How often each judge, and all together, say what most people say, with 95% intervals."""
    named = [*judges, ("all together", panel)]
    dots = [
        Dot(name, "accuracy", found.value, found.low, found.high)
        for name, found in named
        if found is not None
    ]
    return draw_dots(
        dots or [Dot("no judge could be measured", "accuracy", 0.0, 0.0, 0.0)],
        title="How often judges say what most people say",
        x_label="share of tasks, with 95% intervals",
    )


def audits_figure(sets: Iterable[AuditedSet], error: float) -> Any:
    """The share of wrong labels that audits found in each nested set, beside what is allowed."""
    dots = []
    for each in sets:
        found = share(each.wrong, each.audited)
        if found is None:
            continue
        name = f"the {each.size:,} surest: {'' if each.certified else 'not '}certified"
        dots.append(Dot(name, FOUND, found.value, found.low, found.high))
    # A set may have been looked at in several draws: the last counts.
    last = {dot.name: dot for dot in dots}
    return draw_dots(
        list(last.values()) or [Dot("nothing was audited yet", FOUND, 0.0, 0.0, 1.0)],
        title="Wrong labels among those audited",
        x_label="share, with 95% intervals of each set alone",
        lines={f"allowed: {100 * error:g}%": error},
    )
