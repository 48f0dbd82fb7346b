"""Prolific's REST API, as far as a campaign needs it: studies, submissions, bonuses, webhooks.

Written from the public documentation. A request that was refused for the moment is sent again; one
that moves money and whose reply is lost never is: whether it was carried out is told as not known.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from askwise.core.errors import InvalidParameter
from askwise.core.money import from_micro
from askwise.sources.extras import needed
from askwise.sources.prolific.errors import (
    ProlificRefused,
    ProlificUnclear,
    ProlificUnreachable,
)

TOKEN = "PROLIFIC_TOKEN"
"""The variable of the environment that has the token; with ``_FILE``, the file that has it."""

HOOK_SECRET = "PROLIFIC_HOOK_SECRET"
"""The variable that has the workspace's webhook secret; with ``_FILE``, the file that has it."""

URL = "PROLIFIC_URL"
"""The variable that says where the API is, for tests."""

ADDRESS = "https://api.prolific.com"

PAUSES = (1.0, 2.0, 4.0, 8.0, 16.0)
"""Seconds before the second try, the third, and so on."""

PAGE = 100
"""Submissions in one reply."""

MOST_BONUSES = 200
"""Participants in one batch of bonuses."""

_ID = re.compile(r"[0-9a-zA-Z_-]{1,64}")
MINOR = 10_000
"""Millionths in a minor unit of currency: a cent, a penny."""


@dataclass(frozen=True, slots=True)
class Submission:
    """One participant's turn in a study, as Prolific tells it.

    Attributes
    ----------
    id : str
        Its id, which participants bring along as SESSION_ID.
    participant : str
        Who it is.
    study : str
        The study; empty where a list of its submissions does not say.
    status : str
        ``RESERVED``, ``ACTIVE``, ``AWAITING REVIEW``, ``APPROVED``, ``RETURNED``, ``TIMED-OUT``,
        ``REJECTED`` or others.
    bonuses : int
        What was paid as bonuses, in millionths.
    """

    id: str
    participant: str
    study: str
    status: str
    bonuses: int

    @classmethod
    def read(cls, raw: Mapping[str, Any]) -> Submission:
        """Read a submission of a list, or one that was asked for alone: they differ in names."""
        paid = raw.get("bonus_payments") or ()
        return cls(
            id=str(raw["id"]),
            participant=str(raw.get("participant_id") or raw.get("participant") or ""),
            study=str(raw.get("study_id") or raw.get("study") or ""),
            status=str(raw.get("status") or "").upper(),
            bonuses=sum(round(float(each) * MINOR) for each in paid),
        )


def from_environment(name: str) -> str:
    """A secret from a variable, or from the file that the variable with ``_FILE`` names."""
    file = os.environ.get(f"{name}_FILE", "")
    if file:
        try:
            return Path(file).read_text(encoding="utf-8").strip()
        except OSError as error:
            raise InvalidParameter(
                f"{name}_FILE is {file!r}, which can't be read: {error.strerror}", field=name
            ) from None
    return os.environ.get(name, "").strip()


def is_id(text: str) -> bool:
    """Whether a text can be an id of Prolific's, and is safe in an address."""
    return _ID.fullmatch(text) is not None


class ProlificApi:
    """Prolific's API with a researcher's token.

    Parameters
    ----------
    token : str, optional
        The token; from ``PROLIFIC_TOKEN`` or the file that ``PROLIFIC_TOKEN_FILE`` names by
        default. It is kept in memory alone.
    url : str, optional
        Where the API is.
    pauses : sequence of float
        Seconds before each further try of a request that was refused for the moment.
    timeout : float
        Seconds for one request.
    longest_pause : float
        Seconds that a reply may ask us to wait; beyond that the request fails for now.
    sleep : callable
        Waits this many seconds.
    """

    def __init__(
        self,
        token: str | None = None,
        url: str | None = None,
        *,
        pauses: Sequence[float] = PAUSES,
        timeout: float = 30.0,
        longest_pause: float = 60.0,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._token = from_environment(TOKEN) if token is None else token
        if not self._token or not (self._token.isascii() and self._token.isprintable()):
            raise InvalidParameter(
                f"Prolific's API token is missing: set {TOKEN}, or {TOKEN}_FILE to a file that "
                "has it",
                field=TOKEN,
            )
        self.url = _checked(url or os.environ.get(URL) or ADDRESS)
        self._pauses = tuple(pauses)
        self._longest_pause = longest_pause
        self._sleep = sleep
        self._httpx = needed("httpx", "studies on Prolific")
        self._client = self._httpx.Client(
            timeout=timeout, headers={"Authorization": f"Token {self._token}"}
        )

    def close(self) -> None:
        """Let go of connections."""
        self._client.close()

    # Studies.

    def studies(self) -> Iterator[dict[str, Any]]:
        """The researcher's studies."""
        yield from self._pages("/api/v1/studies/")

    def create_study(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Make a draft of a study, which costs nothing."""
        return self._send("POST", "/api/v1/studies/", fields)[0]

    def study(self, id: str) -> dict[str, Any]:
        """A study as it is."""
        return self._send("GET", f"/api/v1/studies/{_safe(id)}/", again=True)[0]

    def set_places(self, id: str, places: int) -> dict[str, Any]:
        """Set the number of places, which can only grow; the same again changes nothing."""
        fields = {"total_available_places": places}
        return self._send("PATCH", f"/api/v1/studies/{_safe(id)}/", fields, again=True)[0]

    def transition_study(self, id: str, action: str) -> dict[str, Any]:
        """PUBLISH, PAUSE, START or STOP a study."""
        path = f"/api/v1/studies/{_safe(id)}/transition/"
        return self._send("POST", path, {"action": action})[0]

    # Submissions.

    def submissions(self, study: str) -> Iterator[Submission]:
        """All submissions of a study."""
        path = f"/api/v1/studies/{_safe(study)}/submissions/?limit={PAGE}&offset=0"
        for raw in self._pages(path):
            yield Submission.read(raw)

    def submission(self, id: str) -> Submission:
        """One submission."""
        found = self._send("GET", f"/api/v1/submissions/{_safe(id)}/", again=True)[0]
        return Submission.read(found)

    def approve(self, id: str) -> None:
        """Approve a submission, by which it is paid; the second time changes nothing."""
        path = f"/api/v1/submissions/{_safe(id)}/transition/"
        self._send("POST", path, {"action": "APPROVE"}, again=True)

    # Bonuses.

    def create_bonuses(self, study: str, rows: Sequence[tuple[str, int]]) -> tuple[str, int]:
        """Set up a batch of bonuses, which pays nobody yet.

        Parameters
        ----------
        rows : sequence of (submission's id, millionths)
            Who gets how much, in whole minor units.

        Returns
        -------
        tuple of str and int
            The batch's id, and the millionths that Prolific has understood.
        """
        lines = "\n".join(f"{_safe(who)},{_decimal(amount)}" for who, amount in rows)
        fields = {"study_id": study, "csv_bonuses": lines}
        # Sent again after a lost reply it makes a second batch, which is never paid.
        raw = self._send("POST", "/api/v1/submissions/bonus-payments/", fields, again=True)[0]
        return str(raw["id"]), round(float(raw.get("amount") or 0) * MINOR)

    def pay_bonuses(self, batch: str) -> None:
        """Pay a batch. To send it twice pays twice: it is sent once, whatever becomes of it.

        Raises
        ------
        ProlificUnclear
            Whether it is paid is not known.
        ProlificRefused, ProlificUnreachable
            It is not.
        """
        # Nor is it waited in between: who waits may lose the claim to the study.
        self._send("POST", f"/api/v1/bulk-bonus-payments/{_safe(batch)}/pay/", tries=1)

    # Webhooks.

    def subscriptions(self, workspace: str) -> Iterator[dict[str, Any]]:
        """The webhooks of a workspace."""
        yield from self._pages(f"/api/v1/hooks/subscriptions/?workspace_id={_safe(workspace)}")

    def hook_secrets(self, workspace: str) -> list[dict[str, Any]]:
        """The secrets by which a workspace's webhooks are signed; there is one at most."""
        path = f"/api/v1/hooks/secrets/?workspace_id={_safe(workspace)}"
        return list(self._pages(path))

    def create_hook_secret(self, workspace: str) -> dict[str, Any]:
        """Make the workspace's secret."""
        return self._send("POST", "/api/v1/hooks/secrets/", {"workspace_id": workspace})[0]

    def subscribe(self, workspace: str, event_type: str, target: str) -> str:
        """Have events sent to an address, and confirm that; returns the subscription's id."""
        fields = {"workspace_id": workspace, "event_type": event_type, "target_url": target}
        made, headers = self._send("POST", "/api/v1/hooks/subscriptions/", fields)
        id, secret = str(made["id"]), headers.get("x-hook-secret", "")
        self._send("POST", f"/api/v1/hooks/subscriptions/{_safe(id)}/", {"secret": secret})
        return id

    # Requests.

    def _pages(self, path: str) -> Iterator[dict[str, Any]]:
        """Go through the results of a list, page by page."""
        seen: set[str] = set()
        while path and path not in seen:
            seen.add(path)
            body, _ = self._send("GET", path, again=True)
            yield from body.get("results") or ()
            href = ((body.get("_links") or {}).get("next") or {}).get("href")
            parts = urlsplit(href or "")
            # Of the address only the path is taken: the token goes nowhere else.
            path = f"{parts.path}?{parts.query}" if parts.path.startswith("/") else ""

    def _send(
        self,
        method: str,
        path: str,
        fields: Mapping[str, Any] | None = None,
        *,
        again: bool = False,
        tries: int | None = None,
    ) -> tuple[dict[str, Any], Mapping[str, str]]:
        """Send a request; returns the reply's object and headers.

        ``again`` says that it may be sent again when it may have been carried out; ``tries`` how
        often it is sent at most.
        """
        httpx = self._httpx
        tries = len(self._pauses) + 1 if tries is None else tries
        for number in range(tries):
            pause = self._pauses[number] if number < len(self._pauses) else 0.0
            try:
                sent = None if fields is None else dict(fields)
                reply = self._client.request(method, self.url + path, json=sent)
            except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
                problem: Exception = ProlificUnreachable(f"Prolific can't be reached: {error}")
            except httpx.HTTPError as error:
                if not again:
                    raise ProlificUnclear(
                        f"Prolific did not answer {method} {path}: {error}"
                    ) from None
                problem = ProlificUnreachable(f"Prolific does not answer: {error}")
            else:
                if reply.status_code == 429:
                    problem = ProlificUnreachable("Prolific asks for fewer requests (429)")
                    pause = _asked_pause(reply.headers.get("retry-after"), pause)
                elif reply.status_code >= 500:
                    if not again:
                        raise ProlificUnclear(
                            f"Prolific failed at {method} {path} ({reply.status_code})"
                        )
                    problem = ProlificUnreachable(f"Prolific fails ({reply.status_code})")
                elif reply.status_code >= 300:
                    raise self._refused(reply, method, path)
                else:
                    return _object(reply), reply.headers
            if number + 1 == tries or pause > self._longest_pause:
                break
            self._sleep(pause)
        raise problem

    def _refused(self, reply: Any, method: str, path: str) -> ProlificRefused:
        body = _object(reply)
        error = body.get("error", body)
        said = error.get("detail") or error.get("title") if isinstance(error, Mapping) else error
        words = " ".join(str(said or "no reason given").split()).replace(self._token, "***")[:300]
        return ProlificRefused(
            f"Prolific refuses {method} {path.partition('?')[0]} ({reply.status_code}): {words}",
            reply.status_code,
        )


def _object(reply: Any) -> dict[str, Any]:
    try:
        body = reply.json()
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {"results": body}


def _asked_pause(said: str | None, pause: float) -> float:
    """The seconds that a reply asks us to wait; ours where it names none."""
    return float(said) if said and said.isascii() and said.isdecimal() else pause


def _decimal(amount: int) -> str:
    """Millionths as Prolific reads bonuses: units of the currency with two decimals."""
    if amount <= 0 or amount % MINOR:
        raise InvalidParameter(
            f"amount is {from_micro(amount)}: give whole cents, above 0", field="amount"
        )
    return f"{amount // 1_000_000}.{amount % 1_000_000 // MINOR:02d}"


def _safe(id: str) -> str:
    if not is_id(id):
        raise InvalidParameter(f"id is {id!r}: give an id from Prolific", field="id")
    return id


def _checked(url: str) -> str:
    parts = urlsplit(url)
    local = parts.hostname in ("127.0.0.1", "localhost", "::1")
    if parts.scheme != "https" and not (parts.scheme == "http" and local):
        raise InvalidParameter(f"{URL} is {url!r}: give an address with https://", field=URL)
    return url.rstrip("/")
