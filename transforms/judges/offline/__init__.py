"""The offline judge: claims by rules, verdicts by a small model, without network and LLM."""

from typing import Final

NAME: Final = "offline"
