"""What to know of a report card before its numbers are believed."""

from collections.abc import Iterator, Sequence

import numpy as np

from askwise.auditing import alternative, cascades
from askwise.auditing.ballots import FAILED, Ballots
from askwise.auditing.cascades import Cascade
from askwise.auditing.judges import JudgeCard
from askwise.auditing.panels import PanelCard
from askwise.auditing.people import PeopleCard

FEW = 30
"""Below this many tasks with answers of people a normal interval is too narrow."""

NAMED = 5
"""Names in a sentence; of others it is said how many there are."""


def remarks_on(
    ballots: Ballots,
    people: PeopleCard,
    judges: Sequence[JudgeCard],
    panel: PanelCard,
    found: Cascade | None,
) -> Iterator[str]:
    """Sentences, the most important first."""
    yield from _on_truth(people)
    yield from _on_tasks(ballots, people)
    yield from _on_labels(ballots)
    yield from _on_rows(ballots)
    yield from _on_judges(judges, panel, several=people.ceiling is not None)
    yield from _on_cascade(ballots, panel, found)


def _on_truth(people: PeopleCard) -> Iterator[str]:
    said = "The majority of the people of a task counts as the truth."
    if people.ceiling is None:
        yield (
            f"{said} No task has two people: how far people agree is not known, and there is no "
            "alternative annotator test."
        )
        return
    yield (
        f"{said} One person left out agrees with the majority of the others on "
        f"{100 * people.ceiling.value:.1f}% of the tasks, ties by share. Judges are held against "
        "all people of a task, which is somewhat easier; the alternative annotator test treats "
        "both alike."
    )
    if people.alone:
        have = "has" if people.alone == 1 else "have"
        yield f"{_count(people.alone, 'task')} {have} the answer of one person only."
    if people.tied:
        yield (
            f"People are tied on {_count(people.tied, 'task')}: each of k tied labels counts as "
            f"right 1/k, so the highest possible accuracy is {100 * people.attainable:.1f}%. An "
            "odd number of people per task, three or more, leaves fewer ties."
        )


def _on_tasks(ballots: Ballots, people: PeopleCard) -> Iterator[str]:
    rest = len(ballots.task_names) - people.tasks
    if rest:
        yield (
            f"People did not answer {rest} of {_count(len(ballots.task_names), 'task')}. "
            "Judges are not measured on those; only shares by PPI++ use them. All figures assume "
            "that the tasks that people answered are a random sample."
        )
    else:
        yield "People answered every task: PPI++ has nothing to infer."
    if people.tasks < FEW:
        yield (
            f"People answered {_count(people.tasks, 'task')} only: intervals of shares are too "
            "narrow for so few."
        )
    if ballots.elsewhere:
        yield (
            f"{_count(ballots.elsewhere, 'answer')} of people to tasks without a verdict "
            "passed over."
        )


def _on_labels(ballots: Ballots) -> Iterator[str]:
    size = len(ballots.label_names)
    said = np.bincount(ballots.labels[ballots.labels != FAILED], minlength=size)
    told = np.bincount(ballots.human_labels, minlength=size)
    for name, verdicts, answers in zip(ballots.label_names, said, told, strict=True):
        if not answers:
            wrong = "counts as wrong" if verdicts == 1 else "count as wrong"
            yield f"No person says {name!r}: {_count(int(verdicts), 'verdict')} of it {wrong}."
        elif not verdicts:
            number = _count(int(answers), "answer")
            yield f"No judge says {name!r}, the label of {number} of people."
    if size > 2 and all(map(_is_number, ballots.label_names)):
        yield (
            "Labels are numbers, and count as names: saying 4 where 5 is right is as wrong as "
            "saying 1."
        )
    alike: dict[str, list[str]] = {}
    for name in ballots.label_names:
        alike.setdefault(name.casefold(), []).append(name)
    for names in alike.values():
        if len(names) > 1:
            yield f"{_named(names)} differ in case alone and count as different labels."


def _on_rows(ballots: Ballots) -> Iterator[str]:
    if ballots.repeated_answers:
        yield (
            f"{_count(ballots.repeated_answers, 'further answer')} of a person to the same task "
            "left out: the first counts."
        )
    cells = ballots.tasks * len(ballots.judge_names) + ballots.judges
    cells = cells * max(1, len(ballots.order_names)) + ballots.orders
    further = len(cells) - len(np.unique(cells))
    if further:
        more = (
            ""
            if ballots.order_names
            else " If they differ in the order of what was shown, name the column of the order."
        )
        yield (
            f"{_count(further, 'verdict')} of a judge who had given one on the same task: each "
            f"counts by share.{more}"
        )


def _on_judges(judges: Sequence[JudgeCard], panel: PanelCard, *, several: bool) -> Iterator[str]:
    silent = [each.judge for each in judges if each.tasks == 0]
    if silent:
        yield (
            f"Not measured, for want of a verdict on a task that people answered: {_named(silent)}."
        )
    tests = [each.alternative for each in judges if each.alternative is not None]
    left_out = max((each.left_out for each in tests), default=0)
    if left_out:
        yield (
            f"Alternative annotator test: {_count(left_out, 'person', 'people')} with fewer than "
            f"{alternative.LEAST_TASKS} tasks in common with a judge left out."
        )
    elif not tests and several:
        yield (
            "No alternative annotator test: nobody has "
            f"{alternative.LEAST_TASKS} tasks that a judge and another person answered too."
        )
    apart = sum(each.tasks > 0 for each in judges) - panel.counted
    if apart and len(judges) > 1:
        yield (
            f"{_count(apart, 'judge')} always or never right: left out of correlations and of the "
            "effective number of judges."
        )
    spared = [each.judge for each in panel.contributions if each.effect == "nothing"]
    if len(spared) > 1:
        yield (
            f"{len(spared)} judges add nothing, each taken alone. Of judges who err alike, the "
            "others make up for one: leave them out one at a time, and check again."
        )


def _on_cascade(ballots: Ballots, panel: PanelCard, found: Cascade | None) -> Iterator[str]:
    if found is None:
        if len(ballots.judge_names) < 2:
            yield "One judge: there is no panel and no cascade."
        else:
            yield (
                f"No cascade: it needs {cascades.LEAST_TASKS} tasks with a verdict and an answer "
                f"of a person, and two labels; there are {panel.tasks} and "
                f"{len(ballots.label_names)}."
            )
    elif not found.priced:
        yield "No prices were given: in the cascade every verdict costs 1."


def _is_number(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True


def _count(number: int, noun: str, plural: str | None = None) -> str:
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def _named(names: Sequence[str]) -> str:
    said = ", ".join(repr(name) for name in names[:NAMED])
    return said if len(names) <= NAMED else f"{said} and {len(names) - NAMED} more"
