"""What a campaign has come to: its results, agreement, one worker in full, its judges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from askwise.cli import output
from askwise.cli.examples import examples
from askwise.cli.opening import open_campaign
from askwise.cli.options import DEFAULT_STORE, AsJson, Name, StoreUrl, argument

if TYPE_CHECKING:
    from collections.abc import Sequence

    from askwise.auditing import Interval
    from askwise.campaign.views import (
        Agreement,
        Answer,
        CampaignResults,
        JudgesReport,
        MeasuredAccuracy,
        WorkerReport,
    )

WorkerName = Annotated[str, argument("WORKER", "The worker's id.")]


@examples("askwise results cats")
def results(name: Name, store: StoreUrl = DEFAULT_STORE, as_json: AsJson = False) -> None:
    """Show what the labels are, what they rest on and how many are right."""
    campaign = open_campaign(store, name)
    found = campaign.results()
    if as_json:
        output.show_json(found.to_json())
    elif output.for_people():
        output.show(output.grid(_facts(found, campaign.answers())))
        if found.labels:
            labelled = sum(found.labels.values())
            rows = [
                [option, count, f"{count / labelled:.0%}" if labelled else ""]
                for option, count in found.labels.items()
            ]
            output.show("", output.table(["label", ">tasks", ">share"], rows))
    else:
        for field, value in found.to_json().items():
            if field not in ("labels", "audited", "known"):
                output.line(field, value)
        for field, share in (("audited", found.audited), ("known", found.known)):
            if share is not None:
                output.line(field, share.right, share.tasks, *output.ends_of(share.share))
        for option, count in found.labels.items():
            output.line("label", option, count)


def _facts(found: CampaignResults, answers: Sequence[Answer]) -> list[tuple[str, Any]]:
    from askwise.campaign.views.results import single_answers

    single = single_answers(answers)
    counted = [
        ("certified", found.certified),
        ("calibrated", found.calibrated),
        ("by agreement only", found.agreed - single),
        ("from one answer each", single),
        ("truth told", found.told),
        ("set by hand", found.by_hand),
        ("unlabelled", found.unlabelled),
    ]
    labels = ", ".join(f"{count} {word}" for word, count in counted if count)
    facts: list[tuple[str, Any]] = [("labels", labels or "none yet")]
    facts.append(("right", _accuracy(found)))
    if found.target_error is not None:
        facts.append(("target", f"at most {found.target_error:.1%} wrong"))
    looks = f"{found.contested} contested, {found.flagged} flagged"
    return [*facts, ("for review", looks)]


def _accuracy(found: CampaignResults) -> str:
    """What is known of how many labels are right; agreement is never told as accuracy."""
    said = []
    if found.audited is not None:
        said.append(f"{_measured(found.audited)}, drawn at random")
    elif found.known is not None:
        said.append(f"{_measured(found.known)}, not drawn at random")
    if found.expected is not None:
        said.append(f"{found.expected:.1%} of the calibrated labels expected")
    return "; ".join(said) or "not known: no truths were told"


def _measured(found: MeasuredAccuracy) -> str:
    return (
        f"the vote is right on {found.right} of {found.tasks} tasks with known truth, "
        f"{percents(found.share)}"
    )


@examples("askwise agreement cats")
def agreement(name: Name, store: StoreUrl = DEFAULT_STORE, as_json: AsJson = False) -> None:
    """Show how far answers to the same tasks agree, with 95% intervals."""
    found = open_campaign(store, name).agreement()
    output.show_found(found, as_json, screen=_show_agreement, lines=_print_agreement)


def _print_agreement(found: Agreement) -> None:
    output.line("tasks", found.tasks)
    output.line("answers", found.answers)
    output.line("agreement", *output.ends_of(found.agreement))
    output.line("alpha", *output.ends_of(found.alpha))


def _show_agreement(found: Agreement) -> None:
    alpha = found.alpha
    facts = [
        ("agreement", percents(found.agreement) or "not known: no task has two answers"),
        ("alpha", "" if alpha is None else f"{alpha.value:.3f} ({alpha.low:.3f} to "
                                            f"{alpha.high:.3f})"),
        ("over", f"{found.answers} answers to {found.tasks} tasks with two or more"),
    ]  # fmt: skip
    output.show(output.grid(facts))


@examples("askwise worker cats ann")
def worker(
    name: Name, worker: WorkerName, store: StoreUrl = DEFAULT_STORE, as_json: AsJson = False
) -> None:
    """Show one worker in full: quality over time, mistakes, contexts, pace."""
    found = open_campaign(store, name).worker(worker)
    output.show_found(found, as_json, screen=_show_worker, lines=_print_worker)


def _print_worker(found: WorkerReport) -> None:
    output.line("worker", found.worker.id, found.worker.answered, found.worker.paid)
    output.line("basis", found.basis)
    for block in found.blocks:
        output.line("block", block.first, block.last, *output.ends_of(block.quality))
    for each in found.confusion:
        output.line("said", each.expected, each.said, each.count)
    for context in found.contexts:
        output.line("context", context.context, context.answers, context.judged,
                    *output.ends_of(context.quality))  # fmt: skip
    if found.pace is not None:
        pace = found.pace
        output.line("pace", pace.answers, found.worker.seconds_an_answer, pace.answers_an_hour)


def _show_worker(found: WorkerReport) -> None:
    summary, pace = found.worker, found.pace
    held = {"truth": "known truths", "agreement": "agreement with others", "utility": "their mean"}
    facts: list[tuple[str, Any]] = [
        ("worker", summary.id),
        ("answers", f"{summary.answered}, {summary.out} open"),
        ("earned", summary.paid),
        ("quality by", held[found.basis]),
    ]
    if summary.seconds_an_answer is not None:
        facts.append(("an answer takes", f"{summary.seconds_an_answer:.0f} s"))
    if pace is not None and pace.answers_an_hour is not None:
        facts.append(("pace", f"{pace.answers_an_hour:.0f} answers per hour"))
    output.show(output.grid(facts))
    rows = [
        [f"{each.first} to {each.last}", _written(each.quality, found)] for each in found.blocks
    ]
    output.show("", output.table(["answers", "quality"], rows))
    if found.confusion:
        rows = [[each.expected, each.said, str(each.count)] for each in found.confusion]
        output.show("", output.table(["expected", "said", ">times"], rows))
    if found.contexts:
        rows = [
            [each.context or "", str(each.answers), _written(each.quality, found)]
            for each in found.contexts
        ]
        output.show("", output.table(["context", ">answers", "quality"], rows))


@examples("askwise judges panel")
def judges(name: Name, store: StoreUrl = DEFAULT_STORE, as_json: AsJson = False) -> None:
    """Show the models among the workers: against people, and together."""
    found = open_campaign(store, name).judges()
    output.show_found(found, as_json, screen=_show_judges, lines=_print_judges)


def _print_judges(found: JudgesReport) -> None:
    output.line("tasks", found.tasks)
    output.line("worth", *output.ends_of(_worth(found)))
    for each in found.judges:
        output.line("judge", each.id, each.family, each.answers, each.failed,
                    each.cost_an_answer, *output.ends_of(each.with_people), each.compared,
                    *output.ends_of(each.accuracy), each.truths)  # fmt: skip
    for family in found.families:
        output.line("family", family.family, *output.ends_of(family.excess), family.suspicious)


def _worth(found: JudgesReport) -> Interval | None:
    """How many judges that err independently they are worth together."""
    return None if found.panel is None else found.panel.effective


def _show_judges(found: JudgesReport) -> None:
    panel = _worth(found)
    worth = "not known" if panel is None else f"{panel.value:.1f} that err independently"
    output.show(output.grid([("judges", len(found.judges)), ("worth", worth)]))
    columns = ["judge", "family", ">answers", ">failed", ">cost per answer"]
    rows = [
        [each.id, each.family, each.answers, each.failed, each.cost_an_answer,
         percents(each.with_people), percents(each.accuracy), each.truths]
        for each in found.judges
    ]  # fmt: skip
    columns += ["agrees with people", "right", ">of truths"]
    output.show("", output.table(columns, rows))


def _written(quality: Interval | None, found: WorkerReport) -> str:
    if quality is None or found.basis != "utility":
        return percents(quality)
    return f"{quality.value:.4g} ({quality.low:.4g} to {quality.high:.4g})"


def percents(interval: Interval | None) -> str:
    """An estimate and its interval, in percent."""
    if interval is None:
        return ""
    return f"{interval.value:.0%} ({interval.low:.0%} to {interval.high:.0%})"
