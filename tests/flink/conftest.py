"""What is run on the local Flink of the tests."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.flink.cluster import Cluster
from tests.llm_server import KEY, Chat, LlmServer, Reply
from ufo.schemas.results import open_results

RESPONSES = 400
CITIES = ["Oslo", "Lima", "Rome", "Cairo", "Quito", "Hanoi", "Bonn", "Perth"]


@pytest.fixture
def mended(cluster: Cluster) -> Iterator[None]:
    """Give the cluster its second task manager back."""
    yield
    cluster.script("manager", "2")


class Remembering:
    """A knowledge model whose answer is a function of the query alone; `at` calls something when
    so many were asked."""

    def __init__(self) -> None:
        self.asked = 0
        self.at: dict[int, Callable[[], None]] = {}

    def matches(self, chat: Chat) -> bool:
        return chat.function is None and not chat.system

    def answer(self, chat: Chat) -> Reply:
        self.asked += 1
        self.at.pop(self.asked, lambda: None)()
        words = chat.user.removeprefix("Is it true that ").rstrip("?")
        return Reply(f"{words}." if "green" in words else "I do not know.", step="knowledge")


@pytest.fixture
def remembering() -> Remembering:
    return Remembering()


@pytest.fixture
def endpoint(remembering: Remembering, monkeypatch: pytest.MonkeyPatch) -> Iterator[LlmServer]:
    """The knowledge model; its key is in the environment."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with LlmServer([remembering]) as server:
        yield server


@pytest.fixture
def flags(endpoint: LlmServer) -> tuple[str, ...]:
    """Flags of an evaluation against a reference, the index and the knowledge model."""
    sources = ("--sources", "reference,wikipedia,llm", "--samples", "1", "--judge", "offline")
    models = ("--knowledge_base_url", endpoint.base_url, "--model", "offline-judge")
    return (*sources, *models, "--cache", "off")


def rows(output: Path, table: str, run: str | None = None) -> list[dict[str, Any]]:
    """The rows of a table, but for what tells which request an answer came with."""
    left_out = "run, request_id" if table == "evidence" else "run"
    with open_results(output, run) as results:
        table_rows = results.query(f"SELECT * EXCLUDE ({left_out}) FROM {table} ORDER BY ALL")
    listed: list[dict[str, Any]] = table_rows.to_pylist()
    return listed


def records() -> Iterator[dict[str, Any]]:
    """Responses whose claims a reference settles, or the index, or the knowledge model, or nobody;
    an unusable line and a repeated id among them."""
    for number in range(RESPONSES):
        city, other = CITIES[number % 8], CITIES[(number + 3) % 8]
        sentences = [f"{city} is a large city.", f"{city} has {number % 9} bridges."]
        claims = [{"claim": claim, "query": f"Is it true that {claim}?"} for claim in sentences]
        if number % 3 == 0:
            colour = "green" if number % 2 else "blue"
            claim = f"The trams of line {number} in {other} are {colour}."
            claims.append({"claim": claim, "query": f"Is it true that {claim}?"})
        yield {
            "id": f"r{number}",
            "model": f"m{number % 2}",
            "response": " ".join(one["claim"] for one in claims),
            "claims": claims,
            "reference_answers": [f"{city} is a large city. The river of {city} is long."],
        }


@pytest.fixture(scope="session")
def responses(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("input") / "responses.jsonl"
    lines = [json.dumps(record) for record in records()]
    again = json.dumps(next(records()) | {"dataset": "again"})
    path.write_text("\n".join([*lines, "not json", again]) + "\n")
    return path


@pytest.fixture(scope="session")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index that knows how many bridges each city has."""
    from ufo.pipelines.cli import main

    folder = tmp_path_factory.mktemp("index")
    text = "{0} has 5 bridges over its river. {0} was founded in 901. {0} has many parks."
    pages = [json.dumps({"title": city, "text": text.format(city)}) for city in CITIES]
    (folder / "pages.jsonl").write_text("\n".join(pages))
    arguments = ["--input", str(folder / "pages.jsonl"), "--output", str(folder / "index")]
    assert main(["index", "build", *arguments]) == 0
    return folder / "index"
