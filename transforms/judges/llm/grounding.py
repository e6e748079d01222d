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
from collections.abc import Sequence
from dataclasses import replace
from math import exp
from typing import Final

from ufo.schemas.errors import UsageError
from ufo.schemas.records import NOANS, REFUTED, SUPPORTED, FactUnit, Passage
from ufo.schemas.text import storable
from ufo.transforms.judges.llm.asking import Asker, Form, Parsed, Question, ask_for_items
from ufo.transforms.judges.llm.judgements import Case, Finding, Formulation, Pair
from ufo.transforms.judges.llm.llm_settings import (
    GRANITE_GUARDIAN,
    LYNX,
    MINICHECK,
    TFN,
    LlmSettings,
)
from ufo.transforms.judges.llm.parsing import arguments_of
from ufo.transforms.llm.request import WHOLE, Choice, Message, together
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
    """Return the formulation of the model's family that the settings name.

    Raises:
        UsageError: it is to be asked as published by others.
    """
    kind = settings.formulation
    if settings.as_published:
        raise UsageError(f"--formulation {kind} has one form, its own; leave out --as_published")
    other = NOANS if settings.verdict_labels == TFN else REFUTED

    def parse(choice: Choice, items: Sequence[Pair], call: bool) -> Parsed[Pair, Finding]:
        read_reply = _score if kind == LYNX else _word
        said = None if choice.refusal or choice.ending != WHOLE else read_reply(choice, kind)
        if said is None:
            return Parsed({})
        supports, raw, rationale = said
        chance = None
        if choice.logprob_mean is not None and len(choice.text.split()) == 1:
            chance = exp(choice.logprob_mean)
            chance = chance if supports else 1 - chance
        outcome = SUPPORTED if supports else other
        found = Finding(outcome, rationale=rationale, raw_verdict=raw, probability=chance)
        return Parsed({items[0]: found})

    async def finding(case: Case, pair: Pair, asker: Asker) -> Finding:
        question = _question(prompts, settings, case.units[pair[0]], case.passages[pair[1]])
        form = Form(lambda items, wrong: question, parse)
        return Finding.of((await ask_for_items([pair], form, asker))[pair])

    async def judge(case: Case, asker: Asker) -> dict[Pair, Finding]:
        once = replace(asker, repairs=0)  # these models know no other question
        findings = await together(finding(case, pair, once) for pair in case.pairs)
        return dict(zip(case.pairs, findings, strict=True))

    return Formulation([_PROMPTS[kind]], judge)


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
    turns = [
        Message(role, storable(passage.text)),
        Message("assistant", storable(unit.claim)),
    ]
    return Question(prompts[_PROMPTS[kind]], "", None, _WORD_TOKENS, True, turns)


def _word(choice: Choice, kind: str) -> tuple[bool, str, None] | None:
    """Return whether a reply in a word supports the claim, and its text; None without a word."""
    found = _YES.match(choice.text)
    if found is None:
        return None
    return bool(found[1]) == (kind == MINICHECK), storable(choice.text.strip()), None


def _score(choice: Choice, kind: str) -> tuple[bool, str, str | None] | None:
    """Return whether the score of a reply is PASS, the score, and the reasoning."""
    given = arguments_of(choice, ("SCORE", "REASONING"))
    score, reasoning = given.get("SCORE"), given.get("REASONING")
    if not isinstance(score, str) or score.strip().upper() not in ("PASS", "FAIL"):
        return None
    told = reasoning if isinstance(reasoning, list) else [reasoning]
    lines = [read(line).strip() for line in told if isinstance(line, str)]
    return score.strip().upper() == "PASS", score.strip(), "\n".join(lines) or None
