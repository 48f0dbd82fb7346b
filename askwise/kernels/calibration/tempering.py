"""Log-odds that allow for voices which depend on each other; this needs no truth.

Models of workers treat answers as independent, and are far too sure: people err on the same hard
tasks, prompts of one model on the same inputs. So the log-odds of a task are multiplied by::

    1 / (1 + r sqrt(F - 1))

for F voices. A worker is a voice; of a crowd every answer is one; m workers of a family who err
together are m / (1 + (m - 1) .4). F independent voices would count F times as much as one, F copies
of one voice as much as one; this counts about sqrt(F) / r of them. The dependence r is 1 for
persons and crowds and 2 for models. Where nobody says what the workers are it is 1 plus the share
of all voices that answered the task: if everybody answers everything, no answer ever comes from
outside the panel, and an error that all share can't be seen. No single answer counts for more than
that of a worker who is right 97 times in 100. A label that does not lead the plain vote rests on
the skills that a model sees in workers, and EM sees skills in noise: it is believed with .8 at
most, and with .7 where workers do not differ in how often they agree with the vote of the others;
each vote by which it leads raises this by a sure answer, tempered.
"""

import math

from askwise.core.arrays import Array
from askwise.core.compiling import kernel, step
from askwise.kernels.calibration.mapping import TOLERANCE, score_in, set_confidence, sigmoid

SURE = math.log(0.97 / 0.03)
"""The most that one answer adds to the log-odds of a class against another."""

CONTESTED, CONTESTED_BY_SKILL = math.log(0.7 / 0.3) - TOLERANCE, math.log(0.8 / 0.2) - TOLERANCE
"""The most log-odds of a label that does not lead the vote: where skills can't be told apart, and
where they can."""


@step
def damping(voices: float, dependence: float) -> float:
    """What the log-odds of a task with this many voices are multiplied by."""
    return 1.0 / (1.0 + dependence * math.sqrt(voices - 1.0)) if voices > 1.0 else 1.0


@step
def temper_row(table: Array, row: int, classes: int, factor: float, answers: float) -> None:
    """Multiply the log-odds of a row of probabilities by a factor, in place.

    Before, no class is taken to be less probable, compared with the most probable one, than this
    many sure answers could make it.
    """
    most = table[row, 0]
    for label in range(1, classes):
        most = max(most, table[row, label])
    lowest = -answers * SURE
    total = 0.0
    for label in range(classes):
        chance = table[row, label]
        if chance == most:
            table[row, label] = 1.0
        else:
            log = lowest if chance <= 0.0 else max(lowest, math.log(chance / most))
            table[row, label] = math.exp(factor * log)
        total += table[row, label]
    for label in range(classes):
        table[row, label] /= total


@kernel
def judge_workers(
    starts: Array, workers: Array, labels: Array, room: Array, judged: Array, agreed: Array
) -> None:
    """Count how often each worker agrees with the plain vote of the others.

    ``room`` is a number for each class. Where the others are tied, or there are none, nothing is
    judged.
    """
    for task in range(len(starts) - 1):
        first, last = starts[task], starts[task + 1]
        if last - first < 2:
            continue
        for label in range(len(room)):
            room[label] = 0.0
        for at in range(first, last):
            room[labels[at]] += 1.0
        # The three largest numbers of votes, which may be the same. Without branches: a processor
        # can't foretell votes.
        top, second, third = 0.0, 0.0, 0.0
        for label in range(len(room)):
            less = min(top, room[label])
            top = max(top, room[label])
            third = max(third, min(second, less))
            second = max(second, less)
        # Beside two leaders the others are tied, but for who gave one of these two labels: the
        # other is ahead of it. Beside three they are always tied.
        ahead = 1.0 if top - 1.0 > second else 0.0
        for_leader = ahead if second < top else 1.0 if third < top else 0.0
        for_others = 1.0 if second < top else 0.0
        for at in range(first, last):
            leads = room[labels[at]] == top
            judged[workers[at]] += for_leader if leads else for_others
            agreed[workers[at]] += ahead if leads else 0.0


@kernel
def told_apart(judged: Array, agreed: Array) -> bool:
    """Whether workers differ in how often they agree with the others, beyond chance.

    By the chi-squared statistic, at three standard deviations.
    """
    tries = hits = 0.0
    freedom = -1.0
    for worker in range(len(judged)):
        tries += judged[worker]
        hits += agreed[worker]
        if judged[worker] > 0.0:
            freedom += 1.0
    if freedom < 1.0 or hits == 0.0 or hits == tries:
        return False
    share = hits / tries
    total = 0.0
    for worker in range(len(judged)):
        if judged[worker] > 0.0:
            away = agreed[worker] - share * judged[worker]
            total += away * away / (judged[worker] * share * (1.0 - share))
    return total - freedom > 3.0 * math.sqrt(2.0 * freedom)


@step
def leader(row: Array) -> int:
    """The most probable option."""
    found = 0
    for option in range(1, len(row)):
        if row[option] > row[found]:
            found = option
    return found


@step
def lead_in(votes: Array, label: int) -> float:
    """By how many votes a label leads the others."""
    best = 0.0
    for other in range(len(votes)):
        if other != label:
            best = max(best, votes[other])
    return votes[label] - best


@step
def contested_limit(lead: float, factor: float, apart: bool) -> float:
    """The most log-odds of a label that leads the plain vote by this many votes."""
    least = CONTESTED_BY_SKILL if apart else CONTESTED
    return least + factor * SURE * max(0.0, lead)


@kernel
def temper_rows(
    starts: Array,
    labels: Array,
    weights: Array,
    voices: Array,
    dependences: Array,
    apart: bool,
    votes: Array,
    table: Array,
) -> None:
    """Temper the rows of a table of probabilities, one for each task, in place.

    ``votes`` is room for a number for each class.
    """
    classes = table.shape[1]
    for task in range(len(starts) - 1):
        for label in range(classes):
            votes[label] = 0.0
        counted = 0.0
        for at in range(starts[task], starts[task + 1]):
            votes[labels[at]] += weights[at]
            counted += weights[at]
        factor = damping(voices[task], dependences[task])
        temper_row(table, task, classes, factor, max(1.0, counted))
        named = leader(table[task])
        limit = contested_limit(lead_in(votes, named), factor, apart)
        if score_in(table, task, classes, named) > limit:
            set_confidence(table, task, classes, named, sigmoid(limit))
