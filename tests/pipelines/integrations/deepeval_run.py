"""Measure test cases with DeepEval, and print what it has of them."""

import json
from pathlib import Path
from typing import Any

from deepeval import assert_test, evaluate
from deepeval.evaluate import AsyncConfig, DisplayConfig, ErrorConfig
from deepeval.test_case import LLMTestCase, RetrievedContextData

from tests.docs.blocks import blocks
from ufo.pipelines.integrations.deepeval_metric import FactualityMetric

ABOUT = "Ada Lovelace was born in London in 1815."
OUTPUTS = {
    "true": "Ada Lovelace was born in 1815.",
    "half": "Ada Lovelace was born in Paris. She was born in 1815.",
    "silent": "Hm, what do you think?",
    "empty": "",
    "unknown": "Oslo is in Norway.",
    "foreign": "Осло находится в Норвегии.",
}
WAYS: dict[str, dict[str, Any]] = {
    "expected_output": {"expected_output": ABOUT},
    "context": {"context": [ABOUT]},
    "retrieval_context": {"retrieval_context": [ABOUT]},
    "with a source": {"retrieval_context": [RetrievedContextData(context=ABOUT, source="a.txt")]},
}


def case(output: str | None, **more: Any) -> LLMTestCase:
    fields = more or WAYS["expected_output"]
    return LLMTestCase(input="Who was Ada Lovelace?", actual_output=output, **fields)


def metric(threshold: float | None = 0.6, **more: Any) -> FactualityMetric:
    return FactualityMetric(threshold, judge="offline", **more)


def measured(output: str, threshold: float | None = 0.6, **more: Any) -> list[Any]:
    """Return the score, the verdict and the error of a metric, measured without DeepEval's runs."""
    measure = metric(threshold, **more)
    return [measure.measure(case(output)), measure.is_successful(), measure.error]


def evaluated(in_parallel: bool, cases: list[LLMTestCase], **config: Any) -> Any:
    result = evaluate(
        cases,
        [metric()],
        async_config=AsyncConfig(run_async=in_parallel),
        display_config=DisplayConfig(show_indicator=False, print_results=False),
        error_config=ErrorConfig(**config),
    )
    return {
        test_result.name: [
            [m.name, m.score, m.success, m.error] for m in test_result.metrics_data or ()
        ]
        for test_result in result.test_results
    }


def asserted(output: str, **more: Any) -> str:
    """Return what `assert_test` says, "" where it passes."""
    try:
        assert_test(case(output), [metric(**more)], run_async=False)
    except AssertionError as error:
        return str(error)
    return ""


def of_page() -> str:
    page = Path(__file__).parents[3] / "docs/integrations.md"
    (shown,) = (one for one in blocks(page.read_text(encoding="utf-8")) if "deepeval" in one.text)
    names: dict[str, Any] = {}
    exec(compile(shown.text, "<a block of the page>", "exec"), names)
    try:
        names["test_the_answer"]()
    except AssertionError as error:
        return str(error)
    return ""


cases = [case(output) for output in OUTPUTS.values()]
for test_case, name in zip(cases, OUTPUTS, strict=True):
    test_case.name = name
results = {
    "measured": {name: measured(output) for name, output in OUTPUTS.items()},
    "words": (lambda one: [one.measure(case(OUTPUTS["half"])), one.reason])(metric())[1],
    "no threshold": measured(OUTPUTS["half"], None),
    "at the threshold": measured(OUTPUTS["half"], 0.5),
    "ways": {name: metric().measure(case(OUTPUTS["true"], **way)) for name, way in WAYS.items()},
    **{word: measured(OUTPUTS["silent"], no_claim=word) for word in ("left_out", "pass", "fail")},
    "empty passes": measured("", no_claim="pass"),
    "in turn": evaluated(False, cases),
    "in parallel": evaluated(True, cases),
    "skipped": evaluated(False, [case(None, name="none")], skip_on_missing_params=True),
    "asserted": {name: asserted(output) for name, output in OUTPUTS.items()},
    "asserted fail": asserted(OUTPUTS["silent"], no_claim="fail"),
    "page": of_page(),
}
try:
    metric(no_claim="passed")
except Exception as error:
    results["wrong word"] = str(error)
print()
print(json.dumps(results))
