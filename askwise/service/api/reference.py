"""What the API is: its description for programs (OpenAPI), and the page /docs made of it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from markupsafe import Markup, escape
from starlette.requests import Request
from starlette.responses import Response

from askwise.service.api.shapes.replies import REF
from askwise.service.json_reply import JsonReply
from askwise.service.pages.base import page, pages
from askwise.service.state import service_of

GROUPS = {
    "campaigns": "Create, change and read campaigns.",
    "workers": "The workers of a campaign: invitations, bids, absences.",
    "asking": "Asking and answering.",
    "payments": "Money out: what is owed, payouts, bonuses.",
    "judges": "The judges of this service, and who runs a campaign.",
    "catalogue": "What a campaign or a judge may name, and the parameters that it takes.",
    "webhooks": "Messages to your server when something happens.",
    "keys": "Keys of people and programs.",
    "operation": "Health and metrics of the service.",
}
"""Tags in the order of the page; others follow."""

router = pages()


@router.get("/docs")
def docs(request: Request) -> Response:
    """The API as a page."""

    def make() -> Response:
        address = service_of(request).settings.address or "http://127.0.0.1:8000"
        reference = Reference(request.app.openapi())
        return page("reference.html", reference=reference, address=address, prose=prose)

    return _made_once(request, "docs", make)


@router.get("/openapi.json")
def openapi(request: Request) -> Response:
    """The API for programs."""
    return _made_once(request, "openapi", lambda: JsonReply(request.app.openapi()))


def _made_once(request: Request, name: str, make: Callable[[], Response]) -> Response:
    """A reply that never changes: strangers may ask for it as often as they like."""
    kept: dict[str, Response] = request.app.state.description.kept
    if name not in kept:
        made = make()
        made.headers["ETag"] = f'"{hashlib.sha256(bytes(made.body)).hexdigest()[:16]}"'
        made.headers["Cache-Control"] = "no-cache"
        kept[name] = made
    found = kept[name]
    headers = dict(found.headers)
    if request.headers.get("if-none-match") == headers["etag"]:
        del headers["content-length"], headers["content-type"]
        return Response(status_code=304, headers=headers)
    return Response(found.body, headers=headers)


@dataclass(frozen=True)
class Reference:
    """An OpenAPI description, arranged for a page."""

    raw: dict[str, Any] = field(repr=False)

    @cached_property
    def groups(self) -> list[tuple[str, str, list[Operation]]]:
        """Tag, what it is about and its operations."""
        found: dict[str, list[Operation]] = {tag: [] for tag in GROUPS}
        for path, methods in self.raw["paths"].items():
            for method, operation in methods.items():
                tag = operation.get("tags", ["other"])[0]
                made = Operation(method.upper(), path, operation, self)
                found.setdefault(tag, []).append(made)
        return [(tag, GROUPS.get(tag, ""), each) for tag, each in found.items() if each]

    @property
    def shapes(self) -> list[tuple[str, dict[str, Any]]]:
        """The named schemas."""
        return sorted(self.raw["components"]["schemas"].items())

    def fields(self, schema: dict[str, Any]) -> list[tuple[str, Markup, bool, Markup]]:
        """The fields of an object: name, type, whether it must be there, what it is."""
        needed = schema.get("required", ())
        return [
            (name, self.type_of(each), name in needed, prose(each.get("description", "")))
            for name, each in schema.get("properties", {}).items()
        ]

    def type_of(self, schema: dict[str, Any]) -> Markup:
        """A schema in a few words."""
        if "$ref" in schema:
            name = schema["$ref"].removeprefix(REF)
            return Markup('<a href="#shape-{0}">{0}</a>').format(name)
        if "const" in schema or "enum" in schema:
            values = schema.get("enum", [schema.get("const")])
            return Markup(" or ").join(
                Markup("<code>{}</code>").format(json.dumps(value)) for value in values
            )
        for key in ("anyOf", "oneOf"):
            if key in schema:
                return Markup(" or ").join(self.type_of(each) for each in schema[key])
        if "prefixItems" in schema:
            return Markup("list of {}").format(
                Markup(", ").join(self.type_of(each) for each in schema["prefixItems"])
            )
        if schema.get("type") == "array":
            return Markup("list of {}").format(self.type_of(schema.get("items", {})))
        kind = schema.get("type", "any JSON")
        if isinstance(kind, list):
            return Markup(" or ").join(kind)
        return Markup("{}{}").format(kind, _bounds(schema))

    def example(self, schema: dict[str, Any]) -> Any:
        """An example of a body, if there is one."""
        for each in (schema, *schema.get("anyOf", ())):
            if "$ref" in each:
                each = self.raw["components"]["schemas"][each["$ref"].removeprefix(REF)]
            if each.get("examples"):
                return each["examples"][0]
        return None


@dataclass(frozen=True)
class Operation:
    """One method of one address."""

    method: str
    path: str
    raw: dict[str, Any] = field(repr=False)
    reference: Reference = field(repr=False)

    @property
    def id(self) -> str:
        """Its name, unique on the page."""
        return str(self.raw["operationId"])

    @property
    def text(self) -> Markup:
        """What it does."""
        return prose(self.raw.get("description") or self.raw.get("summary", ""))

    @property
    def caller(self) -> str:
        """Who may call it."""
        return str(self.raw["x-caller"])

    @property
    def parameters(self) -> list[tuple[str, str, Markup, bool, Markup]]:
        """Name, place, type, whether it must be there, what it is."""
        return [
            (
                each["name"],
                each["in"],
                self.reference.type_of(_without_null(each["schema"])),
                each.get("required", False),
                prose(each.get("description", "")),
            )
            for each in self.raw.get("parameters", ())
        ]

    @property
    def bodies(self) -> list[tuple[str, Markup]]:
        """Media type and type of what may be sent."""
        return _contents(self.raw.get("requestBody", {}), self.reference)

    @property
    def replies(self) -> list[tuple[str, Markup, list[tuple[str, Markup]], list[str]]]:
        """Status, meaning, what is sent and the headers that come with it."""
        return [
            (
                status,
                prose(each.get("description", "")),
                _contents(each, self.reference),
                list(each.get("headers", {})),
            )
            for status, each in sorted(self.raw["responses"].items())
        ]

    def curl(self, address: str) -> str:
        """The call as a command."""
        path = self.path
        for each in self.raw.get("parameters", ()):
            if each["in"] == "path":
                known = each["schema"]
                examples = known.get("examples") or known.get("enum") or ["ID"]
                path = path.replace(f"{{{each['name']}}}", str(examples[0]))
        needed = [
            f"{each['name']}={(each['schema'].get('examples') or ['photo-1'])[0]}"
            for each in self.raw.get("parameters", ())
            if each["in"] == "query" and each.get("required")
        ]
        target = f"{address}{path}" + (f"?{'&'.join(needed)}" if needed else "")
        lines = ["curl" if self.method == "GET" else f"curl -X {self.method}"]
        if self.raw.get("security") != []:
            lines.append('-H "Authorization: Bearer $KEY"')
        if self.method != "GET":
            lines.append('-H "Idempotency-Key: $(uuidgen)"')
        content = self.raw.get("requestBody", {}).get("content", {})
        if "application/json" in content:
            body = self.reference.example(content["application/json"]["schema"])
            sent = json.dumps(body).replace("'", "'\\''")
            lines += ['-H "Content-Type: application/json"', f"-d '{sent}'"]
        quoted = f"'{target}'" if "?" in target else target
        return " \\\n  ".join([*lines, quoted])


def prose(text: str) -> Markup:
    """Text with `names` in it, as HTML.

    Examples
    --------
    >>> prose("The `next` of <it>.")
    Markup('The <code>next</code> of &lt;it&gt;.')
    """
    escaped = str(escape(text.replace("``", "`")))
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", escaped))


def _contents(part: dict[str, Any], reference: Reference) -> list[tuple[str, Markup]]:
    return [
        (media, reference.type_of(_without_null(each.get("schema", {"type": "text"}))))
        for media, each in part.get("content", {}).items()
    ]


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """What may be left out is said elsewhere."""
    kinds = [each for each in schema.get("anyOf", ()) if each.get("type") != "null"]
    return kinds[0] if len(kinds) == 1 else schema


def _bounds(schema: dict[str, Any]) -> str:
    words = {
        "minimum": "from {}", "exclusiveMinimum": "above {}", "maximum": "up to {}",
        "exclusiveMaximum": "below {}", "minLength": "of {} or more characters",
        "maxLength": "of {} or fewer characters", "minItems": "of {} or more",
        "pattern": "like {}",
    }  # fmt: skip
    found = [text.format(schema[key]) for key, text in words.items() if key in schema]
    return f" ({', '.join(found)})" if found else ""
