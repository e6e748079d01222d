"""Pages as they come from the web, a fetcher of them, and tables of what is made of the web."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from ufo.schemas.records import FactUnit, OpenUnits
from ufo.transforms.loop import wait_for
from ufo.transforms.sources.web.documents import FetchedPage
from ufo.transforms.sources.web.fetch import Fetcher

TABLES: Any = yaml.safe_load(Path(__file__).with_name("web.yaml").read_text(encoding="utf-8"))
NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
RETRIEVED = "2026-03-01T12:00:00+00:00"
PARAGRAPHS: list[str] = TABLES["paragraphs"]
ARTICLE = "".join(f"<p>{paragraph}</p>" for paragraph in PARAGRAPHS)


def html(body: str = ARTICLE, head: str = "<title>Lake Veyra</title>", around: str = "") -> str:
    """A page with an article, and what stands around it."""
    return (
        f'<!DOCTYPE html><html lang="en"><head>{head}</head><body>{around}'
        f"<main><article><h1>Lake Veyra</h1>{body}</article></main></body></html>"
    )


def fetched(
    body: str | bytes,
    content_type: str = "text/html",
    charset: str | None = None,
    url: str = "https://lakes.example/veyra",
    reason: str | None = None,
) -> FetchedPage:
    """A page as `fetch` gives it."""
    raw = body.encode() if isinstance(body, str) else body
    return FetchedPage(url, url, 200, content_type, raw, charset, RETRIEVED, reason)


def opened(queries: Sequence[str], response_id: str = "r") -> OpenUnits:
    """A response with a claim for each query."""
    units = [FactUnit(response_id, f"u{n}", None, q, q, None) for n, q in enumerate(queries)]
    return OpenUnits(response_id, "Claims.", None, None, [], [], units)


async def no_pause(seconds: float) -> None:
    await asyncio.sleep(0)


def get(*urls: str, at_once: bool = False, **options: Any) -> list[FetchedPage]:
    """The pages, fetched one after another or at once by one fetcher."""

    async def fetched() -> list[FetchedPage]:
        settings = {"allow_private": True, "sleep": no_pause, "clock": lambda: NOW}
        fetcher = Fetcher(**{**settings, **options})
        try:
            if at_once:
                return list(await asyncio.gather(*map(fetcher.get, urls)))
            return [await fetcher.get(url) for url in urls]
        finally:
            await fetcher.aclose()

    return wait_for(fetched())
