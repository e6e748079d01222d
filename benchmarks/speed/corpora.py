"""Collections of any size made of the real texts of the data sets, for `index.py`."""

import json
import random
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import sentencex


def lines(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


def recombined(data: Path, count: int) -> Iterator[dict[str, str]]:
    """Yield documents of about 100 words: sentences of the data sets in another order."""
    chance = random.Random(7)
    pages = lines(data / "hotpotqa/passages.jsonl")
    titles = [page["title"] for page in pages]
    pool = [s.strip() for page in pages for s in sentencex.segment("en", page["text"])]
    pool += [s for claim in lines(data / "wice/dev.jsonl") for s in claim.get("evidence", ())]
    pool = [sentence for sentence in pool if 4 < len(sentence.split()) < 60]
    for number in range(count):
        text: list[str] = []
        size = 0
        while size < 90:
            text.append(chance.choice(pool))
            size += text[-1].count(" ") + 1
        first, second = chance.choice(titles), chance.choice(titles)
        yield {"title": f"{first.split()[0]} {second.split()[-1]} {number}", "text": " ".join(text)}


def windows(data: Path, count: int) -> Iterator[dict[str, str]]:
    """Yield 1 to 5 consecutive sentences of real texts: vectors that lie as those of texts do.

    Sentences put together at random lie evenly in all directions, which no text collection does.
    """
    pages = lines(data / "hotpotqa/passages.jsonl")
    texts = [list(sentencex.segment("en", page["text"])) for page in pages]
    texts += [claim.get("evidence", []) for claim in lines(data / "wice/dev.jsonl")]
    passages = {
        " ".join(text[at : at + size]): None
        for text in texts
        for at in range(len(text))
        for size in range(1, 6)
        if at + size <= len(text)
    }
    chosen = list(passages)
    random.Random(7).shuffle(chosen)
    for number, text in enumerate(chosen[:count]):
        yield {"title": str(number), "text": text}


def write_documents(path: Path, documents: Iterable[dict[str, str]]) -> None:
    with path.open("w", encoding="utf-8") as sink:
        for document in documents:
            sink.write(json.dumps(document, ensure_ascii=False) + "\n")
