"""TODO."""

import pickle
import re
import sys
from pathlib import Path

import pytest

from ufo.schemas import errors
from ufo.schemas.errors import (
    MODULES,
    UfoError,
    UsageError,
    explained,
    missing,
    need,
    unknown_value,
)

TREE = [
    kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, UfoError)
]


@pytest.mark.parametrize("kind", TREE)
def test_errors_travel_between_processes(kind: type[UfoError]) -> None:
    back = pickle.loads(pickle.dumps(kind("what is wrong, and the remedy")))
    assert type(back) is kind
    assert back.message == str(back) == "what is wrong, and the remedy"
    assert back.exit_code == kind.exit_code


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("UsageError", 2),
        ("SourceUnavailable", 2),
        ("PluginError", 2),
        ("IndexUnusable", 2),
        ("RunError", 1),
        ("Interrupted", 1),
        ("CostCapped", 4),
    ],
)
def test_exit_codes(name: str, code: int) -> None:
    assert getattr(errors, name).exit_code == code


def test_an_unknown_value_is_reported_the_allowed_ones_and_the_nearest() -> None:
    message = unknown_value("mode", "sec", ["seq", "mv"])
    assert message == "unknown mode 'sec'; allowed: seq, mv. Did you mean 'seq'?"
    assert "Did you mean" not in unknown_value("mode", "xyzzy", ["seq", "mv"])


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
    monkeypatch.setitem(sys.modules, "faiss", None)
    found = explained(ModuleNotFoundError("No module", name="faiss.contrib"))
    assert found == "this needs faiss, which is not installed: pip install 'ufo-factuality[dense]'"
    assert explained(ModuleNotFoundError("No module", name="nobody_has_this")) is None


def test_every_extra_here_is_one_of_the_package() -> None:
    declared = set(re.findall(r'^EXTRAS\["(\w+)"\]|^    "(\w+)": \[', SETUP, re.MULTILINE))
    assert set(MODULES) <= {one or other for one, other in declared}
