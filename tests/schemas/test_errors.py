"""Errors and their remedies: exit codes, what is missing, and the files of a model that is not."""

import pickle
import re
import sys
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import huggingface_hub
import pytest

from ufo.schemas import errors, model_files
from ufo.schemas.errors import MODULES, UsageError, explained, missing, need, unknown_value
from ufo.schemas.model_files import is_hub_name

SETUP = (Path(__file__).parents[2] / "setup.py").read_text(encoding="utf-8")
CODES = {"UsageError": 2, "SourceUnavailable": 2, "PluginError": 2, "IndexUnusable": 2}
CODES |= {"UfoError": 1, "RunError": 1, "Interrupted": 1, "CostCapped": 4, "BatchesUnderWay": 5}
CODES |= {"NothingUsable": 1, "NothingToEvaluate": 1}
ERRORS = [kind for kind in vars(errors).values() if isinstance(kind, type)]
TREE = [kind for kind in ERRORS if issubclass(kind, errors.UfoError)]


@pytest.mark.parametrize("kind", TREE, ids=lambda kind: kind.__name__)
def test_an_error_travels_between_processes(kind: type[errors.UfoError]) -> None:
    back = pickle.loads(pickle.dumps(kind("what is wrong, and the remedy")))
    assert type(back) is kind
    assert back.message == "what is wrong, and the remedy"
    assert str(back) == "what is wrong, and the remedy"


def test_every_error_has_its_exit_code() -> None:
    assert {kind.__name__: kind.exit_code for kind in TREE} == CODES


def test_exit_codes_are_a_contract() -> None:
    names = ("DONE", "FAILED", "USAGE", "BELOW", "CAPPED", "WAITING")
    assert [getattr(errors, f"EXIT_{name}") for name in names] == [0, 1, 2, 3, 4, 5]


LACKING = [
    *(MemoryError(), OSError("realloc failed"), ImportError("x: failed to map segment from")),
    *(OSError("Cannot allocate memory"), RuntimeError("std::bad_alloc"), RuntimeError("bad alloc")),
    *(RuntimeError("out of memory"), AssertionError("not enough memory"), SystemError("bad-alloc")),
    *(RuntimeError("failed to allocate 3"), RuntimeError("Unable to allocate 3 GiB")),
    RuntimeError("can't start new thread"),
]


@pytest.mark.parametrize("error", LACKING, ids=str)
def test_a_lack_of_memory_is_one_whatever_tells_of_it(error: Exception) -> None:
    assert errors.lacks_memory(error)
    assert errors.ends_run(error)


@pytest.mark.parametrize(
    "error",
    [ValueError("out of memory"), OSError("no such file"), RuntimeError("the memory is fine")],
    ids=str,
)
def test_another_error_is_no_lack_of_memory(error: Exception) -> None:
    assert not errors.lacks_memory(error)
    assert not errors.ends_run(error)


def test_what_ends_a_run_would_occur_for_every_response() -> None:
    class Final(Exception):
        final = True

    assert errors.ends_run(UsageError("x"))
    assert errors.ends_run(errors.RunError("x"))
    assert errors.ends_run(Final())
    assert not errors.ends_run(KeyError("x"))


def test_an_unknown_value_is_reported_the_allowed_ones_and_the_nearest() -> None:
    message = unknown_value("mode", "sec", ["seq", "mv"])
    assert message == "unknown mode 'sec'; allowed: seq, mv. Did you mean 'seq'?"
    assert "Did you mean" not in unknown_value("mode", "xyzzy", ["seq", "mv"])


def test_what_is_missing_has_the_pip_command(monkeypatch: pytest.MonkeyPatch) -> None:
    declared = set(re.findall(r'^EXTRAS\["(\w+)"\]|^    "(\w+)": \[', SETUP, re.MULTILINE))
    assert set(MODULES) <= {one or other for one, other in declared}
    assert missing("llm") is None
    need("web", "the web")
    for name in ("faiss", "fastapi", "uvicorn"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(UsageError) as raised:
        need("dense", "search by vectors")
    said = "needs faiss, which is not installed: pip install 'ufo-factuality[dense]'"
    assert raised.value.message == f"search by vectors {said}"
    assert (missing("serve") or "").startswith("fastapi and uvicorn, which are not installed")
    assert explained(ModuleNotFoundError("No module", name="faiss.contrib")) == f"this {said}"
    assert explained(ModuleNotFoundError("No module", name="nobody_has_this")) is None


@pytest.mark.parametrize("name", ["organisation/model", "o/m-1.0", "o/m@v2", "o/m@refs/pr/1"])
def test_a_name_of_a_hub(name: str) -> None:
    assert is_hub_name(name)


@pytest.mark.parametrize("name", ["", "model", "a/b/c", "./model", "/a/b", "o/m@", "o m/x"])
def test_what_is_no_name_of_a_hub(name: str) -> None:
    assert not is_hub_name(name)


def test_without_a_model_it_is_said_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    unreachable = Mock(side_effect=ConnectionError("no route to the hub\nand more"))
    monkeypatch.setattr(huggingface_hub, "snapshot_download", unreachable)
    unknown = r"no folder 'organisation/model'.*no route to the hub. Without a network"
    with pytest.raises(UsageError, match=unknown):
        model_files.folder_of("organisation/model", "hub")
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    absent = r"huggingface_hub, .* pip install 'ufo-factuality\[hub\]'"
    with pytest.raises(UsageError, match=absent):
        model_files.folder_of("organisation/model", "hub")


def test_of_a_hub_s_model_only_what_is_computed_with_is_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def snapshot(repository: str, **asked: Any) -> str:
        calls.append(asked)
        if "local_files_only" in asked:
            raise FileNotFoundError("not kept")
        if asked["allow_patterns"] == ["*.safetensors"]:
            (tmp_path / "model.safetensors").write_bytes(b"weights")
        return str(tmp_path)

    calls: list[dict[str, Any]] = []
    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot)
    assert model_files.folder_of("organisation/model@v2", "hub") == str(tmp_path)
    assert calls[0] == {"revision": "v2", "local_files_only": True}
    assert "model.onnx" in calls[1]["allow_patterns"]
    # With these there is no need for the older kind of file.
    assert [call["allow_patterns"] for call in calls[2:]] == [["*.safetensors"]]
