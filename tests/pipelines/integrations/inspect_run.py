"""Evaluate scripted completions with Inspect, and print what its logs have of them."""

import json
import math
from pathlib import Path
from typing import Any

from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessage, ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Scorer
from inspect_ai.solver import generate

from tests.docs.blocks import blocks
from ufo.pipelines.integrations.inspect_scorer import factuality

ABOUT = "Ada Lovelace was born in London in 1815."
COMPLETIONS = {
    "true": "Ada Lovelace was born in 1815.",
    "half": "Ada Lovelace was born in Paris. She was born in 1815.",
    "silent": "Hm, what do you think?",
    "empty": "",
    "unknown": "Oslo is in Norway.",
    "foreign": "Осло находится в Норвегии.",
}


def scored(scorer: Scorer, *names: str, **sample: Any) -> Any:
    """Return the status of an evaluation, its metrics, and the score of each completion."""
    fields = {"target": ABOUT, **sample}
    samples = [Sample(id=name, input=f"Who was Ada? {name}", **fields) for name in names]
    task = Task(samples, solver=generate(), scorer=scorer)
    (log,) = eval(task, model=MODEL, display="none", log_dir="logs")
    metrics = log.results.scores[0].metrics if log.results else {}
    scores = {one.id: score for one in log.samples or () for score in (one.scores or {}).values()}
    return {
        "status": log.status,
        "errors": [one.error.message for one in log.samples or () if one.error],
        "metrics": {name: plain(one.value) for name, one in metrics.items()},
        "values": {name: plain(one.value) for name, one in scores.items()},
        "reasons": {name: one.reason for name, one in scores.items() if one.reason},
        "words": {name: one.explanation for name, one in scores.items()},
    }


def reply(messages: list[ChatMessage], *others: Any) -> ModelOutput:
    """Return the completion that the end of a question names."""
    name = messages[-1].text.rpartition(" ")[2]
    output = ModelOutput.from_content("mockllm/model", COMPLETIONS.get(name, COMPLETIONS["true"]))
    output.usage = ModelUsage()  # else Inspect counts tokens, and fetches what it counts by
    return output


def plain(value: Any) -> Any:
    return "nan" if isinstance(value, float) and math.isnan(value) else value


def of_page() -> Any:
    """Return the metrics of the task that the page shows."""
    page = Path(__file__).parents[3] / "docs/integrations.md"
    (shown,) = (one for one in blocks(page.read_text(encoding="utf-8")) if "inspect_ai" in one.text)
    Path("biographies.py").write_text(shown.text, encoding="utf-8")
    (log,) = eval("biographies.py", model=MODEL, display="none", log_dir="logs")
    return [log.status, sorted(log.results.scores[0].metrics) if log.results else None]


MODEL = get_model("mockllm/model", custom_outputs=reply)
OFFLINE: Any = {"judge": "offline"}
results = {
    "all": scored(factuality(**OFFLINE), *COMPLETIONS),
    "of metadata": scored(
        factuality("about", **OFFLINE), "true", target="", metadata={"about": [ABOUT]}
    ),
    "nothing": scored(factuality(**OFFLINE), "silent", "empty"),
    **{
        no_claim: scored(factuality(no_claim=no_claim, **OFFLINE), "true", "silent", "empty")
        for no_claim in ("left_out", "pass", "fail")
    },
    "wrong option": scored(factuality(judeg="offline"), "true"),
    "page": of_page(),
}
try:
    factuality(no_claim="passed")
except Exception as error:
    results["wrong word"] = str(error)
print(json.dumps(results))
