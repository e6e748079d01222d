"""Script, size, depth, half characters, paths and SQL in every field: nothing runs, nothing is read
that is not to be, nothing is lost."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from tests.webapp.conftest import events

SCRIPT = '<script>alert(1)</script><img src=x onerror="alert(1)">'
STRINGS = [
    SCRIPT,
    "'; DROP TABLE responses; --",
    "\" OR 1=1; ATTACH '/etc/passwd' AS x; --",
    "../../../../etc/passwd",
    "run=older/../../secret",
    "/etc/passwd",
    "%00%2e%2e%2f",
    "read_parquet('/etc/passwd')",
    "-- --input=/etc/passwd",
    "\r\nSet-Cookie: a=b",
    "\u202eevil\u2066\ufeff",
    "🛸" * 50,
]
POSTS: dict[str, dict[str, Any]] = {
    "/extract": {"text": "Oslo is big."},
    "/search": {"queries": ["Oslo"]},
    "/passages": {"claims": [{"claim": "Oslo is big."}], "sources": ["wikipedia"]},
    "/verify": {"claims": [{"claim": "Oslo is big."}], "passages": [{"text": "Oslo is big."}]},
    "/check": {"text": "Oslo is big.", "sources": ["reference"], "references": ["Oslo is big."]},
    "/score": {"fact_units": [], "evidence": [], "sources": ["a"], "n_sentences": 1},
}
FIELDS: dict[str, tuple[str, dict[str, str]]] = {
    "extract": (
        "/extract",
        {"text": "text", "question": "text", "language": "text", "judge": "text"},
    ),
    "search": ("/search", {"queries": "list", "retriever": "text"}),
    "passages": ("/passages", {"claims": "claims", "references": "list", "sources": "each"}),
    "verify": ("/verify", {"claims": "claims", "passages": "passages", "text": "text"}),
    "check": (
        "/check",
        {"text": "text", "question": "text", "references": "list", "sources": "each"},
    ),
    "settings": ("/check", {"exclude_domains": "each", "model": "text", "retriever": "text"}),
    "score": ("/score", {"sources": "each", "fact_units": "claims", "without_passages": "list"}),
}
BODIES = [
    b"",
    b"\x00\xff\xfe",
    b"\x1f\x8b\x08binary",
    b"null",
    b"[]",
    b'"text"',
    b"{" * 100_000,
    b"[" * 100_000 + b"]" * 100_000,
    b'{"text": ' + b"[" * 5_000 + b"]" * 5_000 + b"}",
    b'{"text": NaN, "temperature": Infinity, "n_sentences": NaN}',
    b'{"passages": ' + b"9" * 5_000 + b"}",
    b'{"text": "\\ud800", "queries": ["\\ud800"], "sources": ["\\udfff"]}',
    b'{"text": "a\\u0000b", "queries": ["\\u0000"], "sources": ["\\u0000"]}',
    b'{"\\ud800": 1}',
    b'{"text": "a", "text": "b"}{}',
    b'{"__proto__": {}, "constructor": 1}',
]


def harmless(response: httpx.Response, *statuses: int) -> None:
    """The answer is data, never a page, and no error of the service's own."""
    assert response.status_code < 500, response.text
    assert not statuses or response.status_code in statuses, response.url
    kind = response.headers["content-type"].partition(";")[0]
    assert kind in ("application/json", "application/problem+json", "text/event-stream", "text/csv")
    assert response.headers["x-content-type-options"] == "nosniff"
    assert "root:" not in response.text
    assert "set-cookie" not in response.headers


@pytest.mark.parametrize(("path", "fields"), FIELDS.values(), ids=FIELDS)
def test_nothing_in_a_field_is_more_than_data(
    client: httpx.Client, path: str, fields: dict[str, str]
) -> None:
    values: dict[str, list[Any]] = {
        "text": STRINGS,
        "list": [STRINGS],
        "each": [[evil] for evil in STRINGS],  # one that is refused would hide the others
        "claims": [[{"claim": evil, "query": evil} for evil in STRINGS]],
        "passages": [[{"text": evil, "url": evil, "title": evil} for evil in STRINGS]],
    }
    for field, kind in fields.items():
        for value in values[kind]:
            harmless(client.post(path, json={**POSTS[path], field: value}))


def test_a_stream_cannot_be_broken_by_its_text(client: httpx.Client) -> None:
    text = "Oslo is big.\r\n\r\nevent: error\ndata: {}\n\nLima is small.\u2028 " + SCRIPT
    stream = events(client.post("/check", json={**POSTS["/check"], "text": text}))
    steps = {"started", "extracted", "asking", "checked", "scores", "done"}
    assert {event.name for event in stream} <= steps
    assert stream[1].data["response"]["text"] == text


@pytest.mark.parametrize("evil", STRINGS)
def test_no_name_reaches_a_path_or_the_sql(client: httpx.Client, results: Path, evil: str) -> None:
    secret = results.parent / "secret"
    secret.mkdir(exist_ok=True)
    (secret / "manifest.json").write_text("root: secret")
    name = quote(evil, safe="")
    for path in (
        f"/runs/{name}",
        f"/runs/{name}/responses",
        f"/runs/{name}/parquet",
        f"/runs/older/responses/{name}",
        f"/reports/{name}",
        f"/reports/{name}.svg",
        f"/upload/{name}",
        f"/upload/{name}/parquet",
        f"/page/{name}",
    ):
        harmless(client.get(path), 404, 405, 422)
    for key in ("text", "model", "dataset", "question", "sort", "offset", "max_score"):
        harmless(client.get("/runs/older/responses", params={key: evil}))
    for key in ("run", "format", "limit"):
        harmless(client.get("/reports/scores", params={key: evil}))
    assert len(client.get("/runs/older/responses").json()["rows"]) == 4


@pytest.mark.parametrize("path", POSTS)
def test_bodies_that_are_no_request_are_reported_so(client: httpx.Client, path: str) -> None:
    for body in BODIES:
        response = client.post(path, content=body, headers={"Content-Type": "application/json"})
        harmless(response, 400, 422)
        assert response.json()["remedy"]
    for kind in ("text/plain", "application/xml", "multipart/form-data", "x"):
        sent = json.dumps(POSTS[path]).encode()
        harmless(client.post(path, content=sent, headers={"Content-Type": kind}), 422)


def test_a_long_text_is_checked_whole(client: httpx.Client) -> None:
    text = "".join(f"Oslo has {n} parks. " for n in range(200)) + "\n"
    taken = client.post("/check", json={**POSTS["/check"], "text": text.ljust(20_000, "ä")})
    assert events(taken)[-1].name == "done"


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "TRACE", "BREW"])
def test_other_methods_change_nothing(client: httpx.Client, method: str) -> None:
    for path in ("/runs", "/runs/older/responses", "/check", "/reports/scores", "/"):
        harmless(client.request(method, path), 405)
