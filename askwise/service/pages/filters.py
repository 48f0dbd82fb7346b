"""How the dashboard writes things: money, times, shares, outcomes in plain words."""

import json
import math
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from jinja2 import Environment
from markupsafe import Markup, escape

from askwise.core.choices import WHY_DONE
from askwise.core.money import from_micro
from askwise.service.settings import works_here_only

OUTCOMES = {
    "open": "open",
    "confident": "confident",
    "low_confidence": "not sure",
    "over_budget": "out of money",
    "closed": "closed by hand",
    "assured": "assured",
    "not_assured": "not assured",
    "assurance_failed": "assurance failed",
    "everyone_asked": "everyone asked",
    "frozen": "frozen for audits",
    "target_not_reachable": "target out of reach",
    "sure_enough": "sure enough",
    "labelled": "set by hand",
}
"""Words of stopping rules and policies; one that is not here is shown as it is."""


def why_done(why: str) -> str:
    """Why nothing more is asked; a word that is not known says only that.

    Examples
    --------
    >>> why_done("tasks"), why_done("tea")
    ('no task is left to ask about', 'there is nothing more to ask')
    """
    return WHY_DONE.get(why, "there is nothing more to ask")


NOTICES = {
    "made": "The campaign was created.",
    "paused": "Paused: nobody is asked until you resume. Answers are still accepted.",
    "resumed": "Running again.",
    "begun": "The bidding is closed, and the first worker was asked.",
    "stopped": "Stopped. Answers to open questions are still accepted.",
    "topped-up": "The budget was raised.",
    "added": "The tasks were added.",
    "token-revoked": "The link is revoked. Its worker’s open questions are released.",
    "removed": "The worker is removed. Their open questions are released and their links revoked.",
    "worker-paused": "The worker is paused. They may finish their open questions.",
    "pause-lifted": "The pause is lifted: the worker is asked again.",
    "released": "Released: the question may be asked again.",
    "revised": "The answer is changed.",
    "withdrawn": "The answer is withdrawn.",
    "key-revoked": "The key is revoked.",
    "retitled": "The title is changed.",
    "archived": "Archived: it can’t be changed until you unarchive it.",
    "unarchived": "The campaign is in use again.",
    "deleted": "The campaign is deleted.",
    "forgotten": "The worker’s id was replaced with a made-up one.",
    "task-removed": "The task is removed.",
    "closed": "Closed: nobody will be asked about this task again.",
    "truth": "The truth was recorded.",
    "labelled": "The label is set.",
    "commented": "The comment was added.",
    "paid": "Marked as paid.",
    "all-paid": "All are marked as paid.",
    "bonus-given": "The bonus is given.",
    "hook-removed": "The webhook was removed.",
    "hook-tested": "A test message was sent: see the deliveries.",
    "retried": "It will be sent again at once.",
}
"""What a page may say at its top, by the code in its address: never text from there."""


def cents(amount: Decimal) -> str:
    """An amount to the cent from 1 on; below that it is exact.

    Examples
    --------
    >>> cents(Decimal("66.793671")), cents(Decimal("0.000125"))
    ('66.79', '0.000125')
    """
    return money(amount if abs(amount) < 1 else round(amount, 2))


def money(amount: Decimal | None) -> str:
    """An exact amount, with two decimals at least.

    Examples
    --------
    >>> money(Decimal("1234.5")), money(Decimal("0.000125")), money(Decimal(-3)), money(None)
    ('1,234.50', '0.000125', '−3.00', '–')
    """
    if amount is None:
        return "–"
    whole, _, part = f"{abs(amount):f}".partition(".")
    sign = "−" if amount < 0 else ""
    return f"{sign}{int(whole):,}.{part.ljust(2, '0')}"


def about(amount: Decimal) -> str:
    """An amount that is a guess: to two decimals.

    Examples
    --------
    >>> about(Decimal("131.549776"))
    '131.55'
    """
    return money(amount.quantize(Decimal("0.01")))


def count(number: int) -> str:
    """A whole number.

    Examples
    --------
    >>> count(1234567)
    '1,234,567'
    """
    return f"{number:,}"


def percent(share: float | None, decimals: int = 0) -> str:
    """A share of one; neither rounded up to all nor down to nothing.

    Examples
    --------
    >>> percent(0.834), percent(0.99999), percent(0.0004), percent(0.0), percent(None)
    ('83%', '>99%', '<1%', '0%', '–')
    """
    if share is None:
        return "–"
    shown = f"{100 * share:.{decimals}f}"
    if share < 1 and float(shown) == 100:
        return f">{100 - 10**-decimals:.{decimals}f}%"
    if share > 0 and float(shown) == 0:
        return f"<{10**-decimals:.{decimals}f}%"
    return f"{shown}%".replace("-", "−")


def number(value: float | None) -> str:
    """A number to four digits.

    Examples
    --------
    >>> number(0.123456), number(12.0), number(None)
    ('0.1235', '12', '–')
    """
    return "–" if value is None else f"{value:.4g}".replace("-", "−")


def scaled(value: float, low: float, high: float) -> str:
    """A number of a range, to a thousandth of it.

    Examples
    --------
    >>> scaled(0.0008102, 0, 1), scaled(0.5, 0, 1), scaled(41234.567, 0, 1e5)
    ('0.001', '0.5', '41200')
    """
    digits = 3 - math.ceil(math.log10(high - low))
    shown = f"{round(value, digits):.{max(0, digits)}f}"
    return (shown.rstrip("0").rstrip(".") if digits > 0 else shown).replace("-", "−")


def when(seconds: float | None) -> Markup:
    """A moment, in UTC.

    Examples
    --------
    >>> when(0.0)
    Markup('<time datetime="1970-01-01T00:00:00Z">1 Jan 1970, 00:00:00</time>')
    """
    moment = moment_of(seconds)
    if moment is None:
        return Markup("–")
    shown = f"{moment.day} {moment:%b %Y, %H:%M:%S}"
    return Markup('<time datetime="{}">{}</time>').format(f"{moment:%Y-%m-%dT%H:%M:%SZ}", shown)


def moment_of(seconds: float | None) -> datetime | None:
    """A moment that the calendar has, if it is one."""
    try:
        return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def span(seconds: float) -> str:
    """A length of time, roughly.

    Examples
    --------
    >>> [span(each) for each in (0.4, 50, 190, 8000, 200_000, 1e9)]
    ['1 s', '50 s', '3 min', '2 h 13 min', '2 days 7 h', 'years']
    """
    left = max(1, round(seconds))
    if left < 60:
        return f"{left} s"
    minutes = left // 60
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 24:
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    days, hours = divmod(hours, 24)
    if days > 400:
        return "years"
    return f"{days} day{'s' if days > 1 else ''}" + (f" {hours} h" if hours and days < 10 else "")


def clip(text: object, length: int = 80) -> str:
    """Text on one line, cut where it is long.

    Examples
    --------
    >>> clip("a  long" + chr(10) + "story", 8)
    'a long …'
    """
    raw = str(text)
    line = " ".join(raw[: 8 * length].split())
    return line if len(line) <= length and len(raw) <= 8 * length else f"{line[: length - 1]}…"


def gist(payload: Any) -> str:
    """What a payload is about, in a line."""
    if isinstance(payload, dict):
        for field in ("text", "alt", "image", "html"):
            if isinstance(payload.get(field), str):
                return str(payload[field])
    if payload is None:
        return ""
    return payload if isinstance(payload, str) else json.dumps(payload, ensure_ascii=False)


def whole(payload: Any) -> str:
    """All of a payload, to be read."""
    if isinstance(payload, str):
        return payload
    return json.dumps(payload, ensure_ascii=False, indent=2)


def outcome(word: str) -> str:
    """An outcome in plain words."""
    return OUTCOMES.get(word, word.replace("_", " "))


def named(id: object, length: int = 80) -> Markup:
    """An id as somebody chose it: cut, able to break, and unable to turn the text around it."""
    return Markup('<bdi class="id">{}</bdi>').format(escape(clip(id, length)))


def install(environment: Environment) -> None:
    """Teach templates these ways of writing."""
    environment.filters.update(
        about=about, cents=cents, clip=clip, count=count, gist=gist, micro=from_micro, money=money,
        named=named, number=number, outcome=outcome, percent=percent, scaled=scaled, span=span,
        when=when, whole=whole,
    )  # fmt: skip
    environment.tests["works_here_only"] = works_here_only
