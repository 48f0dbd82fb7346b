"""The service: started, and its keys managed."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from ipaddress import ip_network
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from askwise.cli import output
from askwise.cli.examples import examples
from askwise.cli.extras import extra
from askwise.cli.opening import open_store
from askwise.cli.options import DEFAULT_STORE, AsJson, Port, StoreUrl, argument, option, switch
from askwise.core.errors import InvalidParameter

if TYPE_CHECKING:
    from askwise.service.auth.identity import Identities
    from askwise.store import Store

LOG_LEVELS = ("info", "warning", "error")

app = typer.Typer(help="Create, list and revoke keys of the service.", no_args_is_help=True)


@examples(
    "askwise serve --store sqlite:///askwise.sqlite --port 8000",
    "askwise serve --demo",
    "askwise serve --dry-run",
    run=False,
)
def serve(
    store: StoreUrl = DEFAULT_STORE,
    host: str = option("127.0.0.1", "HOST", "Address to listen on."),
    port: Port = 8000,
    workers: int = option(1, "N", "Number of processes."),
    address: str = option(
        "", "URL", "Public URL when behind a proxy, such as https://ask.example.org"
    ),
    proxies: str = option(
        "", "HOSTS", "Proxies trusted to say where a request comes from, comma-separated."
    ),
    most_out: int = option(
        3, "N", "Maximum number of questions that a worker's link or token may hold at a time."
    ),
    lease: float = option(
        3600.0,
        "SECONDS",
        "Seconds after which a worker's open questions are released, in campaigns without a "
        "lease; 0 for never.",
    ),
    revise_within: float = option(
        60.0, "SECONDS", "How long a worker may change their last answer; 0 to forbid it."
    ),
    private_hooks: bool = switch("--private-hooks", "Allow webhooks to private addresses."),
    secret: str = option(
        "",
        "FILE",
        "File with the secret that signs webhooks, created if missing. By default beside an "
        "SQLite store; with PostgreSQL give all machines the same file, or none.",
    ),
    judges: str = option("", "FILE", "Judges that campaigns may name and the service calls."),
    private_judges: bool = switch("--private-judges", "Allow judges at private addresses."),
    log: str = option(
        "",
        "LEVEL",
        "What to log: info (every request), warning or error. By default warning on a "
        "terminal, where requests would bury the key, and info elsewhere.",
    ),
    demo: bool = switch(
        "--demo",
        "Serve an example campaign from a temporary store, deleted when you stop.",
    ),
    dry_run: bool = switch(
        "--dry-run", "List the changes that the store needs without making them."
    ),
) -> None:
    """Serve campaigns over HTTP: the API, the workers' page, the dashboard."""
    from askwise.store import open_store as store_of
    from askwise.store import pending_steps

    if demo:
        store = _demo_store(store)
    if dry_run:
        steps = pending_steps(store)
        print("\n".join(steps) if steps else "the store is up to date")
        return
    if workers < 1 or (workers > 1 and store == "memory"):
        valid = (
            "1, because a store in memory belongs to one process" if workers > 1 else "1 or more"
        )
        raise InvalidParameter(f"workers is {workers}: give {valid}", field="workers")
    _check_address(address)
    _check_proxies(proxies)
    _say_beginning(store)
    with extra("service"):
        # All of it now, as what is missing is better said before a key is.
        import uvicorn  # noqa: F401

        from askwise.service import app, server  # noqa: F401
        from askwise.service.judges import JudgePanel
        from askwise.service.settings import Settings
        from askwise.service.webhooks.signing import SigningSecret, file_beside, make_file

        hidden = secret or file_beside(store)
        taken = server.listen(host, port)
        settings = server.with_address(
            Settings(
                store=store,
                address=address.rstrip("/"),
                most_out=most_out,
                lease=lease or None,
                revise_within=_seconds(revise_within, "revise_within"),
                private_hooks=private_hooks,
                secret=str(Path(hidden).absolute()) if hidden else "",
                judges=str(Path(judges).absolute()) if judges else "",
                private_judges=private_judges,
                log=_log_level(log),
            ),
            taken,
        )
        _ = settings.holding  # complains of numbers that it can't take
        opened = store_of(store)
        if settings.secret:
            make_file(settings.secret)
            SigningSecret.read(settings.secret)  # said before anybody is told that it serves
        # Before anybody is told that it serves; each process reads them again.
        JudgePanel.read(settings.judges, opened, private=private_judges)
        greeting = Greeting.make(opened, settings.address)
        if demo:
            greeting.example = _make_example(opened, settings.address)
        try:
            server.run(
                settings,
                opened,
                taken,
                processes=workers,
                proxies=proxies,
                logging_level=settings.log,
                listening=greeting.say,
            )
        finally:
            greeting.say_key()


@dataclass
class Greeting:
    """What the operator is told: where the service is and, the first time, the owner's key."""

    key: str
    """About the owner's key; empty if there is nothing to say."""
    place: str
    example: str = ""
    """About the example campaign, if there is one."""

    @classmethod
    def make(cls, store: Store, address: str) -> Greeting:
        """Make the first owner's key, if nobody ever had one."""
        from askwise.service.auth.identity import Identities
        from askwise.service.settings import works_here_only

        identities = Identities(store)
        secret = identities.first_owner()
        key = ""
        if secret is not None:
            line = f"the owner's key, shown this once: {secret}"
            key = f"{'-' * len(line)}\n{line}\n{'-' * len(line)}"
        elif not identities.has_owner():
            key = "there is no valid owner's key: create one with askwise keys new owner LABEL"
        place = f"serving at {address} (dashboard: {address}/dashboard)"
        if works_here_only(address):
            place += (
                "\nlinks work on this computer only; for other people give --host with its address "
                "in their network, or --address behind a proxy"
            )
        return cls(key, place)

    def say(self) -> None:
        """Print all of it, when the service listens."""
        self.say_key()
        print(self.place, flush=True)
        if self.example:
            print(self.example, flush=True)

    def say_key(self) -> None:
        """Print what is said of the key, once: also where the service could not begin."""
        key, self.key = self.key, ""
        if key:
            print(key, flush=True)


@examples('askwise keys new viewer "the wall screen" --days 90')
@app.command("new")
def new_key(
    role: str = argument("ROLE", "owner, requester or viewer."),
    label: str = argument("LABEL", "Whose key it is."),
    days: Annotated[
        float | None,
        typer.Option(metavar="DAYS", help="Days until it expires.", show_default="never"),
    ] = None,
    store: StoreUrl = DEFAULT_STORE,
    as_json: AsJson = False,
) -> None:
    """Create a key and print its secret, which is shown only once."""
    with extra("service"):
        from askwise.service.auth.identity import ROLES
    if role not in ROLES:
        raise InvalidParameter(f"role is {role!r}: give one of {', '.join(ROLES)}", field="role")
    if not 0 < len(label) <= 100:
        raise InvalidParameter(f"label is {label!r}: give 1 to 100 characters", field="label")
    if days is not None and not 0 < days <= 100_000:
        raise InvalidParameter(
            f"days is {days:g}: give a number above 0, up to 100000", field="days"
        )
    lasts = None if days is None else days * 86400
    secret, issued = _identities(store).issue(role, label, lasts=lasts)
    output.say({**issued.to_json(), "secret": secret}, as_json, secret)


@examples("askwise keys list")
@app.command("list")
def list_keys(store: StoreUrl = DEFAULT_STORE, as_json: AsJson = False) -> None:
    """List the keys, without their secrets."""
    columns: output.Headings = {
        **{"id": "id", "role": "role", "label": "label"},
        **{"created": lambda key: _day(key.created), "expires": lambda key: _day(key.expires)},
        "revoked": lambda key: _day(key.revoked),
    }
    output.show_objects(_identities(store).keys(), as_json, columns)


@examples("askwise keys revoke 6f1c09d2b7a45e83")
@app.command("revoke")
def revoke_key(
    id: str = argument("ID", "The key's id, from the list."),
    store: StoreUrl = DEFAULT_STORE,
    as_json: AsJson = False,
) -> None:
    """Revoke a key."""
    revoked = _identities(store).revoke(id)
    output.say(revoked.to_json(), as_json, f"{revoked.label}'s key is revoked")


def _say_beginning(store: str) -> None:
    """Tell somebody at a terminal what happens in the seconds until it serves."""
    from askwise.store.errors import without_password

    if sys.stderr.isatty():
        print(f"starting the service on {without_password(store)} ...", file=sys.stderr, flush=True)


def _demo_store(store: str) -> str:
    """Make a store that is deleted when the process ends."""
    if store not in (DEFAULT_STORE, os.environ.get("ASKWISE_STORE")):
        raise InvalidParameter("--demo uses a temporary store: leave --store out", field="store")
    folder = tempfile.mkdtemp(prefix="askwise-demo-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return f"sqlite:///{folder}/demo.sqlite"


def _make_example(store: Store, address: str) -> str:
    """Make the example campaign, and say where it is."""
    from askwise.demo.example import YOU, make_example
    from askwise.service.auth.identity import Identities

    campaign = make_example(store)
    secret, _ = Identities(store).issue("worker", YOU, campaign=campaign.name, worker=YOU)
    return (
        f"example campaign: {address}/dashboard/{campaign.name}\n"
        f"answer in it yourself: {address}/join/{secret}\n"
        "it is in a temporary store, which is deleted when you stop the service"
    )


def _identities(store: str) -> Identities:
    with extra("service"):
        from askwise.service.auth.identity import Identities
    return Identities(open_store(store))


def _check_address(address: str) -> None:
    """Complain about what no link can begin with."""
    if not address:
        return
    try:
        parts = urlsplit(address)
        _ = parts.port
    except ValueError:
        parts = urlsplit("")
    plain = address.isascii() and address.isprintable() and not set(address) & set(' @?#\\"<>')
    whole = parts.scheme in ("http", "https") and parts.hostname and parts.path in ("", "/")
    if not plain or not whole:
        raise InvalidParameter(
            f"address is {address!r}: give http:// or https:// and a host, and no path, "
            "like https://ask.example.org",
            field="address",
        )


def _check_proxies(proxies: str) -> None:
    """Complain about what is not an address: it would never be that of a proxy."""
    for each in proxies.split(",") if proxies else []:
        try:
            if each.strip() != "*":
                ip_network(each.strip(), strict=False)
        except ValueError:
            raise InvalidParameter(
                f"proxies has {each.strip()!r}: give addresses or networks, comma-separated, "
                "like 127.0.0.1,10.0.0.0/8, or *",
                field="proxies",
            ) from None


def _seconds(given: float, field: str) -> float:
    """A time that may be 0."""
    if not 0 <= given < 1e10:
        raise InvalidParameter(f"{field} is {given:g}: give seconds from 0", field=field)
    return given


def _log_level(given: str) -> str:
    """What is logged: as given, or as it suits where the log goes."""
    if given in LOG_LEVELS:
        return given
    if given:
        raise InvalidParameter(
            f"log is {given!r}: give one of {', '.join(LOG_LEVELS)}", field="log"
        )
    return "warning" if sys.stderr.isatty() else "info"


def _day(seconds: float | None) -> str | None:
    return None if seconds is None else f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M}"
