"""Declare the options of `ufo recall`: most are those of `ufo evaluate`, and mean the same."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from ufo.pipelines.options.beam_flags import IN_PROCESS, runner_of
from ufo.pipelines.options.command_line import keyword_settings, settings
from ufo.pipelines.options.groups import ModelOptions
from ufo.pipelines.options.option import (
    Affects,
    Parser,
    names_of,
    of_results,
    of_run,
    option,
    options_of,
)
from ufo.pipelines.options.settings import Settings
from ufo.schemas.errors import UsageError
from ufo.transforms.judges import asks_llm_judge
from ufo.transforms.judges.llm.llm_settings import LlmSettings
from ufo.transforms.recall.formulations import DEFAULT, canonical
from ufo.transforms.recall.recallers import LlmRecaller

_ALL_FACTS: Final = 10_000  # in one call; what a reply can hold limits it before


@dataclass(frozen=True, kw_only=True)
class RecallSettings(Settings):
    """The options of a recall run. `formulations` are those by which every answer is verified:
    `offline` alone without a model, none with `facts_only`."""

    input: tuple[str, ...] = of_run(
        "questions with their true answers and the answers to be checked: .jsonl, .jsonl.gz, "
        ".parquet, or .csv in the columns of WikiEvalFacts",
        "FILE",
    )
    if_finished: str = option(
        "what to do where the run is finished: replace (default) or skip",
        "WHAT",
        default="replace",
        choices=("replace", "skip"),
    )
    facts_only: bool = of_results(
        "generate facts and write DIR/facts.csv, a sheet for people to annotate, which is read "
        "back as --input",
        default=False,
    )
    formulations: Any = of_results(
        "compared in one run: prompt, tf, tfn, each of the latter with +citation and +xml "
        "(default: prompt,tf,tf+citation,tfn,tfn+citation)",
        "A,B,C",
    )

    def llm(self) -> LlmSettings | None:
        """Return the settings of the LLM judge without those of a formulation."""
        llm_settings = Settings.llm(self)
        if llm_settings is None:
            return None
        facts = self.facts_per_call or _ALL_FACTS
        return replace(llm_settings, facts_per_call=facts)

    def affecting_names(self, what: Affects) -> list[str]:
        """Return the names of the options that enter that part of the fingerprint."""
        return [one.name for group in GROUPS.values() for one in group if what in one.affects]

    def affecting(self) -> dict[str, Any]:
        """Return the options that results depend on, for the fingerprint."""
        found = {
            **Settings.affecting(self),
            "mode": "recall",
            "formulations": list(self.formulations),
            "facts_only": self.facts_only,
        }
        llm_settings = self.llm()
        if llm_settings is not None and asks_llm_judge(self.judge):
            recaller = LlmRecaller(llm_settings, self.formulations, _no_client)
            versions = [recaller.prompt_version(name) for name in self.formulations]
            found["prompts"] = [recaller.generation_version, *versions]
        return found


_OPTIONS: Final = {one.name: one for one in options_of(RecallSettings)}
_OF_RUN: Final = (
    *("input", "output", "run", "fresh", "workers", "chunk_size", "max_line_bytes", "dry_run"),
    *("if_finished", "facts_only", "json", "log_format", "config"),
)
_OF_JUDGING: Final = (
    *("formulations", "judge", "verifier", "format", "repairs", "as_published"),
    *("facts_per_call", "prompts"),
)
_OF_MODELS: Final = [name for name in names_of(ModelOptions) if not name.startswith("knowledge_")]
GROUPS: Final = {
    "run": [_OPTIONS[name] for name in _OF_RUN],
    "judge": [_OPTIONS[name] for name in _OF_JUDGING],
    "models": [_OPTIONS[name] for name in _OF_MODELS],
}
"""The options of `ufo recall` by the titles of its help."""


def _no_client() -> Any:
    raise AssertionError("nothing is asked for the fingerprint")


def recall_settings(parser: Parser, argv: Sequence[str]) -> RecallSettings:
    """Return the settings of a command line, its configuration file and the defaults.

    Raises:
        UsageError: whatever is wrong, with the nearest right thing.
    """
    return _checked(settings(RecallSettings, parser, argv))


def recall_settings_of(values: Mapping[str, Any]) -> RecallSettings:
    """Return the settings of Python keywords, options of `ufo recall` by their names.

    Raises:
        UsageError: an option is wrong.
    """
    return _checked(keyword_settings(RecallSettings, GROUPS, values))


def _checked(chosen: RecallSettings) -> RecallSettings:
    if chosen.sources is not None:
        raise UsageError("`sources` is of `ufo evaluate`: recall holds answers against facts alone")
    runner = runner_of(chosen.beam)
    if runner not in IN_PROCESS:
        raise UsageError(f"`ufo recall` runs in process; --runner {runner} is of `ufo evaluate`")
    if chosen.facts_only:
        for name in ("formulations", "verifier", "format", "facts_per_call"):
            if getattr(chosen, name) is not None:
                raise UsageError(f"--{name} is of verification, and --facts_only verifies nothing")
        return replace(chosen, formulations=())
    if not asks_llm_judge(chosen.judge):
        return replace(chosen, formulations=(chosen.judge.name,))
    given = chosen.formulations
    asked = (
        DEFAULT if given is None else [part.strip() for part in given.split(",") if part.strip()]
    )
    if not asked:
        raise UsageError("--formulations names none; leave it out to compare all five")
    formulations = canonical(asked, chosen.format or "json")
    return replace(chosen, formulations=formulations)
