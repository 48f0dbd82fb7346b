"""``askwise certify``: what may be believed of labels, by auditing some drawn at random."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from askwise.cli import output
from askwise.cli.examples import examples
from askwise.cli.options import AsJson, argument, option, switch
from askwise.core.errors import InvalidParameter

if TYPE_CHECKING:
    from askwise.auditing import AuditDraw, Certificate

DEFAULTS = {"error": 0.05, "confidence": 0.9}


@examples(
    "askwise certify labelled.csv --draw 10 --error 0.3 --out draw.csv",
    "askwise certify labelled.csv --draw-file drawn.csv --audit audits.csv --next 10",
)
def certify(
    labels: Path = argument(
        "LABELS",
        "A table with the columns task, label and score (or confidence): higher is surer. What "
        "aggregate --out writes works.",
    ),
    draw: int | None = option(
        None,
        "N",
        "Draw tasks to audit, at most this many, and write the draw to --out. A number too small "
        "to certify anything is refused. With --escalate you may leave it out: the command then "
        "plans the number that is expected to cost least.",
    ),
    error: float | None = option(
        None, "SHARE", "Share of labels that may be wrong; 0.05 by default."
    ),
    confidence: float | None = option(
        None, "SHARE", "Confidence of the statement; 0.9 by default."
    ),
    seed: int | None = option(None, "S", "Seed of the draw; random by default."),
    escalate: bool = switch(
        "--escalate",
        "Answers of the trusted source will replace labels that are not certified: the statement "
        "is about all labels.",
    ),
    at_once: bool = switch(
        "--at-once", "Make all N audits before looking at any, rather than one after the other."
    ),
    out: Path | None = option(None, "FILE", "Write the draw here."),
    draw_file: Path | None = option(None, "FILE", "The draw, as --draw wrote it."),
    audit: Path | None = option(
        None,
        "FILE",
        "What the trusted source said (task, label): an empty label counts as an error.",
    ),
    next_ones: int | None = option(
        None, "N", "Print the next tasks to audit, at most this many.", "--next"
    ),
    as_json: AsJson = False,
) -> None:
    """Certify that at most a given share of labels is wrong, by audits of tasks drawn at random.

    First draw, then audit in the order that --next gives, then read the statement. The statement
    assumes nothing about those who gave the labels.
    """
    from askwise import auditing
    from askwise.data.audits import read_audits, read_scored
    from askwise.data.columns import read_columns, write_columns

    given = {"--error": error, "--confidence": confidence, "--seed": seed}
    planned = escalate and draw_file is None and audit is None and next_ones is None
    if draw is not None or planned:
        _refuse({"--draw-file": draw_file, "--audit": audit, "--next": next_ones}, "--draw")
        if out is None:
            raise InvalidParameter("out is missing: say where the draw goes, --out", field="out")
        if out.exists():
            raise InvalidParameter(
                f"out is {str(out)!r}, which exists already: a draw is made once, so give another "
                "name",
                field="out",
            )
        scored = read_scored(labels)
        error = DEFAULTS["error"] if error is None else error
        confidence = DEFAULTS["confidence"] if confidence is None else confidence
        if draw is None:
            plan = auditing.plan_audits(len(scored), error=error, confidence=confidence)
            draw = plan.audits
            output.console(stderr=True).print(plan.why, highlight=False)
        drawn = auditing.draw(
            scored,
            error=error,
            confidence=confidence,
            audits=draw,
            seed=_random_seed() if seed is None else seed,
            escalate=escalate,
            at_once=at_once,
        )
        found = auditing.certify(scored, drawn, {})
        if found.outcome == "hopeless":
            raise InvalidParameter(
                f"draw is {draw}: fewer than {found.fewest:,} audits certify nothing, even if all "
                f"labels are right; give {found.fewest} or more, or another --error or "
                "--confidence",
                field="draw",
            )
        write_columns(out, drawn.columns())
        output.show_found(found, as_json, screen=_show, lines=_print_lines, files=[out])
        return
    if draw_file is None:
        raise InvalidParameter(
            "draw is missing: draw tasks to audit with --draw N --out FILE (with --escalate N is "
            "planned), or give --draw-file",
            field="draw",
        )
    _refuse({"--out": out}, "--draw-file")
    scored = read_scored(labels)
    table = read_columns(draw_file, auditing.COLUMNS)
    drawn = auditing.drawn_before(scored, table.cells, str(draw_file))
    _same_as_recorded(drawn, given, {"escalate": escalate, "at_once": at_once})
    truths = {} if audit is None else read_audits(audit)
    found = auditing.certify(scored, drawn, truths, ahead=1 if next_ones is None else next_ones)
    output.show_found(found, as_json, screen=_show, lines=_print_lines)


def _random_seed() -> int:
    import secrets

    return secrets.randbits(31)


def _refuse(given: dict[str, object], beside: str) -> None:
    for name, value in given.items():
        if value is not None:
            raise InvalidParameter(
                f"{name} can't be combined with {beside}: leave one of them out",
                field=name.removeprefix("--").replace("-", "_"),
            )


def _same_as_recorded(
    drawn: AuditDraw, given: dict[str, float | None], asked: dict[str, bool]
) -> None:
    recorded = {"--error": drawn.error, "--confidence": drawn.confidence, "--seed": drawn.seed}
    for name, value in given.items():
        if value is not None and value != recorded[name]:
            field = name.removeprefix("--")
            raise InvalidParameter(
                f"{field} is {value!r}, and the draw was made for {recorded[name]!r}: leave {name} "
                "out, or draw again",
                field=field,
            )
    for field, value in asked.items():
        if value and not getattr(drawn, field):
            switched = f"--{field.replace('_', '-')}"
            raise InvalidParameter(
                f"{field}: the draw was made without; leave {switched} out, or draw again",
                field=field,
            )


def _facts(found: Certificate) -> list[tuple[str, object]]:
    return [
        ("tasks", found.tasks),
        ("audited", found.audited),
        ("wrong", found.wrong),
        ("certified", len(found.certified)),
        ("outcome", found.outcome),
    ]


def _print_lines(found: Certificate) -> None:
    """One fact per line, for programs that read lines."""
    for name, value in _facts(found):
        output.line(name, value)
    for each in found.sets:
        output.line("set", each.size, each.allowed, each.audited, each.wrong, each.certified)
    for task in found.next:
        output.line("next", task)
    output.line("statement", found.statement)


def _show(found: Certificate) -> None:
    from rich.text import Text

    output.show(Text(found.statement, style="bold"), "")
    output.show(
        output.table(
            (">surest", ">may be wrong", ">audited", ">found wrong", "certified"),
            (
                (each.size, each.allowed, each.audited, each.wrong, "yes" if each.certified else "")
                for each in found.sets
            ),
        )
    )
    if found.next:
        output.show(Text("\nAudit next:", style="bold"), *found.next)
