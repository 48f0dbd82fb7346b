"""The recording of the demonstration shows what the demonstration prints."""

from __future__ import annotations

import re

from docs.refresh import DEMO_PAGE
from docs.tour import COLUMNS, PICTURE, ROWS, Screen, text_of, thinned, without_waits


def first_cells(text: str) -> list[str]:
    return re.findall(r"^│ (.*?) +│", text, re.MULTILINE)


def test_it_ends_as_the_page_of_the_demonstration_does() -> None:
    # A slow test holds the page against what the demonstration prints.
    shown, page = text_of(PICTURE.read_text("utf-8")), DEMO_PAGE.read_text("utf-8")
    assert first_cells(shown)[-5:] == first_cells(page)[-5:]
    assert "Certificate: " in shown
    assert "Try next:" in shown


def test_it_is_small_and_can_be_still() -> None:
    text = PICTURE.read_text("utf-8")
    assert len(text.encode()) < 300_000
    assert "prefers-reduced-motion" in text
    assert "<script" not in text


def test_a_screen_follows_the_cursor() -> None:
    screen = Screen()
    for part in ("one\r\ntwo\r\n\x1b[1", "A\x1b[2Kthr", "ee\r\n", "x" * (COLUMNS + 1)):
        screen.feed(part)
    assert screen.seen() == ("one", "three", "x" * COLUMNS, "x")
    screen.feed("\r\n" * ROWS)
    assert len(screen.seen()) == ROWS


def test_a_wait_is_cut_and_nothing_else_is() -> None:
    frames = [(0.0, ("a",)), (0.5, ("b",)), (9.5, ("c",)), (10.0, ("d",)), (14.0, ("e",))]
    assert [when for when, _ in without_waits(frames, 1.0)] == [0.0, 0.5, 1.5, 2.0, 3.0]


def test_the_first_and_the_last_frame_are_kept() -> None:
    frames = [(float(at), (str(at),)) for at in range(100)]
    kept = thinned(frames, 10)
    assert len(kept) <= 10
    assert (kept[0], kept[-1]) == (frames[0], frames[-1])
