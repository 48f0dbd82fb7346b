"""The lines of a campaign's file that choose what a plan has chosen."""

import json
from collections.abc import Mapping
from typing import Any

from askwise.core.registry import changed_parameters
from askwise.policies import AsksCrowds, Policy
from askwise.stopping import StoppingRule


def settings_text(policy: Policy, rule: StoppingRule) -> str:
    """The lines of a campaign's file that choose a policy and a rule."""
    lines = [policy_text(policy)]
    if not isinstance(policy, AsksCrowds):
        lines.append("repeat = true")
    lines += ["", "[stopping]", f"name = {_toml(rule.name)}"]
    lines += [f"{_key(name)} = {_toml(value)}" for name, value in _spelled(rule).items()]
    return "\n".join(lines) + "\n"


def policy_text(policy: Policy) -> str:
    """The line of a campaign's file that chooses a policy."""
    chosen: Any = {"name": policy.name, **changed_parameters(policy)}
    return f"policy = {_toml(chosen if len(chosen) > 1 else policy.name)}"


def rule_text(rule: StoppingRule) -> str:
    """A rule's label with its dial, also where that is at its default."""
    inside = ",".join(f"{name}={value}" for name, value in _spelled(rule).items())
    return f"{rule.name}({inside})" if inside else rule.name


def _spelled(rule: StoppingRule) -> dict[str, Any]:
    changed = changed_parameters(rule)
    counts = rule.dial and not (rule.dial == "quality" and "delta" in changed)
    dial = {rule.dial: getattr(rule, rule.dial)} if counts else {}
    # Horizon and cap, which every rule has, come last.
    return dial | dict(sorted(changed.items(), key=lambda each: each[0] in ("horizon", "cap")))


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        inside = ", ".join(f"{_key(name)} = {_toml(each)}" for name, each in value.items())
        return "{ " + inside + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_toml(each) for each in value) + "]"
    if isinstance(value, int | float):
        return repr(value)
    # What JSON escapes in a string, TOML escapes alike.
    return json.dumps(str(value))


def _key(name: str) -> str:
    plain = name.replace("_", "").replace("-", "")
    return name if plain.isascii() and plain.isalnum() else json.dumps(name)
