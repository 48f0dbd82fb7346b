"""``askwise warm``: compile ahead what live campaigns run, as they never compile themselves."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from askwise.cli import output
from askwise.cli.options import AsJson, argument
from askwise.cli.outputs import progress
from askwise.core.errors import InvalidParameter

if TYPE_CHECKING:
    from askwise.policies import Policy
    from askwise.testing.sessions import Session

SCRIPT = tuple((7 * number + number // 5) % 61 for number in range(90))
"""What happens in the campaigns: with these numbers, every kind of event."""


class Part(NamedTuple):
    """Something that live campaigns run, and a small campaign or more that runs it."""

    name: str
    run: Callable[[], None]


def warm(
    policies: Annotated[
        list[str] | None,
        argument(
            "[POLICY]...",
            "NAME or NAME(KEY=VALUE), see policies; all of them, with rules and aggregators, by "
            "default.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compile what live campaigns run, so that they decide faster.

    A live campaign never compiles: it runs what was compiled before and is kept on disk, and
    plain Python otherwise. Do this once after installing, as the user who runs the campaigns.
    """
    from askwise.core import compiling

    if compiling.PLAIN:
        _show_nothing_to_do(as_json)
        return
    parts = [_policy_part(label) for label in policies] if policies else _all_parts()
    found = []
    with progress(quiet=as_json) as tell:
        for number, part in enumerate(parts, start=1):
            tell("warming", number - 1, len(parts))
            begun: list[str] = []
            count = partial(_count, begun)
            what = f"{part.name}, {number} of {len(parts)}"
            with compiling.watched(count), compiling.forced(what):
                part.run()
            found.append({"name": part.name, "compiled": len(begun)})
            if not as_json and not output.for_people():
                _print_line(found[-1])
        tell("warming", len(parts), len(parts))
    if as_json:
        output.show_json(found)
    elif output.for_people():
        output.show_records(
            ("name", "kernels compiled"),
            [(each["name"], each["compiled"] or "there already") for each in found],
        )


def _print_line(found: dict[str, Any]) -> None:
    output.line(found["name"], found["compiled"] or "there already")
    sys.stdout.flush()


def _count(begun: list[str], what: str, begins: bool) -> None:
    if begins:
        begun.append(what)


def _show_nothing_to_do(as_json: bool) -> None:
    if as_json:
        output.show_json([])
    else:
        print("nothing to do: the compiler is switched off (ASKWISE_JIT=0 or NUMBA_DISABLE_JIT=1)")


def _policy_part(label: str) -> Part:
    from askwise.core.registry import from_label
    from askwise.policies import policies
    from askwise.testing.scenes import scenes_for

    policy = policies.make(from_label(label))
    if not scenes_for(policy):
        raise InvalidParameter(
            f"policy {policy.name!r} takes part in no live campaign as it is: give its parameters, "
            f"as in '{policy.name}(KEY=VALUE)'",
            field="policy",
        )
    return Part(label, partial(_run_policy, policy))


def _all_parts() -> list[Part]:
    from askwise.aggregation import aggregation
    from askwise.policies import KernelPolicy, policies
    from askwise.stopping import stopping
    from askwise.testing.scenes import scenes_for

    made = [policies.make(name) for name in policies.names()]
    return [
        *(
            Part(each.name, partial(_run_policy, each))
            for each in made
            if isinstance(each, KernelPolicy) and each.compiles and scenes_for(each)
        ),
        *(Part(f"rule {name}", partial(_run_rule, name)) for name in stopping.names()),
        *(
            Part(f"aggregator {name}", partial(_run_aggregator, name))
            for name in aggregation.names()
        ),
    ]


def _run_policy(policy: Policy) -> None:
    """Play small campaigns with all that may happen, look at them, and fold their logs again."""
    from askwise.testing.scenes import scenes_for
    from askwise.testing.sessions import play

    for scene in scenes_for(policy):
        _look_at(play(policy, scene, SCRIPT))


def _look_at(session: Session) -> None:
    from askwise.campaign import folding
    from askwise.campaign.state import CampaignState
    from askwise.core.events import Kind
    from askwise.testing.sessions import spec_of_campaign

    campaign = session.campaign
    campaign.answers()
    campaign.payments()
    campaign.status()
    asked = next(event for event in session.log if event.kind == Kind.ASKED)
    campaign.explain(f"{campaign.name}:{asked.seq}")
    spec = spec_of_campaign(campaign)
    state = CampaignState(spec)
    if state.in_kernels:
        folding.fold_long(state, session.log)


def _run_rule(name: str) -> None:
    from askwise.policies import policies
    from askwise.stopping import stopping
    from askwise.testing.rules import scenes_of
    from askwise.testing.sessions import play

    for scene in scenes_of(stopping.make(name)):
        _look_at(play(policies.make("uniform"), scene, SCRIPT))


def _run_aggregator(name: str) -> None:
    from askwise.aggregation import aggregation
    from askwise.policies import policies
    from askwise.testing.scenes import RULED, VOTES
    from askwise.testing.sessions import start

    scenes = {"options": VOTES, "utility": RULED}
    for outcome in aggregation.get(name).outcomes:
        session = start(policies.make("uniform"), scenes[outcome], aggregation=name)
        session.finish()
        session.campaign.answers()
