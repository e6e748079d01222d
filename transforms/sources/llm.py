"""Use a language model's knowledge as a fact source, sampled as in UFO (Huang et al., 2026)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ufo.schemas.dependencies import missing
from ufo.schemas.errors import UsageError, unknown_value
from ufo.schemas.records import (
    ERROR,
    FILTERED,
    REFUSED,
    TRUNCATED,
    UNPARSABLE,
    OpenUnits,
    Passage,
)
from ufo.schemas.text import quantity, storable
from ufo.transforms.concurrently import together
from ufo.transforms.judges.llm.parsing import arguments_of, reason_of
from ufo.transforms.llm.client_settings import ClientSettings
from ufo.transforms.llm.endpoint import endpoints
from ufo.transforms.llm.json_schema import closed_object
from ufo.transforms.llm.request import (
    KNOWLEDGE,
    Choice,
    Completion,
    Function,
    LlmError,
    Message,
    Request,
)
from ufo.transforms.llm.shared import shared_client
from ufo.transforms.prompts import load_prompts
from ufo.transforms.prompts.data import element
from ufo.transforms.sources import defaults
from ufo.transforms.sources.defaults import BUNDLED, PER_QUERY
from ufo.transforms.sources.fact_source import (
    FactSource,
    Found,
    Retrieved,
    SourceContext,
    reported_once,
)

SAMPLINGS = (PER_QUERY, BUNDLED)
RECALL = "recall_answers"
_STEP = "knowledge"
_SHOWN = 200  # characters of a sample that is not used
_REASONS = (REFUSED, FILTERED, TRUNCATED)
_SAMPLE_TOKENS = 1024  # limit of an answer to one query; one that reaches it is not used


class LlmSource(FactSource):
    """Checks against what a language model knows: several answers to each question.

    `sampling` per_query sends each query alone and takes `samples` choices; bundled sends all
    queries of a response in one request. The model may differ from the judge's.
    """

    remote = True
    needs_endpoint = True

    def __init__(
        self,
        samples: int = defaults.SAMPLES,
        temperature: float = defaults.TEMPERATURE,
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
        own = self._endpoint.with_run_settings(self._settings.endpoint(KNOWLEDGE))
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
        requests = [queries] if self.sampling == BUNDLED else [[query] for query in queries]
        asked = (self._sampled(some, open_units.response_id) for some in requests)
        answers: dict[str, Found] = {}
        for answered in await together(asked):
            answers |= answered
        return reported_once(open_units.units, answers)

    async def _sampled(self, queries: Sequence[str], response_id: str) -> dict[str, Found]:
        """Return the samples of one request, or of two if it is too long for the model's context.

        The first query has the usage.
        """
        failed = None
        try:
            completion = await self._client.complete(self._request(queries, response_id))
        except LlmError as error:
            if error.final:
                raise
            failed, completion = error, Completion(error.choices, error.request_id, error.usage)
        if failed is not None and failed.reason == TRUNCATED and len(queries) > 1:
            half = len(queries) // 2
            results = await self._sampled(queries[:half], response_id)
            results |= await self._sampled(queries[half:], response_id)
        else:
            samples = [self._answers_in(choice, len(queries)) for choice in completion.choices]
            results = {
                query: self._as_passages([texts[at] for texts in samples], completion, failed)
                for at, query in enumerate(queries)
            }
        first = results[queries[0]]
        results[queries[0]] = replace(first, usage=[*completion.usage, *first.usage])
        return results

    def _request(self, queries: Sequence[str], response_id: str) -> Request:
        count, function = len(queries), None
        messages = [Message("user", queries[0])]
        if self.sampling == BUNDLED:
            names = [f"q{number}" for number in range(1, count + 1)]
            user = "\n".join(map(element, names, queries))
            messages = [Message("system", self._texts["knowledge_bundled_system"])]
            messages.append(Message("user", user))
            answers: dict[str, Any] = {name: {"type": "string"} for name in names}
            function = Function(RECALL, self._texts["function_knowledge"], closed_object(answers))
        return Request(
            role=KNOWLEDGE,
            model=self.knowledge_model,
            messages=messages,
            function=function,
            temperature=self.temperature,
            n=self.samples,
            max_tokens=_SAMPLE_TOKENS * count,
            step=_STEP,
            source=self.name,
            response_id=response_id,
            keep=lambda choice: any(self._answers_in(choice, count)),
        )

    def _answers_in(self, choice: Choice, count: int) -> list[str]:
        """Return the complete answers of one sample to `count` queries, "" for a missing one."""
        if choice.refusal:
            return [""] * count
        if self.sampling == PER_QUERY:
            return [choice.text.strip() if choice.whole else ""]
        names = [f"q{number}" for number in range(1, count + 1)]
        answers = map(arguments_of(choice, names).get, names)
        return [text.strip() if isinstance(text, str) else "" for text in answers]

    def _as_passages(
        self, texts: Sequence[str], completion: Completion, failed: LlmError | None
    ) -> Found:
        """Return the samples as passages; `failed` is the error if any are missing.

        Samples without an answer are counted in the message.
        """
        hits = [
            Retrieved(
                self.named(Passage(storable(text)), sample),
                sample_index=sample,
                request_id=completion.request_id,
            )
            for sample, text in enumerate(texts)
            if text
        ]
        came = (
            f"{len(hits)} of {quantity(self.samples, 'sample')} came"
            if hits
            else "no sample has an answer"
        )
        if failed is not None:
            came = f"{came}; " if hits else ""
            return Found(hits, ERROR, failed.reason, "LlmError", f"{came}{failed.message}")
        lost = [choice for choice, text in zip(completion.choices, texts, strict=True) if not text]
        if not lost and hits:
            return Found(hits)
        reasons = {reason_of(one, one.arguments is not None): one for one in lost}
        reason = next((one for one in _REASONS if one in reasons), UNPARSABLE)
        raw = _shown(reasons[reason]) if reason in reasons else ""
        shown = f": {raw}" if raw else ""
        message = f"{came}: {reason}{shown}"
        if hits:
            return Found(hits, error_type="LlmError", message=message)
        return Found((), ERROR, reason, "LlmError", message, raw_verdict=raw or None)


def _shown(choice: Choice) -> str:
    """Return the beginning of an unused sample, after its finish reason."""
    text = choice.refusal or choice.arguments or choice.text or choice.thought
    return f"({choice.finish_reason or 'no finish reason'}) {storable(text)[:_SHOWN]}".strip()
