"""The files of models: which are fetched and computed with, and what an ONNX file gives."""

import os
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import huggingface_hub
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from tests.embedder import write_model
from ufo.schemas import model_files
from ufo.schemas.errors import UsageError
from ufo.schemas.model_files import OnnxModel, is_hub_name, onnx_session

NAMES = ["organisation/model", "o/m-1.0", "o/m@v2", "o/m@refs/pr/1"]


@pytest.mark.parametrize(
    "name", [*NAMES, "", "model", "a/b/c", "./model", "/a/b", "o/m@", "o m/x", "o/m@v 2"]
)
def test_a_name_of_a_hub_has_two_parts_and_a_revision(name: str) -> None:
    assert is_hub_name(name) is (name in NAMES)


def test_without_a_model_it_is_said_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    unreachable = Mock(side_effect=ConnectionError("no route to the hub\nand more"))
    monkeypatch.setattr(huggingface_hub, "snapshot_download", unreachable)
    unknown = r"no folder 'organisation/model'.*no route to the hub. Without a network"
    with pytest.raises(UsageError, match=unknown):
        model_files.model_folder("organisation/model", "hub")
    assert [call.kwargs["revision"] for call in unreachable.call_args_list] == [None, None]
    unreachable.side_effect = TimeoutError()
    with pytest.raises(UsageError, match=r"hub: TimeoutError: . Without a network"):
        model_files.model_folder("organisation/model", "hub")
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    absent = r"huggingface_hub, .* pip install 'ufo-factuality\[hub\]'"
    with pytest.raises(UsageError, match=absent):
        model_files.model_folder("organisation/model", "hub")


ONNX = ["model.onnx", "onnx/model.onnx", "model_quantized.onnx", "onnx/model_quantized.onnx"]
TEXTS = ["*.json", "*.txt", "*.model"]
FETCHED = [*TEXTS, *ONNX, *(f"{name}_data" for name in ONNX)]


class Hub:
    """A hub whose model has these files; `kept` of them are on this machine already."""

    def __init__(self, folder: Path, files: str, kept: str = "") -> None:
        self.folder, self.files = folder, files.split()
        self.asked: list[Any] = []
        self._add(kept.split())

    def snapshot(self, repository: str, revision: str | None, **asked: Any) -> str:
        self.asked.append(asked.get("allow_patterns", "what is kept"))
        assert (repository, revision) == ("organisation/model", "v2")
        if asked.get("local_files_only"):
            if not any(self.folder.iterdir()):
                raise FileNotFoundError("not kept")
            return str(self.folder)
        wanted = asked["allow_patterns"]
        self._add([one for one in self.files if any(map(Path(one).match, wanted))])
        return str(self.folder)

    def _add(self, names: list[str]) -> None:
        for name in names:
            (self.folder / name).parent.mkdir(exist_ok=True)
            (self.folder / name).touch()


WEIGHTS = "config.json a.safetensors pytorch_model.bin"


@pytest.mark.parametrize(
    ("files", "kept", "weights", "asked"),
    [
        *(pytest.param(f"config.json {one}", "", True, [FETCHED], id=one) for one in ONNX),
        pytest.param(WEIGHTS, "", True, [FETCHED, ["*.safetensors"]], id="tensors, not the older"),
        pytest.param(
            "config.json pytorch_model-1.bin",
            "",
            True,
            [FETCHED, ["*.safetensors"], ["pytorch_model*.bin"]],
            id="the older kind of weights",
        ),
        pytest.param(WEIGHTS, "", False, [TEXTS], id="settings alone"),
        *(
            pytest.param("", f"config.json {name}", True, [], id=f"kept with {name}")
            for name in (*ONNX, "a.safetensors", "a.bin")
        ),
        pytest.param("", "config.json", False, [], id="kept settings"),
        pytest.param(
            "config.json model.onnx", "config.json", True, [FETCHED], id="kept without a model"
        ),
        pytest.param(
            "config.json model.onnx", "model.onnx", True, [FETCHED], id="kept without settings"
        ),
        pytest.param(WEIGHTS, "a.txt", False, [TEXTS], id="kept without settings, which are asked"),
    ],
)
def test_of_a_hub_s_model_only_what_is_computed_with_is_fetched(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    files: str,
    kept: str,
    weights: bool,
    asked: list[list[str]],
) -> None:
    hub = Hub(tmp_path, files, kept)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", hub.snapshot)
    options = {} if weights else {"weights": False}
    assert model_files.model_folder("organisation/model@v2", "hub", **options) == str(tmp_path)
    assert hub.asked == ["what is kept", *asked]


def test_a_folder_is_its_own_model(tmp_path: Path) -> None:
    assert model_files.model_folder(str(tmp_path), "hub") == str(tmp_path)


@pytest.mark.parametrize("first", range(4), ids=ONNX)
def test_the_first_of_several_onnx_files_is_taken(tmp_path: Path, first: int) -> None:
    (tmp_path / "onnx").mkdir()
    assert model_files.onnx_file(str(tmp_path)) is None
    for name in ONNX[first:]:
        (tmp_path / name).touch()
    assert model_files.onnx_file(str(tmp_path)) == str(tmp_path / ONNX[first])


def _moved(file: Path) -> None:
    file.rename(file.with_name("c"))


@pytest.mark.parametrize(
    ("change", "other"),
    [
        pytest.param(lambda file: file.write_text("2"), True, id="its content"),
        pytest.param(lambda file: file.write_text("11"), True, id="its size"),
        pytest.param(_moved, True, id="its place"),
        pytest.param(lambda file: os.utime(file, (1, 2)), False, id="only its time"),
    ],
)
def test_a_checksum_is_of_content_and_places(
    tmp_path: Path, change: Callable[[Path], object], other: bool
) -> None:
    def checksum() -> str:
        return model_files.checksum(str(tmp_path), map(str, tmp_path.glob("[a-c]")))

    for name in "ab":
        (tmp_path / name).write_text("1")
    before = checksum()
    digest = sha256(b"1").hexdigest()
    assert before == sha256(f"a {digest}\nb {digest}\n".encode()).hexdigest()
    change(tmp_path / "a")
    assert (checksum() != before) is other


@pytest.mark.parametrize("same", ["size", "time"])
def test_a_file_is_read_again_where_its_size_or_its_time_is_another(
    tmp_path: Path, same: str
) -> None:
    file = tmp_path / "a"
    for at, text in enumerate(("1", "2" if same == "size" else "22")):
        file.write_text(text)
        os.utime(file, ns=(at, at if same == "size" else 0))
        assert model_files.digest(str(file)) == sha256(text.encode()).hexdigest()


# --- an ONNX file ---


def write_sum(path: Path, *inputs: str) -> Path:
    """Write an encoder that gives each token the sum of its inputs, each twice as large as the
    one before it, and the half of that under another name."""
    infos = [helper.make_tensor_value_info(one, TensorProto.INT64, [1, None]) for one in inputs]
    nodes, total = [], inputs[0]
    for at, name in enumerate(inputs[1:]):
        nodes += [helper.make_node("Add", [total, total], [f"twice{at}"])]
        nodes += [helper.make_node("Add", [f"twice{at}", name], [f"sum{at}"])]
        total = f"sum{at}"
    nodes += [helper.make_node("Identity", [total], ["all"])]
    nodes += [helper.make_node("Neg", [total], ["less"])]
    outputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, [1, None])
        for name in ("all", "less")
    ]
    graph = helper.make_graph(nodes, "sum", infos, outputs)
    model = helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 17)])
    onnx.save(model, path)
    return path


def test_a_model_is_given_what_it_takes(tmp_path: Path) -> None:
    inputs = ("input_ids", "attention_mask", "token_type_ids")
    model = OnnxModel(str(write_sum(tmp_path / "m", *inputs)))
    assert model.outputs == ["all", "less"]
    # Four times the number of a token, twice the mask, and its type.
    assert model.run([3, 5], [0, 1], "all").tolist() == [14, 23]
    assert model.run([3, 5], [0, 1], "less").tolist() == [-14, -23]
    assert OnnxModel(str(write_sum(tmp_path / "n", "input_ids"))).run([3], [1], "all").tolist() == [
        3
    ]


def test_a_model_that_takes_something_else_is_refused(tmp_path: Path) -> None:
    path = write_sum(tmp_path / "m", "input_ids", "pixels", "decoder_ids")
    with pytest.raises(ValueError, match=f"{path} has unknown inputs: decoder_ids, pixels"):
        OnnxModel(str(path))


def test_a_model_is_computed_on_one_thread_of_the_processor(tmp_path: Path) -> None:
    write_model(tmp_path / "m", np.eye(3, dtype=np.float32))
    session = onnx_session(str(tmp_path / "m"))
    options = session.get_session_options()
    assert options.intra_op_num_threads == 1
    assert options.inter_op_num_threads == 1
    assert options.log_severity_level == 3
    assert session.get_providers() == ["CPUExecutionProvider"]
