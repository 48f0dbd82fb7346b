"""What the shell completes beside commands and options: registered names.

They are read from the sources, as importing the rooms takes half a second for every Tab; names
that plug-ins add are not completed.
"""

import re
from collections.abc import Callable
from pathlib import Path

_ROOMS = Path(__file__).resolve().parent.parent


def names_in(room: str, registry: str) -> list[str]:
    """Names that are registered in a room's sources.

    Examples
    --------
    >>> "clarke" in names_in("mechanisms", "mechanisms")
    True
    """
    said = re.compile(rf'^@{registry}\.register\(\s*"([^"]+)"', re.MULTILINE)
    files = (_ROOMS / room).rglob("*.py")
    return sorted({name for file in files for name in said.findall(file.read_text("utf-8"))})


def completes(room: str, registry: str | None = None) -> Callable[[str], list[str]]:
    """What completes a name of a registry, which is called as its room unless said otherwise."""

    def complete(incomplete: str) -> list[str]:
        found = names_in(room, room if registry is None else registry)
        return [name for name in found if name.startswith(incomplete)]

    return complete
