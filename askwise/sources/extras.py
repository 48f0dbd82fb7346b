"""What only some sources need is imported when they are used."""

import importlib
from typing import Any

from askwise.core.errors import InvalidParameter


def needed(module: str, who: str) -> Any:
    """Import a module of the extra ``judges``; says how to get it if it is not there.

    Examples
    --------
    >>> needed("nowhere_to_be_found", "dreams")
    Traceback (most recent call last):
    askwise.core.errors.InvalidParameter: dreams need nowhere_to_be_found: \
pip install 'askwise[judges]'
    """
    package = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != package:
            raise
        raise InvalidParameter(
            f"{who} need {package}: pip install 'askwise[judges]'", field="source"
        ) from None
