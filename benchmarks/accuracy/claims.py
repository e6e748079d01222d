"""Measure the claims that rules extract against the claims that people wrote for the same sentence.

Data: Factcheck-GPT (`factcheck_gpt/benchmark.jsonl`, standalone claims) and FActScore
(`factscore/*.jsonl`, atomic facts of biographies). Each response's sentences go through
`ufo.transforms.extraction.by_rules` in order, with the prompt as `question` and with the paragraphs
of the response. The last line of stdout is JSON.

    python benchmarks/accuracy/claims.py [--data FOLDER] [--quick]

Two claims are compared by the stems of their content words: no articles, prepositions, auxiliaries
or pronouns, because people write "He won" where we write "Ada Berg won"; in FActScore the name
that the biography is about is left out on both sides for the same reason. Negations count as
content. Each figure is given at two levels, 0.6 ("loose": a paraphrase of a word or two passes)
and 0.8 ("strict": nearly every word).

- covered: share of people's claims of which some extracted claim of that sentence has this share
  of the stems, and every number. Alone it favours leaving sentences whole.
- matched: share of extracted claims of which one person's claim has this share of the stems, and
  every number. Alone it favours short claims. A sentence that is left whole, and a claim with a
  wrong name or number in it, fail.
- f1: claims paired one to one, by falling F1 of their stems, with the same numbers; F1 of the
  pairs over both sides. It rewards the same number of claims, cut in the same places.
- per_sentence: extracted and people's claims, per sentence that has people's claims.
- missed: share of sentences with people's claims from which nothing is extracted.
- invented: share of sentences without people's claims from which something is. A biography without
  annotations counts here: it is a refusal to answer.

Intervals are 95 % bootstrap intervals over responses.
"""

import argparse
import json
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import Stemmer

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.speed.corpora import lines  # noqa: E402
from ufo.schemas.records import InputRecord  # noqa: E402
from ufo.transforms.english.grammar import word_set  # noqa: E402
from ufo.transforms.extraction.by_rules import ExtractedUnit, extract_record  # noqa: E402
from ufo.transforms.sentences import Span, segment  # noqa: E402

LEVELS = {"loose": 0.6, "strict": 0.8}
BEST = 5
# Not taken from the rules under test: their lists may change, the measure may not.
FUNCTION_WORDS = word_set(
    """
    a an the this that these those such of in on at by for with from to into as and or but so if
    than then there here it its he his him she her hers they their them we our us you your i my
    who whom whose which what when where how is are was were be been being am do does did has have
    had can could will would may might must shall should also s
    """
)
_WORD = re.compile(r"\d[\d,.]*\d|\w+")
_stem = Stemmer.Stemmer("english").stemWord


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


@dataclass(frozen=True, slots=True)
class Content:
    """The stems of a claim's content words, and those of them that are numbers."""

    stems: frozenset[str]
    numbers: frozenset[str]

    @classmethod
    def of(cls, text: str, left_out: frozenset[str] = frozenset()) -> "Content":
        stems = stems_of(text) - left_out
        return cls(stems, frozenset(stem for stem in stems if stem[0].isdigit()))

    def share_in(self, other: "Content") -> float:
        """Return the share of the stems that the other has; 0 where it lacks a number."""
        if not self.stems or not self.numbers <= other.numbers:
            return 0.0
        return len(self.stems & other.stems) / len(self.stems)

    def f1(self, other: "Content") -> float:
        """F1 of the stems; 0 where the numbers differ."""
        if self.numbers != other.numbers or not (self.stems or other.stems):
            return 0.0
        return 2 * len(self.stems & other.stems) / (len(self.stems) + len(other.stems))


def stems_of(text: str) -> frozenset[str]:
    """Return the stems of the content words of a text; 1,000 is 1000."""
    words = (word.replace(",", "") for word in _WORD.findall(text.lower()))
    return frozenset(_stem(word) for word in words if word not in FUNCTION_WORDS)


def extracted(response: Response) -> list[list[ExtractedUnit]]:
    """Return the extracted claims of each sentence."""
    text, spans, end = "", [], 0
    for sentence in response.sentences:  # people may have written one otherwise than the text
        start = max(end, response.text.find(sentence, end))
        text += response.text[end:start] or " "
        end = min(len(response.text), start + len(sentence))
        spans.append(Span(len(text), len(text) + len(sentence)))
        text += sentence
    claims: list[list[ExtractedUnit]] = [[] for _ in spans]
    record = InputRecord("", "", text, question=response.question, language="en")
    for unit in extract_record(record, spans):
        claims[unit.sentence_index].append(unit)
    return claims


def paired(claims: Sequence[Content], other: Sequence[Content], level: float) -> int:
    """Return how many claims can be paired one to one, the most similar first."""
    scored = [(a.f1(b), i, j) for i, a in enumerate(claims) for j, b in enumerate(other)]
    ours, theirs = set[int](), set[int]()
    for score, i, j in sorted(scored, reverse=True):
        if score >= level and i not in ours and j not in theirs:
            ours.add(i)
            theirs.add(j)
    return len(ours)


def counted(response: Response) -> dict[str, tuple[float, float]]:
    """(numerator, denominator) of every figure for one response."""
    claims = extracted(response)
    counts: dict[str, tuple[float, float]] = {}

    def add(name: str, part: float, whole: float) -> None:
        parts, wholes = counts.get(name, (0.0, 0.0))
        counts[name] = parts + part, wholes + whole

    topic = stems_of(response.topic)
    for index, theirs in enumerate(response.claims):
        ours = [unit.claim for unit in claims[index]]
        if not theirs:
            add("invented", bool(ours), 1)
            continue
        add("missed", not ours, 1)
        add("per_sentence", len(ours), 1)
        add("per_sentence_people", len(theirs), 1)
        left = [Content.of(claim, topic) for claim in ours]
        right = [Content.of(claim, topic) for claim in theirs]
        right = [claim for claim in right if claim.stems]  # not "He is X" of a biography of X
        for name, level in LEVELS.items():
            covered = sum(any(p.share_in(e) >= level for e in left) for p in right)
            matched = sum(any(e.share_in(p) >= level for p in right) for e in left)
            add(f"covered_{name}", covered, len(right))
            add(f"matched_{name}", matched, len(left))
            add(f"f1_{name}", 2 * paired(left, right, level), len(left) + len(right))
    return counts


def figures(
    counts: Sequence[dict[str, tuple[float, float]]], resamples: int
) -> dict[str, dict[str, Any]]:
    """Each figure with its interval and its denominator."""
    result: dict[str, dict[str, Any]] = {}
    drawn = np.random.default_rng(0).integers(0, len(counts), (resamples, len(counts)))
    for name in dict.fromkeys(name for row in counts for name in row):
        table = np.array([row.get(name, (0.0, 0.0)) for row in counts])
        part, whole = table.sum(axis=0)
        sums = table[drawn].sum(axis=1)
        sums = sums[sums[:, 1] > 0]
        interval = np.quantile(sums[:, 0] / sums[:, 1], (0.025, 0.975)).round(4).tolist()
        value = round(float(part / whole), 4) if whole else None
        result[name] = {"value": value, "interval": interval, "n": int(whole)}
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n", maxsplit=1)[0])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--quick", action="store_true", help="200 bootstrap resamples, not 2,000")
    options = parser.parse_args()
    resamples = 200 if options.quick else 2000
    report: dict[str, Any] = {}
    started = process_time()
    for name, responses in load(options.data).items():
        by_name = figures([counted(response) for response in responses], resamples)
        report[name] = {"responses": len(responses), **by_name}
    rows = [(name, *row) for name, values in report.items() for row in values.items()]
    for name, figure, row in rows:
        if isinstance(row, dict):
            low, high = row["interval"]
            shown = f"{row['value']:.3f} [{low:.3f}, {high:.3f}] of {row['n']}"
            print(f"{name:22} {figure:20} {shown}", file=sys.stderr)
    report["cpu_seconds"] = round(process_time() - started, 1)
    print(json.dumps(report))


if __name__ == "__main__":
    main()
