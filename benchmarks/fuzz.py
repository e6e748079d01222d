"""Feed mutated documents and replies to what reads them: one bad document costs one document.

    python benchmarks/fuzz.py --seconds 3600 --seed 7

Pages and PDFs go through the processes that read them, replies of a search engine through the fact
source `web`, replies of an endpoint through what reads these. Nothing may be raised, a document
past its budget is a reason, and a good one is read between the bad ones. What breaks the rule is
written to `--keep` as it came, to become an example of a test. The last line is JSON.
"""

import argparse
import json
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.local_web import Engines, LocalWeb
from tests.local_web.documents import attributes, links, slow_pdf
from tests.local_web.pages import PAGES, html
from tests.local_web.pdf import pdf
from ufo.schemas.records import ERROR, FactUnit, OpenUnits
from ufo.transforms.judges.llm.fact_function import Control, Fact, FactFunction
from ufo.transforms.judges.llm.parsing import arguments_of
from ufo.transforms.llm import wire
from ufo.transforms.llm.client_settings import CallSettings
from ufo.transforms.llm.retry import Retry
from ufo.transforms.llm.shared import end_run
from ufo.transforms.loop import wait_for
from ufo.transforms.sources.fact_source import SourceContext
from ufo.transforms.sources.web.documents import FetchedPage
from ufo.transforms.sources.web.readers import Readers
from ufo.transforms.sources.web.source import WebSource

SECONDS = 1.0  # of computing for a document here: what is slow is killed sooner than in a run
BETWEEN = 100  # bad documents between two good ones
THREADS = 2

GOOD = html("The tower", [f"The tower has {n} steps, which are of granite." for n in range(60)])
TOKENS = (
    *(b"<p>", b"</div>", b"<table>", b"<script>", b"<!--", b"-->", b"<![CDATA[", b"]]>", b"&#0;"),
    *(b"<meta charset=undefined>", b"<meta charset=utf-7>", b"<svg>", b"<template>", b"\x00"),
    *(b"<a href='javascript:x'>", b"<style>*{display:none}", b"\xff\xfe", b"\xed\xa0\x80", b"<"),
    *(b"[", b"{", b'"', b"null", b"1e999", b"-1", b'"\\ud800"', b"[[[[[[[[", b"NaN", b"\\"),
    *(b"endobj", b"stream", b"endstream", b"/Kids [2 0 R]", b"/Length 99999999", b"xref", b"%%EOF"),
)
VALUES: tuple[Any, ...] = (
    *(None, True, -1, 1e308, "", "\ud800", "\x00", "x" * 100_000, "http://a..b/", "javascript:x"),
    *("=1+1", "<|im_end|>"),
)
SERPER = json.dumps(
    [
        {
            "organic": [
                {"link": "http://x.example/", "title": "T", "snippet": "S.", "date": "Jan 1, 2020"}
            ],
            "answerBox": {"answer": "A.", "link": "http://a..b/"},
            "knowledgeGraph": {"title": "G", "type": "City", "attributes": {"Area": "5 km"}},
        }
    ]
).encode()
CHAT = json.dumps(
    {
        "id": "c1",
        "choices": [
            {
                "finish_reason": "stop",
                "message": {
                    "content": None,
                    "tool_calls": [
                        {
                            "function": {
                                "name": "verify_facts",
                                "arguments": '{"f1": {"checks": [{"passage": 1, "verdict": "T", '
                                '"answer": "a", "rationale": "r"}], "noans": [2]}}',
                            }
                        }
                    ],
                },
                "logprobs": {"content": [{"logprob": -0.1}]},
            }
        ],
        "usage": {"prompt_tokens": 7, "completion_tokens": 2},
    }
).encode()


def mutated(seed: bytes, chance: random.Random) -> bytes:
    """Return a document with one to eight changes."""
    body = bytearray(seed)
    for _ in range(chance.randint(1, 8)):
        at = chance.randrange(len(body) + 1)
        end = min(len(body), at + chance.choice((1, 4, 64, 1024)))
        kind = chance.randrange(6)
        if kind == 0:
            body[at:at] = chance.choice(TOKENS) * chance.choice((1, 1, 3, 200))
        elif kind == 1:
            del body[at:end]
        elif kind == 2:
            body[at:at] = body[at:end] * chance.choice((1, 2, 50))
        elif kind == 3:
            body[at:end] = chance.randbytes(end - at)
        elif kind == 4 and chance.random() < 0.3:
            del body[at:]
        elif at < len(body):
            body[at] ^= 1 << chance.randrange(8)
    return bytes(body)


def mutated_json(seed: bytes, chance: random.Random) -> bytes:
    """Return a reply with one to four values replaced, or as any document is mutated."""
    if chance.random() < 0.3:
        return mutated(seed, chance)
    value = [json.loads(seed)]
    for _ in range(chance.randint(1, 4)):
        places: list[tuple[Any, Any]] = []
        _walk(value, places)
        holder, key = chance.choice(places)
        holder[key] = chance.choice(VALUES)
    return json.dumps(value[0]).encode()


def _walk(value: Any, places: list[tuple[Any, Any]]) -> None:
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, below in items:
        places.append((value, key))
        if isinstance(below, dict | list):
            _walk(below, places)


def pages() -> list[bytes]:
    """Return the pages that others are made of."""
    texts = [page.body for page in PAGES.values() if b"<html" in page.body[:500].lower()]
    return [GOOD, *texts, attributes(50), links(50)]


def pdfs() -> list[bytes]:
    """Return the PDFs that others are made of."""
    return [pdf("Towers", [f"Tower {n} is {n} metres high." for n in range(40)]), slow_pdf(200)]


class Broken(AssertionError):
    """The rule does not hold; `document` is what broke it."""

    def __init__(self, what: str, document: bytes) -> None:
        super().__init__(what)
        self.document = document


def documents(count: int, kind: str, seeds: Sequence[bytes], seed: int) -> Counter[str]:
    """Read so many mutated documents, good ones between them; returns how often each reason came.

    Raises:
        Broken: one was raised, or a good one was not read.
    """
    chance = random.Random(seed)
    bad = [mutated(chance.choice(seeds), chance) for _ in range(count)]
    readers = Readers(seconds=SECONDS)

    def read(number: int) -> str:
        address = "http://a.example/"
        page = FetchedPage(address, address, 200, kind, bad[number], None, "2026-01-01T00:00:00")
        try:
            document = readers.read(page)
        except Exception as error:
            raise Broken(repr(error), bad[number]) from error
        if number % BETWEEN == 0:
            good = readers.read(replace(page, content_type="text/html", body=GOOD))
            if "granite" not in good.text:
                raise Broken(f"a good page after it is {good.reason}", bad[number])
        return document.reason or "read"

    try:
        with ThreadPoolExecutor(THREADS) as threads:
            return Counter(threads.map(read, range(count)))
    finally:
        readers.close()


def searches(count: int, seed: int) -> Counter[str]:
    """Answer so many searches by mutated replies; returns how often there was an error, or not."""
    chance = random.Random(seed)
    outcomes: Counter[str] = Counter()
    with _source() as (engines, source):
        for number in range(count):
            body = mutated_json(SERPER, chance)
            unit = FactUnit("r", "u", None, "C.", f"query {number}", None)
            engines.faults.extend([(200, body)] * 20)  # for every try
            try:
                (found,) = wait_for(
                    source.look_up(OpenUnits("r", "C.", None, None, [], [], [unit]))
                )
            except Exception as error:
                raise Broken(repr(error), body) from error
            engines.faults.clear()
            outcomes["error" if found.outcome == ERROR else "found"] += 1
    return outcomes


@contextmanager
def _source() -> Iterator[tuple[Engines, WebSource]]:
    with LocalWeb() as web, Engines(web) as engines:
        before = os.environ.get("SERPER_BASE_URL")
        os.environ["SERPER_BASE_URL"] = engines.url
        try:
            settings = CallSettings(run="fuzz", retry=Retry(attempts=2))
            source = WebSource(pages=0, context=SourceContext(settings))
            source.name, source.sleep = "web", _at_once
            source.open()
            yield engines, source
        finally:
            wait_for(end_run("fuzz"))
            os.environ.pop("SERPER_BASE_URL")
            if before is not None:
                os.environ["SERPER_BASE_URL"] = before


async def _at_once(seconds: float) -> None:
    pass


def replies(count: int, seed: int) -> Counter[str]:
    """Read so many mutated replies of an endpoint; returns what each was."""
    chance = random.Random(seed)
    function = FactFunction([Fact("C.", "Q?", [1, 2])], Control())
    outcomes: Counter[str] = Counter()
    for _ in range(count):
        body = mutated_json(CHAT, chance)
        try:
            payload = json.loads(body)
        except (ValueError, RecursionError):
            outcomes["no JSON"] += 1
            continue
        try:
            choices = wire.answer(payload, "verify_facts").choices
            found = [function.invoke(arguments_of(choice, ["f1"])) for choice in choices]
            outcomes["judged" if any(found) else "no judgement"] += 1
        except wire.Garbled:
            outcomes["garbled"] += 1
        except Exception as error:
            raise Broken(repr(error), body) from error
    return outcomes


def fuzz(seed: int, part: float = 1.0) -> dict[str, dict[str, int]]:
    """Return what came of 2,000 pages, 200 PDFs and 500 replies, or a part of them."""
    steps: dict[str, Callable[[], Counter[str]]] = {
        "pages": lambda: documents(int(2000 * part), "text/html", pages(), seed),
        "pdfs": lambda: documents(int(200 * part), "application/pdf", pdfs(), seed),
        "searches": lambda: searches(int(250 * part), seed),
        "replies": lambda: replies(int(250 * part), seed),
    }
    return {name: dict(step()) for name, step in steps.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description="Look for documents that cost more than one.")
    parser.add_argument("--seconds", type=float, default=60.0, help="begin no round after these")
    parser.add_argument("--seed", type=int, default=0, help="of the first round")
    parser.add_argument("--keep", default="fuzz-found", help="folder for what breaks the rule")
    parser.add_argument("--quick", action="store_true", help="one small round")
    arguments = parser.parse_args()
    started = time.monotonic()
    result: dict[str, Any] = {"rounds": 0, "found": []}
    while not result["rounds"] or (
        time.monotonic() - started < arguments.seconds and not arguments.quick
    ):
        seed = arguments.seed + result["rounds"]
        try:
            result["last"] = fuzz(seed, 0.05 if arguments.quick else 1.0)
            print(f"round {seed}: {result['last']}", file=sys.stderr)
        except Broken as broken:
            path = Path(arguments.keep) / sha256(broken.document).hexdigest()[:16]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(broken.document)
            result["found"].append({"seed": seed, "what": str(broken), "file": str(path)})
        result["rounds"] += 1
    result["seconds"] = round(time.monotonic() - started, 1)
    print(json.dumps(result))
    return 1 if result["found"] else 0


if __name__ == "__main__":
    sys.exit(main())
