"""Functions over other global names, or of another name."""

import types
from typing import Any


def renamed(source: Any, names: dict[str, Any], name: str = "", qualname: str = "") -> Any:
    """The same function over these global names, of another name where one is given."""
    made = types.FunctionType(
        source.__code__, names, name or source.__name__, source.__defaults__, source.__closure__
    )
    made.__qualname__ = qualname or made.__name__
    made.__module__ = source.__module__
    return made
