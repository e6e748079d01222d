"""What is optional, and the one line that says how it is installed."""

import re
import sys
from pathlib import Path

import pytest

from ufo.schemas.errors import UsageError
from ufo.schemas.extras import MODULES, explained, missing, need

SETUP = (Path(__file__).parents[2] / "setup.py").read_text(encoding="utf-8")


def test_what_is_installed_is_not_missing() -> None:
    assert missing("llm") is None
    need("web", "the web")


def test_what_is_missing_has_the_pip_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(UsageError) as raised:
        need("dense", "search by vectors")
    assert raised.value.message == (
        "search by vectors needs faiss, which is not installed: pip install 'ufo-factuality[dense]'"
    )
    monkeypatch.setitem(sys.modules, "fastapi", None)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert (missing("serve") or "").startswith("fastapi and uvicorn, which are not installed")


def test_an_import_that_failed_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    found = explained(ModuleNotFoundError("No module", name="matplotlib.figure"))
    assert (
        found
        == "this needs matplotlib, which is not installed: pip install 'ufo-factuality[plots]'"
    )
    assert explained(ModuleNotFoundError("No module", name="nobody_has_this")) is None


def test_every_extra_here_is_one_of_the_package() -> None:
    declared = set(re.findall(r'^EXTRAS\["(\w+)"\]|^    "(\w+)": \[', SETUP, re.MULTILINE))
    assert set(MODULES) <= {one or other for one, other in declared}
