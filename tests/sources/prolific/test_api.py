"""Requests to Prolific: sent again where that is safe, told apart where it is not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from askwise.core.errors import InvalidParameter
from askwise.sources.prolific import (
    ProlificApi,
    ProlificRefused,
    ProlificUnclear,
    ProlificUnreachable,
    api,
)
from askwise.testing.prolific_server import ProlificServer

STUDY = {
    **{"name": "Cats", "description": "See cats.", "prolific_id_option": "url_parameters"},
    "external_study_url": "https://ask.example.org/?a={{%PROLIFIC_PID%}}&b={{%STUDY_ID%}}"
    "&c={{%SESSION_ID%}}",
    "completion_codes": [{"code": "C1", "code_type": "COMPLETED", "actions": []}],
    **{"total_available_places": 250, "estimated_completion_time": 3, "reward": 50},
}


@pytest.fixture
def server() -> Iterator[ProlificServer]:
    with ProlificServer() as made:
        yield made


@pytest.fixture
def waits() -> list[float]:
    return []


@pytest.fixture
def prolific(server: ProlificServer, waits: list[float]) -> ProlificApi:
    return ProlificApi(server.token, server.url, pauses=(1.0, 2.0), sleep=waits.append)


def test_too_many_requests_are_sent_again_when_prolific_says(
    server: ProlificServer, prolific: ProlificApi, waits: list[float]
) -> None:
    server.set_trap("GET", status=429, headers={"Retry-After": "7"})
    server.set_trap("GET", status=429)
    assert list(prolific.studies()) == []
    assert waits == [7.0, 2.0]


def test_it_is_given_up_after_the_last_try(
    server: ProlificServer, prolific: ProlificApi, waits: list[float]
) -> None:
    server.set_trap("GET", status=429, times=3)
    with pytest.raises(ProlificUnreachable):
        list(prolific.studies())
    assert waits == [1.0, 2.0]


def test_a_pause_that_is_too_long_is_not_waited_for(
    server: ProlificServer, prolific: ProlificApi, waits: list[float]
) -> None:
    server.set_trap("GET", status=429, headers={"Retry-After": "86400"})
    with pytest.raises(ProlificUnreachable):
        list(prolific.studies())
    assert waits == []


@pytest.mark.parametrize("how", [{"loss": "after"}, {"loss": "before"}, {"status": 502}])
def test_a_payment_without_a_reply_is_not_known_and_not_sent_again(
    server: ProlificServer, prolific: ProlificApi, how: dict[str, object]
) -> None:
    server.set_trap("POST", times=5, **how)
    with pytest.raises(ProlificUnclear):
        prolific.pay_bonuses("b1")
    assert len(server.requests) == 1


def test_a_look_without_a_reply_is_taken_again(
    server: ProlificServer, prolific: ProlificApi
) -> None:
    server.set_trap("GET", loss="after")
    server.set_trap("GET", status=500)
    assert list(prolific.studies()) == []
    assert len(server.requests) == 3


def test_a_refusal_says_what_prolific_says_and_never_the_token(
    server: ProlificServer, prolific: ProlificApi
) -> None:
    with pytest.raises(ProlificRefused, match=r"\(404\): no such study") as error:
        prolific.study("0" * 24)
    assert error.value.status == 404
    stranger = ProlificApi("another-token", server.url)
    with pytest.raises(ProlificRefused) as refused:
        list(stranger.studies())
    assert refused.value.status == 401
    assert "another-token" not in str(refused.value)


def test_lists_are_read_page_by_page_and_from_prolific_alone(
    server: ProlificServer, prolific: ProlificApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api, "PAGE", 2)
    study = prolific.create_study(STUDY)["id"]
    prolific.transition_study(study, "PUBLISH")
    made = [server.join(study, f"{number:024x}") for number in range(5)]
    server.url = "http://elsewhere.example"  # where the links of its pages lead
    found = list(prolific.submissions(study))
    assert [each.id for each in found] == made
    assert found[3].participant == f"{3:024x}"


def test_wrong_transitions_are_refused(prolific: ProlificApi) -> None:
    study = prolific.create_study(STUDY)["id"]
    for action in ("PAUSE", "START", "STOP"):
        with pytest.raises(ProlificRefused):
            prolific.transition_study(study, action)
    prolific.transition_study(study, "PUBLISH")
    with pytest.raises(ProlificRefused, match="can't be taken away"):
        prolific.set_places(study, 10)


def test_bonuses_are_written_in_units_and_read_in_minor_ones(
    server: ProlificServer, prolific: ProlificApi
) -> None:
    study = prolific.create_study(STUDY)["id"]
    prolific.transition_study(study, "PUBLISH")
    one, two = (server.join(study, f"{number:024x}") for number in (1, 2))
    batch, understood = prolific.create_bonuses(study, [(one, 4_250_000), (two, 50_000)])
    assert server.batches[batch].rows == [(one, 425), (two, 5)]
    assert understood == 4_300_000
    assert prolific.submission(one).bonuses == 0, "nobody is paid yet"
    prolific.pay_bonuses(batch)
    assert prolific.submission(one).bonuses == 4_250_000
    with pytest.raises(InvalidParameter, match="whole cents"):
        prolific.create_bonuses(study, [(one, 4_255)])
    with pytest.raises(ProlificRefused, match="has not taken part"):
        prolific.create_bonuses(study, [("0" * 24, 10_000)])


def test_an_id_can_not_lead_elsewhere(server: ProlificServer, prolific: ProlificApi) -> None:
    for id in ("../users/me", "a/b", "", "a?b", "x" * 65):
        with pytest.raises(InvalidParameter):
            prolific.submission(id)
    assert server.requests == []


def test_the_token_comes_from_the_environment_or_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PROLIFIC_TOKEN", raising=False)
    monkeypatch.delenv("PROLIFIC_TOKEN_FILE", raising=False)
    with pytest.raises(InvalidParameter, match="PROLIFIC_TOKEN"):
        ProlificApi()
    (tmp_path / "token").write_text("secret\n")
    monkeypatch.setenv("PROLIFIC_TOKEN_FILE", str(tmp_path / "token"))
    ProlificApi()
    monkeypatch.setenv("PROLIFIC_TOKEN_FILE", str(tmp_path / "nowhere"))
    with pytest.raises(InvalidParameter, match="can't be read"):
        ProlificApi()


def test_the_token_is_not_sent_in_the_clear() -> None:
    with pytest.raises(InvalidParameter, match="https"):
        ProlificApi("t", "http://api.example.org")


def test_a_subscription_is_confirmed(server: ProlificServer, prolific: ProlificApi) -> None:
    secret = prolific.create_hook_secret("w1")["value"]
    assert prolific.hook_secrets("w1")[0]["value"] == secret
    id = prolific.subscribe("w1", "submission.status.change", "https://ask.example.org/e")
    assert [each["is_enabled"] for each in prolific.subscriptions("w1")] == [True]
    assert id in server.hooks


@pytest.mark.parametrize("path", ["@evil.example/", ".evil.example/x", "//evil.example/x"])
def test_the_token_goes_nowhere_else_whatever_the_next_page_is(
    server: ProlificServer, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    made, sent = ProlificApi(server.token, server.url, pauses=()), []

    def answer(_: str, asked: str, **__: object) -> tuple[dict[str, object], dict[str, str]]:
        sent.append(asked)
        return {"results": [], "_links": {"next": {"href": path}}}, {}

    monkeypatch.setattr(made, "_send", answer)
    assert list(made.studies()) == []
    assert all(each.startswith("/") and not each.startswith("//") for each in sent)
