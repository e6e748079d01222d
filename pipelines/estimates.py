"""Estimate the requests, tokens and cost of a run (`--dry_run`); nothing is sent.

The run's own code builds and packs the requests, for a client that counts them.
"""

import json
import math
import random
import shutil
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import Any, Final

from ufo.pipelines.options.choose_sources import choose_sources
from ufo.pipelines.options.settings import Settings
from ufo.pipelines.reports.tabular import page, print_rows
from ufo.pipelines.runs.chunks import MAX_LINES, in_chunks
from ufo.pipelines.runs.input_report import InputReport
from ufo.pipelines.runs.inputs import copies_folder, empty_input, find_inputs, read_inputs
from ufo.schemas.records import InputRecord, OpenUnits, Passage
from ufo.schemas.text import quantity
from ufo.transforms.check import in_use
from ufo.transforms.extract import extract
from ufo.transforms.judges.by_name import JUDGES, asks_llm_judge, make_judge
from ufo.transforms.judges.judge import Judge
from ufo.transforms.judges.offline.offline_judge import OfflineJudge
from ufo.transforms.llm import chat
from ufo.transforms.llm.forms import Capabilities
from ufo.transforms.llm.request import KNOWLEDGE, Choice, Completion, Request
from ufo.transforms.llm.tokens import Context, prompt_tokens
from ufo.transforms.loop import wait_for
from ufo.transforms.plugins import takes_context
from ufo.transforms.read import is_used, parse
from ufo.transforms.sources.fact_source import FactSource, Found
from ufo.transforms.sources.llm import LlmSource

SAMPLE: Final = 200
"""The maximum size of the sample of records, from which the estimate is scaled."""
_PASSAGE: Final = 100  # assumed tokens of a passage that is not fetched or that a model writes
_PASSAGES: Final = 5  # assumed for a source without an option for their number
METHOD: Final = (
    "Assumed: claims are those given, else those that the rules of the offline judge "
    "find, and every claim goes to every source.",
    "Assumed: a source that is not asked has all the passages that it may give, of "
    f"{_PASSAGE} tokens each, and a reply is as long as its request expects.",
    "Not counted: answers in the cache, second requests for what a reply lacks, and retries.",
)
_BATCHED: Final = "Priced as batches: by `batch` of a model's price, or half where it is not given."
COUNTED: Final = ("calls", "prompt_tokens", "completion_tokens", "cost_usd")
_WIDTH: Final = 110


class _CountingClient:
    """A `Client` that counts requests, and replies with filler."""

    def __init__(self, context: int | None) -> None:
        self.counts: dict[tuple[str, str | None, str], list[int]] = {}
        self._context = context

    def add(self, key: tuple[str, str | None, str], *counted: int) -> None:
        """Count calls, and the tokens of their prompts and replies."""
        sums = self.counts.setdefault(key, [0, 0, 0])
        for place, value in enumerate(counted):
            sums[place] += value

    async def complete(self, request: Request) -> Completion:
        """Count the request, with a call for each choice: not every endpoint returns several."""
        words = request.expects
        if request.role == KNOWLEDGE:
            several = request.function and request.function.parameters["properties"]
            words = _PASSAGE * len(several or "1")
        tokens = request.n * self._prompt(request), request.n * words
        self.add((request.step, request.source, request.model), request.n, *tokens)
        return Completion([Choice("word " * words)] * request.n, "", [])

    def room(self, request: Request) -> int | None:
        """Return the tokens left beside a request in the context of `--context`."""
        return Context(self._context).room(self._prompt(request))

    def cap(self, request: Request) -> int | None:
        """Return None: no endpoint is asked."""
        return None

    def _prompt(self, request: Request) -> int:
        return prompt_tokens(chat.body(request, request.model, Capabilities(), request.n))


def estimate(settings: Settings) -> dict[str, Any]:
    """Return the estimate for an evaluation with these settings, as `--json` prints it.

    Raises:
        UsageError: an error that would end the run before its first response.
    """
    specs = choose_sources(settings).specs
    records, total = _sample_records(settings)
    client = _CountingClient(settings.context)
    spec = settings.judge_spec()
    if spec.llm is not None and asks_llm_judge(spec):
        spec = replace(spec, llm=replace(spec.llm, repairs=0))
    judge, rules = make_judge(spec, client), OfflineJudge()
    kind = JUDGES.kind(spec)
    asks_model = spec.llm is not None and spec.instance is None and takes_context(kind)
    extractor = judge if asks_model else rules
    model = spec.llm.model if spec.llm is not None else ""
    sources = [settings.source(plugin, lambda: client) for plugin in specs]

    async def count(record: InputRecord) -> None:
        open_units = (await extract(record, extractor, settings.units)).open_units
        if not open_units.units and asks_model:
            open_units = (await extract(record, rules, settings.units)).open_units
        for source in sources if open_units.units else ():
            answers = await _look_up(source, open_units, client)
            if asks_model:
                await judge.verify(open_units, source.name, answers)
            elif judge.remote:
                calls = sum(len(answer.passages) for answer in answers)
                client.add(("verify", source.name, model), calls)

    if judge.remote or any(source.remote for source in sources):
        opened: list[FactSource | Judge] = [judge] if asks_model else []
        opened += (
            plugin for plugin in sources if not plugin.remote or isinstance(plugin, LlmSource)
        )
        with ExitStack() as stack:
            for plugin in opened:
                stack.enter_context(in_use(plugin))
            for record in records:
                wait_for(count(record))
    return _scale_estimate(settings, client, total, len(records))


async def _look_up(
    source: FactSource, open_units: OpenUnits, client: _CountingClient
) -> Sequence[Found]:
    """Return the passages of a source; for a remote source the maximum number of filler ones."""
    if not source.remote:
        return await source.look_up(open_units)
    if isinstance(source, LlmSource):
        await source.look_up(open_units)
        most = source.samples
    else:
        pages = int(getattr(source, "pages", _PASSAGES))
        per_page = int(getattr(source, "passages_per_page", 1))
        most = pages * max(per_page, 1)
        if batch := getattr(source, "queries_a_request", 0):
            queries = len({unit.query for unit in open_units.units})
            client.add(("search", source.name, ""), math.ceil(queries / batch))
            client.add(("page", source.name, ""), queries * pages if per_page else 0)
    filler = "word " * _PASSAGE
    return [
        source.found(Passage(f"{unit.unit_id} {number} {filler}") for number in range(most))
        for unit in open_units.units
    ]


def _scale_estimate(
    settings: Settings, client: _CountingClient, total: int, sampled: int
) -> dict[str, Any]:
    """Return the counts, scaled to all records, with the cost of each model's tokens.

    A cost is None if the model has no price.
    """
    places, prices = settings.client, settings.client.prices
    if batch := settings.batches(""):
        asked = {one.model for one in places.endpoints.values() if batch.asks(one)}
        prices = {name: one.of_batch if name in asked else one for name, one in prices.items()}
    rows: list[dict[str, Any]] = []
    for (step, source, model), counts in client.counts.items():
        calls, prompt, completion = (round(count * total / sampled) for count in counts)
        # The user's contract with the search engine says what a search costs. Pages cost nothing.
        cost = None if model else 0.0
        if model in prices:
            cost = prices[model].cost(prompt, completion)
        figures = zip(COUNTED, (calls, prompt, completion, cost), strict=True)
        rows.append({"step": step, "source": source, "model": model, **dict(figures)})
    sums: dict[str, Any] = {name: sum(row[name] for row in rows) for name in COUNTED[:3]}
    costs = [row["cost_usd"] for row in rows]
    sums["cost_usd"] = None if None in costs else math.fsum(costs)
    whole = {"step": "total", "source": None, "model": "", **sums}
    counted = {"responses": total, "sampled": sampled}
    method = [*METHOD, _BATCHED] if batch else METHOD
    return {**counted, "method": " ".join(method), "rows": rows, "total": whole}


def _sample_records(settings: Settings) -> tuple[list[InputRecord], int]:
    """Return a random sample of the records of the input, the same each time, and their number.

    Raises:
        UsageError: the input cannot be read, or lacks the columns of `--map`.
        NothingUsable: it is empty, or no record of it can be used.
    """
    kept: list[InputRecord] = []
    total = 0
    draw = random.Random(0)  # noqa: S311

    def keep(record: InputRecord) -> bool:
        nonlocal total
        total += 1
        if len(kept) < SAMPLE:
            kept.append(record)
        elif (place := draw.randrange(total)) < SAMPLE:
            kept[place] = record
        return False

    with copies_folder() as folder:
        used = partial(is_used, settings.map)
        inputs = read_inputs(find_inputs(settings.input), folder, used, "evaluate")
        files = [file.plain for file in inputs]
        report = InputReport(files, settings.map)
        read = report.wrap_parse(partial(parse, columns=settings.map, keys=report.add_keys))
        for _ in in_chunks(files, MAX_LINES, settings.max_line_bytes, keep, read):
            pass  # `keep` gets each record
    report.check(settings.input)
    if not kept:
        raise empty_input(inputs, "evaluate")
    return kept, total


def print_estimate(estimate: Mapping[str, Any], as_json: bool) -> None:
    """Print the estimated requests of a run by step, source and model."""
    if as_json:
        print(json.dumps(estimate, ensure_ascii=False))
        return
    rows = []
    for row in (*estimate["rows"], estimate["total"]):
        cost = "unknown" if row["cost_usd"] is None else f"${row['cost_usd']:,.4f}"
        numbers = [f"{row[name]:,}" for name in COUNTED[:3]]
        rows.append([row["step"], row["source"], row["model"] or None, *numbers, cost])
    # Numbers are not cut to fit: a narrow terminal breaks the lines.
    width = max(_WIDTH, shutil.get_terminal_size().columns)
    with page(sys.stdout, width) as console:
        print_rows(("step", "source", "model", *COUNTED), rows, console, right=COUNTED)
    looked = "all" if estimate["sampled"] == estimate["responses"] else f"{estimate['sampled']:,}"
    responses = quantity(estimate["responses"], "response")
    print(f"{responses}, {looked} of them gone through; nothing was sent.")
    print("\n".join([*METHOD, *([_BATCHED] if _BATCHED in estimate["method"] else [])]))
