"""The fact source of a language model's knowledge, sampled as in UFO (Huang et al., 2026)."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ufo.schemas.errors import UsageError, missing, unknown_value
from ufo.schemas.records import (
    ERROR,
    FILTERED,
    REFUSED,
    TRUNCATED,
    UNPARSABLE,
    OpenUnits,
    Passage,
    Usage,
)
from ufo.schemas.text import storable
from ufo.transforms.judges.llm.parsing import arguments_of, reason_of
from ufo.transforms.llm.client_settings import ClientSettings
from ufo.transforms.llm.endpoint import endpoints
from ufo.transforms.llm.request import (
    KNOWLEDGE,
    Choice,
    Completion,
    Function,
    LlmError,
    Message,
    Request,
    closed,
)
from ufo.transforms.llm.shared import shared_client
from ufo.transforms.prompts import load_prompts
from ufo.transforms.prompts.data import element
from ufo.transforms.sources.fact_source import (
    FactSource,
    Found,
    Retrieved,
    SourceContext,
    reported_once,
)

PER_QUERY = "per_query"
BUNDLED = "bundled"
SAMPLINGS = (PER_QUERY, BUNDLED)
RECALL = "recall_answers"
_STEP = "knowledge"
_SAMPLE_TOKENS = 256  # limit of an answer to one query


class LlmSource(FactSource):
    """Checks against what a language model knows: several answers to each question.

    `sampling` per_query sends each query alone and takes `samples` choices; bundled sends all
    queries of a response in one request. The model may differ from the judge's. The mean
    log-probability of an answer is stored where the endpoint returns it, but not used.
    """

    remote = True
    needs_endpoint = True

    def __init__(
        self,
        samples: int = 5,
        temperature: float = 1.0,
        sampling: str = PER_QUERY,
        model: str | None = None,
        base_url: str | None = None,
        knowledge_model: str | None = None,
        knowledge_base_url: str | None = None,
        prompts: str | None = None,
        context: SourceContext | None = None,
    ) -> None:
        if sampling not in SAMPLINGS:
            raise UsageError(unknown_value("--sampling", sampling, SAMPLINGS))
        self.samples = samples
        self.temperature = temperature
        self.sampling = sampling
        self.prompts = prompts
        by_role = endpoints(
            model, base_url, knowledge_model=knowledge_model, knowledge_base_url=knowledge_base_url
        )
        self._endpoint = by_role[KNOWLEDGE]
        self.knowledge_model = self._endpoint.model
        run = context or SourceContext()
        self._settings = run.models or ClientSettings(by_role)
        self._make_client = run.client

    def unavailable(self) -> str | None:
        """Return an error message if there is no valid endpoint, else None."""
        if self._make_client is not None:
            return None
        if not self._endpoint.configured:
            return "it needs a model: set OPENAI_API_KEY, or name an endpoint with --base_url"
        try:
            _ = self._endpoint.url
        except LlmError as error:
            return error.message
        absent = missing("llm")
        return f"it needs {absent}" if absent else None

    def open(self) -> None:
        """Load the prompts and get this process's client."""
        self._texts = load_prompts(self.prompts)
        if self._make_client is not None:
            self._client = self._make_client()
            return
        # A model in the source's own configuration replaces the run's.
        run = self._settings.endpoints.get(KNOWLEDGE, self._endpoint)
        own = self._endpoint.as_in(run)
        by_role = {**self._settings.endpoints, KNOWLEDGE: own}
        self._client = shared_client(replace(self._settings, endpoints=by_role))

    def fingerprint(self) -> str:
        """Return the model's address and, for bundled sampling, the version of the prompt."""
        texts = load_prompts(self.prompts)
        version = texts.version(["knowledge_bundled_system", "function_knowledge"])
        return f"{self._endpoint.shown_url} {version if self.sampling == BUNDLED else ''}"

    async def look_up(self, open_units: OpenUnits) -> list[Found]:
        """Return up to `samples` passages for each unit, by its query; equal queries share them."""
        queries = list(dict.fromkeys(unit.query for unit in open_units.units))
        if self.sampling == BUNDLED:
            answers = await self._bundled(queries, open_units.response_id)
        else:
            samples = (self._sampled(query, open_units.response_id) for query in queries)
            answers = dict(zip(queries, await asyncio.gather(*samples), strict=True))
        return reported_once(open_units.units, answers)

    async def _sampled(self, query: str, response_id: str) -> Found:
        request = self._request([Message("user", query)], response_id)
        failed = None
        try:
            completion = await self._client.complete(request)
        except LlmError as error:
            failed, completion = error, _received(error)
        texts = [(choice.text, choice) for choice in completion.choices]
        return self._found(texts, completion.request_id, completion.usage, failed)

    async def _bundled(self, queries: Sequence[str], response_id: str) -> dict[str, Found]:
        user = "\n".join(element(f"q{n}", query) for n, query in enumerate(queries, 1))
        system = self._texts["knowledge_bundled_system"]
        messages = [Message("system", system), Message("user", user)]
        answers: dict[str, Any] = {
            f"q{number}": {"type": "string"} for number in range(1, len(queries) + 1)
        }
        function = Function(RECALL, self._texts["function_knowledge"], closed(answers))
        failed = None
        try:
            completion = await self._client.complete(self._request(messages, response_id, function))
        except LlmError as error:
            failed, completion = error, _received(error)
        if failed is not None and failed.reason == TRUNCATED and len(queries) > 1:
            half = len(queries) // 2  # too long for the model's context
            halves = await self._bundled(queries[:half], response_id)
            halves |= await self._bundled(queries[half:], response_id)
            first = halves[queries[0]]
            halves[queries[0]] = replace(first, usage=[*completion.usage, *first.usage])
            return halves
        samples = [(_parsed(choice, len(queries)), choice) for choice in completion.choices]
        result = {}
        for number, query in enumerate(queries, 1):
            texts = [(answers.get(f"q{number}", ""), choice) for answers, choice in samples]
            usage = completion.usage if number == 1 else ()
            result[query] = self._found(texts, completion.request_id, usage, failed)
        return result

    def _request(
        self, messages: Sequence[Message], response_id: str, function: Function | None = None
    ) -> Request:
        count = 0 if function is None else len(function.parameters["properties"])
        return Request(
            role=KNOWLEDGE,
            model=self.knowledge_model,
            messages=messages,
            function=function,
            temperature=self.temperature,
            n=self.samples,
            max_tokens=_SAMPLE_TOKENS * max(count, 1),
            logprobs=function is None,
            step=_STEP,
            source=self.name,
            response_id=response_id,
            keep=(lambda choice: bool(_parsed(choice, count))) if count else _usable,
        )

    def _found(
        self,
        texts: Sequence[tuple[str, Choice]],
        request_id: str,
        usage: Sequence[Usage],
        failed: LlmError | None,
    ) -> Found:
        """Return the samples as passages; `failed` is the error if any are missing."""
        hits = [
            Retrieved(
                self.named(Passage(storable(text.strip())), sample),
                sample_index=sample,
                logprob_mean=choice.logprob_mean,
                request_id=request_id,
            )
            for sample, (text, choice) in enumerate(texts)
            if text.strip() and not choice.refusal
        ]
        if failed is not None:
            came = f"{len(hits)} of {self.samples} samples came; " if hits else ""
            message = f"{came}{failed.message}"
            return Found(hits, ERROR, failed.reason, "LlmError", message, usage)
        if hits:
            return Found(hits, usage=usage)
        reason = _reason([choice for _, choice in texts])
        return Found((), ERROR, reason, "LlmError", f"no sample has an answer: {reason}", usage)


def _parsed(choice: Choice, count: int) -> Mapping[str, str]:
    """Return the complete answers of one sample, by `q1`, `q2`, …"""
    raw = arguments_of(choice, [f"q{number}" for number in range(1, count + 1)])
    return {name: value for name, value in raw.items() if isinstance(value, str)}


def _usable(choice: Choice) -> bool:
    return bool(choice.text.strip()) and not choice.refusal


def _reason(choices: Sequence[Choice]) -> str:
    if any(choice.refusal for choice in choices):
        return REFUSED
    if any(choice.finish_reason == "content_filter" for choice in choices):
        return FILTERED
    if any(reason_of(choice, choice.arguments is not None) == TRUNCATED for choice in choices):
        return TRUNCATED
    return UNPARSABLE


def _received(error: LlmError) -> Completion:
    """Return the samples received before an error; raise a final error."""
    if error.final:
        raise error
    return Completion(error.choices, error.request_id, error.usage)
