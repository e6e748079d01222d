"""The files of a model, in a folder or of a model hub."""

import sys
from pathlib import Path

import huggingface_hub
import pytest

from ufo.schemas import model_files
from ufo.schemas.errors import UsageError


@pytest.mark.parametrize("name", ["organisation/model", "o/m-1.0", "o/m@v2", "o/m@refs/pr/1"])
def test_names_of_a_hub(name: str) -> None:
    assert model_files.is_hub_name(name)


@pytest.mark.parametrize("name", ["", "model", "a/b/c", "./model", "/a/b", "o/m@", "o m/x"])
def test_names_of_no_hub(name: str) -> None:
    assert not model_files.is_hub_name(name)


def test_a_name_that_cannot_be_fetched_is_reported_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def unreachable(*_: object, **__: object) -> str:
        raise ConnectionError("no route to the hub\nand more")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", unreachable)
    with pytest.raises(UsageError) as raised:
        model_files.folder_of("organisation/model", "hub")
    message = raised.value.message
    assert "no folder 'organisation/model'" in message
    assert "no route to the hub. Without a network" in message
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(
        UsageError,
        match=r"huggingface_hub, .* pip install 'ufo-factuality\[hub\]'",
    ):
        model_files.folder_of("organisation/model", "hub")


def test_of_a_hub_s_model_only_what_is_computed_with_is_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[tuple[object, ...]] = []

    def snapshot(repository: str, **asked: object) -> str:
        patterns = asked.get("allow_patterns", ["*"])
        assert isinstance(patterns, list)
        kept = asked.get("local_files_only", False)
        calls.append((repository, asked["revision"], kept, *patterns))
        if kept:
            raise FileNotFoundError("not kept")
        if "*.safetensors" in patterns:
            (tmp_path / "model.safetensors").write_bytes(b"weights")
        return str(tmp_path)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot)
    assert model_files.folder_of("organisation/model@v2", "hub") == str(tmp_path)
    assert calls[0] == ("organisation/model", "v2", True, "*")
    assert "model.onnx" in calls[1]
    assert calls[2][3:] == ("*.safetensors",)
    assert len(calls) == 3  # with these there is no need for the older kind of file
