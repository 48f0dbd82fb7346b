"""Open a store by its url: the scheme says which kind, ours or one that a plug-in brings.

A plug-in names its scheme in the entry point group ``askwise.stores``. What is registered there is
called with the url and returns a :class:`Store`; nothing of it is imported before its scheme is
asked for.
"""

from importlib.metadata import EntryPoint
from typing import Any

from askwise.core import plugins
from askwise.core.errors import StoreError
from askwise.store import errors
from askwise.store.base import Store

GROUP = "askwise.stores"
"""The entry point group through which other distributions add theirs."""

# As an installed distribution would declare them, so that a checkout needs no installation.
_OURS = (
    EntryPoint("memory", "askwise.store.memory.store:MemoryStore.from_url", GROUP),
    EntryPoint("sqlite", "askwise.store.sqlite.store:SqliteStore.from_url", GROUP),
    EntryPoint("postgresql", "askwise.store.postgres.store:PostgresStore [postgres]", GROUP),
    EntryPoint("postgres", "askwise.store.postgres.store:PostgresStore [postgres]", GROUP),
)

_FORMS = (
    "'memory', 'sqlite:///FILE' or, for an absolute path, 'sqlite:////PATH/FILE', or "
    "'postgresql://USER:PASSWORD@HOST:PORT/DATABASE'"
)


def open_store(url: str | Store) -> Store:
    """Open the store that ``url`` names.

    Parameters
    ----------
    url : str or Store
        ``memory`` for a fresh store that lasts as long as the process; ``sqlite:///FILE`` for a
        file relative to the working directory, ``sqlite:////FILE`` (four slashes) for an absolute
        path; ``postgresql://USER:PASSWORD@HOST:PORT/DATABASE`` for a database; or a url of a
        scheme that a plug-in registers. File and tables are created with the first campaign or
        record, the database has to exist. A Store is returned as it is.

    Raises
    ------
    StoreError
        The url names no store, or the file or database is not one that this askwise can use.

    Examples
    --------
    >>> store = open_store("memory")
    >>> store.create("cats", spec="{}", time=0.0)
    >>> store.names()
    ['cats']
    """
    if isinstance(url, Store):
        return url
    store = _named(url)
    store.names()  # so that what we can't use is found now and not at the first write
    return store


def pending_steps(url: str) -> list[str]:
    """Name the steps that :func:`open_store` would apply to an older schema, or to none.

    Nothing is changed or created. An empty list means that the store is up to date.

    Raises
    ------
    StoreError
        As of :func:`open_store`.

    Examples
    --------
    >>> pending_steps("memory")
    []
    """
    return _named(url).pending()


def schemes() -> dict[str, EntryPoint]:
    """Find the registered schemes; a second package with a scheme is left out with a warning.

    Examples
    --------
    >>> list(schemes())[:4]
    ['memory', 'sqlite', 'postgresql', 'postgres']
    """
    found: dict[str, EntryPoint] = {}
    for point in (*_OURS, *plugins.points_of(GROUP)):
        first = found.setdefault(point.name, point)
        if first.value != point.value:
            other = "askwise's own" if first.dist is None else plugins.origin_of(first)
            plugins.leave_out(
                f"store scheme {point.name!r} of {plugins.origin_of(point)} has the name of one "
                f"of {other}"
            )
    return found


def _named(url: str) -> Store:
    if not isinstance(url, str):
        raise errors.unusable(f"store is {url!r}: give {_FORMS}")
    scheme, _, _ = url.partition(":")
    known = schemes()
    if scheme not in known:
        others = sorted(set(known) - {point.name for point in _OURS})
        more = f"; plug-ins add {', '.join(others)}" if others else ""
        raise errors.unusable(
            f"store is {errors.without_password(url)!r}, which begins with no scheme that is "
            f"known: give {_FORMS}{more}"
        )
    store = _load(known[scheme])(url)
    if not isinstance(store, Store):
        raise errors.unusable(
            f"store scheme {scheme!r} of {plugins.origin_of(known[scheme])} returned "
            f"{type(store).__name__}, which is not a Store: report it to its authors",
        )
    return store


def _load(point: EntryPoint) -> Any:
    try:
        return point.load()
    except ImportError as error:
        if point.extras:
            raise errors.unusable(
                f"a {point.name!r} store needs more than is installed ({error}): "
                f"pip install '{_owner(point)}[{','.join(point.extras)}]'",
            ) from error
        raise _broken(point, error) from error
    except (Exception, SystemExit) as error:  # whatever a plug-in does when it is imported
        raise _broken(point, error) from error


def _broken(point: EntryPoint, error: BaseException) -> StoreError:
    return errors.unusable(
        f"store scheme {point.name!r} of {plugins.origin_of(point)} can't be loaded "
        f"({plugins.reason(error)}): fix or uninstall it",
    )


def _owner(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else "askwise"
