"""Addresses, methods and headers that nobody honest sends."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.service.refusals import Service, asgi, attacked, check_refused


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with attacked() as made:
        yield made


PATHS = {
    "/campaigns/../keys": 404,
    "/campaigns/..": 404,
    "/campaigns/%2e%2e": 404,
    "/campaigns/cats%2Fanswers": 404,
    "/campaigns/cats%2fanswers": 404,
    "/campaigns/..%2F..%2Fetc%2Fpasswd": 404,
    "/campaigns/..%5Ckeys": 404,
    "/campaigns/cats%00": 404,
    "/campaigns/cats%0d%0aX:%201": 404,
    "/campaigns/%ff": 404,
    "/campaigns/%E2%80%AE": 404,
    "/campaigns/" + "c" * 65: 404,
    "/campaigns/" + "c" * 50_000: 404,
    "/campaigns/": 404,
    "/campaigns//answers": 404,
    "//campaigns": 404,
    "/campaigns/cats/": 404,
    "/CAMPAIGNS": 404,
    "/campaigns;a=b": 404,
    "/static/../app.py": 404,
    "/static/%2e%2e/app.py": 404,
    "/static/..%5capp.py": 404,
    "/static//etc/passwd": 404,
    "/static/": 404,
    "/assignments/cats": 404,
    "/assignments/cats:": 404,
    "/assignments/:1": 404,
    "/assignments/cats:0": 404,
    "/assignments/cats:-1": 404,
    "/assignments/cats:1e3": 404,
    "/assignments/cats:٣": 404,
    "/assignments/cats:" + "9" * 30: 404,
    "/assignments/cats:999999999999999999": 404,
    "/campaigns/cats/export/..": 404,
    "/campaigns/cats/export/passwd": 404,
    "/keys/0000000000000000": 405,
    "/campaigns/cats/answers?limit=0": 422,
    "/campaigns/cats/answers?limit=1001": 422,
    "/campaigns/cats/answers?limit=" + "9" * 5000: 422,
    "/campaigns/cats/answers?limit=1.5": 422,
    "/campaigns/cats/answers?limit=": 422,
    "/campaigns/cats/answers?after=-1": 422,
    "/campaigns/cats/answers?after=%D9%A3": 422,
    "/campaigns/cats/answers?after=999999999999999999": 200,
    "/campaigns/cats/log?after=999999999999999999": 200,
    "/campaigns/cats/answers?limit=1&limit=2&limit=x": 422,
    "/campaigns/cats/answers?limit=1&limit=2&after=&after=1": 200,
    "/campaigns/cats/answers?limit[]=1&%00=%00&a=b&&&=": 200,
    "/campaigns/cats/answers?" + "&".join(f"a{n}=1" for n in range(3000)): 200,
    "/campaigns?after=%00": 200,
    "/campaigns?after=%ff": 200,
    "/campaigns/cats/task?id=%00": 404,
    "/campaigns/cats/task?id=": 422,
    "/campaigns/cats/task": 422,
    "/campaigns/cats/assignments?worker=%F0%9F%92%A9": 404,
}


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path[:50])
def test_a_path_is_taken_as_it_is_written(service: Service, path: str) -> None:
    status, headers, body = asgi(service, path)
    assert status == PATHS[path], body
    assert headers["x-content-type-options"] == "nosniff"
    if status >= 400:
        assert set(json.loads(body)) == {"error"}
    assert "location" not in headers


def test_another_method_is_told_which_there_are(service: Service) -> None:
    for path, allowed in (
        ("/campaigns", "GET, HEAD, POST"),
        ("/campaigns/cats/pause", "POST"),
        ("/keys/0000000000000000", "DELETE"),
        ("/healthz", "GET, HEAD"),
        ("/login", "GET, HEAD, POST"),
    ):
        for method in ("OPTIONS", "TRACE", "PUT", "PATCH", "PROPFIND", "CONNECT"):
            reply = service.call(method, path)
            check_refused(reply, 405, "method_not_allowed")
            assert reply.headers["Allow"] == allowed


def test_head_is_get_without_the_body(service: Service) -> None:
    for path in ("/campaigns/cats", "/healthz", "/docs", "/static/style.css", "/nothing"):
        got, head = service.call("GET", path), service.call("HEAD", path)
        assert head.status_code == got.status_code
        assert head.content == b""
        for name in ("content-length", "content-type", "etag"):
            assert head.headers.get(name) == got.headers.get(name), (path, name)


def test_polls_match_any_tag_they_should(service: Service) -> None:
    first = service.call("GET", "/campaigns/cats")
    tag = first.headers["ETag"]
    for sent, status in (
        (tag, 304), (f"W/{tag}", 304), (f'"x", {tag}', 304), ("*", 304), ('"x"', 200),
        ("", 200), (",,", 200), (tag[1:-1], 200), ('"', 200), ("x" * 5000, 200), (f"{tag}, *", 304),
    ):  # fmt: skip
        reply = service.call("GET", "/campaigns/cats", headers={"If-None-Match": sent})
        assert reply.status_code == status, sent
        assert reply.headers["ETag"] == tag
        if status == 304:
            assert reply.content == b""
    odd = service.call("GET", "/campaigns/cats", headers={"If-None-Match": b"\xff\xfe"})
    assert odd.status_code == 200


def test_headers_have_limits(service: Service) -> None:
    many = {f"X-{number}": "v" * 100 for number in range(1000)}
    check_refused(service.call("GET", "/healthz", headers=many), 431, "headers_too_large")
    some = {f"X-{number}": "v" for number in range(1000)}
    assert service.call("GET", "/healthz", headers=some).status_code == 200
    for length in ("x", "-1", "1,1", "9" * 5000, "1e3"):
        reply = service.call("GET", "/healthz", headers={"Content-Length": length})
        check_refused(reply, 400, "bad_request")
    for shown in (
        "Bearer",
        "Bearer ",
        "bearer\t",
        "Basic x",
        "Bearer x y",
        b"Bearer \xff",
        "x" * 9,
    ):
        reply = service.client.get("/campaigns", headers={"Authorization": shown})
        check_refused(reply, 401, "unauthorized")
    long = service.client.get("/campaigns", headers={"Authorization": "Bearer " + "x" * 60_000})
    check_refused(long, 401, "unauthorized")


def test_a_host_does_not_lead_elsewhere(service: Service) -> None:
    for host in ("evil.example", "evil/x?y#", "a\tb", "[::1", ""):
        for path in ("/", "/campaigns/", "/dashboard", "/nothing", "/docs"):
            reply = service.call("GET", path, headers={"Host": host})
            assert reply.status_code < 500
            assert reply.headers.get("location", "/").startswith("/")
            assert "evil" not in reply.text
