"""The records of a store that belong to a campaign: what goes with it, and where workers are named.

They are the service's: tokens, who is away, webhooks and what waits to be sent, notes of requests,
studies on Prolific. The shell reads and changes them too, where no service is installed.
"""

import json
from collections.abc import Callable, Iterator

from askwise.store import Change, Record, Store
from askwise.store.records import (
    ABSENCES,
    CREATIONS,
    DELIVERED,
    DELIVERIES,
    HOOK_CURSORS,
    HOOK_LANES,
    HOOKS,
    RUNS,
    STUDIES,
    STUDY_BONUSES,
    STUDY_DOORS,
    STUDY_SESSIONS,
    STUDY_WORKERS,
    TOKENS,
)

_BY_WORKER = (ABSENCES, STUDY_WORKERS)
"""Kinds whose ids are a campaign's name and a worker."""


def records_of(store: Store, name: str) -> Iterator[Record]:
    """Every record that is about one campaign alone."""
    for kind, field in (
        (TOKENS, "campaign"),
        (DELIVERIES, "campaign"),
        (DELIVERED, "campaign"),
        (CREATIONS, "name"),
        (STUDY_DOORS, "campaign"),
    ):
        yield from (each for each in store.records(kind) if _says(each, field) == name)
    for kind in (*_BY_WORKER, STUDIES, STUDY_SESSIONS, STUDY_BONUSES):
        yield from store.records(kind, prefix=f"{name}/")
    own = {each.id for each in store.records(HOOKS) if _says(each, "campaign") == name}
    yield from (each for each in store.records(HOOKS) if each.id in own)
    yield from (each for each in store.records(HOOK_LANES) if each.id in own)
    for each in store.records(HOOK_CURSORS):
        hook, _, campaign = each.id.partition("/")
        if campaign == name or hook in own:
            yield each
    run = store.record(RUNS, name)
    if run is not None:
        yield run
    # Of what runs beside the runner, such as a bridge to an annotation tool.
    yield from store.records(RUNS, prefix=f"{name}/")


def removals(store: Store, name: str) -> list[Change]:
    """The changes that remove them all."""
    return [Change(each.kind, each.id, each.body, None) for each in records_of(store, name)]


def renamings(
    store: Store, name: str, old: str, new: str, rewritten: Callable[[str], str]
) -> list[Change]:
    """The changes that call a worker ``new`` in them; ``rewritten`` does it in a text of JSON."""
    changes: list[Change] = []
    for each in records_of(store, name):
        if each.kind in _BY_WORKER:
            if each.id == f"{name}/{old}":
                changes.append(Change(each.kind, each.id, each.body, None))
                changes.append(Change(each.kind, f"{name}/{new}", None, each.body))
            continue
        body = json.loads(each.body)
        if each.kind == TOKENS and body["worker"] == old:
            # The label of a worker's token is their id.
            body |= {"worker": new, "label": new}
        elif each.kind == STUDY_SESSIONS and body["worker"] == old:
            body["worker"] = new
        elif each.kind == STUDY_BONUSES:
            body["rows"] = [
                [submission, new if worker == old else worker, amount]
                for submission, worker, amount in body["rows"]
            ]
        elif each.kind in (DELIVERIES, DELIVERED):
            body["body"] = rewritten(body["body"])
            if body["said"] is not None:
                body["said"] = body["said"].replace(old, new)
        if body != json.loads(each.body):
            changes.append(Change(each.kind, each.id, each.body, json.dumps(body)))
    return changes


def _says(record: Record, field: str) -> object:
    return json.loads(record.body).get(field)
