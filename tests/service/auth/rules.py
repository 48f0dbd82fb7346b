"""Whom every route is open to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

ROLES = ("viewer", "requester", "owner")


@dataclass(frozen=True)
class Rule:
    """Who may call a route, and a call of it that is well formed.

    ``lowest`` is the least role whose key (or session, for pages) opens it, or ``public``, or
    ``known``: whoever has any key or token. ``worker`` opens it to the worker whom the call is
    about, with their token (or its cookie, for pages).
    """

    lowest: str | None
    worker: bool = False
    body: dict[str, Any] | None = None
    query: str = ""


def form(lowest: str, **fields: str) -> Rule:
    return Rule(lowest, body=dict(fields))


def inbox(**fields: str) -> Rule:
    return Rule(None, True, dict(fields))


ANN = {"worker": "ann"}

TOML = """
name = "of-a-form"
budget = "1"
options = ["yes", "no"]
policy = "random-pairs"
tasks = ["t"]
workers = [{id = "w", price = "0.1"}]
"""

NEW = {
    "workers": [{"id": "w", "price": "0.1"}], "tasks": ["t"], "options": ["yes", "no"],
    "policy": "random-pairs",
}  # fmt: skip

HOOK = {"url": "http://192.0.2.1/x", "campaign": "cats", "events": ["task.closed"], "label": "x"}

API: dict[tuple[str, str], Rule] = {
    ("GET", "/openapi.json"): Rule("public"),
    ("GET", "/docs"): Rule("public"),
    ("GET", "/healthz"): Rule("public"),
    ("GET", "/readyz"): Rule("public"),
    ("GET", "/metrics"): Rule("viewer"),
    ("GET", "/me"): Rule("known"),
    ("POST", "/campaigns"): Rule("requester", body=NEW),
    ("GET", "/campaigns"): Rule("viewer"),
    ("GET", "/campaigns/{name}"): Rule("viewer"),
    ("GET", "/campaigns/{name}/spec"): Rule("viewer"),
    ("POST", "/campaigns/{name}/pause"): Rule("requester"),
    ("POST", "/campaigns/{name}/resume"): Rule("requester"),
    ("POST", "/campaigns/{name}/top-up"): Rule("requester", body={"amount": "1"}),
    ("POST", "/campaigns/{name}/add"): Rule("requester", body={"tasks": ["more"]}),
    ("POST", "/campaigns/{name}/close"): Rule("requester", body={"task": "t3"}),
    ("POST", "/campaigns/{name}/label"): Rule("requester", body={"task": "t2", "value": "yes"}),
    ("POST", "/campaigns/{name}/comment"): Rule("requester", body={"task": "t2", "text": "Odd."}),
    ("POST", "/campaigns/{name}/truth"): Rule("requester", body={"task": "t1", "option": "yes"}),
    ("POST", "/campaigns/{name}/truths"): Rule("requester", body={"truths": {"t1": "yes"}}),
    ("POST", "/campaigns/{name}/remove"): Rule("requester", body={"task": "t3"}),
    ("POST", "/campaigns/{name}/title"): Rule("requester", body={"title": "Cats"}),
    ("POST", "/campaigns/{name}/archive"): Rule("requester"),
    ("POST", "/campaigns/{name}/unarchive"): Rule("requester"),
    ("DELETE", "/campaigns/{name}"): Rule("requester"),
    ("GET", "/judges"): Rule("viewer"),
    ("GET", "/policies"): Rule("viewer"),
    ("GET", "/rules"): Rule("viewer"),
    ("GET", "/aggregators"): Rule("viewer"),
    ("GET", "/mechanisms"): Rule("viewer"),
    ("GET", "/sources"): Rule("viewer"),
    ("GET", "/campaigns/{name}/run"): Rule("viewer"),
    ("GET", "/campaigns/{name}/over"): Rule("viewer"),
    ("GET", "/campaigns/{name}/certificate"): Rule("viewer"),
    ("GET", "/campaigns/{name}/pilot"): Rule("viewer"),
    ("GET", "/campaigns/{name}/results"): Rule("viewer"),
    ("GET", "/campaigns/{name}/agreement"): Rule("viewer"),
    ("GET", "/campaigns/{name}/judges"): Rule("viewer"),
    ("GET", "/campaigns/{name}/worker"): Rule("viewer", query="id=ann"),
    ("GET", "/campaigns/{name}/answers"): Rule("viewer"),
    ("GET", "/campaigns/{name}/task"): Rule("viewer", query="id=t1"),
    ("GET", "/campaigns/{name}/payments"): Rule("viewer"),
    ("GET", "/campaigns/{name}/due"): Rule("viewer"),
    ("GET", "/campaigns/{name}/payouts"): Rule("viewer"),
    ("GET", "/campaigns/{name}/bonuses"): Rule("viewer"),
    ("POST", "/campaigns/{name}/bonus"): Rule(
        "requester", body={**ANN, "amount": "0.01", "why": "Thanks."}
    ),
    ("POST", "/campaigns/{name}/pay"): Rule("requester", body={**ANN, "amount": "0.001"}),
    ("POST", "/campaigns/{name}/pay-all"): Rule("requester", body={}),
    ("GET", "/campaigns/{name}/log"): Rule("viewer"),
    ("GET", "/campaigns/{name}/export/{what}"): Rule("viewer"),
    ("GET", "/campaigns/{name}/workers"): Rule("viewer"),
    ("POST", "/campaigns/{name}/invite"): Rule("requester", body=ANN),
    ("POST", "/campaigns/{name}/bid"): Rule("requester", True, {**ANN, "amount": "0.2"}),
    ("POST", "/campaigns/{name}/availability"): Rule("requester", True, {**ANN, "available": True}),
    ("POST", "/campaigns/{name}/suspend"): Rule("requester", body=ANN),
    ("POST", "/campaigns/{name}/reinstate"): Rule("requester", body=ANN),
    ("GET", "/campaigns/{name}/standing"): Rule("viewer", True, query="worker=ann"),
    ("GET", "/campaigns/{name}/tokens"): Rule("requester"),
    ("DELETE", "/campaigns/{name}/tokens/{id}"): Rule("requester"),
    ("POST", "/campaigns/{name}/ask"): Rule("requester", True, {"workers": ["ann"]}),
    ("GET", "/campaigns/{name}/assignments"): Rule("viewer", True, query="worker=ann"),
    ("GET", "/assignments/{id}"): Rule("viewer", True),
    ("POST", "/assignments/{id}/answer"): Rule("requester", True, {"value": "yes"}),
    ("POST", "/assignments/{id}/revise"): Rule("requester", True, {"value": "no"}),
    ("POST", "/assignments/{id}/withdraw"): Rule("requester", body={"why": "Deleted."}),
    ("POST", "/assignments/{id}/decline"): Rule("requester", True),
    ("POST", "/assignments/{id}/flag"): Rule("requester", True, body={"why": "no picture"}),
    ("POST", "/assignments/{id}/fail"): Rule("requester", body={"why": "refused"}),
    ("POST", "/assignments/{id}/renew"): Rule("requester"),
    ("POST", "/assignments/{id}/expire"): Rule("requester"),
    ("GET", "/assignments/{id}/explanation"): Rule("viewer"),
    ("GET", "/hooks"): Rule("requester"),
    ("POST", "/hooks"): Rule("requester", body=HOOK),
    ("GET", "/hooks/{id}/deliveries"): Rule("requester"),
    ("POST", "/hooks/{id}/deliveries/{delivery}/retry"): Rule("requester"),
    ("POST", "/hooks/{id}/test"): Rule("requester"),
    ("DELETE", "/hooks/{id}"): Rule("requester"),
    ("GET", "/keys"): Rule("owner"),
    ("POST", "/keys"): Rule("owner", body={"role": "viewer", "label": "new"}),
    ("DELETE", "/keys/{id}"): Rule("owner"),
    # Last, as they end what others need.
    ("POST", "/campaigns/{name}/leave"): Rule("requester", True, ANN),
    ("POST", "/campaigns/{name}/stop"): Rule("requester"),
    ("POST", "/campaigns/{name}/forget"): Rule(
        "requester", body={"worker": "ann", "pseudonym": "bob-the-other"}
    ),
}
"""Routes that take `Authorization: Bearer`."""

PAGES: dict[tuple[str, str], Rule] = {
    ("GET", "/"): Rule("public"),
    ("GET", "/login"): Rule("public"),
    ("GET", "/dashboard"): Rule("viewer"),
    ("GET", "/dashboard/-/new"): Rule("requester"),
    ("POST", "/dashboard/-/new"): form("requester", toml=TOML, key="a" * 32),
    ("POST", "/dashboard/-/new/table"): form("requester", key="a" * 32),
    ("GET", "/dashboard/-/new/table/{draft}"): Rule("requester"),
    ("POST", "/dashboard/-/new/table/{draft}"): form("requester", key="a" * 32),
    ("GET", "/dashboard/-/keys"): Rule("owner"),
    ("POST", "/dashboard/-/keys"): form("owner", role="viewer", label="x", days="", key="b" * 32),
    ("POST", "/dashboard/-/keys/{id}/revoke"): form("owner", key="c" * 32),
    ("GET", "/dashboard/{name}"): Rule("viewer"),
    ("GET", "/dashboard/{name}/tasks"): Rule("viewer"),
    ("GET", "/dashboard/{name}/review"): Rule("viewer"),
    ("GET", "/dashboard/{name}/workers"): Rule("viewer"),
    ("GET", "/dashboard/{name}/worker"): Rule("viewer", query="id=ann"),
    ("GET", "/dashboard/{name}/decisions"): Rule("viewer"),
    ("GET", "/dashboard/{name}/task"): Rule("viewer", query="id=t1"),
    ("GET", "/dashboard/{name}/preview"): Rule("viewer"),
    ("GET", "/dashboard/{name}/asked/{seq}"): Rule("viewer"),
    ("GET", "/dashboard/{name}/export/{what}"): Rule("viewer"),
    ("GET", "/dashboard/{name}/live"): Rule("viewer"),
    ("GET", "/dashboard/{name}/manage"): Rule("requester"),
    ("POST", "/dashboard/{name}/invite"): form("requester", worker="ann", key="d" * 32),
    ("POST", "/dashboard/{name}/tokens/{id}/revoke"): form("requester", key="e" * 32),
    ("POST", "/dashboard/{name}/suspend"): form("requester", worker="ann", key="fa" * 16),
    ("POST", "/dashboard/{name}/reinstate"): form("requester", worker="ann", key="fb" * 16),
    ("POST", "/dashboard/{name}/asked/{seq}/release"): form("requester", key="ba" * 16),
    ("POST", "/dashboard/{name}/asked/{seq}/revise"): form("requester", value="no", key="bc" * 16),
    ("POST", "/dashboard/{name}/asked/{seq}/withdraw"): form("requester", why="x", key="ce" * 16),
    ("POST", "/dashboard/{name}/top-up"): form("requester", amount="1", key="f" * 32),
    ("POST", "/dashboard/{name}/add"): form("requester", tasks="t9", key="0" * 32),
    ("POST", "/dashboard/{name}/pause"): form("requester", key="1" * 32),
    ("POST", "/dashboard/{name}/begin"): form("requester", key="ab" * 16),
    ("POST", "/dashboard/{name}/resume"): form("requester", key="2" * 32),
    ("GET", "/dashboard/{name}/stop"): Rule("requester"),
    ("POST", "/dashboard/{name}/close"): form("requester", task="t2", key="3" * 32),
    ("POST", "/dashboard/{name}/label"): form("requester", task="t2", value="yes", key="cd" * 16),
    ("POST", "/dashboard/{name}/comment"): form("requester", task="t2", text="Odd.", key="de" * 16),
    ("POST", "/dashboard/{name}/truth"): form("requester", task="t2", option="yes", key="4" * 32),
    ("GET", "/dashboard/{name}/payments"): Rule("viewer"),
    ("POST", "/dashboard/{name}/bonus"): form(
        "requester", worker="ann", bonus="0.01", why="Thanks.", key="ef" * 16
    ),
    ("POST", "/dashboard/{name}/pay"): form(
        "requester", worker="ann", amount="0.001", key="fa" * 16
    ),
    ("POST", "/dashboard/{name}/pay-all"): form(
        "requester", amounts='{"ann": "0.001"}', key="fb" * 16
    ),
    ("GET", "/dashboard/{name}/hooks"): Rule("requester"),
    ("POST", "/dashboard/{name}/hooks"): form(
        "requester", url="http://192.0.2.1/x", events="task.closed", label="", key="5" * 32
    ),
    ("POST", "/dashboard/{name}/hooks/{id}/test"): form("requester", key="7" * 32),
    ("POST", "/dashboard/{name}/hooks/{id}/deliveries/{delivery}/retry"): form(
        "requester", key="8" * 32
    ),
    ("POST", "/dashboard/{name}/hooks/{id}/end"): form("requester", key="6" * 32),
    ("POST", "/dashboard/{name}/remove"): form("requester", worker="ann", key="cd" * 16),
    ("POST", "/dashboard/{name}/stop"): form("requester", sure="yes", key="9" * 32),
    ("POST", "/dashboard/{name}/title"): form("requester", title="Cats", key="a1" * 16),
    ("POST", "/dashboard/{name}/archive"): form("requester", key="a2" * 16),
    ("POST", "/dashboard/{name}/unarchive"): form("requester", key="a3" * 16),
    ("GET", "/dashboard/{name}/delete"): Rule("requester"),
    ("POST", "/dashboard/{name}/delete"): form("requester", sure="yes", key="a4" * 16),
    ("POST", "/dashboard/{name}/forget"): form("requester", worker="ann", key="a5" * 16),
    ("POST", "/dashboard/{name}/remove-task"): form("requester", task="t1", key="a6" * 16),
    ("GET", "/work/{name}"): Rule(None, True),
    ("GET", "/work/{name}/{verb}"): Rule(None, True),
    ("POST", "/work/{name}/next"): inbox(),
    ("POST", "/work/{name}/answer"): inbox(assignment="cats:{seq}", value="yes"),
    ("POST", "/work/{name}/change"): inbox(assignment="cats:{seq}"),
    ("POST", "/work/{name}/revise"): inbox(assignment="cats:{seq}", value="no"),
    ("POST", "/work/{name}/skip"): inbox(assignment="cats:{seq}"),
    ("POST", "/work/{name}/flag"): inbox(assignment="cats:{seq}", why="no picture"),
    ("POST", "/work/{name}/away"): inbox(),
    ("POST", "/work/{name}/back"): inbox(),
    ("POST", "/work/{name}/bid"): inbox(amount="0.2"),
    ("POST", "/work/{name}/sign-out"): inbox(),
}
"""Routes that take cookies: of a session, or of a worker."""

ELSEHOW = {
    ("POST", "/login"),
    ("POST", "/logout"),
    ("GET", "/join/{token}"),
    ("GET", "/prolific/{door}"),
    ("POST", "/prolific/events"),
    ("MOUNT", "/static"),
}
"""Routes that have tests of their own."""


def opens(rule: Rule, caller: str) -> bool:
    if rule.lowest == "public":
        return True
    if caller in ROLES:
        if rule.lowest == "known":
            return True
        return rule.lowest is not None and ROLES.index(caller) >= ROLES.index(rule.lowest)
    if caller == "own":
        return rule.worker or rule.lowest == "known"
    return rule.lowest == "known" and caller in ("other worker", "foreign worker")
