"""What the author of a campaign may ask of the policy "auto"."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from askwise.core.checks import between, flag
from askwise.core.errors import InvalidParameter, nearest
from askwise.core.registry import from_label

AUTO = "auto"
"""The name that stands for a choice, where a policy's name is expected."""


@dataclass(frozen=True)
class AutoTerms:
    """What ``{"name": "auto", ...}`` may say beside the name.

    Parameters
    ----------
    target : float, optional
        The share of wrong labels that is acceptable.
    guarantee : bool
        Whether the target must be guaranteed rather than aimed at.
    truths : bool
        Whether the truth of every task is told once the task has been answered.
    """

    target: float | None = None
    guarantee: bool = False
    truths: bool = False

    def __post_init__(self) -> None:
        if self.target is not None:
            between(self.target, "target", 0, 1)
        flag(self.guarantee, "guarantee")
        flag(self.truths, "truths")
        if self.guarantee and self.target is None:
            raise InvalidParameter(
                "target is missing: say which error is to be guaranteed", field="target"
            )

    @classmethod
    def read(cls, policy: object) -> AutoTerms | None:
        """Read them from a campaign's ``policy``; None where it names another policy."""
        if isinstance(policy, str):
            policy = from_label(policy, "policy")
        if policy is None or policy == AUTO:
            return cls()
        if not isinstance(policy, Mapping) or policy.get("name") != AUTO:
            return None
        known = [each.name for each in fields(cls)]
        for parameter in policy:
            if parameter != "name" and parameter not in known:
                raise InvalidParameter(
                    f"policy {AUTO!r} has no parameter {parameter!r}: "
                    f"{nearest(str(parameter), known)}",
                    field=str(parameter),
                )
        return cls(**{key: value for key, value in policy.items() if key != "name"})
