"""A campaign as described: what ``create`` takes, what a TOML file says, what the store keeps."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from askwise.aggregation import Aggregator, aggregation
from askwise.campaign.certifying import check_hopeful
from askwise.campaign.choosing import AutoTerms, Situation, choose_parts
from askwise.campaign.piloting import check_piloted
from askwise.campaign.screening import check_takes_questions
from askwise.core.content import Content
from askwise.core.errors import InvalidProblem, StoreError, UnknownPolicy
from askwise.core.fields import refuse_unknown
from askwise.core.pilot import PilotTerms, check_pilot, read_pilot
from askwise.core.problem import Problem, Task, make_problem
from askwise.core.registry import label_of, spec_of, stored_spec
from askwise.core.screening import ScreeningTerms, check_screened, read_screening
from askwise.mechanisms import Mechanism, mechanisms
from askwise.policies import AsksCrowds, LabelsItself, Policy, VotesBy, policies
from askwise.stopping import StoppingRule, stopping

FORMAT = 1
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")

PROBLEM_FIELDS = ("workers", "tasks", "options", "outcome", "budget", "repeat", "certify")
CHOICE_FIELDS = (
    *("policy", "stopping", "aggregation", "mechanism", "content", "lease", "seed", "name"),
    *("pilot", "screening"),
)
KEPT_FIELDS = ("auto",)
"""What only the store says of a campaign."""


@dataclass(frozen=True)
class Spec:
    """Everything that a campaign is, before anything has happened."""

    problem: Problem
    policy: Policy
    rule: StoppingRule | None
    aggregator: Aggregator | None
    """None: the policy says itself what the answers are."""
    mechanism: Mechanism
    seed: int
    lease: float | None
    content: Content | None = None
    """What workers are asked and shown."""
    because: str | None = None
    """Why the policy was chosen; None where its name was given."""
    pilot: PilotTerms | None = None
    """What is tried out before the policy decides anything."""
    screening: ScreeningTerms | None = None
    """How workers are kept good, by gold questions."""

    def to_json(self) -> str:
        """As the store keeps it."""
        raw = {
            "format": FORMAT,
            **self.problem.to_json(),
            "policy": stored_spec(self.policy),
            "stopping": None if self.rule is None else stored_spec(self.rule),
            "aggregation": None if self.aggregator is None else stored_spec(self.aggregator),
            "mechanism": spec_of(self.mechanism),
            "seed": self.seed,
            "lease": self.lease,
        }
        if self.content is not None:
            raw["content"] = self.content.to_json()
        if self.because is not None:
            raw["auto"] = {"because": self.because}
        if self.pilot is not None:
            raw["pilot"] = self.pilot.to_json()
        if self.screening is not None:
            raw["screening"] = self.screening.to_json()
        try:
            return json.dumps(raw, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise InvalidProblem(
                f"the campaign can't be written as JSON ({error}): payloads and parameters must "
                "be plain JSON values",
                field="payload",
            ) from None

    @classmethod
    def from_json(cls, text: str) -> Spec:
        """Read back what ``to_json`` wrote."""
        raw = json.loads(text)
        if raw.pop("format") != FORMAT:
            raise StoreError(
                "the campaign was written by a newer askwise: upgrade askwise",
                reason="newer_version",
            )
        try:
            return make_spec(raw, stored=True)
        except UnknownPolicy as error:
            if error.missing is None:
                raise
            # It was known where the campaign was made: no other name will do.
            raise UnknownPolicy(
                f"{error.missing} is missing: the campaign needs the package that adds it; "
                "install that package here",
                field=error.field,
                missing=error.missing,
            ) from None


def make_spec(raw: Mapping[str, Any], *, stored: bool = False) -> Spec:
    """Build and check a Spec from the fields that ``Campaign.create`` takes.

    One that is ``stored`` is opened even if its content can't show a task.
    """
    told = (name for name in raw if name not in KEPT_FIELDS)
    refuse_unknown(told, (*PROBLEM_FIELDS, *CHOICE_FIELDS), "a campaign")
    if raw.get("workers") is None:
        raise InvalidProblem("workers is missing", field="workers")
    terms = AutoTerms.read(raw.get("policy"))
    policy = None if terms is not None else policies.make(raw["policy"])
    given = {key: raw[key] for key in PROBLEM_FIELDS if key in raw}
    if given.get("repeat") is None and isinstance(policy, AsksCrowds):
        given["repeat"] = True
    if stored:
        given["outcome"] = _with_zero(given.get("outcome"))
    content = _read_content(raw.get("content"))
    if content is not None and given.get("options") is None and content.options:
        given["options"] = content.names()
    problem = make_problem(**given)
    if content is not None:
        _check_content(content, problem)
        if not stored:
            check_shown(content, problem.tasks)
    kind = "options" if problem.options else "utility"
    rule = None if raw.get("stopping") is None else stopping.make(raw["stopping"])
    wanted = raw.get("aggregation")
    aggregator = None if wanted is None else aggregation.make(wanted)
    payment = raw.get("mechanism")
    mechanism = mechanisms.make("pay-price" if payment is None else payment)
    because = raw.get("auto", {}).get("because")
    if policy is None:
        repeat = raw.get("repeat")
        situation = Situation(problem, terms or AutoTerms(), mechanism, rule, aggregator, repeat)
        choice = choose_parts(situation)
        policy, because = policies.make(choice.policy), choice.because
        rule = rule if choice.stopping is None else stopping.make(choice.stopping)
        if choice.aggregation is not None:
            aggregator = aggregation.make(choice.aggregation)
        if repeat is None and isinstance(policy, AsksCrowds):
            problem = replace(problem, repeat=True)
    aggregator = _read_aggregator(aggregator, problem, policy, stored)
    policy.check(problem)
    mechanism.check(problem, policy)
    check_hopeful(problem)
    if problem.certify is not None:
        _refuse_bids(mechanism, "certify", "money is kept back for audits at known prices")
    if rule is not None:
        rule.check(problem)
    pilot = _read_pilot(raw.get("pilot"), problem, policy, rule, mechanism)
    screening = _read_screening(raw.get("screening"), problem, policy, mechanism)
    if aggregator is not None and kind not in aggregator.outcomes:
        raise InvalidProblem(
            f"aggregation {aggregator.name!r} works on {' or '.join(aggregator.outcomes)}, "
            f"this campaign has {kind}",
            field="aggregation",
        )
    return Spec(
        problem=problem,
        policy=policy,
        rule=rule,
        aggregator=aggregator,
        mechanism=mechanism,
        seed=_read_seed(raw.get("seed")),
        lease=_read_lease(raw.get("lease")),
        content=content,
        because=because,
        pilot=pilot,
        screening=screening,
    )


def check_name(name: str | None) -> str:
    """Take a campaign's name, or make one up."""
    if name is None:
        return f"campaign-{secrets.token_hex(4)}"
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InvalidProblem(
            f"name is {name!r}: give 1 to 64 letters, digits, '.', '_' or '-', "
            "beginning with a letter or digit",
            field="name",
        )
    return name


def _with_zero(outcome: Any) -> Any:
    """The outcome of a stored campaign: before utilities had a zero, it was the lower end."""
    if isinstance(outcome, Mapping) and "zero" not in outcome:
        return {**outcome, "zero": outcome["low"]}
    return outcome


def _refuse_bids(mechanism: Mechanism, what: str, why: str) -> None:
    if mechanism.bidding:
        raise InvalidProblem(
            f"{what} can't be combined with mechanism {mechanism.name!r}, which takes bids: {why}; "
            "leave one of the two out",
            field=what,
        )


def _read_pilot(
    raw: Any, problem: Problem, policy: Policy, rule: StoppingRule | None, mechanism: Mechanism
) -> PilotTerms | None:
    terms = read_pilot(raw, problem.workers)
    if terms is None:
        return None
    check_pilot(terms, problem)
    _refuse_bids(mechanism, "pilot", "what a pilot costs must be known beforehand")
    check_piloted(terms, problem, policy, rule)
    return terms


def _read_screening(
    raw: Any, problem: Problem, policy: Policy, mechanism: Mechanism
) -> ScreeningTerms | None:
    terms = read_screening(raw)
    if terms is None:
        return None
    check_screened(terms, problem)
    why = "what a gold question costs must be known before anybody bids"
    _refuse_bids(mechanism, "screening", why)
    check_takes_questions(policy, "screening")
    return terms


def _read_content(raw: Content | Mapping[str, Any] | None) -> Content | None:
    return raw if raw is None or isinstance(raw, Content) else Content.from_json(raw)


def _check_content(content: Content, problem: Problem) -> None:
    """Refuse a question whose answers are not the campaign's."""
    if sorted(content.names()) != sorted(problem.options):
        raise InvalidProblem(
            f"content.options is {', '.join(content.names()) or 'empty'}, the campaign's options "
            f"are {', '.join(problem.options) or 'none'}: give the same, or only content.options",
            field="content.options",
        )
    if content.range is not None and content.range != problem.range:
        low, high = problem.range
        raise InvalidProblem(
            f"content.range is {list(content.range)}, the campaign's is {low:g} to {high:g}: give "
            "the same",
            field="content.range",
        )


def check_shown(content: Content, tasks: Iterable[Task]) -> None:
    """Refuse a task that the content could not show."""
    for task in tasks:
        try:
            content.parts(task.payload)
        except InvalidProblem as error:
            raise InvalidProblem(
                f"task {task.id!r} can't be shown: {error}", field="tasks"
            ) from None


def _read_aggregator(
    given: Aggregator | None, problem: Problem, policy: Policy, stored: bool
) -> Aggregator | None:
    """The aggregation, which is the policy's where what it promises is of labels named by that."""
    promised = policy.aggregation() if isinstance(policy, VotesBy) else None
    if given is None:
        if isinstance(policy, LabelsItself):
            return None
        return aggregation.make(promised or ("majority" if problem.options else "mean"))
    if promised is not None and not stored and given != aggregation.make(promised):
        labels = label_of(aggregation.make(promised))
        raise InvalidProblem(
            f"aggregation is {label_of(given)!r}: what policy {policy.name!r} promises is of "
            f"labels by {labels!r}; leave aggregation out, or give that",
            field="aggregation",
        )
    return given


def _read_seed(seed: object) -> int:
    if seed is None:
        return secrets.randbits(63)
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**63:
        raise InvalidProblem(
            f"seed is {seed!r}: give a whole number from 0 to 2**63 - 1", field="seed"
        )
    return seed


def _read_lease(lease: object) -> float | None:
    if lease is None:
        return None
    seconds = lease.total_seconds() if isinstance(lease, timedelta) else lease
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds < 1e10:
        raise InvalidProblem(
            f"lease is {lease!r}: give the seconds (above 0) in which an answer is due, "
            "or leave it out",
            field="lease",
        )
    return float(seconds)
