"""The pages of policies, stopping rules, aggregators and mechanisms, from the registries."""

from __future__ import annotations

import dataclasses
import importlib
import re
from collections.abc import Sequence
from typing import Any

from askwise.aggregation import Aggregator, LabelAggregator, aggregation
from askwise.cli.catalogue import family_of
from askwise.core.catalogue import parameter_docs
from askwise.core.docstrings import doc_of
from askwise.core.registry import Registry, from_label
from askwise.lab.experiment import Experiment, experiments
from askwise.mechanisms import Mechanism, mechanisms
from askwise.policies import (
    AsksCrowds,
    Explains,
    LabelsItself,
    NeedsStopping,
    PlansForAll,
    Policy,
    TakesPilot,
    policies,
)
from askwise.stopping import StoppingRule, stopping
from askwise.stopping.single import SingleCrowdRule
from docs.docstrings import example, markdown, table

PAPERS = {
    "000": (
        "Paper 000 is S. Jain, S. Gujar, S. Bhat, O. Zoeter, Y. Narahari, *An incentive compatible "
        "multi-armed-bandit crowdsourcing mechanism with quality assurance*, 2015."
    ),
    "001": (
        "Paper 001 is A. Rangi, M. Franceschetti, *Multi-armed bandit algorithms for crowdsourcing "
        "systems with online estimation of workers' ability*, AAMAS 2018."
    ),
    "002": (
        "Paper 002 is H. Zhang, Y. Ma, M. Sugiyama, *Bandit-based task assignment for "
        "heterogeneous crowdsourcing*, Neural Computation 27(11), 2015."
    ),
    "003": (
        "Paper 003 is L. Tran-Thanh, S. Stein, A. Rogers, N. R. Jennings, *Efficient crowdsourcing "
        "of unknown experts using bounded multi-armed bandits*, Artificial Intelligence 214 (2014)."
    ),
    "004": (
        "Paper 004 is I. Abraham, O. Alonso, V. Kandylas, A. Slivkins, *Adaptive crowdsourcing "
        "algorithms for the bandit survey problem*, COLT 2013."
    ),
}

Facts = Sequence[tuple[str, str]]


def ours(registry: Registry[Any]) -> list[Any]:
    """The entries that come with askwise, by name; plug-ins have documentation of their own."""
    found = [registry.get(name) for name in registry.names()]
    return [entry for entry in found if entry.__module__.startswith("askwise.")]


def papers_in(*texts: str) -> str:
    """Which papers the numbers in some texts stand for.

    Examples
    --------
    >>> papers_in("beyond 004", "common practice").partition(",")[0]
    'Paper 004 is I. Abraham'
    """
    numbers = {number for text in texts for number in re.findall(r"\b\d{3}\b", text)}
    return "\n\n".join(PAPERS[number] for number in sorted(numbers & set(PAPERS)))


def default_of(field: dataclasses.Field[Any]) -> str:
    """Write the default of a parameter."""
    value = field.default
    if isinstance(value, tuple):
        return ", ".join(f"`{each}`" for each in value) or "none"
    return "none" if value is None or value == "" else f"`{value}`"


def _origin(paper: str) -> str:
    """Say where an entry comes from: ``004``, ``beyond 004``, or words."""
    return re.sub(r"^(beyond )?(\d{3})", r"\1paper \2", paper)


def _page(entry: Any, *, opening: Sequence[str], capabilities: Facts) -> list[str]:
    """What a page of any kind of entry has: the parts of the docstring, the capabilities."""
    read = doc_of(entry)
    needs, unfit = read.beginning("Assumes"), read.beginning("Not ")
    parts = [f"# {entry.name}", *opening, markdown(read.sentence)]
    parts += [markdown(each) for each in read.prose if each not in (needs, unfit)]
    parts += ["## Parameters", _parameters(entry)]
    parts += ["## What it assumes and needs", markdown(needs)]
    parts += ["## When not to use it", markdown(unfit)]
    parts += ["## Capabilities", table(("what", "here"), capabilities)]
    parts += ["## Example", example(read.sections["Examples"])]
    parts += ["## Where it comes from", markdown(read.sections["References"])]
    parts.append(papers_in(entry.paper))
    return [part for part in parts if part]


def _parameters(entry: type) -> str:
    """Type and meaning from the docstring, the default from the class."""
    defaults = {field.name: default_of(field) for field in dataclasses.fields(entry)}
    rows = [
        (f"`{name}`", markdown(said.kind), defaults[name], markdown(said.text))
        for name, said in parameter_docs(_registry_of(entry), entry).items()
    ]
    return table(("name", "type", "default", "meaning"), rows) if rows else "None."


def _registry_of(entry: Any) -> Registry[Any]:
    """Where an entry is registered: names are unique in one registry, not in all."""
    kinds = (policies, stopping, aggregation, mechanisms)
    return next(
        kind for kind in kinds if entry.name in kind.names() and kind.get(entry.name) is entry
    )


# Policies.


def policy_index() -> str:
    """All policies, a table for each family, and what goes with them."""
    parts = [
        "# Policies",
        "A policy decides whom to ask next. When a task has enough answers is decided by a "
        "[stopping rule](../rules/index.md), what its answer is by an "
        "[aggregator](../aggregators/index.md), what workers are paid by a "
        "[mechanism](../mechanisms/index.md). [Write your own](../write-your-own-policy.md).",
        "*A plan* covers everyone who has joined; `ask(workers=...)` then restricts only what is "
        "handed out. *Those available*: each decision is made among the workers on offer.",
    ]
    families: dict[str, list[type[Policy]]] = {}
    for policy in ours(policies):
        families.setdefault(family_of(policy), []).append(policy)
    for family, members in sorted(families.items()):
        about = doc_of(importlib.import_module(f"askwise.policies.{family}"))
        parts += [f"## {family.capitalize()}", markdown(about.sentence), _policy_table(members)]
    parts.append(papers_in(*(policy.paper for policy in ours(policies))))
    return "\n\n".join(parts)


def _if(capability: type, policy: type[Policy], yes: str, no: str) -> str:
    return yes if issubclass(policy, capability) else no


def _policy_table(members: Sequence[type[Policy]]) -> str:
    rows = [
        (
            f"[`{policy.name}`]({policy.name}.md)",
            markdown(doc_of(policy).sentence),
            " or ".join(policy.outcomes),
            "yes" if policy.needs_budget else "no",
            _if(PlansForAll, policy, "a plan", "those available"),
            _origin(policy.paper),
        )
        for policy in members
    ]
    head = ("policy", "what it does", "answers", "needs a budget", "decides on", "from")
    return table(head, rows)


def policy_page(policy: type[Policy]) -> str:
    """A policy's docstring, its capabilities and the experiments it takes part in."""
    capabilities = [
        ("answers it works on", " or ".join(policy.outcomes)),
        ("needs a budget", "yes" if policy.needs_budget else "no"),
        ("decides on", _if(PlansForAll, policy, "a plan for all who joined", "those available")),
        ("asks a worker about a task", _if(AsksCrowds, policy, "again and again", "once")),
        ("takes a pilot", _if(TakesPilot, policy, "yes", "no")),
        ("needs a stopping rule", _if(NeedsStopping, policy, "yes", "no")),
        ("the answers are", _if(LabelsItself, policy, "its own", "left to the aggregation")),
        ("a decision is for", ", ".join(each for each in policy.notes if each != "none")),
        ("the rule in words", policy.rule if issubclass(policy, Explains) else ""),
    ]
    parts = _page(policy, opening=(), capabilities=capabilities)
    return "\n\n".join([*parts, "## Experiments", _experiments_with(policy)])


def _experiments_with(policy: type[Policy]) -> str:
    rows = [
        (
            f"[{entry.title}](../reproductions/{entry.name}.md)",
            f"`askwise lab run {entry.name}`",
        )
        for entry in ours(experiments)
        if policy.name in _policies_in(entry)
    ]
    return table(("experiment", "command"), rows) if rows else "None of ours."


def _policies_in(entry: type[Experiment]) -> set[str]:
    """Policies by name; a contender may be a policy with a rule or an aggregator."""
    made = vars(entry())
    contenders = (*made.get("policies", ()), *made.get("contenders", ()))
    labels = [from_label(label.partition(" with ")[0]) for label in contenders]
    return {label if isinstance(label, str) else str(label["name"]) for label in labels}


# Stopping rules.


def rule_index() -> str:
    """All stopping rules in one table, those that guarantee an error first."""
    rules = sorted(ours(stopping), key=lambda rule: not rule.guarantees)
    rows = [
        (
            f"[`{rule.name}`]({rule.name}.md)",
            markdown(doc_of(rule).sentence),
            "**guarantees**" if rule.guarantees else "trades",
            f"`{rule.dial}`",
            _options(rule),
            _origin(rule.paper),
        )
        for rule in rules
    ]
    head = ("rule", "what it does", "its error", "dial", "options", "from")
    return "\n\n".join(
        [
            "# Stopping rules",
            "A rule decides when a task has enough answers, and closes it. It goes with any "
            "[policy](../policies/index.md) whose answers it takes: "
            '`Campaign.create(..., stopping={"name": "gap", "quality": 1.5})`. '
            "[Write your own](../write-your-own-rule.md).",
            "A rule that *guarantees* an error keeps it on every question, as long as what it "
            "assumes is true. A rule that *trades* makes fewer errors if you pay for more "
            "answers; how many it makes depends on the questions, and on the hardest it may do "
            "little better than guess. The *dial* is the parameter that trades error for cost.",
            table(head, rows),
            papers_in(*(rule.paper for rule in rules)),
            "## What each promises",
            table(("rule", "promise"), [(f"`{rule.name}`", _promise(rule)) for rule in rules]),
        ]
    )


def rule_page(rule: type[StoppingRule]) -> str:
    """What a rule promises, its docstring and its capabilities."""
    capabilities = [
        ("answers it works on", " or ".join(rule.outcomes)),
        ("options it tells apart", _options(rule)),
        ("guarantees an error", "yes" if rule.guarantees else "no"),
        ("trades error for cost by", f"`{rule.dial}`"),
        ("may be the rule of `composite`", "yes" if issubclass(rule, SingleCrowdRule) else "no"),
    ]
    return "\n\n".join(_page(rule, opening=(_promise(rule),), capabilities=capabilities))


def _promise(rule: type[StoppingRule]) -> str:
    """The promise, its first word (guarantees or trades) in bold."""
    first, _, rest = rule.promise.partition(" ")
    return f"**{first}** {markdown(rest)}"


def _options(rule: type[StoppingRule]) -> str:
    return "any number" if rule.most_options is None else f"up to {rule.most_options}"


# Aggregators.


def aggregator_index() -> str:
    """All aggregators in one table."""
    rows = [
        (
            f"[`{entry.name}`]({entry.name}.md)",
            markdown(doc_of(entry).sentence),
            " or ".join(entry.outcomes),
            _origin(entry.paper),
        )
        for entry in ours(aggregation)
    ]
    return "\n\n".join(
        [
            "# Aggregators",
            "An aggregator says what the answer to a task is: in a campaign "
            '(`Campaign.create(..., aggregation="dawid-skene")`) or on a table of recorded '
            "answers. [How to aggregate recorded answers](../how-to/aggregate.md).",
            table(("aggregator", "what it does", "answers", "from"), rows),
            papers_in(*(entry.paper for entry in ours(aggregation))),
        ]
    )


def aggregator_page(entry: type[Aggregator]) -> str:
    """An aggregator's docstring and its capabilities."""
    labels = issubclass(entry, LabelAggregator)
    contexts = issubclass(entry, LabelAggregator) and entry.uses_contexts
    capabilities = [
        ("answers it works on", " or ".join(entry.outcomes)),
        ("labels tables of recorded answers", "yes" if labels else "no"),
        ("uses the kinds of tasks", "yes" if contexts else "no"),
    ]
    return "\n\n".join(_page(entry, opening=(), capabilities=capabilities))


# Mechanisms.


def mechanism_index() -> str:
    """All mechanisms in one table, and what each promises."""
    found = sorted(ours(mechanisms), key=lambda entry: entry.truthful)
    rows = [
        (
            f"[`{entry.name}`]({entry.name}.md)",
            markdown(doc_of(entry).sentence),
            "sealed" if entry.bidding else "none",
            "**promised**" if entry.truthful else "no",
            _quoted(entry.goes_with),
            _origin(entry.paper),
        )
        for entry in found
    ]
    head = ("mechanism", "what it does", "bids", "truthful", "goes with", "from")
    return "\n\n".join(
        [
            "# Mechanisms",
            "A mechanism says what workers are paid: "
            '`Campaign.create(..., mechanism={"name": "clarke", "c_max": "20"})`. Without one an '
            "answer is paid the worker's price. [How to let workers bid](../how-to/pay.md).",
            "A *truthful* mechanism provably makes a worker's cost their best bid. What is proved "
            "depends on how workers are chosen, so each goes with certain "
            "[policies](../policies/index.md), and a campaign with another is refused.",
            table(head, rows),
            papers_in(*(entry.paper for entry in found)),
            "## What each promises",
            table(("mechanism", "promise"), [(f"`{each.name}`", each.promise) for each in found]),
        ]
    )


def mechanism_page(entry: type[Mechanism]) -> str:
    """A mechanism's promise, its docstring and its capabilities."""
    capabilities = [
        ("takes bids", "sealed, until the first ask" if entry.bidding else "no"),
        ("promised to be truthful", "yes" if entry.truthful else "no"),
        ("goes with", _quoted(entry.goes_with)),
        ("answers it works on", " or ".join(entry.outcomes)),
    ]
    return "\n\n".join(_page(entry, opening=(entry.promise,), capabilities=capabilities))


def _quoted(text: str) -> str:
    """Names in code, as a page writes them."""
    return re.sub(r"'([^']+)'", r"`\1`", text)
