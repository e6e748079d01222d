"""Measure test cases of DeepEval by their claims (extra `deepeval`)."""

from collections.abc import Mapping
from typing import Any

from deepeval.errors import MissingTestCaseParamsError
from deepeval.metrics import BaseMetric
from deepeval.test_case import LLMTestCase

from ufo.pipelines.integrations.gated import check_response
from ufo.transforms.gate_score import LEFT_OUT, check_no_claim
from ufo.transforms.loop import wait_for


class FactualityMetric(BaseMetric):
    """The share of the claims of `actual_output` that are supported.

    The references are `expected_output`, `context` and `retrieval_context`; `options` may name
    other sources.

    `no_claim` says what an output without a claim means: `left_out` (no score and no verdict, so no
    rate counts it), `pass` (1) or `fail` (0). `options`, and `more` by keyword, are those of
    `ufo.check`. Where nothing could be judged, the metric has an `error`.
    """

    def __init__(
        self,
        threshold: float | None = 0.5,
        no_claim: str = LEFT_OUT,
        options: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> None:
        check_no_claim(no_claim)
        # DeepEval copies a metric by the parameters that it has as attributes, too.
        self.threshold, self.no_claim = threshold, no_claim
        self.options = {**(options or {}), **more}

    @property
    def __name__(self) -> str:
        return "Factuality"

    def measure(self, test_case: LLMTestCase, *args: Any, **kwargs: Any) -> float | None:
        return wait_for(self.a_measure(test_case))

    async def a_measure(self, test_case: LLMTestCase, *args: Any, **kwargs: Any) -> float | None:
        text = test_case.actual_output
        if text is None:
            raise MissingTestCaseParamsError("'actual_output' cannot be None for 'Factuality'")
        fields = ([test_case.expected_output], test_case.context, test_case.retrieval_context)
        references = [one for values in fields for one in values or ()]
        texts = [getattr(one, "context", one) or "" for one in references]  # one may have a source
        result = await check_response(text, texts, test_case.input, self.no_claim, **self.options)
        self.score, self.reason, self.error = result.score, result.words, result.problem or None
        self.success = None
        if self.threshold is not None and (result.score is not None or result.problem):
            self.success = result.gate is not None and result.gate >= self.threshold
        return self.score

    def is_successful(self) -> bool | None:
        return self.success
