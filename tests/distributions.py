"""Distributions that are installed in a folder: what an installer leaves there, and no more."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

POLICY = '''
from dataclasses import dataclass

from askwise.policies.bounded.benchmarks import Uniform


@dataclass(frozen=True)
class Own(Uniform):
    """Ask as uniform does, by another name."""
'''
"""A module with a policy that works."""


def install(
    folder: Path,
    name: str,
    version: str,
    points: Mapping[str, str] | str,
    *,
    group: str = "askwise.policies",
    modules: Mapping[str, str] | None = None,
) -> None:
    """Write a distribution's metadata, entry points (a text is taken as is) and modules."""
    installed = folder / f"{name}-{version}.dist-info"
    installed.mkdir(parents=True)
    head = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    (installed / "METADATA").write_text(head)
    if not isinstance(points, str):
        points = "\n".join(f"{point} = {value}" for point, value in points.items())
    (installed / "entry_points.txt").write_text(f"[{group}]\n{points}\n")
    for module, source in (modules or {}).items():
        (folder / f"{module}.py").write_text(source)
