"""A report card in words and tables, for the terminal and the page."""

from collections.abc import Iterator

from askwise.auditing import AlternativeTest, Cascade, Interval, JudgeCard, ReportCard
from askwise.auditing.panels import MARGIN
from askwise.lab.aggregating.files import shortened
from askwise.lab.planning.pictures import count

NamedCells = tuple[str, tuple[str, ...]]
"""A row of a table: its name and its cells."""

NONE = "-"

JUDGES = ("tasks", "failed", "accuracy", "95% interval", "kappa", "wins", "advantage", "panel gain")
"""Columns of the judges."""

FLIPS = ("flips", "right if same")
"""Further ones where the order is known."""

CLASSES = ("label", "tasks", "TPR", "95% interval", "TNR", "95% interval")
SHARES = ("judges alone", "95% interval", "people alone", "95% interval", "PPI++", "95% interval")
NEEDS = ("none wrong", "as wrong as measured")

JUDGES_MEANING = (
    "Accuracy: the share of tasks on which a judge says what most people say. Wins: the share of "
    "people whom the judge may replace, by the alternative annotator test; one half passes. "
    "Advantage: how often the judge agrees with the others at least as much as a person "
    "does, on average over people. Panel gain: what the vote of all judges gains in accuracy by "
    f"this one; nothing, if that is surely within {MARGIN:g}."
)
CLASSES_MEANING = (
    "TPR: the share of a class's tasks that the judge assigns to it. TNR: the share of all other "
    "tasks that the judge assigns to another class."
)
SHARES_MEANING = (
    "Judges alone: among the labels that most judges give, all counted as right. People alone: "
    "among the tasks that people answered. PPI++: judges on all tasks, corrected by people."
)


def headline(card: ReportCard) -> str:
    """The result in one line."""
    best = max(card.judges, key=lambda each: -1.0 if each.accuracy is None else each.accuracy.value)
    said = "no judge could be measured"
    if best.accuracy is not None:
        said = f"{best.judge} is right on {100 * best.accuracy.value:.1f}% of the tasks"
    if card.panel.effective is None:
        return said
    worth = f"{card.panel.effective.value:.1f}"
    return f"{said}; {count(card.panel.counted, 'judge')} are worth {worth} that err independently"


def facts(card: ReportCard, source: str, people: str) -> Iterator[tuple[str, str]]:
    """What was read, in names and values."""
    yield "verdicts", f"{card.verdicts} of {source}, {count(card.failures, 'failure')}"
    yield "judges", str(len(card.judges))
    yield "tasks", f"{card.tasks}, {card.people.tasks} of them answered by people"
    known = card.people
    yield "people", f"{known.people} of {people}, {count(known.answers, 'answer')}"
    yield "labels", shortened(card.labels)
    if known.ceiling is not None:
        yield "one person and the others", f"agree on {with_ends(known.ceiling)} of the tasks"


def judge_columns(card: ReportCard) -> tuple[str, ...]:
    """Columns of the table of judges."""
    return (*JUDGES, *(FLIPS if any(each.flips for each in card.judges) else ()))


def judge_lines(card: ReportCard) -> Iterator[NamedCells]:
    """The judges, the best first."""
    gains = {each.judge: each for each in card.panel.contributions}
    wide = len(judge_columns(card)) > len(JUDGES)
    for each in ranked(card):
        gain = gains[each.judge]
        added = NONE if gain.gain is None else f"{gain.gain.value:+.3f} {gain.effect}"
        flips: tuple[str, ...] = ()
        if wide:
            flips = (NONE, NONE)
            if each.flips is not None:
                flips = number(each.flips.share), number(each.flips.same_accuracy)
        yield (
            each.judge,
            (
                *(str(each.tasks), number(each.failures)),
                *(number(each.accuracy), ends(each.accuracy), number(each.kappa)),
                *(_wins(each.alternative), _advantage(each.alternative)),
                *(added, *flips),
            ),
        )


def class_lines(card: ReportCard) -> Iterator[NamedCells]:
    """The judges by class, the best first."""
    for each in ranked(card):
        for rates in each.classes:
            yield (
                each.judge,
                (
                    *(rates.label, f"{rates.tasks:.4g}"),
                    *(number(rates.tpr), ends(rates.tpr), number(rates.tnr), ends(rates.tnr)),
                ),
            )


def ranked(card: ReportCard) -> list[JudgeCard]:
    """Judges by accuracy; those who could not be measured last."""
    return sorted(
        card.judges, key=lambda each: 1.0 if each.accuracy is None else -each.accuracy.value
    )


def panel_sentences(card: ReportCard) -> Iterator[str]:
    """What the judges are worth together."""
    panel = card.panel
    if panel.accuracy is not None and len(card.judges) > 1:
        tied = f", {count(panel.ties, 'tie')} counted by share" if panel.ties else ""
        yield (
            f"The vote of all {len(card.judges)} judges is right on {with_ends(panel.accuracy)} of "
            f"{count(panel.tasks, 'task')}{tied}."
        )
    if panel.correlation is not None and panel.effective is not None:
        yield (
            f"Errors of two judges correlate by {with_ends(panel.correlation)} on average: "
            f"{panel.counted} judges are worth {with_ends(panel.effective, places=2)} that err "
            "independently."
        )
    if panel.within_families is not None and panel.between_families is not None:
        yield (
            f"Within a family the mean correlation is {panel.within_families:.3f}, between others "
            f"{panel.between_families:.3f}."
        )
    for word, said in (("nothing", "add nothing"), ("harms", "do harm")):
        names = [each.judge for each in panel.contributions if each.effect == word]
        if names:
            verb = said if len(names) > 1 else said.replace("add", "adds").replace("do ", "does ")
            yield f"To this vote {_listed(names)} {verb}."


def cascade_sentences(found: Cascade) -> Iterator[str]:
    """Whom to ask in which order, and what that would cost."""
    if len(found.judges) == 1:
        how = f"{found.judges[0]} alone"
    elif found.until is None:
        how = _listed(found.judges)
    else:
        how = (
            f"{found.judges[0]}, then {', '.join(found.judges[1:])}, one after another until the "
            f"votes so far make a label {100 * found.until:g}% sure"
        )
    yield f"The cheapest way to err no more than all judges together: ask {how}."
    less = " beside" if found.saved is None else f", {100 * found.saved:.0f}% less than"
    change = found.change
    yield (
        "Such a way, found on one half of the tasks and measured on the other, costs "
        f"{found.cost:.4g} per task{less} the {found.all_cost:.4g} of asking all. It is wrong on "
        f"{with_ends(found.error)} of them, all judges together on {with_ends(found.all_error)}: a "
        f"difference of {change.value:+.3f} [{change.low:+.3f}, {change.high:+.3f}]. A vote counts "
        "by how often its judge is right."
    )


def share_lines(card: ReportCard) -> Iterator[NamedCells]:
    """Shares of classes, by three ways to tell."""
    for each in card.shares:
        yield (
            each.label,
            tuple(
                text
                for found in (each.naive, each.human, each.ppi)
                for text in (number(found), ends(found))
            ),
        )


def need_lines(card: ReportCard) -> Iterator[NamedCells]:
    """How many tasks people would have to audit."""
    for each in card.needs:
        expected = "no number does" if each.expected is None else str(each.expected)
        yield f"at most {100 * each.alpha:g}% wrong", (str(each.clean), expected)


def needs_meaning(card: ReportCard) -> str:
    """What the numbers of audits are about."""
    confidence = card.needs[0].confidence
    alone = len(card.judges) == 1
    whose = f"labels of {card.judges[0].judge}" if alone else "vote of all judges"
    return (
        f"How many of the {card.tasks} tasks, drawn at random and audited by people, would certify "
        f"the {whose} with {100 * confidence:g}% confidence: if none of them is found wrong, and "
        "if as many are as were measured here."
    )


def number(found: Interval | None) -> str:
    """The estimate of an interval."""
    return NONE if found is None else f"{found.value:.3f}"


def ends(found: Interval | None) -> str:
    """The ends of an interval."""
    return NONE if found is None else f"[{found.low:.3f}, {found.high:.3f}]"


def with_ends(found: Interval, places: int = 3) -> str:
    """An estimate and its interval.

    Examples
    --------
    >>> with_ends(Interval(0.5, 0.25, 0.75), places=2)
    '0.50 [0.25, 0.75]'
    """
    return f"{found.value:.{places}f} [{found.low:.{places}f}, {found.high:.{places}f}]"


def _wins(test: AlternativeTest | None) -> str:
    if test is None:
        return NONE
    return f"{test.winning_rate:.2f} {'passes' if test.passes else 'fails'}"


def _advantage(test: AlternativeTest | None) -> str:
    return NONE if test is None else f"{test.advantage:.3f}"


def _listed(names: list[str] | tuple[str, ...], most: int = 10) -> str:
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
