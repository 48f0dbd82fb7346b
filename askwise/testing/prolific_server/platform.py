"""What Prolific does, as far as askwise uses it: studies, submissions, money, webhooks."""

import re
import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any
from urllib.parse import parse_qs, urlsplit

MOVES: dict[str, tuple[frozenset[str], str]] = {
    "PUBLISH": (frozenset({"UNPUBLISHED"}), "ACTIVE"),
    "PAUSE": (frozenset({"ACTIVE"}), "PAUSED"),
    "START": (frozenset({"PAUSED"}), "ACTIVE"),
    "STOP": (frozenset({"ACTIVE", "PAUSED", "AWAITING REVIEW"}), "COMPLETED"),
}
"""What may be done to a study in which status, and what it is then."""

HOLDING = ("RESERVED", "ACTIVE", "AWAITING REVIEW", "APPROVED")
REQUIRED = (
    *("name", "description", "external_study_url", "prolific_id_option", "completion_codes"),
    *("total_available_places", "estimated_completion_time", "reward"),
)
Carried = tuple[int, Any, dict[str, str]]
"""What a request that was carried out is answered with: status, body and headers."""


class RefusedRequest(Exception):
    """A request that the API refuses."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status


@dataclass
class MockBatch:
    """Bonuses that were set up."""

    study: str
    rows: list[tuple[str, int]]
    paid: int = 0
    """How often it was paid."""


class MockPlatform:
    """Studies and their participants, who do as told."""

    url: str
    """Where it is served."""

    def __init__(self, *, currency: str = "GBP", balance: int = 1_000_000) -> None:
        self.currency = currency
        self.balance = balance
        """Minor units that bonuses can be paid from."""
        self.studies: dict[str, dict[str, Any]] = {}
        self.submissions: dict[str, dict[str, Any]] = {}
        self.batches: dict[str, MockBatch] = {}
        self.hooks: dict[str, dict[str, Any]] = {}
        self.secrets: dict[str, str] = {}
        self.lock = threading.RLock()

    # Participants.

    def join(self, study: str, participant: str) -> str:
        """Let a participant take a place; returns the submission's id."""
        with self.lock:
            found = self.studies[study]
            if found["status"] != "ACTIVE" or self._free(study) <= 0:
                raise RefusedRequest(400, f"study {study} takes nobody: it is {found['status']}")
            if any(
                each["participant"] == participant
                for each in self.submissions.values()
                if each["study_id"] == study
            ):
                raise RefusedRequest(400, f"{participant} has taken part already")
            id = _new_id()
            self.submissions[id] = {
                **{"id": id, "participant": participant, "study_id": study, "status": "ACTIVE"},
                **{"bonus_payments": [], "entered_code": None, "reward": found["reward"]},
            }
            return id

    def link(self, submission: str) -> str:
        """The address at which a participant lands."""
        found = self.submissions[submission]
        address: str = self.studies[found["study_id"]]["external_study_url"]
        ids = {"PROLIFIC_PID": found["participant"], "STUDY_ID": found["study_id"]}
        for name, value in {**ids, "SESSION_ID": submission}.items():
            address = address.replace(f"{{{{%{name}%}}}}", value)
        return address

    def submit(self, submission: str, code: str) -> None:
        """A participant comes back with a completion code."""
        with self.lock:
            found = self.submissions[submission]
            found["entered_code"] = code
            self._set(submission, "AWAITING REVIEW")

    def end(self, submission: str, status: str) -> None:
        """A submission is RETURNED, TIMED-OUT, or REJECTED by a person."""
        with self.lock:
            self._set(submission, status)

    def earned(self, participant: str) -> int:
        """What a participant was paid, in minor units: rewards and bonuses."""
        with self.lock:
            found = [e for e in self.submissions.values() if e["participant"] == participant]
            rewards = sum(each["reward"] for each in found if each["status"] == "APPROVED")
            return rewards + sum(sum(each["bonus_payments"]) for each in found)

    # States.

    def _free(self, study: str) -> int:
        held = [
            each
            for each in self.submissions.values()
            if each["study_id"] == study and each["status"] in HOLDING
        ]
        return int(self.studies[study]["total_available_places"]) - len(held)

    def _set(self, submission: str, status: str) -> None:
        found = self.submissions[submission]
        found["status"] = status
        self._refresh(found["study_id"])

    def _refresh(self, study: str) -> None:
        """A study whose places are used up waits for review, and is complete after it."""
        found = self.studies[study]
        if found["status"] not in ("ACTIVE", "AWAITING REVIEW", "COMPLETED"):
            return
        statuses = [e["status"] for e in self.submissions.values() if e["study_id"] == study]
        under_way = any(each in ("RESERVED", "ACTIVE") for each in statuses)
        if self._free(study) > 0 or under_way:
            found["status"] = "ACTIVE" if found["status"] != "COMPLETED" else "COMPLETED"
        else:
            waits = "AWAITING REVIEW" in statuses
            found["status"] = "AWAITING REVIEW" if waits else "COMPLETED"

    # The API.

    def answer(self, method: str, path: str, body: Any) -> Carried:
        """Carry out a request; returns status, body and headers of the reply."""
        parts = urlsplit(path)
        for pattern, verb, act in _ROUTES:
            fits = re.fullmatch(pattern, parts.path)
            if fits and verb == method:
                query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
                return act(self, *fits.groups(), body=body or {}, query=query)
        raise RefusedRequest(404, "not found")

    def list_studies(self, *, query: dict[str, str], **_: Any) -> Carried:
        """GET studies."""
        return 200, {"results": list(self.studies.values())}, {}

    def create_study(self, *, body: dict[str, Any], **_: Any) -> Carried:
        """POST a study."""
        for name in REQUIRED:
            if name not in body:
                raise RefusedRequest(400, f"{name}: this field is required")
        if not isinstance(body["reward"], int) or body["reward"] <= 0:
            raise RefusedRequest(400, "reward: give whole cents")
        if body["total_available_places"] < 1:
            raise RefusedRequest(400, "total_available_places: give 1 or more")
        for name in ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID"):
            if f"{{{{%{name}%}}}}" not in body["external_study_url"]:
                raise RefusedRequest(400, f"external_study_url lacks {name}")
        id = _new_id()
        made = {**body, "id": id, "status": "UNPUBLISHED", "currency_code": self.currency}
        self.studies[id] = made
        return 201, made, {}

    def get_study(self, id: str, **_: Any) -> Carried:
        """GET a study."""
        return 200, self._study(id), {}

    def update_study(self, id: str, *, body: dict[str, Any], **_: Any) -> Carried:
        """PATCH a study: of a published one, places may grow and nothing else changes."""
        found = self._study(id)
        if found["status"] != "UNPUBLISHED" and set(body) - {
            "internal_name",
            "total_available_places",
        }:
            raise RefusedRequest(400, "a published study can't be changed")
        if body.get("total_available_places", 10**9) < found["total_available_places"]:
            raise RefusedRequest(400, "total_available_places: places can't be taken away")
        found.update(body)
        if found["status"] in ("AWAITING REVIEW", "COMPLETED") and self._free(id) > 0:
            found["status"] = "ACTIVE"
        return 200, found, {}

    def move_study(self, id: str, *, body: dict[str, Any], **_: Any) -> Carried:
        """POST a transition of a study."""
        found = self._study(id)
        allowed, after = MOVES.get(str(body.get("action")), (frozenset(), ""))
        if found["status"] not in allowed:
            raise RefusedRequest(400, f"a study that is {found['status']} can't be {body}")
        found["status"] = after
        return 200, found, {}

    def list_submissions(self, study: str, *, query: dict[str, str], **_: Any) -> Carried:
        """GET the submissions of a study, in pages; they are called a little differently there."""
        self._study(study)
        limit, offset = int(query.get("limit", 20)), int(query.get("offset", 0))
        found = [
            {name: value for name, value in each.items() if name not in ("participant", "study_id")}
            | {"participant_id": each["participant"], "study_code": each["entered_code"]}
            for each in self.submissions.values()
            if each["study_id"] == study
        ]
        more = offset + limit < len(found)
        there = f"{self.url}/api/v1/studies/{study}/submissions/"
        following = f"{there}?limit={limit}&offset={offset + limit}" if more else None
        page = {"results": found[offset : offset + limit], "meta": {"count": len(found)}}
        return 200, {**page, "_links": {"next": {"href": following}}}, {}

    def get_submission(self, id: str, **_: Any) -> Carried:
        """GET a submission."""
        return 200, self._submission(id), {}

    def move_submission(self, id: str, *, body: dict[str, Any], **_: Any) -> Carried:
        """POST a transition of a submission; the same again is ignored."""
        found, action = self._submission(id), body.get("action")
        wanted = {"APPROVE": "APPROVED", "REJECT": "REJECTED"}.get(str(action), "")
        if found["status"] != wanted:
            if not wanted or found["status"] != "AWAITING REVIEW":
                raise RefusedRequest(400, f"a submission {found['status']} can't be {action}")
            self._set(id, wanted)
        return 200, found, {}

    def create_bonuses(self, *, body: dict[str, Any], **_: Any) -> Carried:
        """POST a batch of bonuses, which pays nobody."""
        study = str(self._study(str(body.get("study_id")))["id"])
        rows: list[tuple[str, int]] = []
        for line in str(body.get("csv_bonuses", "")).splitlines():
            who, _comma, amount = line.partition(",")
            found = self.submissions.get(who)
            if found is None or found["study_id"] != study:
                raise RefusedRequest(400, f"{who} has not taken part in the study")
            try:
                minor = Decimal(amount) * 100
            except InvalidOperation:
                raise RefusedRequest(400, f"{amount!r} is no amount") from None
            if minor <= 0 or minor != int(minor):
                raise RefusedRequest(400, f"{amount!r} is no amount in cents")
            rows.append((who, int(minor)))
        if not 0 < len(rows) <= 200:
            raise RefusedRequest(400, "csv_bonuses: give 1 to 200 lines")
        id = _new_id()
        self.batches[id] = MockBatch(study, rows)
        total = float(sum(minor for _, minor in rows))
        money = {"amount": total, "fees": total / 4, "vat": 0.0, "total_amount": total * 1.25}
        return 201, {"id": id, "study": study, **money}, {}

    def pay_bonuses(self, id: str, **_: Any) -> Carried:
        """POST that a batch is paid: as often as it is told."""
        found = self.batches.get(id)
        if found is None:
            raise RefusedRequest(404, "no such bonuses")
        total = sum(minor for _, minor in found.rows)
        if total > self.balance:
            raise RefusedRequest(400, "insufficient balance")
        self.balance -= total
        found.paid += 1
        for submission, minor in found.rows:
            self.submissions[submission]["bonus_payments"].append(float(minor))
        return 202, {}, {}

    def list_secrets(self, *, query: dict[str, str], **_: Any) -> Carried:
        """GET the secrets of a workspace."""
        workspace = query.get("workspace_id", "")
        found = [{"id": "s", "value": self.secrets[workspace]}] if workspace in self.secrets else []
        return 200, {"results": found}, {}

    def create_secret(self, *, body: dict[str, Any], **_: Any) -> Carried:
        """POST a workspace's secret, in place of the one before."""
        value = secrets.token_hex(16)
        self.secrets[body["workspace_id"]] = value
        return 201, {"id": "s", "value": value, "workspace_id": body["workspace_id"]}, {}

    def list_hooks(self, **_: Any) -> Carried:
        """GET subscriptions."""
        shown = [
            {name: value for name, value in each.items() if name != "secret"}
            for each in self.hooks.values()
        ]
        return 200, {"results": shown}, {}

    def create_hook(self, *, body: dict[str, Any], **_: Any) -> Carried:
        """POST a subscription, which has to be confirmed."""
        if body.get("workspace_id") not in self.secrets:
            raise RefusedRequest(400, "the workspace has no secret")
        if not str(body.get("target_url", "")).startswith("https://"):
            raise RefusedRequest(400, "target_url: give https://")
        id, secret = _new_id(), secrets.token_hex(8)
        self.hooks[id] = {**body, "id": id, "is_enabled": False, "secret": secret}
        return 201, {**body, "id": id, "is_enabled": False}, {"X-Hook-Secret": secret}

    def confirm_hook(self, id: str, *, body: dict[str, Any], **_: Any) -> Carried:
        """POST that a subscription is meant."""
        found = self.hooks.get(id)
        if found is None or body.get("secret") != found["secret"]:
            raise RefusedRequest(400, "another secret")
        found["is_enabled"] = True
        return 200, {"id": id, "is_enabled": True}, {}

    def _study(self, id: str) -> dict[str, Any]:
        if id not in self.studies:
            raise RefusedRequest(404, "no such study")
        return self.studies[id]

    def _submission(self, id: str) -> dict[str, Any]:
        if id not in self.submissions:
            raise RefusedRequest(404, "no such submission")
        return self.submissions[id]


def _new_id() -> str:
    return secrets.token_hex(12)


_Act = Callable[..., Carried]
_S = MockPlatform
_ROUTES: tuple[tuple[str, str, _Act], ...] = (
    ("/api/v1/studies/", "GET", _S.list_studies),
    ("/api/v1/studies/", "POST", _S.create_study),
    ("/api/v1/studies/([^/]+)/", "GET", _S.get_study),
    ("/api/v1/studies/([^/]+)/", "PATCH", _S.update_study),
    ("/api/v1/studies/([^/]+)/transition/", "POST", _S.move_study),
    ("/api/v1/studies/([^/]+)/submissions/", "GET", _S.list_submissions),
    ("/api/v1/submissions/bonus-payments/", "POST", _S.create_bonuses),
    ("/api/v1/submissions/([^/]+)/", "GET", _S.get_submission),
    ("/api/v1/submissions/([^/]+)/transition/", "POST", _S.move_submission),
    ("/api/v1/bulk-bonus-payments/([^/]+)/pay/", "POST", _S.pay_bonuses),
    ("/api/v1/hooks/secrets/", "GET", _S.list_secrets),
    ("/api/v1/hooks/secrets/", "POST", _S.create_secret),
    ("/api/v1/hooks/subscriptions/", "GET", _S.list_hooks),
    ("/api/v1/hooks/subscriptions/", "POST", _S.create_hook),
    ("/api/v1/hooks/subscriptions/([^/]+)/", "POST", _S.confirm_hook),
)
