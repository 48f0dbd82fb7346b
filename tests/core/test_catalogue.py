"""What registries have to choose from is told with all that a form needs."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from askwise.aggregation import aggregation
from askwise.core.catalogue import EntryInfo, entries_of
from askwise.core.registry import Registry
from askwise.mechanisms import mechanisms
from askwise.policies import policies
from askwise.sources import sources
from askwise.stopping import stopping

REGISTRIES: dict[str, Registry[Any]] = {
    "policies": policies,
    "rules": stopping,
    "aggregators": aggregation,
    "mechanisms": mechanisms,
    "sources": sources,
}


@pytest.mark.parametrize("name", REGISTRIES)
def test_every_entry_is_told_with_its_parameters(name: str) -> None:
    found = entries_of(REGISTRIES[name])
    assert [each.name for each in found] == REGISTRIES[name].names()
    for entry in found:
        assert entry.summary.endswith("."), entry.name
        assert "\n" not in entry.summary
        for each in entry.parameters:
            assert each.description, (entry.name, each.name)
            assert each.type, (entry.name, each.name)
            Draft202012Validator.check_schema(each.schema)
            if not each.required and each.default is not None:
                assert Draft202012Validator(each.schema).is_valid(each.default), each
        assert EntryInfo.from_json(entry.to_json()) == entry


def test_a_parameter_by_hand() -> None:
    (found,) = [each for each in entries_of(policies) if each.name == "knowledge-gradient"]
    assert found.outcomes == ("utility",)
    screen = found.parameters[0]
    assert (screen.name, screen.type, screen.default) == ("screen", "float", 0.1)
    assert (screen.required, screen.schema) == (False, {"type": "number"})


def test_what_only_a_program_can_give_is_left_out_of_a_schema() -> None:
    found = {each.name: each for each in entries_of(sources)}
    call = {each.name: each for each in found["function"].parameters}["call"]
    assert call.schema == {"type": "string"}
    assert call.required
