"""The report of a job: one page with the result, those who answered, the money, what to look at."""

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from askwise import figures
from askwise.campaign.views import WorkerSummary
from askwise.core.scoring import reliability, wilson_ends
from askwise.figures import Dot, Row
from askwise.lab import report
from askwise.labelling import words
from askwise.labelling.labels import LabelledItems
from askwise.labelling.words import Say

NamedCells = tuple[str, tuple[str, ...]]

WORKERS = ("kind", "answers", "failed", "right, or agrees", "95% interval", "judged by")
MONEY = ("per answer", "at most", "paid for answers", "paid for failures", "over the ceiling")
LOOK = ("label", "confidence", "answers", "shown")

LONGEST = 160
"""Characters that are shown of an item."""

FEWEST = 10
"""Audited labels from which on they are held against their confidence."""

BINS = 20
"""Of the histogram of confidence."""

SERIES = "labels"


def write_report(found: LabelledItems, path: str | os.PathLike[str]) -> Path:
    """Write the page; returns where it is."""
    file = Path(path)
    say = words.money_in(found.currency)
    content = found.campaign.content
    workers = [*found.judges, *found.people]
    look = list(_look(found))
    title = (content.title or content.question) if content is not None else found.campaign.name
    measured = [each for each in workers if not found.audits(each.id)]
    worker_figures, confidence_figures = list(_worker_figures(measured)), [_confidence(found)]
    return report.write_page(
        file.parent,
        "label.html",
        name=file.name,
        title=title,
        byline=f"{len(found.labels)} items",
        statement="" if found.certificate is None else found.certificate.statement,
        facts=list(_facts(found, say)),
        remarks=list(_remarks(found)),
        figures=[*worker_figures, *confidence_figures],
        worker_figures=worker_figures,
        workers_note=(
            "Judged by truths: the share of their answers that are right, where the truth is known."
            " By agreement: the share that is what most others said, which is not their accuracy."
        ),
        worker_columns=WORKERS,
        workers=[_worker(each, found.audits(each.id)) for each in workers],
        money_note=(
            "Per answer: what was paid for each, failures included. At most: what is reserved "
            "before a call, its ceiling. Over the ceiling: calls that cost more than was reserved."
        ),
        money_columns=MONEY,
        money=[_money(each, say) for each in workers],
        confidence_figures=confidence_figures,
        look_note="Labels neither certified nor known to be true, the least certain first.",
        look_columns=LOOK,
        look=look,
        more=words.more_money(found, say),
        how=list(_how(found)),
    )


def _facts(found: LabelledItems, say: Say) -> Iterator[tuple[str, str]]:
    yield "labelled", words.headline(found)
    yield "confidence", words.confidences(found)
    if found.contested:
        yield "contested", f"{found.contested}, {found.undecided} of them undecided"
    yield "spent", words.bill(found, say)
    yield "answers", str(found.status.answers)
    if found.status.failures:
        yield "failed calls", str(found.status.failures)
    yield "ended because", words.ended(found.end)


def _remarks(found: LabelledItems) -> Iterator[str]:
    if found.uncertified:
        yield words.uncertified(found)
    if said := words.undecided(found):
        yield said
    if found.rests_on().get("agreement"):
        yield (
            "Where confidence rests on agreement alone, judges that err together look surer than "
            "they are. Known truths or audits turn it into something that you can rely on."
        )
    for judge, why in found.outages.items():
        yield f"{judge} could not be asked at the end: {why}."
    for each in found.judges:
        if each.answered + each.failed and each.failed > each.answered:
            yield f"{each.id} failed more often than it answered: the table of workers says why."


def _worker(worker: WorkerSummary, audits: bool) -> NamedCells:
    family = "" if worker.family is None else f" ({worker.family})"
    kind = (worker.kind or "-") + family
    failed = str(worker.failed)
    if worker.failures:
        failed += " (" + ", ".join(f"{why} {n}" for why, n in worker.failures.items()) + ")"
    quality = worker.quality
    if quality is None or audits:
        # Those who audit would be measured by their own answers.
        return worker.id, (kind, str(worker.answered), failed, "-", "-", "-")
    basis = "truths" if quality.basis == "truth" else "agreement"
    return worker.id, (
        kind,
        str(worker.answered),
        failed,
        f"{quality.value:.3f}",
        f"[{quality.low:.3f}, {quality.high:.3f}]",
        f"{basis} ({quality.answers})",
    )


def _money(worker: WorkerSummary, say: Say) -> NamedCells:
    return worker.id, (
        "-" if worker.cost_an_answer is None else say(worker.cost_an_answer),
        "-" if worker.price is None else say(worker.price),
        say(worker.paid - worker.paid_for_failures),
        say(worker.paid_for_failures),
        str(worker.over_ceiling),
    )


def _worker_figures(workers: list[WorkerSummary]) -> Iterator[tuple[str, str]]:
    dots = [
        Dot(
            each.id,
            "by truths" if each.quality.basis == "truth" else "by agreement",
            each.quality.value,
            each.quality.low,
            each.quality.high,
        )
        for each in workers
        if each.quality is not None
    ]
    if dots:
        drawn = figures.draw_dots(
            dots,
            title="How often they are right, or agree with the others",
            x_label="share of their answers",
        )
        yield "With 95% intervals.", figures.svg_text(drawn)


def _confidence(found: LabelledItems) -> tuple[str, str]:
    """Confidence held against audits where there are enough, else its distribution."""
    sure, right = found.audited()
    if len(sure) >= FEWEST:
        rows = [
            Row(
                *("", SERIES, each.confidence, "share", each.right),
                *wilson_ends(each.right * each.tasks, each.tasks),
                each.tasks,
            )
            for each in reliability(np.array(sure), np.array(right, float))
        ]
        lowest = min(row.x for row in rows)
        drawn = figures.draw(
            rows,
            title="How often a label was right",
            metric="share",
            x_label="confidence before the audit",
            y_label="share that was right",
            reference=report.dashed(
                "as often right as confident", "share", (lowest, lowest), (1.0, 1.0)
            ),
            highlight=[SERIES],
        )
        caption = (
            f"The {len(sure)} labels whose truth came to be known, in groups of similar confidence."
        )
        return caption, figures.svg_text(drawn)
    known = [each.confidence or 0.0 for each in found.labels]
    counts, edges = np.histogram(known, bins=BINS, range=(0.0, 1.0))
    first = int(np.flatnonzero(counts)[0])
    rows = [
        Row("", SERIES, round(float(edge), 2), "labels", *(float(count),) * 3, 1)
        for edge, count in zip(edges[first:], counts[first:], strict=False)
    ]
    drawn = figures.draw(
        rows,
        title="How sure the labels are",
        metric="labels",
        x_label="confidence from",
        y_label="labels",
        kind="bars",
        highlight=[SERIES],
    )
    return f"Confidence: {words.confidences(found)}.", figures.svg_text(drawn)


def _look(found: LabelledItems) -> Iterator[NamedCells]:
    place = {id: at for at, id in enumerate(found.items.ids)}
    for each in found.to_look_at():
        shown = found.items.payload(place[each.id])
        text = " | ".join(map(str, shown.values())) if isinstance(shown, dict) else str(shown)
        text = " ".join(text.split())
        sure = "-" if each.confidence is None else f"{each.confidence:.2f}"
        short = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
        yield each.id, (each.label or "-", sure, str(each.answers), short)


def _how(found: LabelledItems) -> Iterator[tuple[str, str]]:
    content = found.campaign.content
    if content is not None:
        yield "question", content.question
        yield "options", ", ".join(content.names())
    yield "policy", found.status.policy
    yield "campaign", found.campaign.name
    yield "events in its log", str(found.status.seq)
