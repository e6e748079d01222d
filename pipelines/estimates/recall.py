"""`ufo recall --dry_run`: calls, tokens and cost of a run beforehand; nothing is sent.

Facts are the given ones, or the offline judge's in place of the model's; the requests are those
that the run would make, through a client that counts, and answers in the cache are left out.
"""

import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pipelines.estimates.estimate import Estimate, count_probes, lines_of, memory_of
from pipelines.estimates.sampling import in_file, spread_of
from pipelines.estimates.standins import CountingClient, Tally
from pipelines.options.recall import RecallSettings
from pipelines.runs.inputs import find_inputs, measure, shown_names, spool
from pipelines.runs.plan import PlainFile
from schemas.errors import UsageError
from schemas.functions import SHORT
from schemas.recall import (
    RecallInput,
)
from transforms.judges import asks_llm_judge
from transforms.judges.llm.settings import LlmSettings
from transforms.judges.offline.judge import OfflineJudge
from transforms.llm.base import Completion, Request
from transforms.llm.cache import CachingClient
from transforms.llm.tokens import count
from transforms.loop import run_now, wait_for
from transforms.recall.formulations import PROMPT
from transforms.recall.llm import FACTS, LlmRecaller
from transforms.recall.offline import JudgeRecaller
from transforms.recall.read import parse_recall
from transforms.recall.step import recall

METHOD = (
    "facts as given, or the offline judge's; cached answers left out; quotes of 12 words; tokens "
    "counted without the model's vocabulary"
)
_SAMPLE = 400
_LOW, _HIGH = 0.7, 1.5  # what a model that finds other facts may make of it: judged, not measured
_QUOTE = "as the answer says it, word by word, in its first sentence"


class _Answering:
    """Counts requests, and what the model would say to them."""

    def __init__(self, tally: Tally, explain: str, context: int | None) -> None:
        self._counting = CountingClient(tally, context)
        self._tally = tally
        self._explain = explain
        self.facts: Sequence[str] = ()

    async def complete(self, request: Request) -> Completion:
        """Count the request and its reply."""
        found = await self._counting.complete(request)
        key = request.step, request.source, request.model
        self._tally.completion[key] += count(self._reply(request))
        return found

    def room(self, request: Request) -> int | None:
        """Return what the user says that the context holds beside a request."""
        return self._counting.room(request)

    async def aclose(self) -> None:
        """Do nothing."""

    def _reply(self, request: Request) -> str:
        if request.step == FACTS:
            return json.dumps({FACTS: list(self.facts)}, ensure_ascii=False)
        formulation = request.source or ""
        if formulation == PROMPT:
            return "True"
        if "xml" not in formulation:
            names = ["_text_evidence", ""] if "citation" in formulation else [""]
            return json.dumps(
                {
                    f"fact_{n}{name}": _QUOTE if name else "True"
                    for n, _ in enumerate(self.facts, 1)
                    for name in names
                }
            )
        check = {"verdict": "T"}
        if "citation" in formulation:
            check = {"citation": _QUOTE, **check}
        if self._explain == SHORT:
            check = {"answer": _QUOTE, "rationale": _QUOTE, **check}
        said = "".join(f"<{name}>{text}</{name}>\n" for name, text in check.items())
        return "\n".join(f"<f{n}>\n{said}</f{n}>" for n, _ in enumerate(self.facts, 1))


def estimate_recall(settings: RecallSettings, sample: int = _SAMPLE) -> Estimate:
    """Return what the run of these settings will ask.

    Raises:
        UsageError: what would end the run before its first record.
    """
    records = list(_records(settings))
    if not records:
        raise UsageError(f"--input {', '.join(settings.input)}: there is no record to recall")
    # Every k-th record stands for those between.
    chosen = records[:: max(1, len(records) // sample)][:sample]
    tally, probes, spread = Tally(), Tally(), 0.0
    told = settings.llm()
    if told is not None and asks_llm_judge(settings.judge):
        spread = wait_for(_go_through(chosen, settings, told, tally))
        wait_for(count_probes(settings, (), probes))
    scale = len(records) / len(chosen)
    for counted in (tally.calls, tally.prompt, tally.completion):
        for key in counted:
            counted[key] *= scale
    prices = settings.client().prices
    rows = (*lines_of(probes, prices), *lines_of(tally, prices))
    error = 2 * spread if len(records) > len(chosen) else 0.0
    low, high = max(0.0, _LOW - error), _HIGH + error
    return Estimate(rows, len(records), len(chosen), low, high, (), (), METHOD)


async def _go_through(
    records: Sequence[RecallInput], settings: RecallSettings, told: LlmSettings, tally: Tally
) -> float:
    client = settings.client()
    answering = _Answering(tally, told.explain, settings.context)
    caching = CachingClient(answering, client, memory_of(client))
    recaller = LlmRecaller(replace(told, repairs=0), settings.formulations, lambda: caching)
    offline = JudgeRecaller(OfflineJudge())
    tokens = []
    for record in records:
        before = tally.tokens
        facts = record.facts if record.given else run_now(offline.generate(record)).facts
        answering.facts = facts
        if not record.given:
            generated = await recaller.generate(record)
            facts = answering.facts = generated.facts or facts
        await recall(
            replace(record, given=True, facts=facts, labels=[]), recaller, settings.formulations
        )
        tokens.append(tally.tokens - before)
    return spread_of(tokens)


def _records(settings: RecallSettings) -> Iterator[RecallInput]:
    paths = find_inputs(settings.input)
    seen: set[str] = set()
    with tempfile.TemporaryDirectory(prefix="ufo-estimate-") as folder:
        for path, name in zip(paths, shown_names(paths), strict=True):
            file = measure(path, name)
            path = path if file.plain() else spool(file, folder)
            plain = PlainFile(name, path, os.path.getsize(path))
            for record in in_file(plain, settings.max_line_bytes, parse_recall):
                if record.record_id not in seen:
                    seen.add(record.record_id)
                    yield record
