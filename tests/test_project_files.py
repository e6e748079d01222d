"""The files that describe the project say what the code says."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from scripts import tables
from ufo.pipelines.options.groups import GROUPS
from ufo.pipelines.version import VERSION

ROOT = Path(__file__).parents[1]
PRODUCT = ("schemas", "indexes", "transforms", "pipelines", "webapp")
_CARD = "transforms/verifiers/bundled/MODEL_CARD.md"
_OF_A_PAST = re.compile(
    r"\b(?:no longer|any ?more|formerly|previously|used to be|(?:removed|new|changed) in \d"
    r"|(?:was|were) removed|(?:earlier|older|previous) (?:version|release|ufo)s?|before there were"
    r"|commit [0-9a-f]{7,}|history of (?:the|this) repository)\b|\bGone:|### (?:Removed|Changed)",
    re.IGNORECASE,
)
"""What a document says of versions before this one, or of commits that only its history has."""


def read_yaml(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def test_the_citation_has_this_version_and_the_papers() -> None:
    citation = read_yaml("CITATION.cff")
    assert citation["version"] == VERSION
    titles = " ".join(paper["title"] for paper in citation["references"])
    assert all(word in titles for word in ("Plug-and-Play", "FaaF", "FACTS&EVIDENCE"))


def test_the_files_that_contributors_are_sent_to_exist() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    paths = set(re.findall(r"`((?:[\w.]+/)+[\w.]*)`", text))
    assert "transforms/sources/reference.py" in paths
    missing = [path for path in sorted(paths) if not (ROOT / path).exists()]
    assert [path for path in missing if not path.endswith("NAME.py")] == []


def test_the_files_of_the_walk_through_the_architecture_exist() -> None:
    text = (ROOT / "docs/architecture.md").read_text()
    files = {path.as_posix() for folder in PRODUCT for path in (ROOT / folder).rglob("*.*")}
    named = set(re.findall(r"`([\w/]+\.(?:py|yaml|toml|js))`", text))
    assert "judges/llm/extraction.py" in named
    assert [
        name for name in sorted(named) if not any(file.endswith(f"/{name}") for file in files)
    ] == []
    call = text.partition("\nllm_judge")[2].partition("\n")[2].partition("```")[0]
    modules = set(re.findall(r"^ +(\w+)", call, re.MULTILINE))
    assert {"caching_client", "transport", "errors"} <= modules
    assert [
        name for name in modules if not any(file.endswith(f"/{name}.py") for file in files)
    ] == []


def test_the_service_of_compose_has_flags_that_exist() -> None:
    words = read_yaml("compose.yaml")["services"]["ufo"]["command"]
    flags = {word[2:].partition("=")[0] for word in words if word.startswith("--")}
    assert words[0] == "serve"
    assert flags - {"host"} <= {flag.name for group in GROUPS.values() for flag in group}


def test_the_images_take_what_a_wheel_is_built_from() -> None:
    sent = set(re.findall(r"^!(.+)$", (ROOT / ".dockerignore").read_text(), re.MULTILINE))
    linked = {path.name for path in (ROOT / "ufo").iterdir() if path.is_symlink()}
    assert {"setup.py", "README.md", "LICENSE", "NOTICE", "constraints.txt", "ufo"} <= sent
    assert linked == {"schemas", "indexes", "transforms", "webapp", "pipelines", "examples"}
    assert linked <= sent
    for file in ("Dockerfile", "scripts/dataflow/Dockerfile"):
        copied = re.findall(r"^COPY (?!--)(.+) \S+$", (ROOT / file).read_text(), re.MULTILINE)
        assert {".", "constraints.txt"} == set(copied), file


def test_the_workflow_calls_what_a_person_calls() -> None:
    steps = read_yaml(".github/workflows/ci.yml")["jobs"]["check"]["steps"]
    commands = [step["run"] for step in steps if "run" in step]
    assert commands == [".ci/run"]
    assert (ROOT / ".ci/run").stat().st_mode & 0o100


def test_the_page_of_tables_is_current(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["tables.py", "--check"])
    assert tables.main() == 0
    monkeypatch.setattr(tables, "FILE", tmp_path / "tables.md")
    assert tables.main() == 1
    assert "| `verdicts` |" in tables.text()


def test_every_page_of_the_site_is_in_its_menu() -> None:
    menu = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    pages = {path.name for path in (ROOT / "docs").glob("*.md")}
    assert {page for page in pages if f": {page}\n" not in menu} == set()


def test_the_changelog_of_an_unreleased_version_says_what_it_has() -> None:
    """What nobody ever had cannot have changed or gone."""
    lines = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 60
    assert [line for line in lines if len(line) > 120] == []
    assert [line for line in lines if _OF_A_PAST.search(line)] == []


def test_the_documents_tell_nothing_of_versions_that_were_never_released() -> None:
    if not re.search(r"^## .*unreleased", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE):
        pytest.skip("a version was released")
    documents = [*(ROOT / "docs").glob("*.md"), ROOT / "README.md", ROOT / _CARD]
    faults = [
        f"{path.name}: {match[0]}"
        for path in documents
        for match in _OF_A_PAST.finditer(path.read_text(encoding="utf-8"))
    ]
    assert faults == []


def test_the_figures_of_trust_are_those_that_were_measured() -> None:
    """Of each kind of evidence: how many claims, called contradicted, and rightly."""
    page = (ROOT / "docs/judging.md").read_text(encoding="utf-8")
    figures = json.loads((ROOT / "transforms/verifiers/figures.json").read_text())
    for source, of in (
        ("web", "claims"),
        ("wikipedia", "encyclopaedia"),
        ("reference", "given_texts"),
    ):
        (table,) = re.findall(rf"^\| `{source}` \| (\d.*\n.*)$", page, re.MULTILINE)
        measured = {name: figures[name][of] for name in ("overlap", "bundled")}
        assert table.startswith(f"{measured['overlap']['n']:,} ")
        for name, counts in measured.items():
            called = round(counts["refuted_called"])
            assert (
                f"| `{name}` | {called} | {round(counts['refuted_precision'] * called)} |" in table
            )
