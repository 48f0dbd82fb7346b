"""Posting: what is private is not reached, whatever the address looks like; nobody takes long."""

from __future__ import annotations

import contextlib
import shutil
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import httpcore
import pytest

from askwise.core.errors import InvalidParameter
from askwise.service.webhooks import posting
from askwise.service.webhooks.posting import SHOWN, Network, is_public, parse_url
from tests.service.webhooks.bench import Receiver

PUBLIC = "93.184.215.14"


@pytest.mark.parametrize(
    "address",
    [
        "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.254",
        "127.0.0.1", "127.255.255.255", "169.254.169.254", "172.16.0.1", "172.31.255.255",
        "192.0.0.8", "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1", "198.19.255.255",
        "198.51.100.7", "203.0.113.9", "224.0.0.1", "239.255.255.255", "240.0.0.1",
        "255.255.255.255",
        "::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254",
        "::ffff:0:127.0.0.1", "64:ff9b::127.0.0.1", "64:ff9b::10.0.0.1", "64:ff9b:1::1", "100::1",
        "2001::1", "2001:10::1", "2001:20::1", "2001:db8::1", "2002:7f00:1::", "2002:5db8:d70e::1",
        "3fff::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1",
        "not an address", "",
    ],
)  # fmt: skip
def test_what_is_private_is_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "address",
    [
        "1.1.1.1", "8.8.8.8", PUBLIC, "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0",
        "172.15.255.255", "172.32.0.0", "192.167.255.255", "192.169.0.0", "223.255.255.255",
        "2606:4700:4700::1111", "2a00:1450::1", "2001:4860:4860::8888",
        "::ffff:8.8.8.8", "64:ff9b::8.8.8.8",
    ],
)  # fmt: skip
def test_what_is_public_is(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1", "127.1", "0", "0.0.0.0", "2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1",
        "017700000001", "localhost", "[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]",
        "169.254.169.254", "192.168.0.1",
    ],
)  # fmt: skip
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_no_spelling_of_a_private_host_is_accepted(scheme: str, host: str) -> None:
    with pytest.raises(InvalidParameter, match="url") as refused:
        Network().check(f"{scheme}://{host}/")
    assert refused.value.field == "url"


@pytest.mark.parametrize(
    "url",
    [
        "", "ftp://example.org/", "file:///etc/passwd", "gopher://127.0.0.1/", "//example.org/",
        "example.org", "http:example.org", "http:/example.org", "http://", "http:///path",
        "http://user@example.org/", "http://user:secret@example.org/", "http://@example.org/",
        "http://example.org@127.0.0.1/", "http://127.0.0.1\\@example.org/",
        "http://example.org#@127.0.0.1/", "https://example.org/#part", "http://example.org:0/",
        "http://example.org:65536/", "http://example.org:x/", "http://exa mple.org/",
        "http://example.org/a b", "http://example.org/\r\nHost: 127.0.0.1", "http://example.org\n",
        "http://ex\u00e4mple.org/", "http://example.org/\u00e4", "http://example\u3002org/",
        "http://[::1", "http://[fe80::1%25eth0]/", "http://%31%32%37.0.0.1/", "javascript:alert(1)",
        "http://example.org/" + 2000 * "a",
    ],
)  # fmt: skip
def test_what_is_not_plainly_an_address_is_refused(url: str) -> None:
    with pytest.raises(InvalidParameter, match="url") as refused:
        Network(private=True, resolve=lambda host, port: [PUBLIC]).check(url)
    assert refused.value.field == "url"
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("url", "host", "port", "target"),
    [
        ("http://example.org", b"example.org", 80, b"/"),
        ("https://example.org?a=1", b"example.org", 443, b"/?a=1"),
        ("https://example.org:8443/a%20b?c=d&e", b"example.org", 8443, b"/a%20b?c=d&e"),
        ("http://[2606:4700::1]:81/x", b"2606:4700::1", 81, b"/x"),
    ],
)
def test_an_address_is_read(url: str, host: bytes, port: int, target: bytes) -> None:
    parsed = parse_url(url)
    assert (parsed.host, parsed.origin.port, parsed.target) == (host, port, target)


def test_one_private_address_of_several_is_enough_to_refuse() -> None:
    network = Network(resolve=lambda host, port: [PUBLIC, "10.0.0.1"])
    with pytest.raises(InvalidParameter, match="private"):
        network.check("https://example.org/")


def test_a_host_that_can_not_be_found_is_refused() -> None:
    def nowhere(host: str, port: int) -> list[str]:
        raise socket.gaierror("nowhere")

    with pytest.raises(InvalidParameter, match="can't be found"):
        Network(resolve=nowhere).check("https://example.org/")


def test_a_name_that_changes_its_mind_leads_nowhere(receiver: Receiver) -> None:
    places = [[PUBLIC], ["127.0.0.1"]]
    network = Network(resolve=lambda host, port: places.pop(0))
    url = f"http://rebind.example:{receiver.server.server_port}/"
    network.check(url)
    outcome = network.post(url, b"{}", {})
    assert outcome.status is None
    assert "private" in outcome.said
    assert receiver.got == []


def test_the_connection_goes_to_the_address_that_was_looked_at(receiver: Receiver) -> None:
    asked = []

    def once(host: str, port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"]

    network = Network(private=True, resolve=once)
    url = f"http://hooks.example:{receiver.server.server_port}/path?x=1"
    assert network.post(url, b'{"a":1}', {"X-Mine": "yes"}).taken
    assert asked == ["hooks.example"]
    (got,) = receiver.got
    assert got.path == "/path?x=1"
    assert got.headers["Host"] == f"hooks.example:{receiver.server.server_port}"
    assert got.headers["X-Mine"] == "yes"
    assert got.body == b'{"a":1}'


def test_proxies_of_the_environment_are_not_used(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert Network(private=True).post(receiver.url, b"{}", {}).taken


def test_redirects_are_not_followed(receiver: Receiver) -> None:
    for status in (301, 302, 303, 307, 308):
        receiver.answer = lambda _, status=status: status  # type: ignore[misc]
        outcome = Network(private=True).post(receiver.url, b"{}", {})
        assert (outcome.status, outcome.taken, outcome.down) == (status, False, False)
    assert {got.path for got in receiver.got} == {"/hook?of=mine"}


def test_of_an_answer_the_beginning_is_kept_in_one_line(receiver: Receiver) -> None:
    receiver.says = b"no\r\n\x1b[31m\x00way " + 10**6 * b"\xff"
    outcome = Network(private=True).post(receiver.url, b"{}", {})
    assert outcome.taken
    assert outcome.said.startswith("no [31m way ")
    assert len(outcome.said) == SHOWN
    assert outcome.said.isprintable()


def test_who_is_not_there_is_down() -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # nobody else has it, and nobody listens
        url = f"http://127.0.0.1:{held.getsockname()[1]}/"
        outcome = Network(private=True).post(url, b"{}", {})
    assert outcome.down
    assert "refused" in outcome.said


# Receivers that take their time, in their own way.


def serve_badly(behave: Callable[[socket.socket], None]) -> tuple[str, socket.socket]:
    server = socket.create_server(("127.0.0.1", 0))

    def run() -> None:
        link, _ = server.accept()
        with link, contextlib.suppress(OSError):
            behave(link)

    threading.Thread(target=run, daemon=True).start()
    return f"http://127.0.0.1:{server.getsockname()[1]}/", server


def drip(link: socket.socket) -> None:
    link.recv(10000)
    link.sendall(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    while True:
        link.sendall(b"a")
        time.sleep(0.02)


def hesitate(link: socket.socket) -> None:
    while True:
        link.sendall(b"HTTP/1.1 103 Early Hints\r\n\r\n")
        time.sleep(0.02)


def say_nothing(link: socket.socket) -> None:
    while link.recv(10000):
        pass


def begin_a_body(link: socket.socket) -> None:
    link.recv(10000)
    link.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\naa")
    say_nothing(link)


def talk_nonsense(link: socket.socket) -> None:
    link.recv(10000)
    link.sendall(b"\x00\x01\x02\r\n\r\n")


@pytest.mark.parametrize("behave", [drip, say_nothing, hesitate])
def test_all_of_an_attempt_has_one_deadline(behave: Callable[[socket.socket], None]) -> None:
    # They go on for as long as the connection is there: without a deadline this would not end.
    url, server = serve_badly(behave)
    with server:
        outcome = Network(private=True, patience=0.3).post(url, b"{}", {})
    assert outcome.down
    assert outcome.said == "no answer within 0.3 s"


def test_an_answer_counts_though_its_end_does_not_come(monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[float] = []

    def late_after_one_read(deadline: float, late: type[httpcore.TimeoutException]) -> float:
        if late is httpcore.ReadTimeout:
            reads.append(deadline)
        if len(reads) > 1:
            raise late("too late")
        return 60.0

    monkeypatch.setattr(posting, "left", late_after_one_read)
    url, server = serve_badly(begin_a_body)
    with server:
        outcome = Network(private=True).post(url, b"{}", {})
    assert len(reads) == 2
    assert outcome.taken
    assert outcome.said == "aa"


def test_nonsense_is_no_answer() -> None:
    url, server = serve_badly(talk_nonsense)
    with server:
        assert Network(private=True, patience=2).post(url, b"{}", {}).down


# Encrypted.


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A key and a certificate for hooks.example, in one file."""
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl to make a certificate with")
    file = tmp_path_factory.mktemp("tls") / "both.pem"
    made = subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
         "-subj", "/CN=hooks.example", "-addext", "subjectAltName=DNS:hooks.example",
         "-keyout", "-", "-out", "-"],
        capture_output=True,
        check=True,
    )  # fmt: skip
    file.write_bytes(made.stdout)
    return file


def test_a_certificate_is_checked_for_the_name_not_the_address(
    receiver: Receiver, certificate: Path
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    receiver.server.socket = context.wrap_socket(receiver.server.socket, server_side=True)
    port = receiver.server.server_port
    trusted = ssl.create_default_context(cafile=str(certificate))
    network = Network(private=True, resolve=lambda host, port: ["127.0.0.1"], trusted=trusted)
    assert network.post(f"https://hooks.example:{port}/", b"{}", {}).taken
    other = network.post(f"https://other.example:{port}/", b"{}", {})
    assert other.down
    assert "certificate" in other.said.lower()
    unknown = Network(private=True, resolve=lambda host, port: ["127.0.0.1"])
    assert unknown.post(f"https://hooks.example:{port}/", b"{}", {}).down
    assert len(receiver.got) == 1
