"""Label Studio's HTTP interface, as far as askwise uses it."""

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from askwise.core.errors import AskwiseError, InvalidParameter
from askwise.sources.extras import needed

PAGE = 100
"""Tasks, or projects, that are read in one request."""

TRIES, FIRST_PAUSE = 4, 0.5
"""How often a request is made that may be made again; the pauses between tries double."""

TIMEOUT = 60.0
"""Seconds for one request: an import of many tasks takes its time."""

Method = Literal["GET", "POST", "PATCH", "DELETE"]


class LabelStudioUnreachable(AskwiseError, code="label_studio_unavailable"):
    """Label Studio does not answer, or not now: whether a request was carried out is not known."""

    def __init__(self, message: str) -> None:
        super().__init__(message, field="url")


class Missing(AskwiseError):
    """Label Studio has no such project, task, annotation or prediction."""

    def __init__(self, message: str) -> None:
        super().__init__(message, field="project", reason="unknown_name")


class LabelStudioApi:
    """Requests to one Label Studio.

    Parameters
    ----------
    url : str
        Its address, such as ``http://127.0.0.1:8080``.
    token : str
        A personal access token (a JWT), or a legacy token.
    transport : httpx.BaseTransport, optional
        What carries requests; for tests.
    """

    def __init__(self, url: str, token: str, *, transport: Any = None) -> None:
        self._httpx = needed("httpx", "annotations of Label Studio")
        self.url = url.rstrip("/")
        self._token = token
        # A personal access token is a JWT that only buys short-lived ones.
        self._is_personal = token.count(".") == 2
        self._access: str | None = None
        # The address is the user's own: no proxy of the environment stands between.
        self._client = self._httpx.Client(
            base_url=self.url, timeout=TIMEOUT, transport=transport, trust_env=False
        )

    def close(self) -> None:
        """Let go of connections."""
        self._client.close()

    # Who and where.

    def users(self) -> list[dict[str, Any]]:
        """Everyone who has an account in the organisation."""
        return _listed(self._json("GET", "/api/users/"))

    def projects(self) -> Iterator[dict[str, Any]]:
        """All projects."""
        return self._paged("/api/projects/", "results")

    def project(self, id: int) -> dict[str, Any]:
        """One project."""
        return self._json("GET", f"/api/projects/{id}/")

    def create_project(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Make a project."""
        return self._json("POST", "/api/projects/", json=dict(fields))

    def change_project(self, id: int, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Change a project."""
        return self._json("PATCH", f"/api/projects/{id}/", json=dict(fields))

    # Tasks and annotations.

    def tasks(self, project: int) -> Iterator[dict[str, Any]]:
        """All tasks of a project, with annotations, predictions and drafts."""
        query = {"project": project, "fields": "all"}
        return self._paged("/api/tasks", "tasks", query)

    def task(self, id: int) -> dict[str, Any]:
        """One task, with annotations, predictions and drafts."""
        return self._json("GET", f"/api/tasks/{id}/")

    def import_tasks(self, project: int, tasks: Sequence[Mapping[str, Any]]) -> None:
        """Add tasks to a project."""
        self._json("POST", f"/api/projects/{project}/import", json=[dict(each) for each in tasks])

    def change_task(self, id: int, fields: Mapping[str, Any]) -> None:
        """Change a task."""
        self._json("PATCH", f"/api/tasks/{id}/", json=dict(fields))

    def delete_task(self, id: int) -> None:
        """Remove a task."""
        self._json("DELETE", f"/api/tasks/{id}/")

    def has_annotation(self, id: int) -> bool:
        """Whether an annotation is there."""
        try:
            self._json("GET", f"/api/annotations/{id}/")
        except Missing:
            return False
        return True

    # Predictions.

    def import_predictions(self, project: int, rows: Sequence[Mapping[str, Any]]) -> None:
        """Add predictions to tasks of a project."""
        path = f"/api/projects/{project}/import/predictions"
        self._json("POST", path, json=[dict(each) for each in rows])

    def change_prediction(self, id: int, fields: Mapping[str, Any]) -> None:
        """Change a prediction."""
        self._json("PATCH", f"/api/predictions/{id}/", json=dict(fields))

    def delete_prediction(self, id: int) -> None:
        """Remove a prediction."""
        self._json("DELETE", f"/api/predictions/{id}/")

    # Webhooks.

    def webhooks(self, project: int) -> list[dict[str, Any]]:
        """The webhooks of a project."""
        return _listed(self._json("GET", "/api/webhooks/", params={"project": project}))

    def create_webhook(self, fields: Mapping[str, Any]) -> None:
        """Add a webhook."""
        self._json("POST", "/api/webhooks/", json=dict(fields))

    def change_webhook(self, id: int, fields: Mapping[str, Any]) -> None:
        """Change a webhook."""
        self._json("PATCH", f"/api/webhooks/{id}/", json=dict(fields))

    # Requests.

    def _paged(
        self, path: str, name: str, query: Mapping[str, Any] | None = None
    ) -> Iterator[dict[str, Any]]:
        page = 1
        while True:
            params = {**(query or {}), "page": page, "page_size": PAGE}
            try:
                found = self._json("GET", path, params=params)
            except Missing:
                if page == 1:
                    raise
                return  # a page behind the last
            rows = _listed(found[name] if isinstance(found, dict) else found)
            yield from rows
            if len(rows) < PAGE:
                return
            page += 1

    def _json(self, method: Method, path: str, **given: Any) -> Any:
        """Make a request; what may be made twice is made again where there was no answer."""
        pause = FIRST_PAUSE
        for _ in range(TRIES - 1 if method in ("GET", "PATCH") else 0):
            try:
                return self._once(method, path, given)
            except LabelStudioUnreachable:
                time.sleep(pause)
                pause *= 2
        return self._once(method, path, given)

    def _once(self, method: Method, path: str, given: dict[str, Any]) -> Any:
        response = self._send(method, path, given)
        if response.status_code == 401 and self._is_personal:
            self._access = None  # it lives for minutes
            response = self._send(method, path, given)
        status, where = response.status_code, f"{method} {self.url}{path}"
        if status == 401:
            raise InvalidParameter(
                f"{where}: Label Studio does not accept the token (401): copy the personal access "
                "token, or the legacy token, from the account's settings",
                field="token",
            )
        if status == 404:
            raise Missing(f"{where}: Label Studio has no such thing (404)")
        if status == 429 or status >= 500:
            raise LabelStudioUnreachable(f"{where}: Label Studio answers {status}")
        if status >= 400:
            raise InvalidParameter(
                f"{where}: Label Studio refuses it ({status}): {response.text[:500]}",
                field="label_studio",
            )
        if not response.content:
            return None
        try:
            return response.json()
        except ValueError:
            raise LabelStudioUnreachable(
                f"{where}: the reply is not JSON: is this Label Studio?"
            ) from None

    def _send(self, method: Method, path: str, given: dict[str, Any]) -> Any:
        try:
            return self._client.request(method, path, headers=self._headers(), **given)
        except self._httpx.TransportError as error:
            said = str(error) or type(error).__name__
            raise LabelStudioUnreachable(
                f"Label Studio at {self.url} does not answer: {said}"
            ) from None

    def _headers(self) -> dict[str, str]:
        if not self._is_personal:
            return {"Authorization": f"Token {self._token}"}
        if self._access is None:
            try:
                response = self._client.post("/api/token/refresh", json={"refresh": self._token})
            except self._httpx.TransportError as error:
                said = str(error) or type(error).__name__
                raise LabelStudioUnreachable(
                    f"Label Studio at {self.url} does not answer: {said}"
                ) from None
            if response.status_code >= 500:
                raise LabelStudioUnreachable(
                    f"Label Studio at {self.url} answers {response.status_code}"
                )
            if response.status_code != 200:
                raise InvalidParameter(
                    f"Label Studio at {self.url} does not accept the personal access token "
                    f"({response.status_code}): it may be expired or revoked; make another",
                    field="token",
                )
            self._access = str(response.json()["access"])
        return {"Authorization": f"Bearer {self._access}"}


def _listed(found: object) -> list[dict[str, Any]]:
    """The rows of an answer, whether it has pages or not."""
    if isinstance(found, dict) and isinstance(found.get("results"), list):
        return list(found["results"])
    return list(found) if isinstance(found, list) else []
