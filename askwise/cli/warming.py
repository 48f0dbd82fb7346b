"""What ``askwise warm`` runs: small campaigns in which all that live ones run is compiled."""

from collections.abc import Callable
from functools import partial

from askwise.aggregation import aggregation
from askwise.campaign import folding
from askwise.campaign.state import CampaignState
from askwise.campaign.views import Timeline
from askwise.core.errors import InvalidParameter
from askwise.core.events import Kind
from askwise.core.registry import from_label
from askwise.policies import KernelPolicy, Policy, policies
from askwise.stopping import stopping
from askwise.store.event_rows import columns_of, pack
from askwise.testing.rules import scenes_of
from askwise.testing.scenes import RULED, VOTES, scenes_for
from askwise.testing.sessions import Session, play, spec_of_campaign, start

SCRIPT = tuple((7 * number + number // 5) % 61 for number in range(90))
"""What happens in the campaigns: with these numbers, every kind of event."""

WarmedPart = tuple[str, Callable[[], None]]
"""The name of something that live campaigns run, and a small campaign or more that runs it."""


def policy_part(label: str) -> WarmedPart:
    """The part that a policy is."""
    policy = policies.make(from_label(label))
    if not scenes_for(policy):
        raise InvalidParameter(
            f"policy {policy.name!r} can't run in a live campaign without parameters: give them, "
            f"as in '{policy.name}(KEY=VALUE)'",
            field="policy",
        )
    return label, partial(_run_policy, policy)


def all_parts() -> list[WarmedPart]:
    """All policies that compile, rules and aggregators."""
    made = [policies.make(name) for name in policies.names()]
    compiled = [each for each in made if isinstance(each, KernelPolicy) and each.compiles]
    return [
        *((each.name, partial(_run_policy, each)) for each in compiled if scenes_for(each)),
        *((f"rule {name}", partial(_run_rule, name)) for name in stopping.names()),
        *((f"aggregator {name}", partial(_run_aggregator, name)) for name in aggregation.names()),
    ]


def _run_policy(policy: Policy) -> None:
    """Play small campaigns with all that may happen, look at them, and fold their logs again."""
    for scene in scenes_for(policy):
        _look_at(play(policy, scene, SCRIPT))


def _run_rule(name: str) -> None:
    for scene in scenes_of(stopping.make(name)):
        _look_at(play(policies.make("uniform"), scene, SCRIPT))


def _run_aggregator(name: str) -> None:
    scenes = {"options": VOTES, "utility": RULED}
    for outcome in aggregation.get(name).outcomes:
        session = start(policies.make("uniform"), scenes[outcome], aggregation=name)
        session.finish()
        session.campaign.answers()


def _look_at(session: Session) -> None:
    campaign = session.campaign
    campaign.answers()
    campaign.payments()
    campaign.status()
    asked = next(event for event in session.log if event.kind == Kind.ASKED)
    campaign.explain(f"{campaign.name}:{asked.seq}")
    state = CampaignState(spec_of_campaign(campaign))
    columns = columns_of(pack(session.log, 0))
    if state.in_kernels:
        folding.fold_long(state, columns)
    Timeline(state.spec.problem).take_columns(columns)
