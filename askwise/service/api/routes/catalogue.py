"""What a campaign or a judge may name: policies, rules, aggregators, mechanisms, sources."""

from functools import cache
from typing import Any

from askwise.aggregation import aggregation
from askwise.core.catalogue import EntryInfo, entries_of
from askwise.core.registry import Registry
from askwise.mechanisms import mechanisms
from askwise.policies import policies
from askwise.service.api import dependencies as d
from askwise.service.api.shapes import replies
from askwise.service.json_reply import JsonReply
from askwise.sources import sources
from askwise.stopping import stopping

router = d.group("catalogue")


@cache
def _entries(registry: Registry[Any]) -> list[EntryInfo]:
    # What is installed does not change while the service runs.
    return entries_of(registry)


@router.get("/policies", reply=replies.EntriesShape)
def list_policies(caller: d.Viewer, page: d.Page) -> JsonReply:
    """The policies that a campaign may name, and their parameters."""
    return JsonReply(page.cut(_entries(policies)))


@router.get("/rules", reply=replies.EntriesShape)
def list_rules(caller: d.Viewer, page: d.Page) -> JsonReply:
    """The stopping rules that a campaign may name as `stopping`, and their parameters."""
    return JsonReply(page.cut(_entries(stopping)))


@router.get("/aggregators", reply=replies.EntriesShape)
def list_aggregators(caller: d.Viewer, page: d.Page) -> JsonReply:
    """The aggregators that a campaign may name as `aggregation`, and their parameters."""
    return JsonReply(page.cut(_entries(aggregation)))


@router.get("/mechanisms", reply=replies.EntriesShape)
def list_mechanisms(caller: d.Viewer, page: d.Page) -> JsonReply:
    """The mechanisms that a campaign may name, and their parameters."""
    return JsonReply(page.cut(_entries(mechanisms)))


@router.get("/sources", reply=replies.EntriesShape)
def list_sources(caller: d.Viewer, page: d.Page) -> JsonReply:
    """The kinds of sources that a judge of the service may have, and their parameters."""
    return JsonReply(page.cut(_entries(sources)))
