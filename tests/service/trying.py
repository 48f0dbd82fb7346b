"""Schemathesis on the service: what it tries, and what is checked besides.

A module of its own, imported when it is used: it takes seconds, in every process of a run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import schemathesis
from schemathesis.checks import CHECKS
from schemathesis.config import HealthCheck, ProjectsConfig, SchemathesisConfig
from schemathesis.engine import events, from_schema
from schemathesis.python.asgi import shutdown_lifespans

from askwise.service.routing.application import Application

__all__ = ["names_of_checks", "run", "shutdown_lifespans"]


@schemathesis.check
def refused_for_its_shape(ctx: Any, response: Any, case: Any) -> bool | None:
    """Data that fit the schema are not called invalid by the reader of requests."""
    if case.meta is None or not case.meta.generation.mode.is_positive:
        return None
    if response.status_code in (400, 415, 422):
        code = response.json()["error"]["code"]
        assert code not in ("bad_request", "unsupported_media_type", "invalid_request"), code
    return None


@schemathesis.check
def one_shape(ctx: Any, response: Any, case: Any) -> bool | None:
    """Every error has the one shape, also on addresses and methods that are not there."""
    if response.status_code >= 400:
        body = response.json()
        assert set(body) == {"error"}
        assert set(body["error"]) == {"code", "reason", "message", "field"}
    return None


def names_of_checks() -> set[str]:
    """All that there are."""
    return {*CHECKS.get_all_names()}


def run(
    app: Application,
    key: str,
    examples: int,
    phases: Sequence[str],
    undecided: Sequence[str],
    briefly: Sequence[str] = (),
    by_example: Sequence[str] = (),
) -> tuple[Counter[int], set[str]]:
    """Let Schemathesis try; fails with what it found.

    Counts the replies by status, and names the checks that looked at them. Whether data are
    accepted is not asked of the ``undecided`` operations; of the ones to be tried ``briefly`` not
    every value at the edge of a schema is, and ``by_example`` only the values of the description.
    """
    every = ("examples", "coverage", "fuzzing", "stateful")
    project = {
        "headers": {"Authorization": f"Bearer {key}"},
        "generation": {"max-examples": examples, "deterministic": True, "database": "none"},
        "phases": {phase: {"enabled": phase in phases} for phase in every},
        "operations": [
            {
                "include-operation-id": list(undecided),
                "checks": {"positive_data_acceptance": {"enabled": False}},
            },
            *(
                {
                    "include-operation-id": list(named),
                    "phases": {phase: {"enabled": False} for phase in left_out},
                }
                for named, left_out in (
                    (briefly, ("coverage",)),
                    (by_example, ("coverage", "fuzzing")),
                )
                if named
            ),
        ],
    }
    config = SchemathesisConfig(
        seed=1,
        suppress_health_check=[HealthCheck.all],
        projects=ProjectsConfig.from_dict(project),
    )
    schema = schemathesis.openapi.from_asgi("/openapi.json", app, config=config)
    found: dict[tuple[str | None, str], str] = {}
    replies: Counter[int] = Counter()
    looked: set[str] = set()
    for event in from_schema(schema).execute():
        if isinstance(event, events.NonFatalError | events.FatalError):
            found[str(event), "error"] = repr(event)
        recorder = getattr(event, "recorder", None)
        if recorder is None:
            continue
        for call in recorder.interactions.values():
            assert call.response is not None, call
            replies[call.response.status_code] += 1
        for id, checks in recorder.checks.items():
            for check in checks:
                looked.add(check.name)
                if check.failure_info is not None:
                    failure = check.failure_info.failure
                    reply = recorder.interactions[id].response
                    found.setdefault(
                        (failure.operation, check.name),
                        f"{failure.operation} {check.name}: {failure.title}: {failure.message}\n"
                        f"{check.failure_info.code_sample}\n"
                        f"{reply.status_code} {reply.content[:500]!r}",
                    )
    assert not found, "\n\n".join(found.values())
    return replies, looked
