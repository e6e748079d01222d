"""Which prompts the judge's version of them and its fingerprint change with."""

from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
import yaml

from ufo.transforms.judges.judge_context import JudgeContext
from ufo.transforms.judges.llm.llm_judge import LlmJudge
from ufo.transforms.judges.llm.llm_settings import LlmSettings
from ufo.transforms.llm.fake import FakeClient

TEXTS = {
    file.name.removesuffix(".txt"): file.read_text(encoding="utf-8")
    for file in files("ufo.transforms.prompts").iterdir()
    if file.name.endswith(".txt")
}
TABLE = yaml.safe_load(Path(__file__).with_name("prompt_versions.yaml").read_text(encoding="utf-8"))


def judge(**settings: Any) -> LlmJudge:
    return LlmJudge(JudgeContext(LlmSettings("m", **settings), lambda: FakeClient([])))


def rows(kind: str) -> list[Any]:
    return [
        pytest.param(row["settings"], row["prompts"], id=name) for name, row in TABLE[kind].items()
    ]


def with_another(name: str, folder: Path, settings: dict[str, Any]) -> LlmJudge:
    """A judge with another text of one prompt."""
    (folder / name).mkdir()
    (folder / name / f"{name}.txt").write_text(f"{TEXTS[name]} Please.", encoding="utf-8")
    return judge(prompts_dir=str(folder / name), **settings)


@pytest.mark.parametrize(("settings", "prompts"), rows("verdicts"))
def test_the_version_of_the_prompt_changes_with(
    tmp_path: Path, settings: dict[str, Any], prompts: list[str]
) -> None:
    plain = judge(**settings).prompt_version
    changed = {name: with_another(name, tmp_path, settings).prompt_version for name in TEXTS}
    assert sorted(name for name, version in changed.items() if version != plain) == prompts


@pytest.mark.parametrize(("settings", "prompts"), rows("extraction"))
def test_the_fingerprint_of_the_extraction_changes_with(
    tmp_path: Path, settings: dict[str, Any], prompts: list[str]
) -> None:
    def extraction(llm_judge: LlmJudge) -> list[str]:
        return llm_judge.fingerprint().split()[1:]

    plain = extraction(judge(**settings))
    changed = {name: extraction(with_another(name, tmp_path, settings)) for name in TEXTS}
    assert sorted(name for name, version in changed.items() if version != plain) == prompts


def test_the_versions_of_all_settings_differ() -> None:
    versions = [judge(**row["settings"]).prompt_version for row in TABLE["verdicts"].values()]
    assert len(set(versions)) == len(versions)
