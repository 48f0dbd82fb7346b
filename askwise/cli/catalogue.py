"""``askwise policies``, ``rules``, ``aggregators``, ``mechanisms``: what there is to choose from.

One frame serves a table of registries: each command lists the entries of one, or describes one.
"""

import dataclasses
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import typer

from askwise.cli import output
from askwise.cli.completing import completes
from askwise.cli.examples import examples
from askwise.cli.opening import leave_compiler_out
from askwise.cli.options import AsJson, argument
from askwise.core.catalogue import parameters_info

Described = dict[str, Any]
"""An entry as it is printed as JSON."""


@dataclass(frozen=True)
class Catalogue:
    """The entries of one registry, as a command shows them."""

    command: str
    noun: str
    registry: str
    """Its name, and that of the package it is in."""
    listing: str
    """Help of the command."""
    showing: str
    """Help of its ``show``."""
    example: str
    """An entry that examples show."""
    details: Callable[[Any], dict[str, Any]]
    """What only entries of this kind have, for JSON."""
    columns: output.Headings
    """Of the list."""
    facts: output.Headings
    """Of ``show``, before the parameters."""
    by_family: bool = False
    """Whether people see the list below headings, one a family."""
    unlisted: Callable[[], Described] | None = None
    """What can be shown, and named in a campaign, without being an entry."""

    def names(self) -> list[str]:
        """All entries, by name."""
        return self._entries().names()

    def describe(self, name: str) -> Described:
        """What can be said of an entry: what all have, and what is of its kind."""
        if self.unlisted is not None and name == (found := self.unlisted())["name"]:
            return found
        entry = self._entries().get(name)
        description = inspect.getdoc(entry) or ""
        # Not of an instance: a parameter that must be given has None for a default and takes none.
        defaults = {field.name: _default(field) for field in dataclasses.fields(entry)}
        return {
            "name": entry.name,
            "paper": entry.paper,
            "summary": " ".join(description.split("\n\n")[0].replace("``", "").split()),
            "outcomes": list(entry.outcomes),
            **self.details(entry),
            # As the constructor takes them: an entry's own before those that its base adds.
            "parameters": {name: defaults[name] for name in inspect.signature(entry).parameters},
            "parameter_details": _details(self._entries(), entry),
            "description": description,
        }

    def _entries(self) -> Any:
        # Describing takes no compiler.
        leave_compiler_out()
        return getattr(import_module(f"askwise.{self.registry}"), self.registry)


def commands_of(catalogue: Catalogue) -> typer.Typer:
    """Make the command that lists a catalogue, and its ``show``."""
    app = typer.Typer()
    listing = f"askwise {catalogue.command}"
    showing = f"{listing} show {catalogue.example}"

    @examples(listing, showing)
    @app.callback(invoke_without_command=True, help=catalogue.listing)
    def list_entries(context: typer.Context, as_json: AsJson = False) -> None:
        # Asked for before or after `show`, JSON is JSON.
        context.obj = as_json
        if context.invoked_subcommand is None:
            found = [catalogue.describe(name) for name in catalogue.names()]
            _show_all(catalogue, found, as_json)

    @examples(showing)
    @app.command("show", help=catalogue.showing)
    def show_entry(
        context: typer.Context,
        name: str = argument("NAME", f"The {catalogue.noun}.", completes(catalogue.registry)),
        as_json: AsJson = False,
    ) -> None:
        _show(catalogue, catalogue.describe(name), as_json or context.obj)

    return app


def family_of(entry: type) -> str:
    """The family of a policy: the package it is in, or the distribution that adds it."""
    parts = entry.__module__.split(".")
    ours = parts[:2] == ["askwise", "policies"]
    return parts[2] if ours else parts[0]


def _show_all(catalogue: Catalogue, found: Sequence[Described], as_json: bool) -> None:
    """List entries as JSON or a line each, and say which command tells more."""
    if as_json:
        output.show_json(found)
        return
    more = f"askwise {catalogue.command} show NAME tells more."
    if catalogue.unlisted is not None:
        other = catalogue.unlisted()
        more = f"{other['name']}: {other['summary']}\n\n{more}"
    if catalogue.by_family and output.for_people():
        _show_families(found)
        output.show(more)
        return
    columns = catalogue.columns
    output.show_records(
        tuple(columns), ([fact for _, fact in _said(columns, each)] for each in found)
    )
    if output.for_people():
        output.show(f"\n{more}")


def _show_families(found: Sequence[Described]) -> None:
    """Entries below the family that they belong to."""
    from rich.text import Text

    for family in dict.fromkeys(each["family"] for each in found):
        members = (
            (each["name"], f"{each['summary']} Works on {' and '.join(each['outcomes'])}.")
            for each in found
            if each["family"] == family
        )
        output.show(Text(family, style="bold"), output.grid(members), "")


def _show(catalogue: Catalogue, found: Described, as_json: bool) -> None:
    """Print an entry as JSON; or its facts, its parameters and its description."""
    if as_json:
        output.show_json(found)
        return
    parameters = ", ".join(f"{name}={value}" for name, value in found["parameters"].items())
    facts = [*_said(catalogue.facts, found), ("parameters", parameters or None)]
    output.show_facts(facts, found["description"])


def _default(parameter: dataclasses.Field[Any]) -> Any:
    """What a parameter is if it is not given: None if it must be."""
    if parameter.default_factory is not dataclasses.MISSING:
        return parameter.default_factory()
    return None if parameter.default is dataclasses.MISSING else parameter.default


def _details(registry: Any, entry: Any) -> list[dict[str, Any]]:
    """What each parameter takes and means, for JSON."""
    return [each.to_json() for each in parameters_info(registry, entry)]


def _said(facts: output.Headings, found: Described) -> list[tuple[str, Any]]:
    """Headings and what is shown there; nothing where a field is empty."""
    values = ((heading, output.value_of(found, fact)) for heading, fact in facts.items())
    return [(heading, None if value == "" else value) for heading, value in values]


# The facts.


def _works_on(found: Described) -> str:
    return ", ".join(found["outcomes"])


def _number_of_options(rule: Described) -> str:
    most = rule["most_options"]
    return "any number" if most is None else f"up to {most}"


def _policy(entry: Any) -> dict[str, Any]:
    from askwise.policies import Explains, PlansForAll

    plans = issubclass(entry, PlansForAll)
    known = {"family": family_of(entry), "needs_budget": entry.needs_budget, "plans": plans}
    rule = entry.rule if issubclass(entry, Explains) else ""
    return known | {"purposes": list(entry.notes), "rule": rule}


def _auto() -> Described:
    """The policy that stands for a choice."""
    leave_compiler_out()
    from askwise.campaign.choosing import AUTO, PREFERENCES, AutoTerms
    from askwise.policies import policies

    rows = (f"- {row.when}: {row.chosen}" for row in PREFERENCES)
    does = "Choose the policy, and what else was not named, by what a campaign is given."
    # Below what the class is, which nobody sees here, are its parameters.
    terms = (inspect.getdoc(AutoTerms) or "").partition("\n\n")[2]
    told = [does, "", terms, "", "What is chosen, the first that fits:", "", *rows]
    return {
        **{"name": AUTO, "paper": "ours", "outcomes": ["utility", "options"]},
        "summary": f"{does} A campaign that names no policy has it.",
        **{"family": "-", "needs_budget": False, "plans": False, "purposes": []},
        "rule": "the first row of a table that applies and whose policy takes the campaign",
        "parameters": {each.name: each.default for each in dataclasses.fields(AutoTerms)},
        "parameter_details": _details(policies, AutoTerms),
        "description": "\n".join(told),
    }


def _aggregator(entry: Any) -> dict[str, Any]:
    from askwise.aggregation import LabelAggregator

    tables = issubclass(entry, LabelAggregator)
    return {"labels_tables": tables, "uses_contexts": tables and entry.uses_contexts}


def _attributes(*names: str) -> Callable[[Any], dict[str, Any]]:
    return lambda entry: {name: getattr(entry, name) for name in names}


CATALOGUES = (
    Catalogue(
        *("policies", "policy", "policies", "List the policies, or describe one."),
        "Describe a policy: what it does, its parameters, what it needs, where it comes from.",
        example="hem",
        details=_policy,
        columns={
            **{"policy": "name", "family": "family", "paper": "paper", "works on": _works_on},
            "what it does": "summary",
        },
        facts={
            **{"policy": "name", "family": "family", "paper": "paper", "works on": _works_on},
            **{"needs a budget": "needs_budget", "rule": "rule"},
        },
        by_family=True,
        unlisted=_auto,
    ),
    Catalogue(
        *("rules", "rule", "stopping", "List the stopping rules, or describe one."),
        "Describe a stopping rule: what it does and promises, its parameters, what it needs.",
        example="e-process",
        details=_attributes("guarantees", "promise", "most_options", "dial"),
        columns={
            "rule": "name",
            "promise": lambda rule: "guarantees" if rule["guarantees"] else "trades",
            **{"paper": "paper", "what it does": "summary"},
        },
        facts={
            **{"rule": "name", "guarantees": "guarantees", "promise": "promise"},
            **{"paper": "paper", "works on": _works_on},
            **{"options": _number_of_options, "dial": "dial"},
        },
    ),
    Catalogue(
        *("aggregators", "aggregator", "aggregation", "List the aggregators, or describe one."),
        "Describe an aggregator: what it does and assumes, its parameters.",
        example="dawid-skene",
        details=_aggregator,
        columns={
            **{"aggregator": "name", "works on": _works_on, "from": "paper"},
            "what it does": "summary",
        },
        facts={
            **{"aggregator": "name", "works on": _works_on, "labels tables": "labels_tables"},
            **{"uses contexts": "uses_contexts", "from": "paper"},
        },
    ),
    Catalogue(
        *("mechanisms", "mechanism", "mechanisms", "List the mechanisms, or describe one."),
        "Describe a mechanism: what it pays and promises, with which policies, its parameters.",
        example="clarke",
        details=_attributes("bidding", "truthful", "promise", "goes_with"),
        columns={
            "mechanism": "name",
            "bids": lambda mechanism: "sealed" if mechanism["bidding"] else "none",
            "truthful": lambda mechanism: "promised" if mechanism["truthful"] else "no",
            "what it does": "summary",
        },
        facts={
            **{"mechanism": "name", "takes bids": "bidding", "promise": "promise"},
            **{"goes with": "goes_with", "works on": _works_on, "from": "paper"},
        },
    ),
)
