"""A language model's own knowledge, as UFO samples it: n = 5 passages a query at temperature 1."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from schemas.errors import UsageError, unknown_value
from schemas.records import (
    ERROR,
    FILTERED,
    REFUSED,
    TRUNCATED,
    UNPARSABLE,
    OpenUnits,
    Passage,
    Usage,
)
from transforms.judges.llm.parsing import arguments_of, reason_of
from transforms.llm.base import (
    KNOWLEDGE,
    Choice,
    Completion,
    Function,
    LlmError,
    Message,
    Request,
)
from transforms.llm.endpoint import endpoints
from transforms.llm.settings import ClientSettings
from transforms.llm.shared import shared_client
from transforms.prompts import load_prompts
from transforms.prompts.data import element, storable
from transforms.sources.base import FactSource, Found, Retrieved
from transforms.sources.context import SourceContext

PER_QUERY = "per_query"
BUNDLED = "bundled"
SAMPLINGS = (PER_QUERY, BUNDLED)
RECALL = "recall_answers"
_STEP = "knowledge"
_SAMPLE_TOKENS = 256  # of an answer to one query: where it rambles on, it says nothing new


class LlmSource(FactSource):
    """Answers from what a language model knows, sampled several times.

    `per_query` sends one request a query whose prompt holds the query alone, until `samples`
    choices have come; `bundled` asks all open queries of a response in one. The model need not be
    the judge. Where the endpoint gives log-probabilities their mean is kept, and nothing depends
    on it.
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
        places = endpoints(
            model, base_url, knowledge_model=knowledge_model, knowledge_base_url=knowledge_base_url
        )
        self._endpoint = places[KNOWLEDGE]
        self.knowledge_model = self._endpoint.model
        run = context or SourceContext()
        self._settings = run.models or ClientSettings(places)
        self._client = run.client

    def unavailable(self) -> str | None:
        """Return that no endpoint was named, or that its address cannot be one."""
        if self._client is not None:
            return None
        if not self._endpoint.configured:
            return "it needs a model: set OPENAI_API_KEY, or name an endpoint with --base_url"
        try:
            _ = self._endpoint.url
        except LlmError as error:
            return error.message
        return None

    def open(self) -> None:
        """Take this process's client, and the prompts."""
        self._texts = load_prompts(self.prompts)
        if self._client is not None:
            self._asked = self._client()
            return
        # A source of its own model, named in the configuration, has it in place of the run's.
        run = self._settings.endpoints.get(KNOWLEDGE, self._endpoint)
        own = replace(self._endpoint, timeout=run.timeout)
        places = {**self._settings.endpoints, KNOWLEDGE: own}
        self._asked = shared_client(replace(self._settings, endpoints=places))

    def fingerprint(self) -> str:
        """Return where the model is, and the version of the prompt that bundles queries."""
        texts = load_prompts(self.prompts)
        version = texts.version(["knowledge_bundled_system", "function_knowledge"])
        return f"{self._endpoint.shown_url} {version if self.sampling == BUNDLED else ''}"

    async def look_up(self, open_units: OpenUnits) -> list[Found]:
        """Return up to `samples` passages for each unit, by its query; equal queries share them."""
        queries = list(dict.fromkeys(unit.query for unit in open_units.units))
        if self.sampling == BUNDLED:
            answers = await self._bundled(queries, open_units.response_id)
        else:
            asked = (self._sampled(query, open_units.response_id) for query in queries)
            answers = dict(zip(queries, await asyncio.gather(*asked), strict=True))
        found = []
        for unit in open_units.units:
            answer = answers[unit.query]
            found.append(answer)
            if answer.usage:
                # What was paid for is reported once, with the first unit that asked.
                answers[unit.query] = replace(answer, usage=())
        return found

    async def _sampled(self, query: str, response_id: str) -> Found:
        request = self._request([Message("user", query)], response_id)
        failed = None
        try:
            completion = await self._asked.complete(request)
        except LlmError as error:
            failed, completion = error, _came(error)
        texts = [(choice.text, choice) for choice in completion.choices]
        return self._found(texts, completion.request_id, completion.usage, failed)

    async def _bundled(self, queries: Sequence[str], response_id: str) -> dict[str, Found]:
        user = "\n".join(element(f"q{n}", query) for n, query in enumerate(queries, 1))
        system = self._texts["knowledge_bundled_system"]
        messages = [Message("system", system), Message("user", user)]
        function = Function(RECALL, self._texts["function_knowledge"], _answers(len(queries)))
        failed = None
        try:
            completion = await self._asked.complete(self._request(messages, response_id, function))
        except LlmError as error:
            failed, completion = error, _came(error)
        if failed is not None and failed.reason == TRUNCATED and len(queries) > 1:
            half = len(queries) // 2  # for a small context
            answers = await self._bundled(queries[:half], response_id)
            answers |= await self._bundled(queries[half:], response_id)
            first = answers[queries[0]]
            answers[queries[0]] = replace(first, usage=[*completion.usage, *first.usage])
            return answers
        samples = [(_parsed(choice, len(queries)), choice) for choice in completion.choices]
        found = {}
        for number, query in enumerate(queries, 1):
            texts = [(answers.get(f"q{number}", ""), choice) for answers, choice in samples]
            usage = completion.usage if number == 1 else ()
            found[query] = self._found(texts, completion.request_id, usage, failed)
        return found

    def _request(
        self, messages: Sequence[Message], response_id: str, function: Function | None = None
    ) -> Request:
        return Request(
            role=KNOWLEDGE,
            model=self.knowledge_model,
            messages=messages,
            function=function,
            temperature=self.temperature,
            n=self.samples,
            max_tokens=_SAMPLE_TOKENS * (1 if function is None else _names(function)),
            logprobs=function is None,
            step=_STEP,
            source=self.name,
            response_id=response_id,
            keep=_usable if function is None else _parsed_by(_names(function)),
        )

    def _found(
        self,
        texts: Sequence[tuple[str, Choice]],
        request_id: str,
        usage: Sequence[Usage],
        failed: LlmError | None,
    ) -> Found:
        """Return the samples as passages; `failed` is why not all have come."""
        hits = [
            Retrieved(
                self.named(Passage(storable(text.strip()) or ""), sample),
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


def _names(function: Function) -> int:
    return len(function.parameters["properties"])


def _answers(count: int) -> dict[str, Any]:
    names = [f"q{number}" for number in range(1, count + 1)]
    return {
        "type": "object",
        "properties": {name: {"type": "string"} for name in names},
        "required": names,
        "additionalProperties": False,
    }


def _parsed(choice: Choice, count: int) -> Mapping[str, str]:
    """Return the answers of one sample by their query's number; what is no text, or breaks off, is
    left out."""
    raw = arguments_of(choice, [f"q{number}" for number in range(1, count + 1)])
    return {name: value for name, value in raw.items() if isinstance(value, str)}


def _parsed_by(count: int) -> Callable[[Choice], bool]:
    return lambda choice: bool(_parsed(choice, count))


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


def _came(error: LlmError) -> Completion:
    """Return the samples that came before the error; a final one is raised."""
    if error.final:
        raise error
    return Completion(error.choices, error.request_id, error.usage)
