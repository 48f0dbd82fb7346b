"""What a requester sees of the question: on the overview, and as a worker does."""

from __future__ import annotations

import re
from typing import Any

from tests.service.dashboard.site import NASTY, Site, words_of

CONTENT: dict[str, Any] = {
    "title": "Better answers",
    "question": "Which answer helps more?",
    "instructions": "Read **both**.",
    "options": [
        {"name": "old", "label": "A", "side": "first", "meaning": "The left one"},
        {"name": "new", "label": "B", "side": "second"},
    ],
    "fields": [{"name": "before", "show": "pair", "second": "after"}],
    "examples": [{"payload": {"before": "x", "after": "y"}, "answer": "new", "why": "Shorter."}],
}
TASKS = [{"id": f"t{at}", "payload": {"before": f"one {at}", "after": "two"}} for at in (1, 2)]


def test_the_overview_says_what_is_asked(site: Site) -> None:
    site.create(options=None, content=CONTENT, tasks=TASKS)
    page = site.page("/dashboard/cats")
    said = words_of(page)
    assert "Better answers Which answer helps more?" in said
    assert "A old The left one B new Instructions Read both ." in said
    assert 'href="/dashboard/cats/preview"' in page


def test_tasks_are_listed_by_the_fields_that_workers_see(site: Site) -> None:
    site.create(options=None, content=CONTENT, tasks=TASKS)
    assert "A: one 1 B: two" in words_of(site.page("/dashboard/cats/tasks"))


def test_without_content_the_overview_has_no_question(site: Site) -> None:
    site.create()
    assert "preview" not in site.page("/dashboard/cats")


def test_a_preview_is_what_a_worker_sees_and_sends_nothing(site: Site) -> None:
    site.create(options=None, content=CONTENT, tasks=TASKS)
    site.sign_in("viewer")
    page = site.page("/dashboard/cats/preview")
    said = words_of(page)
    assert "Which answer helps more?" in said
    assert "Right answer: B Shorter." in said
    assert "one 1" in said
    assert "About half of the workers see A and B in the other order" in said
    assert set(re.findall(r'action="([^"]+)"', page)) == {"/logout"}
    assert page.count('<button type="button" disabled') == 2
    (after,) = re.findall(r"/dashboard/cats/preview\?id=\w+", page)
    second = words_of(site.page(after))
    assert "one 2" in second
    assert "Next task" not in second
    site.page("/dashboard/cats/preview?id=t3", 404)


def test_a_preview_works_without_content_and_without_tasks(site: Site) -> None:
    site.create("plain", tasks=[{"id": "t", "payload": {"text": NASTY}}])
    page = site.page("/dashboard/plain/preview")
    assert "<script>alert" not in page
    assert "other order" not in page
    site.create("units", tasks=None, options=None, outcome="utility", policy="uniform")
    said = words_of(site.page("/dashboard/units/preview"))
    assert "Do one piece of the work as agreed" in said
    assert "a number from 0 to 1" in said


def test_a_preview_may_load_the_pictures_of_its_task_only(site: Site) -> None:
    picture = {"image": "https://img.example/1.png", "alt": "A cat"}
    site.create(tasks=[{"id": "t", "payload": picture}])
    reply = site.client.get("/dashboard/cats/preview")
    assert "img-src 'self' https://img.example;" in reply.headers["content-security-policy"]
