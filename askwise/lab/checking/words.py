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
    "Accuracy: the share of tasks on which a judge says what most people say; where people are "
    "tied, each of k labels counts 1/k. Wins: the share of "
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
    return f"{said}; {card.panel.counted} judges carry the information of {worth} independent ones"


def people_sentence(card: ReportCard) -> str:
    """How far people agree among themselves, which limits what can be seen of a judge."""
    people = card.people
    if people.ceiling is None:
        return (
            "No task has answers from two people, so how far people agree is unknown. Where a "
            "person is wrong, a judge who is right counts as wrong."
        )
    said = (
        f"One person agrees with the majority of the others on {100 * people.ceiling.value:.1f}% "
        "of the tasks. Where people are wrong, a judge who is right counts as wrong."
    )
    if not people.tied:
        return said
    return (
        f"{said} People are tied on {people.tied} of {count(people.tasks, 'task')}, so the highest "
        f"accuracy that a judge can reach here is {100 * people.attainable:.1f}%."
    )


def facts(card: ReportCard, source: str, people: str) -> Iterator[tuple[str, str]]:
    """What was read, in names and values."""
    yield "verdicts", f"{card.verdicts} in {source}, {count(card.failures, 'failure')}"
    yield "judges", str(len(card.judges))
    yield "tasks", f"{card.tasks}, {card.people.tasks} of them answered by people"
    known = card.people
    yield "people", f"{known.people} in {people}, {count(known.answers, 'answer')}"
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
            f"The majority vote of the {len(card.judges)} judges, each counting the same, is right "
            f"on {with_ends(panel.accuracy)} of {count(panel.tasks, 'task')}{tied}."
        )
    if panel.correlation is not None and panel.effective is not None:
        yield (
            f"The errors of two judges correlate by {with_ends(panel.correlation)} on average: "
            f"{panel.counted} judges carry the information of "
            f"{with_ends(panel.effective, places=2)} independent ones."
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
    yield (
        f"Cheapest choice: ask {how}. On these {count(found.tasks, 'task')} it costs "
        f"{found.chosen_cost:.4g} per task, asking all judges {found.all_cost:.4g}; it is wrong on "
        f"{with_ends(found.chosen_error)}, no more often than all judges together."
    )
    change = found.change
    yield (
        "That error is optimistic, as the choice was made on the same tasks. Making it on one half "
        "of the tasks and measuring it on the other (ten times; other halves may favour other "
        f"judges) costs {found.cost:.4g} per task on average{_saving(found.saved)}. It is then "
        f"wrong on {with_ends(found.error)}, all judges together on {with_ends(found.all_error)}: "
        f"a difference of {change.value:+.3f} [{change.low:+.3f}, {change.high:+.3f}], "
        f"{_difference(change)}. These votes are weighted by how often each judge is right."
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
        expected = "no number suffices" if each.expected is None else str(each.expected)
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


def _saving(saved: float | None) -> str:
    if saved is None or abs(saved) < 0.005:
        return ""
    return f", {100 * abs(saved):.0f}% {'less' if saved > 0 else 'more'} than asking all"


def _difference(change: Interval) -> str:
    """What an interval of a difference of errors says."""
    if change.low > 0:
        return "so expect somewhat more errors than from all judges"
    if change.high < 0:
        return "so expect fewer errors than from all judges"
    return "which may be chance"


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
