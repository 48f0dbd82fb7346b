"""Extras: what each has beyond a plain install, and a command that misses one names it."""

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager

from askwise.core.errors import InvalidParameter

NEEDS = {
    **{"client": ("httpx",), "dask": ("dask", "distributed"), "ray": ("ray",)},
    **{"postgres": ("psycopg", "psycopg_pool"), "tables": ("pandas", "pyarrow")},
    "uci": ("sklearn",),
    "judges": ("httpx", "jinja2", "markupsafe"),
    "mcp": ("httpx", "mcp", "pydantic"),
    "lab": ("jinja2", "joblib", "markupsafe", "matplotlib"),
    "service": (
        *("anyio", "httpcore", "httptools", "httpx", "jinja2", "matplotlib"),
        *("prometheus_client", "pydantic", "python_multipart", "starlette", "uvicorn", "uvloop"),
    ),
}
"""What the extras have beyond a plain install."""


@contextmanager
def extra(name: str = "lab") -> Iterator[None]:
    """Name the extra that is not installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in NEEDS[name]:
            raise
        raise InvalidParameter(
            f"this command needs {error.name}: pip install 'askwise[{name}]'", field=name
        ) from None


def need(name: str) -> None:
    """Complain now, and not after an hour's work, if an extra is not installed."""
    with extra(name):
        for module in NEEDS[name]:
            if importlib.util.find_spec(module) is None:
                raise ModuleNotFoundError(name=module)
