"""What a job says of itself, for the terminal and the report."""

from collections.abc import Callable
from decimal import Decimal

from askwise.campaign.views import NeedsGold
from askwise.core.choices import Done, Wait
from askwise.labelling.labels import LabelledItems, MoreMoney

NAMED = 5
"""Items that are named of those whose truth is wanted."""

MANY = 5
"""Options that are listed with their counts before the rest is summed up."""

BASES = {
    "certified": "certified",
    "calibrated": "calibrated by known truths",
    "agreement": "by agreement only (not a probability)",
    "truth": "known truths",
    "nothing": "without an answer",
}
"""What confidences rest on, in words."""

ENDS = {
    "budget": "the remaining budget does not cover another answer",
    "limits": "every worker has reached their limit",
    "tasks": "everybody was asked about every item",
    "target": "the target is reached",
    "agreement": "those who answered agree; truths would show whether they are right",
    "certified": "the labels are certified",
    "hopeless": "the labels can't be certified with what is left",
    "worthless": "no further answer is worth its price",
    "stopped": "the campaign was stopped",
}

SURE = {
    "certified": "are certified",
    "truth": "are known",
    "calibrated": "are at least {below:.0%} sure by known truths",
    "agreement": "rest on agreement alone, at least {below:.0%} (not a probability)",
}
"""What labels rest on that need no further answer, in words."""

Say = Callable[[Decimal], str]


def money(amount: Decimal, currency: str = "") -> str:
    """An amount: in cents, or with three digits where it is small.

    Examples
    --------
    >>> money(Decimal("12.345678")), money(Decimal("0.00017412")), money(Decimal("3"), "EUR")
    ('12.35', '0.000174', '3.00 EUR')
    """
    small = amount and abs(amount) < 1
    shown = (
        f"{float(f'{amount:.3g}'):f}".rstrip("0").rstrip(".")
        if small
        else f"{amount.quantize(Decimal('0.01')):,}"
    )
    return f"{shown} {currency}".strip()


def money_in(currency: str) -> Say:
    """What writes amounts of a currency."""
    return lambda amount: money(amount, currency)


def headline(found: LabelledItems) -> str:
    """How many items are labelled, and with what."""
    labelled = sum(each.label is not None for each in found.labels)
    counts = list(found.counts().items())
    listed = ", ".join(f"{name} {count}" for name, count in counts[:MANY])
    if len(counts) > MANY:
        listed += f", {sum(count for _, count in counts[MANY:])} others"
    return f"{labelled} of {len(found.labels)} items labelled: {listed or 'none'}"


def ended(end: Done | Wait | None) -> str:
    """Why it ended, in words."""
    if isinstance(end, Done):
        return ENDS.get(end.why, end.why)
    if end is None:
        return "it ended early"
    return "nobody can be asked now" if end.what == "workers" else f"it waits for {end.what}"


def confidences(found: LabelledItems) -> str:
    """How many labels rest on what."""
    return "; ".join(f"{count} {BASES[word]}" for word, count in found.rests_on().items())


def undecided(found: LabelledItems) -> str:
    """How many labels answers leave open, and what would decide them; empty if there are none."""
    if not found.contested:
        return ""
    count = f"{found.contested} of {len(found.labels)} labels"
    if not found.undecided:
        return f"{count} are contested: their answers differ, but one option has more of them."
    if found.undecided == found.contested:
        said = f"{count} are undecided: their answers differ, and no option has more of them"
    else:
        said = (
            f"{count} are contested: their answers differ. {found.undecided} of these are "
            "undecided: no option has more answers than another"
        )
    return (
        f"{said}. What such a label says is little more than a guess, and all of them may say the "
        "same. Another judge, or people, would decide them."
    )


def bill(found: LabelledItems, say: Say) -> str:
    """What was spent, and what calls were said to cost beyond the budget."""
    budget, beyond = found.status.budget, found.status.unbooked
    spent = say(found.cost) + ("" if budget is None else f" of {say(budget)}")
    if not beyond:
        return spent
    return f"{spent}; calls cost {say(beyond)} more by their replies, which the budget did not hold"


def more_money(found: LabelledItems, say: Say) -> str:
    """What further answers about the least sure labels would cost."""
    more = found.more_money()
    if not more.unsure:
        return _sure(found, more)
    words = _unsure(found, more)
    if not more.answers:
        return (
            f"{words}. Everybody who labels was asked about them: more money helps only with other "
            "judges or people, or for truths."
        )
    return (
        f"{words}. {more.answers} more answers about them could be bought, for about "
        f"{say(more.cost)}."
    )


def uncertified(found: LabelledItems) -> str:
    """Why the certificate that was ordered was not reached, and what can be done about it."""
    if found.end == Done("budget"):
        return "The certificate was not reached: resume the job (--resume) with a higher --budget."
    drawn = found.certificate is not None and found.certificate.blocks
    return (
        f"The certificate was not reached.{' The labels are drawn and final.' if drawn else ''} "
        "More money can't change that: start another job with another --out."
    )


def wanted_truths(found: LabelledItems) -> list[str]:
    """Which truths would help, and what for; none where audits have certified the labels."""
    if found.end == Done("certified"):
        return []
    agreement = found.rests_on().get("agreement")
    return [
        _wanted(each) for each in found.status.needs_gold if agreement or each.why != "calibration"
    ]


def _wanted(wanted: NeedsGold) -> str:
    names = ", ".join(wanted.tasks[:NAMED]) + (", ..." if len(wanted.tasks) > NAMED else "")
    what = {
        "side": "would show who is right where answers can't",
        "calibration": "would turn agreement into a probability",
        "audit": "is waited for",
    }[wanted.why]
    return f"The truth of {wanted.count} items ({names}) {what}: give it in a --truth column."


def _sure(found: LabelledItems, more: MoreMoney) -> str:
    """What labels rest on, where none is unsure."""
    counts = found.rests_on()
    if counts.keys() <= {"certified", "truth"}:
        return "Every label is certified or known."
    listed = ", ".join(
        f"{counts[basis]} {words.format(below=more.below)}"
        for basis, words in SURE.items()
        if basis in counts
    )
    ordered = found.certificate is not None and "certified" not in counts
    return f"{'No label is certified. ' if ordered else ''}Of {len(found.labels)} labels, {listed}."


def _unsure(found: LabelledItems, more: MoreMoney) -> str:
    """How many labels are not sure, and how many items have none."""
    without = sum(each.label is None for each in found.labels)
    doubtful = more.unsure - without
    parts = []
    if doubtful:
        labels = "1 label is" if doubtful == 1 else f"{doubtful} labels are"
        parts.append(f"{labels} less than {more.below:.0%} sure and not certified")
    if without:
        parts.append("1 item has no label" if without == 1 else f"{without} items have no label")
    return ", and ".join(parts)
