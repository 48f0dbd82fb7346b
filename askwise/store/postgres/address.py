"""The address of a PostgreSQL database: read from a url, shown without its password."""

import math
from dataclasses import dataclass, field
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict

from askwise.store import errors

_FORM = (
    "write postgresql://USER:PASSWORD@HOST:PORT/DATABASE, with %40 for @, %2F for / and %25 for % "
    "in user and password"
)

_KEEPALIVE = {
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}
"""A server that has vanished without a word is noticed within about a minute."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where a database is, and how to connect to it.

    Attributes
    ----------
    shown : str
        The address for messages: no password, no options.
    parameters : dict
        What libpq is given, the password too.
    """

    shown: str
    parameters: dict[str, Any] = field(repr=False)

    def __str__(self) -> str:
        return self.shown


def read_address(url: str, patience: float) -> Address:
    """Read a url as libpq does; ``patience`` is how many seconds connecting may take.

    Raises
    ------
    StoreError
        It can't be read. The message repeats nothing of it, as it may hold a password.

    Examples
    --------
    >>> read_address("postgresql://ann:secret@db.example/labels?sslmode=require", 30.0)
    Address(shown='postgresql://ann@db.example/labels')
    """
    _, _, rest = url.partition("://")
    place, _, _ = rest.partition("?")
    authority, _, path = place.partition("/")
    # A password with a bare @ or / makes libpq take parts of it for the host or the database,
    # and these are named in messages.
    if authority.count("@") > 1 or "@" in path:
        raise errors.unusable(
            f"store is a PostgreSQL url with an @ too many or a / before it: {_FORM}"
        )
    try:
        given = conninfo_to_dict(url)
    except psycopg.Error:
        # From None: libpq's words quote the url.
        raise errors.unusable(
            f"store is a PostgreSQL url that can't be read: {_FORM}; after a ? only options of "
            "libpq are known",
        ) from None
    port = str(given.get("port", ""))
    if any(not each.isdecimal() for each in port.split(",") if each):
        raise errors.unusable(f"store is a PostgreSQL url whose port is not a number: {_FORM}")
    return Address(_show(given), {**_defaults(patience), **given, "client_encoding": "UTF8"})


def _show(given: dict[str, Any]) -> str:
    user = f"{given['user']}@" if given.get("user") else ""
    hosts = str(given.get("host") or given.get("hostaddr") or "").split(",")
    ports = str(given.get("port", "")).split(",")
    ports = ports * len(hosts) if len(ports) == 1 else ports
    places = [host + (f":{port}" if port else "") for host, port in zip(hosts, ports, strict=False)]
    return f"postgresql://{user}{','.join(places)}/{given.get('dbname') or ''}"


def _defaults(patience: float) -> dict[str, Any]:
    return {
        "connect_timeout": max(2, math.ceil(patience)),
        "fallback_application_name": "askwise",
        **_KEEPALIVE,
    }
