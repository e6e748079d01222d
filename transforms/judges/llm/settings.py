"""Define and check the options of the LLM judge."""

from dataclasses import dataclass

from schemas.errors import UsageError, unknown_value
from schemas.functions import EXPLAIN, OPTIONS, SHORT, TFN

FUNCTION = "function"
STEPWISE = "stepwise"
RATIONALE = "rationale"
PROMPT = "prompt"
FORMULATIONS = (FUNCTION, STEPWISE, RATIONALE, PROMPT)
JSON = "json"
XML = "xml"
FORMATS = (JSON, XML)


@dataclass(frozen=True, slots=True)
class LlmSettings:
    """What is asked of which model, and how.

    `extractor_model` empty is `model`. `passages_per_call`, `facts_per_call` and `call_tokens` (an
    estimate of prompt and reply) limit a call of `function`; `explain`, `citation` and `format` are
    that formulation's only. `extract_tokens` is the length from which a text is extracted in parts.
    `prompts_dir` holds files that override the prompts of the same name.

    Raises:
        UsageError: a value is none of the allowed ones.
    """

    model: str
    extractor_model: str = ""
    formulation: str = FUNCTION
    options: str = TFN
    explain: str = SHORT
    citation: bool = False
    format: str = JSON
    repairs: int = 1
    passages_per_call: int = 100
    facts_per_call: int = 40
    call_tokens: int = 16_000
    extract_tokens: int = 2_000
    prompts_dir: str | None = None

    def __post_init__(self) -> None:
        for name, allowed in (
            ("formulation", FORMULATIONS),
            ("options", OPTIONS),
            ("explain", EXPLAIN),
            ("format", FORMATS),
        ):
            if getattr(self, name) not in allowed:
                raise UsageError(unknown_value(f"--{name}", getattr(self, name), allowed))
        if self.repairs not in (0, 1):
            raise UsageError(f"--repairs {self.repairs} is neither 1 nor 0")
        for name in ("passages_per_call", "facts_per_call", "call_tokens", "extract_tokens"):
            if getattr(self, name) < 1:
                raise UsageError(f"--{name} {getattr(self, name)} is not a whole number from 1")
