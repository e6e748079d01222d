"""What every worker needs to know of a run: small, frozen, plain."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from transforms.judges import JudgeSpec
from transforms.read import MAX_LINE_BYTES
from transforms.sources.registry import SourceSpec


@dataclass(frozen=True, slots=True)
class Job:
    """The part of the options that the steps of a run use.

    `flags` are the values that fact sources may take for parameters of that name. `shards` is into
    how many keys the responses are spread before each source, and `parts` into how many files a
    table is written.
    """

    sources: tuple[SourceSpec, ...]
    flags: Mapping[str, Any] = field(default_factory=dict)
    judge: JudgeSpec = field(default_factory=JudgeSpec)
    units: str = "claim"
    mode: str = "seq"
    tie: str = "not_factual"
    shards: int = 4
    parts: int = 1
    max_line_bytes: int = MAX_LINE_BYTES
