"""README and the tutorial: their blocks run as they stand, in order, and print what they show."""

import csv
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.docs.blocks import Block, agrees, blocks, run

ROOT = Path(__file__).parents[2]
# Commands that other tests run: this suite itself, the wheel's, and those of Flink.
ELSEWHERE = re.compile(r"^(?:scripts/test|pip install|scripts/flink|ufo .*flink flags).*$", re.M)
SAVED = re.compile(r"[Ss]ave (?:this|it) as\s+`(\w+\.py)`")


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory: a clone of the repository, with the environment of the tests."""
    for name in ("scripts", "examples", "setup.py", "constraints.txt"):
        (tmp_path / name).symlink_to(ROOT / name)
    environment = tmp_path / ".venv"
    environment.mkdir()
    (environment / "bin").symlink_to(Path(sys.executable).parent)
    # What scripts/setup takes as installed already.
    summed = 'printf "%s %s" "$(cat setup.py constraints.txt | cksum)" "$PWD"'
    stamp = subprocess.run(["bash", "-c", summed], cwd=tmp_path, capture_output=True, check=True)
    (environment / ".ufo-installed").write_bytes(stamp.stdout)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def done(block: Block, names: dict[str, object]) -> str:
    """Run a block, or save it where the page says so; return what it prints."""
    block = replace(block, text=ELSEWHERE.sub("true", block.text))
    saved = SAVED.search(block.before)
    if saved is None or block.language != "python":
        return run(block, names)
    Path(saved[1]).write_text(block.text, encoding="utf-8")
    return run(Block("sh", f"python {saved[1]}\n", None), names)


def fill_in(sheet: Path) -> None:
    """Label every second claim of a sheet true and the others false."""
    with sheet.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    with sheet.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(
            row | {"label": "true" if at % 2 else "false"} for at, row in enumerate(rows)
        )


@pytest.mark.slow
def test_the_readme(clone: Path) -> None:
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    first, checked, *others = blocks(page)
    tour = done(first, {})
    _, reported = re.findall(r"^```text\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert agrees(tour, reported), tour
    names: dict[str, object] = {}
    printed = done(checked, names)
    assert printed == checked.shown
    printed_by_block = {}
    for block in others:
        if (clone / "results/sheet.csv").exists():
            fill_in(clone / "results/sheet.csv")
        printed_by_block[block.text] = done(block, names)
    *_, corrected = printed_by_block.values()
    assert "Corrected by people" in corrected
    assert any(
        'evidence  "Ada Lovelace was born in London."' in text for text in printed_by_block.values()
    )
    assert any(
        "between wiki and both over the 19 questions" in text for text in printed_by_block.values()
    )


@pytest.mark.slow
def test_the_tutorial(clone: Path) -> None:
    names: dict[str, object] = {}
    page = (ROOT / "docs/tutorial.md").read_text(encoding="utf-8")
    printed = [done(block, names) for block in blocks(page)]
    assert any('"factuality_score": 1.0' in text and '"factuality_score": 0.0' in text
               for text in printed)  # fmt: skip
    assert any("no score: no source knew any of 2 claims" in text for text in printed)
    assert any("exit code 3" in text for text in printed)
    assert (clone / "results/report.html").stat().st_size > 10_000
