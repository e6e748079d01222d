"""Ask a model that was trained to say whether a document supports a claim, in its own form.

One claim and one passage at a time. Such a model cannot say that a passage contradicts a claim:
what it does not support is `noans`, with the labels `tf` `refuted`. It extracts no claims.

- `minicheck`: Bespoke-MiniCheck answers Yes or No. https://ollama.com/library/bespoke-minicheck
- `granite_guardian`: Granite Guardian answers Yes where the claim is not grounded, from version 3.3
  on between tags. https://ollama.com/library/granite3-guardian (the template) and
  https://github.com/ibm-granite/gguf/tree/main/resources/ollama/granite3.3-guardian
- `lynx`: Lynx reasons, then gives PASS or FAIL, as JSON.
  https://huggingface.co/PatronusAI/Llama-3-Patronus-Lynx-8B-Instruct
"""

import re
from dataclasses import replace
from functools import partial
from math import exp
from typing import Final

from ufo.schemas.records import NOANS, REFUTED, SUPPORTED, FactUnit, Passage
from ufo.schemas.text import storable
from ufo.transforms.judges.llm.asking import Asker, Question
from ufo.transforms.judges.llm.judgements import Case, Finding, Formulation, Pair
from ufo.transforms.judges.llm.llm_settings import (
    GRANITE_GUARDIAN,
    LYNX,
    MINICHECK,
    TFN,
    LlmSettings,
)
from ufo.transforms.judges.llm.pairwise import Said, answer_in_text, one_pair_at_a_time
from ufo.transforms.judges.llm.parsing import arguments_of
from ufo.transforms.llm.request import Choice, Message
from ufo.transforms.prompts import Prompts
from ufo.transforms.prompts.data import read

_WORD_TOKENS: Final = 8
_REASONING_TOKENS: Final = 300
_PROMPTS: Final = {
    MINICHECK: "minicheck_user",
    GRANITE_GUARDIAN: "granite_guardian_system",
    LYNX: "lynx_user",
}
_YES: Final = re.compile(r"\W*(?:<score>\s*)?(?:(yes)|no)\b", re.IGNORECASE)
# The role of the passage's message: `context` in the templates of versions up to 3.2.
_OLD_GUARDIAN: Final = re.compile(r"granite-?3(?:\.[0-2])?-guardian|guardian-3\.[0-2]\b")


def formulation(prompts: Prompts, settings: LlmSettings) -> Formulation:
    """Return the formulation of the model's family that the settings name."""
    kind = settings.formulation
    other = NOANS if settings.verdict_labels == TFN else REFUTED
    says = partial(_by_word, yes=SUPPORTED, no=other)
    if kind == GRANITE_GUARDIAN:  # which says whether there is a risk
        says = partial(_by_word, yes=other, no=SUPPORTED)
    if kind == LYNX:
        says = partial(_by_score, passed=SUPPORTED, failed=other)

    async def finding(case: Case, pair: Pair, asker: Asker) -> Finding:
        once = replace(asker, repairs=0)  # these models know no other question
        question = _question(prompts, settings, case.units[pair[0]], case.passages[pair[1]])
        answer = await answer_in_text(pair, question, says, once)
        found, choice = Finding.of(answer), answer.reply.choice
        if answer.value is None or choice.logprob_mean is None or len(choice.text.split()) != 1:
            return found
        chance = exp(choice.logprob_mean)
        return replace(found, probability=chance if found.outcome == SUPPORTED else 1 - chance)

    return one_pair_at_a_time([_PROMPTS[kind]], finding)


def _question(
    prompts: Prompts, settings: LlmSettings, unit: FactUnit, passage: Passage
) -> Question:
    kind, parts = settings.formulation, {"text": passage.text, "claim": unit.claim}
    if kind == LYNX:
        user = prompts.render(_PROMPTS[kind], **parts, query=unit.query)
        return Question("", user, expects=_REASONING_TOKENS)
    if kind == MINICHECK:
        user = prompts.render(_PROMPTS[kind], **parts)
        return Question("", user, expects=_WORD_TOKENS, logprobs=True)
    role = "context" if _OLD_GUARDIAN.search(settings.model.casefold()) else "document"
    turns = [Message(role, storable(passage.text)), Message("assistant", storable(unit.claim))]
    return Question(prompts[_PROMPTS[kind]], "", None, _WORD_TOKENS, True, turns)


def _by_word(text: str, yes: str, no: str) -> Said[Finding]:
    """Return the finding of a text that begins with Yes or No, with the outcome of that word."""
    found = _YES.match(text)
    if found is None:
        return None, "it does not begin with Yes or No"
    return Finding(yes if found[1] else no, raw_verdict=text.strip()), ""


def _by_score(text: str, passed: str, failed: str) -> Said[Finding]:
    """Return the finding of a text with a score in JSON, and the reasoning beside it."""
    given = arguments_of(Choice(text), ("SCORE", "REASONING"))
    score, reasoning = str(given.get("SCORE")).strip(), given.get("REASONING")
    if score.upper() not in ("PASS", "FAIL"):
        return None, "it has no SCORE that is PASS or FAIL"
    told = reasoning if isinstance(reasoning, list) else [reasoning]
    lines = [read(line).strip() for line in told if isinstance(line, str)]
    outcome = passed if score.upper() == "PASS" else failed
    return Finding(outcome, rationale="\n".join(lines) or None, raw_verdict=score), ""
