"""Confidences that mean what they say: evidence counted once, and maps learned from truths.

*Tempering* needs no truth. Models of workers take answers for independent, and are far too sure:
people err on the same hard tasks, prompts of one model on the same inputs. So the log-odds of a
task are multiplied by::

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

*Families*: the m answers of a family to a task count m / (1 + (m - 1) .4) times their mean; prompts
of one model have errors that correlate by .4.

*Calibration* needs truths of tasks drawn at random. With the score s of a task, the tempered
log-odds of its label against the rest, the label is right with probability::

    k sigmoid(s) + (1 - k) sigmoid(a + exp(b) s)

either as agreement says, or by a map with normal priors on a and b; k is the probability of the
former after the truths. Without any truth it is sigmoid(s).

The constants are round numbers at a flat optimum of the mean calibration error over 20 sets of
recorded answers, of people and of models; the page on what a confidence means has the figures, and
what leaving sets out would have chosen.
"""

import math
from typing import NamedTuple

from askwise.core.arrays import Array
from askwise.core.compiling import kernel, step

WITHIN_FAMILY = 0.4
"""The correlation of errors in a family, before truths say more: prompts of one model have .42."""

OF_PERSONS, OF_MODELS = 1.0, 2.0
"""How dependent voices are on each other."""

UNSAID = -1.0
"""Stands for the dependence of workers whose kind nobody says."""

SURE = math.log(0.97 / 0.03)
"""The most that one answer adds to the log-odds of a class against another."""

_HAIR, _TIE = 1e-6, 1e-9
CONTESTED, CONTESTED_BY_SKILL = math.log(0.7 / 0.3) - _HAIR, math.log(0.8 / 0.2) - _HAIR
"""The most log-odds of a label that does not lead the vote: where skills can't be told apart, and
where they can."""

INTERCEPT_WIDTH, SLOPE_WIDTH = 1.5, 0.7
"""Standard deviations of a and b before any truth."""

LEAST_TRUTHS = 10
"""Known truths of answered tasks from which on a confidence is called calibrated; fewer move it a
little."""

CAUTION = 0.2
"""What the odds that agreement means what it says are multiplied by, where a target is at stake:
those runs reach it in which a few truths happen to speak for agreement."""

MOST_SCORE = 30.0
"""Scores beyond it are taken for it."""

_UNKNOWN, _TIED = -2.0, -1.0
_ROUNDS, _HALVINGS = 50, 30
_LONGEST = 2.0
_SETTLED = 1e-12


class ConfidenceMap(NamedTuple):
    """How scores are turned into probabilities.

    Attributes
    ----------
    kept : float
        The probability that scores mean what they say.
    intercept, log_slope : float
        Of the map where they do not: a and b.
    h_aa, h_ab, h_bb : float
        What the truths tell about a and b: the matrix of information, without the priors.
    """

    kept: float
    intercept: float
    log_slope: float
    h_aa: float
    h_ab: float
    h_bb: float


@step
def family_share(answers: float, correlation: float) -> float:
    """What each of so many answers of a family to one task counts."""
    return 1.0 / (1.0 + (answers - 1.0) * correlation) if answers > 1.0 else 1.0


@step
def damping(voices: float, dependence: float) -> float:
    """What the log-odds of a task with so many voices are multiplied by."""
    return 1.0 / (1.0 + dependence * math.sqrt(voices - 1.0)) if voices > 1.0 else 1.0


@kernel
def count_evidence(
    starts: Array, workers: Array, once: Array, families: Array, seen: Array, weights: Array
) -> None:
    """Write what each answer counts, from 0 to 1, among the answers to its task.

    Answers are sorted by task, then worker. Who is asked once (a person, a model) has one answer:
    if there are more, they share its weight. ``families`` has a number for each worker, -1 without
    one; ``seen`` is room for a number for each family.
    """
    for task in range(len(starts) - 1):
        first, last = starts[task], starts[task + 1]
        at = first
        while at < last:
            worker, end = workers[at], at + 1
            while end < last and workers[end] == worker:
                end += 1
            share = 1.0 / (end - at) if once[worker] else 1.0
            for each in range(at, end):
                weights[each] = share
            at = end
        for at in range(first, last):
            if families[workers[at]] >= 0:
                seen[families[workers[at]]] = 0.0
        for at in range(first, last):
            if families[workers[at]] >= 0:
                seen[families[workers[at]]] += weights[at]
        for at in range(first, last):
            if families[workers[at]] >= 0:
                weights[at] *= family_share(seen[families[workers[at]]], WITHIN_FAMILY)


@kernel
def count_voices(
    starts: Array,
    workers: Array,
    once: Array,
    families: Array,
    dependence: Array,
    in_all: int,
    seen: Array,
    voices: Array,
    dependences: Array,
) -> None:
    """Write how many voices each task has, and how dependent they are on each other.

    ``dependence`` has a number for each worker, ``UNSAID`` where nobody says what they are. A
    worker whose kind is not said is one voice for each answer, and ``in_all`` is how many voices
    there are.
    """
    for task in range(len(starts) - 1):
        first, last = starts[task], starts[task + 1]
        for at in range(first, last):
            if families[workers[at]] >= 0:
                seen[families[workers[at]]] = 0.0
        count, distinct = 0.0, 0
        for at in range(first, last):
            worker, family = workers[at], families[workers[at]]
            again = at > first and workers[at - 1] == worker
            distinct += seen[family] == 0.0 if family >= 0 else not again
            if again and once[worker]:
                continue
            if family < 0:
                count += 1.0
                continue
            # One more of a family adds what the others leave of it.
            said = seen[family]
            count += (said + 1.0) * family_share(said + 1.0, WITHIN_FAMILY)
            count -= said * family_share(said, WITHIN_FAMILY)
            seen[family] += 1.0
        unsaid = 1.0 + min(1.0, distinct / max(1, in_all))
        total = 0.0
        for at in range(first, last):
            own = dependence[workers[at]]
            total += unsaid if own < 0.0 else own
        voices[task] = count
        dependences[task] = total / max(1, last - first)


@step
def temper_row(table: Array, row: int, classes: int, factor: float, answers: float) -> None:
    """Multiply the log-odds of a row of probabilities by a factor, in place.

    Before, no class is taken to be less probable, compared with the most probable one, than so
    many sure answers could make it.
    """
    most = table[row, 0]
    for label in range(1, classes):
        most = max(most, table[row, label])
    lowest = -answers * SURE
    total = 0.0
    for label in range(classes):
        chance = table[row, label]
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

    ``room`` is two rows with a number for each class. Where the others are tied, or there are none,
    nothing is judged.
    """
    classes = room.shape[1]
    for task in range(len(starts) - 1):
        first, last = starts[task], starts[task + 1]
        if last - first < 2:
            continue
        for label in range(classes):
            room[0, label] = 0.0
            room[1, label] = _UNKNOWN
        for at in range(first, last):
            room[0, labels[at]] += 1.0
        for at in range(first, last):
            label = labels[at]
            if room[1, label] == _UNKNOWN:
                room[1, label] = judgement(room, classes, label)
            if room[1, label] != _TIED:
                judged[workers[at]] += 1.0
                agreed[workers[at]] += room[1, label]


@step
def judgement(room: Array, classes: int, label: int) -> float:
    """Whether one who gave a label has the vote of the others for it (1), against it (0), or tied.

    The votes are the first row of ``room``.
    """
    own, top, leaders = room[0, label] - 1.0, 0.0, 0
    for other in range(classes):
        votes = own if other == label else room[0, other]
        if votes > top:
            top, leaders = votes, 1
        elif votes == top:
            leaders += 1
    if top == 0.0 or leaders > 1:
        return _TIED
    return 1.0 if own == top else 0.0


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
def contested_limit(lead: float, factor: float, apart: bool) -> float:
    """The most log-odds of a label that leads the plain vote by so many votes."""
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
        named, best = 0, 0.0
        for label in range(1, classes):
            if table[task, label] > table[task, named]:
                named = label
        for label in range(classes):
            if label != named:
                best = max(best, votes[label])
        limit = contested_limit(votes[named] - best, factor, apart)
        if score_in(table, task, classes, named) > limit:
            set_confidence(table, task, classes, named, sigmoid(limit))


@step
def score_in(table: Array, row: int, classes: int, label: int) -> float:
    """The log-odds of a class against the rest, from -30 to 30."""
    rest = 0.0
    for other in range(classes):
        if other != label:
            rest += table[row, other]
    if rest <= 0.0:
        return MOST_SCORE
    if table[row, label] <= 0.0:
        return -MOST_SCORE
    return min(MOST_SCORE, max(-MOST_SCORE, math.log(table[row, label] / rest)))


@step
def sigmoid(score: float) -> float:
    """The probability that log-odds stand for."""
    if score >= 0.0:
        return 1.0 / (1.0 + math.exp(-score))
    small = math.exp(score)
    return small / (1.0 + small)


@step
def surprise(score: float, right: float) -> float:
    """Minus the logarithm of the likelihood of being right, so far as it is right."""
    return max(score, 0.0) - right * score + math.log1p(math.exp(-abs(score)))


@step
def loss_of_map(scores: Array, right: Array, intercept: float, log_slope: float) -> float:
    """Minus the logarithm of likelihood and priors, up to a constant."""
    a, b = intercept / INTERCEPT_WIDTH, log_slope / SLOPE_WIDTH
    loss = 0.5 * (a * a + b * b)
    slope = math.exp(log_slope)
    for at in range(len(scores)):
        loss += surprise(intercept + slope * scores[at], right[at])
    return loss


@kernel
def fit_map(scores: Array, right: Array) -> ConfidenceMap:
    """Learn a map from scores (from -30 to 30) of tasks and how right their labels are (0 to 1).

    Newton's method with the expected second derivatives, which are positive; a step that makes
    things worse is halved. Without any truth the map is the identity.
    """
    a = b = 0.0
    loss = loss_of_map(scores, right, a, b)
    as_it_is = loss
    at_a, at_b = 1.0 / (INTERCEPT_WIDTH * INTERCEPT_WIDTH), 1.0 / (SLOPE_WIDTH * SLOPE_WIDTH)
    h_aa = h_ab = h_bb = 0.0
    for _ in range(_ROUNDS):
        slope = math.exp(b)
        g_a, g_b = a * at_a, b * at_b
        h_aa = h_ab = h_bb = 0.0
        for at in range(len(scores)):
            moved = slope * scores[at]
            chance = sigmoid(a + moved)
            error, spread = chance - right[at], chance * (1.0 - chance)
            g_a += error
            g_b += error * moved
            h_aa += spread
            h_ab += spread * moved
            h_bb += spread * moved * moved
        p_aa, p_bb = h_aa + at_a, h_bb + at_b
        det = p_aa * p_bb - h_ab * h_ab
        d_a = -(p_bb * g_a - h_ab * g_b) / det
        d_b = -(p_aa * g_b - h_ab * g_a) / det
        length = min(1.0, _LONGEST / max(abs(d_a), abs(d_b), _LONGEST))
        better = loss
        for _ in range(_HALVINGS):
            better = loss_of_map(scores, right, a + length * d_a, b + length * d_b)
            if better < loss:
                break
            length *= 0.5
        if not better < loss:
            break
        gain = loss - better
        a += length * d_a
        b += length * d_b
        loss = better
        if gain < _SETTLED * (1.0 + loss):
            break
    # Laplace's approximation of the evidence for some map, against that for none.
    p_aa, p_bb = h_aa + at_a, h_bb + at_b
    det = p_aa * p_bb - h_ab * h_ab
    for_map = as_it_is - loss - 0.5 * math.log(det / (at_a * at_b))
    return ConfidenceMap(sigmoid(-for_map), a, b, h_aa, h_ab, h_bb)


@step
def mapped(kept: float, intercept: float, log_slope: float, score: float) -> float:
    """The probability that a label with this score is right."""
    moved = sigmoid(intercept + math.exp(log_slope) * score)
    return kept * sigmoid(score) + (1.0 - kept) * moved


@step
def mapped_low(found: ConfidenceMap, score: float) -> float:
    """The same, or less, for one who does not want to be too sure.

    The map is one standard error lower than the truths say, and the odds that none is needed are
    divided by five.
    """
    slope = math.exp(found.log_slope)
    moved = slope * score
    p_aa = found.h_aa + 1.0 / (INTERCEPT_WIDTH * INTERCEPT_WIDTH)
    p_bb = found.h_bb + 1.0 / (SLOPE_WIDTH * SLOPE_WIDTH)
    det = p_aa * p_bb - found.h_ab * found.h_ab
    spread = (p_bb - 2.0 * moved * found.h_ab + moved * moved * p_aa) / det
    low = sigmoid(found.intercept + moved - math.sqrt(spread))
    kept = CAUTION * found.kept / (1.0 - found.kept + CAUTION * found.kept)
    least = kept * sigmoid(score) + (1.0 - kept) * low
    return min(least, mapped(found.kept, found.intercept, found.log_slope, score))


@step
def set_confidence(table: Array, row: int, classes: int, label: int, confidence: float) -> None:
    """Give the named class of a row a probability; the others share the rest as they did.

    The named class stays the most probable, by a hair at least: those tied with it get the same,
    all others less, and a probability below one in so many classes is taken for that.
    """
    if classes == 1:
        table[row, 0] = 1.0
        return
    top = table[row, label]
    tied = 0
    for other in range(classes):
        tied += abs(table[row, other] - top) < _TIE
    if tied == classes:
        return
    sure = min(max(confidence, (1.0 + 2.0 * _HAIR) / classes), 1.0 / tied)
    most = sure * (1.0 - _HAIR)
    left, mass, others = 1.0 - tied * sure, 0.0, 0
    # What would be above the named class is cut below it, and marked by its sign until all are
    # done; the rest of it goes to those below.
    for _ in range(classes):
        mass, others = 0.0, 0
        for other in range(classes):
            chance = table[row, other]
            if chance >= 0.0 and abs(chance - top) >= _TIE:
                mass += chance
                others += 1
        before = left
        for other in range(classes):
            chance = table[row, other]
            if chance > 0.0 and abs(chance - top) >= _TIE and chance / mass * before > most:
                table[row, other] = -1.0
                left -= most
        if left == before:
            break
    for other in range(classes):
        chance = table[row, other]
        if chance < 0.0:
            table[row, other] = most
        elif abs(chance - top) < _TIE:
            table[row, other] = sure
        elif mass > 0.0:
            table[row, other] = max(0.0, left) * (chance / mass)
        else:
            table[row, other] = max(0.0, left) / others


@kernel
def score_rows(table: Array, labels: Array, rows: Array, scores: Array) -> None:
    """Write the scores of the labels of some rows."""
    for at in range(len(rows)):
        scores[at] = score_in(table, rows[at], table.shape[1], labels[rows[at]])


@kernel
def map_rows(
    kept: float, intercept: float, log_slope: float, labels: Array, rows: Array, table: Array
) -> None:
    """Calibrate some rows of a table of probabilities, in place."""
    classes = table.shape[1]
    for at in range(len(rows)):
        row = rows[at]
        score = score_in(table, row, classes, labels[row])
        sure = mapped(kept, intercept, log_slope, score)
        set_confidence(table, row, classes, labels[row], sure)
