"""Report the unusable judgements of a run, with their reasons and a remedy."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ufo.schemas.records import (
    EXCEPTION,
    FILTERED,
    REFUSED,
    TRANSPORT,
    TRUNCATED,
    UNPARSABLE,
    UNSUPPORTED_LANGUAGE,
)
from ufo.schemas.text import quantity
from ufo.transforms.plugin_errors import ERROR_IN
from ufo.transforms.score_words import in_numbers, is_many

if TYPE_CHECKING:  # `import ufo` comes here, and a program that only checks texts needs no DuckDB
    from ufo.schemas.results import Results, Run

_MOST_WORDS = 300  # characters of an endpoint's message
_REFUSED = re.compile(r"\banswered (?:200 with the error )?4(?!08|25|29)\d\d\b")
OURS = "the reply "
"""The beginnings of failure messages that are about a reply, and not from an endpoint."""

_COUNTS = """
SELECT
    if(
        outcome = 'error' OR reason = 'unsupported_language', coalesce(reason, 'unknown'), NULL
    ) AS why,
    count(*) AS n
FROM evidence
WHERE run = ? AND (passage_id IS NOT NULL OR outcome = 'error' OR reason = 'unsupported_language')
GROUP BY ALL
ORDER BY n DESC, why
"""
_COUNTS_OF_RECALL = """
SELECT CASE WHEN label IS NULL THEN coalesce(reason, 'unknown') END AS why, count(*) AS n
FROM recall_verdicts
WHERE run = ? AND formulation != 'human' AND reason IS DISTINCT FROM 'abstained'
GROUP BY ALL
ORDER BY n DESC, why
"""
# Among equally frequent messages, the choice does not depend on the order of rows.
_SAID = f"""
SELECT message
FROM failures
WHERE
    run = $run
    AND (
        error_type = $reason
        OR ($reason IN ('{EXCEPTION}', '{TRANSPORT}') AND starts_with(message, '{ERROR_IN}'))
    )
    AND NOT starts_with(message, '{OURS}')
GROUP BY message
ORDER BY count(*) DESC, message
LIMIT 1
"""  # noqa: S608
_NOT_EXTRACTED = f"""
SELECT
    if(starts_with(message, '{ERROR_IN}'), '{EXCEPTION}', error_type) AS why,
    count(DISTINCT key) AS n
FROM failures
WHERE run = ? AND step IN ('extract', 'facts')
GROUP BY ALL
ORDER BY n DESC, why
"""  # noqa: S608


@dataclass(frozen=True, slots=True)
class Unusable:
    """The unusable judgements, or with `extraction` the responses without any claim: `n` of `of`.

    `reasons` has the most frequent first. `try_` is what may help, or empty. `words` is the
    endpoint's refusal with its status, or the message of the failed step.
    """

    n: int
    of: int
    reasons: Mapping[str, int] = field(default_factory=dict)
    try_: str = ""
    extraction: bool = False
    words: str = ""

    @property
    def many(self) -> bool:
        """Whether there are so many that every display of the score mentions them."""
        return is_many(self.n, self.of)

    @property
    def all(self) -> bool:
        """Whether nothing usable is left."""
        return 0 < self.of <= self.n

    @property
    def sentence(self) -> str:
        """A sentence on the problem and its remedy; "" if there is no problem."""
        if not self.n:
            return ""
        why = ", ".join(f"{name.replace('_', ' ')} {n:,}" for name, n in self.reasons.items())
        advice = f"; try {self.try_}" if self.try_ and self.many else ""
        head = in_numbers(self.n, self.of)
        if self.extraction:
            head = f"no claim could be extracted from {self.n:,} of {quantity(self.of, 'response')}"
        message = " ".join(self.words.split())
        message = message if len(message) <= _MOST_WORDS else f"{message[:_MOST_WORDS]} …"
        return (
            f"{head}{advice}" + (f" ({why})" if why else "") + (f": {message}" if message else "")
        )


def unusable(results: "Results", of_stream: bool = False) -> Unusable:
    """Return the unusable judgements of the newest run, or its missing claims if it has none.

    With `of_stream` the run is a window, and the advice is for the command of a stream.
    """
    run = results.runs[-1]
    sql = _COUNTS_OF_RECALL if run.mode == "recall" else _COUNTS
    counted = results.query(sql, [run.name]).to_pylist()
    of = sum(row["n"] for row in counted)
    extraction = not of
    if extraction:
        counted = results.query(_NOT_EXTRACTED, [run.name]).to_pylist()
        if run.counts["units"] or not counted:
            return Unusable(0, 0)
    reasons = {row["why"]: row["n"] for row in counted if row["why"] is not None}
    n, first = sum(reasons.values()), next(iter(reasons), "")
    messages = results.query(_SAID, {"run": run.name, "reason": first}).to_pylist()
    message = str(messages[0]["message"]) if messages else ""
    again = "the same command with --if_finished retry_errors"
    if run.mode == "recall" or extraction:
        again = "the same command once more"
    if of_stream:
        again = "the stream again without the folder of this window"
    advice = _advice(run, first, message, extraction, again)
    of = max(n, run.counts["responses"]) if extraction else of
    return Unusable(n, of, reasons, advice, extraction, message)


def _advice(run: "Run", reason: str, message: str, extraction: bool, again: str) -> str:
    """Return advice for a run whose judgements or extractions mostly fail for this reason.

    `again` is how to evaluate the run again.
    """
    recall = run.mode == "recall"
    if message.startswith(ERROR_IN):
        return f"mending what raised this error, then {again}"
    if reason == TRANSPORT:
        # A request refused for its content will be refused at any rate.
        refused = extraction or _REFUSED.search(message)
        pace = "" if refused else "a lower --concurrency or a longer --timeout, "
        return f"`ufo doctor`, {pace}then {again}"
    if reason == UNSUPPORTED_LANGUAGE:
        return "--judge llm, which reads other languages"
    if reason == TRUNCATED and (run.llm or extraction):
        less = "--extract_tokens 500" if extraction else "--facts_per_call 4 --passages_per_call 1"
        return (
            f"--context N with the tokens that the model's context holds, {less}, "
            "--reasoning_effort low where it thinks, or a model with a larger one"
        )
    if extraction:
        return "another --extractor_model, or claims of your own in the input"
    if reason in (REFUSED, FILTERED) and run.llm:
        return "another --model"
    if reason == UNPARSABLE and run.llm:
        flag = "--formulations" if recall else "--formulation"
        packed = recall or run.llm.get("formulation") == "function"
        return f"{flag} prompt or {'--facts_per_call 4' if packed else 'another --model'}"
    return ""
