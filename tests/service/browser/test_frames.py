"""A framed document in a browser: it loads nothing and connects to nowhere."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.service.browser.driving import HOST, Browser, Site
from tests.service.browser.working import answer, make, start

PICTURE = b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'
REPLY = (
    b"HTTP/1.1 200 OK\r\nContent-Type: image/svg+xml\r\nConnection: close\r\n"
    b"Cross-Origin-Resource-Policy: cross-origin\r\n"
    + f"Content-Length: {len(PICTURE)}\r\n\r\n".encode()
    + PICTURE
)


class Listener:
    """A host that serves one picture; ``heard`` has a line for each connection."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self._taken = socket.create_server((HOST, 0))
        self.address = f"http://{HOST}:{self._taken.getsockname()[1]}"
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        while True:
            try:
                link, _ = self._taken.accept()
            except OSError:
                return  # closed
            self.heard.append("connected")
            threading.Thread(target=self._serve, args=(link, len(self.heard) - 1)).start()

    def _serve(self, link: socket.socket, number: int) -> None:
        with closing(link):
            if asked := link.recv(65536):
                self.heard[number] = asked.split(b"\r\n")[0].decode()
                link.sendall(REPLY)

    def close(self) -> None:
        self._taken.close()


@pytest.fixture
def listeners() -> Iterator[tuple[Listener, Listener]]:
    both = Listener(), Listener()
    yield both
    for each in both:
        each.close()


def test_a_framed_document_reaches_no_host_though_the_page_loads_pictures(
    browser: Browser, site: Site, listeners: tuple[Listener, Listener]
) -> None:
    named, other = listeners
    spy = "".join(
        f"<link rel=preconnect href='{each.address}'><link rel=icon href='{each.address}/icon'>"
        f"<img src='{each.address}/spy.svg'><svg><image href='{each.address}/in.svg'/></svg>"
        for each in listeners
    )
    content = {
        "question": "Is it spam?",
        "options": ["yes", "no"],
        "fields": [
            {"name": "photo", "show": "image", "label": "Photo"},
            {"name": "page", "show": "html", "label": "Page"},
        ],
    }
    payload = {"photo": f"{named.address}/cat.svg", "page": f"<h2>Framed</h2>{spy}"}
    make(
        site, "frames", content=content,
        tasks=[{"id": f"t{number}", "payload": payload} for number in (1, 2)],
    )  # fmt: skip
    browser.expect("Content Security Policy")
    start(browser, site, "frames")
    for number in (1, 2):  # the second comes in the place of the first, without a new page
        browser.shows(f"Question {number}", "h1")
        browser.until(
            lambda: browser.run("return document.querySelector('img.picture')?.naturalWidth"),
            "the picture is there",
        )
        browser.driver.switch_to.frame(browser.find("iframe"))
        assert browser.text("h2") == "Framed"
        browser.driver.switch_to.default_content()
        answer(browser, number, "1")
    browser.shows("Thank you", "h1")
    assert {line for line in named.heard if line != "connected"} == {"GET /cat.svg HTTP/1.1"}
    assert other.heard == []
