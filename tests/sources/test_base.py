"""Questions and responses, and the registry."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest

from askwise.core.content import Content
from askwise.core.errors import InvalidAnswer, InvalidParameter, UnknownPolicy
from askwise.sources import FAILURES, Question, Response, sources


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"value": "yes", "failure": "refused"},
        {"failure": "sleepy"},
        {"value": "yes", "cost": -1},
        {"value": "yes", "cost": 1.0},
        {"value": "yes", "cost": True},
        {"failure": "unavailable", "cost": 1},
        {"value": "yes", "probabilities": {"yes": 0.5, "no": 0.4}},
        {"value": "yes", "probabilities": {"yes": 1.5, "no": -0.5}},
        {"value": "yes", "probabilities": {}},
        {"value": "yes", "probabilities": {"yes": "1"}},
    ],
)
def test_a_response_that_contradicts_itself_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidAnswer):
        Response(**fields)


def test_a_response_is_written_with_what_is_set() -> None:
    response = Response("yes", cost=1500, cached=False, reference="r-1")
    assert response.to_json() == {"value": "yes", "cost": "0.0015", "reference": "r-1"}
    assert Response(0.0).to_json() == {"value": 0.0, "cost": "0"}


def test_a_question_is_plain_json_for_programs() -> None:
    content = Content("Spam?", options=["no", {"name": "yes", "meaning": "ads"}])
    question = Question(content, "t1", {"a": [1]}, assignment="c/7", worker="ann", draw=2)
    assert json.loads(json.dumps(question.to_json())) == {
        "id": "c/7",
        "task": "t1",
        "worker": "ann",
        "draw": 2,
        "options": ["no", "yes"],
        "payload": {"a": [1]},
        "content": {
            "question": "Spam?",
            "options": [{"name": "no"}, {"name": "yes", "meaning": "ads"}],
        },
    }


def test_sources_are_made_by_name_and_refuse_what_they_do_not_know() -> None:
    assert set(sources.names()) >= {"chat", "command", "function", "people", "replay"}
    with pytest.raises(UnknownPolicy, match="did you mean 'chat'"):
        sources.make({"name": "chatt"})
    with pytest.raises(InvalidParameter, match="has no parameter 'prise'"):
        sources.make({"name": "people", "prise": 1})


def test_failures_are_a_closed_set_of_words() -> None:
    assert len(set(FAILURES)) == len(FAILURES) == 10
    assert all(word.isidentifier() and word.islower() for word in FAILURES)


@pytest.mark.parametrize("missing", ["httpx", "jinja2"])
def test_a_plain_install_has_all_sources_and_says_what_chat_needs(
    missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (missing, f"{missing}.meta", f"{missing}.sandbox"):
        monkeypatch.setitem(sys.modules, name, None)
    chat = sources.make({"name": "chat", "model": "m", "base_url": "http://x/v1", "price": 0})
    with pytest.raises(InvalidParameter, match=rf"need {missing}: pip install 'askwise\[judges\]'"):
        chat.check()
