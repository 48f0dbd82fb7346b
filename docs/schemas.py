"""Write the JSON schemas of the reference: ``python -m docs.schemas``.

A schema follows from the types that the JSON is written from, and from their docstrings: change
these, not the file.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from askwise.auditing.cards import ReportCard
from askwise.auditing.certificates import Certificate
from askwise.campaign import views
from askwise.cli.checkups import Checkup
from askwise.cli.described import (
    DescribedAggregator,
    DescribedMechanism,
    DescribedPolicy,
    DescribedRule,
)
from askwise.core import errors
from askwise.core.choices import Assignment, Batch, Done, Wait
from askwise.core.event_fields import event_schema
from askwise.core.schemas import Schema, SchemaMaker
from askwise.lab.planning.plan import Plan
from askwise.lab.rehearsing.plan import CampaignPlan
from askwise.lab.replaying.outcome import Replay
from askwise.service.api.shapes.replies import ErrorShape, ProblemShape
from docs.campaign_schema import campaign_schema

REFERENCE = Path(__file__).resolve().parent / "reference"


def name_of(kind: Any) -> str:
    """What a class is called in a schema: an ``ErrorShape`` is an ``Error``."""
    return str(kind.__name__).removesuffix("Shape")


@dataclass(frozen=True)
class Published:
    """A schema of the reference: what it is of, and how that is called."""

    kind: Any
    title: str
    description: str
    make: Callable[[SchemaMaker], Schema] | None = None
    """How it is made, where a type alone does not say it."""

    def schema(self) -> Schema:
        """The schema as a document."""
        maker = SchemaMaker(name_of=name_of)
        said = {"title": self.title, "description": self.description}
        if self.make is not None:
            return maker.document(self.make(maker), **said)
        return maker.document(maker.of(self.kind), **said)


def _error(maker: SchemaMaker) -> Schema:
    made = maker.of(ErrorShape)
    codes = [*_codes(errors.AskwiseError), *CLI_CODES]
    maker.named[name_of(ProblemShape)]["properties"]["code"]["enum"] = codes
    return made


def _codes(error: type[errors.AskwiseError]) -> Iterator[str]:
    yield error.code
    for below in error.__subclasses__():
        if below.__module__ == errors.__name__:  # others are of the service and its client
            yield from _codes(below)


CLI_CODES = ("file_error", "usage")
"""Codes of errors that only commands have."""

PUBLISHED: dict[str, Published] = {
    "agreement": Published(
        views.Agreement,
        "How far the answers of a campaign agree",
        "Output of `askwise agreement NAME --json`.",
    ),
    "answers": Published(
        list[views.Answer],
        "What is known of each task",
        "Output of `askwise answers NAME --json`.",
    ),
    "ask": Published(Batch | Wait | Done, "What ask gives", "Output of `askwise ask NAME --json`."),
    "assignments": Published(
        list[Assignment], "What is out", "Output of `askwise assignments NAME --json`."
    ),
    "campaign": Published(
        None, "A campaign as TOML", "What `askwise new SPEC.toml` takes.", campaign_schema
    ),
    "campaign-certificate": Published(
        views.CampaignCertificate,
        "What audits show of a campaign's labels",
        "Output of `askwise certificate NAME --json`.",
    ),
    "certificate": Published(
        Certificate, "What audits show of labels", "Output of `askwise certify LABELS --json`."
    ),
    "check": Published(
        ReportCard,
        "The report card of judges",
        "Output of `askwise check --json`, and its `check.json`.",
    ),
    "doctor": Published(
        Checkup, "What is installed and set up", "Output of `askwise doctor --json`."
    ),
    "event": Published(
        None, "One event of a log", "One line of `askwise log NAME --json`.", event_schema
    ),
    "explanation": Published(
        views.Explanation,
        "Why an assignment was made",
        "Output of `askwise explain ASSIGNMENT --json`.",
    ),
    "judges": Published(
        views.JudgesReport,
        "The models among the workers of a campaign",
        "Output of `askwise judges NAME --json`.",
    ),
    "payments": Published(
        list[views.Payment],
        "What each worker has earned",
        "Output of `askwise payments NAME --json`.",
    ),
    "payouts": Published(
        list[views.Payout],
        "What was marked as paid",
        "Output of `askwise payouts NAME --json`.",
    ),
    **{
        name: Published(
            list[kind],  # type: ignore[valid-type]
            title,
            f"Output of `askwise {name} --json`; `askwise {name} show NAME --json` prints one.",
        )
        for name, kind, title in (
            ("policies", DescribedPolicy, "The policies"),
            ("rules", DescribedRule, "The stopping rules"),
            ("aggregators", DescribedAggregator, "The aggregators"),
            ("mechanisms", DescribedMechanism, "The mechanisms"),
        )
    },
    "error": Published(
        None,
        "What went wrong",
        "The line on stderr of any command with `--json` that fails (exit code 2).",
        _error,
    ),
    "pilot": Published(
        views.PilotReport,
        "What a pilot has shown of its workers",
        "Output of `askwise pilot NAME --json`, and of `GET /campaigns/{name}/pilot`.",
    ),
    "plan": Published(
        Plan | CampaignPlan,
        "What a campaign will cost",
        "Output of `askwise plan --json`, and its `plan.json`.",
    ),
    "replay": Published(
        Replay,
        "What a policy would have cost",
        "Output of `askwise replay --json`, and its `replay.json`.",
    ),
    "workers": Published(
        list[views.WorkerSummary],
        "The workers of a campaign",
        "Output of `askwise workers NAME --json`.",
    ),
    "results": Published(
        views.CampaignResults,
        "What a campaign has come to",
        "Output of `askwise results NAME --json`.",
    ),
    "status": Published(
        views.Status,
        "A campaign at a glance",
        "Output of `askwise status NAME --json`, and of every command that writes.",
    ),
    "worker": Published(
        views.WorkerReport,
        "One worker in full",
        "Output of `askwise worker NAME WORKER --json`.",
    ),
}


def written(name: str) -> str:
    """The text of a schema's file."""
    return json.dumps(PUBLISHED[name].schema(), indent=2, ensure_ascii=False) + "\n"


def write(folder: Path = REFERENCE) -> list[Path]:
    """Write all schemas; returns their files."""
    files = []
    for name in PUBLISHED:
        file = folder / f"{name}.schema.json"
        file.write_text(written(name), encoding="utf-8")
        files.append(file)
    return files


if __name__ == "__main__":
    for made in write():
        sys.stdout.write(f"{made.name}\n")
