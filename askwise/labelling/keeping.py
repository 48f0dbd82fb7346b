"""What a store keeps of a job beside its campaign: which campaign, which items, which command."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from askwise.campaign import Campaign
from askwise.core.errors import Conflict, UnknownName
from askwise.ledger import columns as c
from askwise.store import Change, Store

RECORD = "labelling"
"""The kind of these records."""


@dataclass(frozen=True, slots=True)
class KeptJob:
    """A job in a store.

    Attributes
    ----------
    campaign : str
        The name of its campaign.
    items : str
        The digest of its items.
    command : mapping or None
        What a command was given that began it.
    """

    campaign: str
    items: str
    command: dict[str, Any] | None


def kept_job(store: Store, name: str) -> KeptJob | None:
    """The job of this name, if there is one."""
    found = store.record(RECORD, name)
    return None if found is None else KeptJob(**json.loads(found.body))


def refuse_begun(store: Store, name: str) -> None:
    """Refuse the name of a job that was begun, or of another campaign.

    Raises
    ------
    Conflict
        There is a job with answers, or a campaign that is not a job, of this name.
    """
    taken, known = store.names(), kept_job(store, name)
    if known is None:
        if name in taken:
            raise Conflict(
                f"there is a campaign {name!r} that is not a labelling job: choose another name or "
                "store",
                field="name",
                reason="campaign_exists",
            )
    elif known.campaign in taken and is_begun(store, known.campaign):
        raise Conflict(
            f"the job {name!r} was started before: resume it (--resume), or start another under "
            "another name or in another store (--name, --out, --store)",
            field="resume",
            reason="campaign_exists",
        )


def keep_job(
    store: Store,
    name: str,
    items: str,
    command: dict[str, Any] | None,
    is_same: Callable[[str], bool] = lambda campaign: False,
) -> KeptJob:
    """Keep a job, in place of one that was given no answer; says how to call its campaign.

    That is the campaign of the job before, if ``is_same`` says that it can be used. Kept before
    there is a campaign, so that no campaign is without its job.

    Raises
    ------
    Conflict
        There is a job with answers, or a campaign that is not a job, of this name.
    """
    refuse_begun(store, name)
    taken, before, known = store.names(), store.record(RECORD, name), kept_job(store, name)
    free, number = name, 1
    if known is not None and known.campaign in taken and is_same(known.campaign):
        free = known.campaign
    else:
        while free in taken:
            number += 1
            free = f"{name}-{number}"
    job = KeptJob(free, items, command)
    body = json.dumps(asdict(job))
    if not store.change([Change(RECORD, name, None if before is None else before.body, body)]):
        raise Conflict(f"the job {name!r} is being started by another process", field="name")
    return job


def job_to_resume(store: Store, name: str, items: str, source: str) -> KeptJob:
    """The job of this name, about these items.

    Raises
    ------
    UnknownName
        There is none.
    Conflict
        It is about other items.
    """
    kept = kept_job(store, name)
    if kept is None:
        raise UnknownName(
            f"there is no job {name!r} to resume: start one without resume",
            field="resume",
            reason="unknown_campaign",
        )
    if kept.items != items:
        raise Conflict(
            f"{source} has other items than the job {name!r} was started with: restore them, or "
            "start another job",
            field="items",
        )
    return kept


def is_begun(store: Store, campaign: str) -> bool:
    """Whether anybody has answered, was paid or is being asked in a campaign."""
    with Campaign.open(store, campaign).reading() as state:
        total = state.ledger.total
        return bool(total(c.ANSWERS) or total(c.PENDING) or total(c.SPENT))
