"""The page of the interface: its operations by their tags, and descriptions as HTML."""

import re
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from ufo.webapp import docs_page


def shown(text: str | None = None, **about: str) -> str:
    """The page of an interface with three operations, of which the first is described so."""
    options: dict[str, Any] = {"version": "1", "description": "About.", **about}
    app = FastAPI(docs_url=None, **options)
    app.include_router(docs_page.router)
    for path, method, tag in (("/a", "GET", "one"), ("/b", "POST", "two"), ("/a", "PUT", "one")):
        description = text if method == "GET" else None
        app.add_api_route(path, lambda: None, methods=[method], tags=[tag], description=description)
    answer = TestClient(app).get("/docs")
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    return answer.text


def test_operations_stand_under_their_tags_in_their_order() -> None:
    headings = re.findall(r"<h2>(.*?)</h2>|<code>(.*?)</code>", shown())
    assert ["".join(one) for one in headings] == ["one", "GET /a", "PUT /a", "two", "POST /b"]


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("version", "<h1>The interface of ufo &lt;&amp;&gt;</h1>"),
        ("description", "<p>&lt;&amp;&gt; <a"),
    ],
)
def test_what_an_interface_says_of_itself_is_escaped(name: str, place: str) -> None:
    assert place in shown(**{name: "<&>"})


@pytest.mark.parametrize(
    ("description", "html"),
    [
        pytest.param("One.", "<p>One.</p>", id="a paragraph"),
        pytest.param("One.\nOn.\n\n\n\nTwo.", "<p>One.\nOn.</p><p>Two.</p>", id="paragraphs"),
        pytest.param("1 < 2 & 3", "<p>1 &lt; 2 &amp; 3</p>", id="characters of HTML"),
        pytest.param("```sh\na <b\n```", '<pre tabindex="0">a &lt;b\n</pre>', id="a shell's words"),
        pytest.param("```\na\n```\n", '<pre tabindex="0">a\n</pre>', id="code of no kind"),
        pytest.param(
            "One.\n\n```sh\na\n\nb\n```\n\nTwo.\n\n```sh\nc\n```",
            '<p>One.</p><pre tabindex="0">a\n\nb\n</pre><p>\nTwo.</p><pre tabindex="0">c\n</pre>',
            id="code between paragraphs",
        ),
        pytest.param("In `a` and ``` b", "<p>In `a` and ``` b</p>", id="no fence within a line"),
    ],
)
def test_a_description_is_paragraphs_and_code(description: str, html: str) -> None:
    assert f"<h3><code>GET /a</code></h3>{html}<h3>" in shown(description)


def test_an_operation_without_a_description_is_its_name() -> None:
    assert "<h3><code>PUT /a</code></h3></section>" in shown()
