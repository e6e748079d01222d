"""The responses of Factcheck-GPT and FActScore with the claims that people wrote, by sentence."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.index_corpora import lines
from ufo.transforms.sentences import segment


@dataclass(frozen=True, slots=True)
class Response:
    """A response's sentences with the claims that people wrote for each.

    `standalone` holds each sentence as people rewrote it to stand by itself, "" where they did
    not; `topic` is the name that a biography is about, else empty.
    """

    text: str
    question: str
    sentences: list[str]
    claims: list[list[str]]
    standalone: list[str]
    topic: str


def load(data: Path) -> dict[str, list[Response]]:
    """All responses by set."""
    sets: dict[str, list[Response]] = {"factcheck_gpt": []}
    for record in lines(data / "factcheck_gpt" / "benchmark.jsonl"):
        parts = list(record["sentences"].values())
        sets["factcheck_gpt"].append(
            Response(
                record["response"],
                record["prompt"],
                [part["text"] for part in parts],
                [part["claims"] or [] for part in parts],
                [part["decontext"] or "" for part in parts],
                "",
            )
        )
    for path in sorted((data / "factscore").glob("*.jsonl")):
        sets[f"factscore_{path.stem}"] = [_biography(record) for record in lines(path)]
    return sets


def _biography(record: dict[str, Any]) -> Response:
    parts = record["annotations"]
    if parts is None:  # a refusal: nobody wrote facts of it
        parts = [{"text": record["output"][s:e]} for s, e in segment(record["output"])]
    return Response(
        record["output"],
        record["input"].removeprefix("Question:").strip(),
        [part["text"] for part in parts],
        [[fact["text"] for fact in part.get("human-atomic-facts") or []] for part in parts],
        [""] * len(parts),
        record["topic"],
    )
