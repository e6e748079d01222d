"""Runs of `ufo evaluate` whose models are at a local server: what their tests share."""

from pathlib import Path
from typing import Any

from tests.llm_server import LlmServer
from ufo.schemas.results import open_results
from ufo.transforms.llm.store import SqliteStore

ENVIRONMENT = (
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "EXTRACTOR_API_KEY",
    "KNOWLEDGE_API_KEY",
    "SERPER_API_KEY",
    "SERPER_BASE_URL",
)
EXAMPLE = Path(__file__).parents[2] / "examples" / "recall.jsonl"


def at(server: LlmServer, *flags: object) -> tuple[object, ...]:
    """The flags of a run whose models are at this server."""
    return (
        "--base_url",
        server.base_url,
        "--model",
        "offline-judge",
        "--cache",
        "off",
        "--workers",
        1,
        *flags,
    )


def rows(output: Path, query: str) -> list[dict[str, Any]]:
    with open_results(output) as results:
        rows: list[dict[str, Any]] = results.query(query).to_pylist()
    return rows


def answers_kept(cache: Path) -> int:
    """How many requests' answers a cache keeps."""
    if not cache.exists():
        return 0
    store = SqliteStore(str(cache))
    count = sum(entry.key.startswith("r-") for entry in store.entries())
    store.close()
    return count


def results(rows_by_table: Any) -> Any:
    """What a run found, whoever was asked: a request has another id each time it is sent."""
    kept = {name: rows for name, rows in rows_by_table.items() if name not in ("usage", "sources")}
    kept["evidence"] = [row[:-1] for row in kept["evidence"]]
    return kept
