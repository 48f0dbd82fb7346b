"""A campaign that begins with what another one in its store showed of the workers.

Its policy has ``earlier="campaign:NAME"``. The name is replaced by the records of the workers when
the campaign is created, once: its log says all that it depends on, whatever becomes of the other.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from askwise.campaign.spec import Spec, make_spec
from askwise.core.errors import InvalidParameter, UnknownName
from askwise.core.events import Event
from askwise.core.registry import from_label
from askwise.policies.assured.earlier import records_in
from askwise.store import Store

PREFIX = "campaign:"
"""Of what stands for a campaign's records: its name follows."""

_EVENTS = 2_000
"""Events of a log that are read at a time."""


def make_spec_in(store: Store, raw: Mapping[str, Any]) -> Spec:
    """Build and check a Spec as ``make_spec``; the policy may name a campaign of the store.

    Raises
    ------
    InvalidParameter
        There is no such campaign, or it says nothing of these workers on such tasks.
    """
    policy = _read(raw.get("policy"))
    given = policy.get("earlier")
    if not isinstance(given, str) or not given.startswith(PREFIX):
        return make_spec(raw)
    name = given.removeprefix(PREFIX).strip()
    try:
        other = Spec.from_json(store.spec(name)).problem
    except UnknownName:
        raise _refused(given, f"there is no campaign {name!r} in this store") from None
    spec = make_spec({**raw, "policy": {**policy, "earlier": ()}})
    mine = spec.problem
    if not other.options:
        raise _refused(given, "its answers are numbers, and nobody is right or wrong")
    if sorted(other.options) != sorted(mine.options):
        raise _refused(
            given,
            f"its options are {', '.join(other.options)}, not {', '.join(mine.options) or 'any'}",
        )
    here = {worker.id for worker in mine.workers}
    records = records_in(_log(store, name))
    if not records:
        raise _refused(given, "no truth of a task with answers was told in it")
    records = [record for record in records if record[0] in here]
    if not records:
        raise _refused(
            given, "none of these workers has answered a task there whose truth is known"
        )
    return replace(spec, policy=replace(spec.policy, earlier=records))  # type: ignore[call-arg]


def _read(policy: Any) -> dict[str, Any]:
    """The parameters of a policy as it is given; nothing of one that is made already."""
    read = from_label(policy, "policy") if isinstance(policy, str) else policy
    return dict(read) if isinstance(read, Mapping) else {}


def _log(store: Store, name: str) -> Iterator[Event]:
    end = store.position(name)
    for after in range(0, end, _EVENTS):
        yield from store.read(name, after, min(after + _EVENTS, end))


def _refused(given: str, why: str) -> InvalidParameter:
    return InvalidParameter(
        f"earlier is {given!r}: {why}; give 'campaign:NAME' of a campaign in which these workers "
        "answered such tasks, and truths were told",
        field="earlier",
    )
