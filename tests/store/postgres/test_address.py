"""Urls of PostgreSQL databases, and what messages make of them."""

from __future__ import annotations

import pytest

from askwise.core.errors import StoreError
from askwise.store import open_store
from askwise.store.postgres.address import read_address
from askwise.store.postgres.store import PostgresStore
from tests.servers import with_database


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        (
            "postgresql://ann:secret@db.example:6000/labels",
            "postgresql://ann@db.example:6000/labels",
        ),
        ("postgres://db.example/labels?password=secret", "postgresql://db.example/labels"),
        ("postgresql://ann:se%40cr%2Fet@h/d", "postgresql://ann@h/d"),
        ("postgresql://a:1,b:2/d?target_session_attrs=read-write", "postgresql://a:1,b:2/d"),
        ("postgresql://a,b:2/d", "postgresql://a,b:2/d"),
        ("postgresql:///d?host=/run/postgresql&user=ann", "postgresql://ann@/run/postgresql/d"),
        ("postgresql://[::1]:5432/d", "postgresql://::1:5432/d"),
        ("postgresql://", "postgresql:///"),
    ],
)
def test_an_address_is_shown_without_its_password(url: str, shown: str) -> None:
    address = read_address(url, 30.0)
    assert str(address) == shown
    assert "secret" not in repr(address)
    assert repr(PostgresStore(url)) == f"<PostgresStore {shown}>"


def test_options_of_the_url_go_before_ours() -> None:
    parameters = read_address(
        "postgresql://h/d?connect_timeout=3&keepalives_idle=9", 30.0
    ).parameters
    assert parameters["connect_timeout"] == "3"
    assert parameters["keepalives_idle"] == "9"
    assert parameters["keepalives_count"] == 3


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ann:sec@ret@localhost/cats",
        "postgresql://ann:sec/ret@localhost/cats",
        "postgresql://ann:12/ret@localhost/cats",
        "postgresql://ann:sec%zzret@localhost/cats",
        "postgresql://ann:sec/ret",
        "postgresql://[ann:secret/cats",
        "postgresql://ann:sec@localhost/cats?ret=1",
    ],
)
def test_a_url_that_can_not_be_read_is_answered_without_repeating_it(url: str) -> None:
    with pytest.raises(StoreError, match=r"PostgreSQL url.*write postgresql://USER") as caught:
        open_store(url)
    assert caught.value.field == "store"
    assert caught.value.__cause__ is None
    for part in ("ann", "sec", "ret", "localhost", "cats"):
        assert part not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://ann:secret@127.0.0.1:1/cats",
        "postgresql://ann:secret@nowhere.invalid/cats",
        "postgresql://ann:secret@/cats?host=/no/such/directory",
    ],
)
def test_a_server_that_can_not_be_reached_is_named_in_one_line(url: str) -> None:
    with pytest.raises(StoreError, match=r"can't be reached: .*check that the server") as caught:
        open_store(url)
    message = str(caught.value)
    assert message.startswith("postgresql://ann@")
    assert "secret" not in message + str(caught.value.__cause__)
    assert "\n" not in message


def test_a_login_and_a_database_that_do_not_exist_are_said_by_the_server(
    postgres_server: str,
) -> None:
    before, _, place = postgres_server.rpartition("@")
    for url, reason in (
        (f"postgresql://nobody-here:no-such-secret@{place}", "authentication failed|not exist"),
        (with_database(postgres_server, "no_such"), '"no_such" does not exist'),
    ):
        with pytest.raises(StoreError, match=reason) as caught:
            open_store(url)
        for secret in ("no-such-secret", before.removeprefix("postgresql:")):
            assert secret not in str(caught.value)
