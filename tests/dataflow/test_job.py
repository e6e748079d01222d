"""A job for Dataflow up to submission: its graph, and what travels with it."""

import base64
import bz2
import json
import os
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from apache_beam.portability.api import beam_runner_api_pb2

from tests.dataflow.recorder import WHERE
from tests.llm_server import KEY, LlmServer
from ufo.pipelines.build_index import build
from ufo.pipelines.cli import main

RUNNER = "tests.dataflow.recorder.DataflowRecorder"
IMAGE = "europe-docker.pkg.dev/my-project/ufo/ufo:1"
GROUP = "beam:transform:group_by_key:v1"
SOURCES = ("reference", "wikipedia", "llm")


OPTIONS = (
    "--run=night",
    f"--sources={','.join(SOURCES)}",
    "--judge=llm",
    "--model=offline-judge",
    "--samples=2",
    f"--runner={RUNNER}",
    "--project=my-project",
    "--region=europe-west1",
    "--job_name=ufo-night",
    "--temp_location=gs://staging/temp",
    "--max_num_workers=4",
    f"--sdk_container_image={IMAGE}",
)


def texts(pipeline: Any) -> Iterator[bytes]:
    """All that the job carries, functions unpacked."""
    yield pipeline.SerializeToString()
    for step in pipeline.components.transforms.values():
        if step.spec.urn == "beam:transform:pardo:v1":
            payload = beam_runner_api_pb2.ParDoPayload.FromString(step.spec.payload)
            yield unpacked(payload.do_fn.payload)
    for coder in pipeline.components.coders.values():
        yield unpacked(coder.spec.payload)


def unpacked(payload: bytes) -> bytes:
    """The pickle in a payload, which Beam compresses."""
    for unpack in (bz2.decompress, zlib.decompress):
        with suppress(OSError, ValueError, zlib.error):
            return unpack(base64.b64decode(payload, validate=True))
    return payload


def test_a_job_has_the_chain_of_sources_and_no_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pages.jsonl").write_text('{"title": "Oslo", "text": "Oslo has 5 bridges."}')
    build(tmp_path / "pages.jsonl", tmp_path / "index")
    lines = [{"id": f"r{n}", "response": f"Oslo has {n} bridges."} for n in range(20)]
    (tmp_path / "in.jsonl").write_text("\n".join(map(json.dumps, lines)))
    places = {"input": "in.jsonl", "output": "out", "index": "index"}
    flags = [f"--{name}=file://{tmp_path}/{place}" for name, place in places.items()]
    monkeypatch.setenv(WHERE, str(tmp_path / "pipeline.pb"))
    with LlmServer() as endpoint:
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.base_url)
        assert main(["evaluate", *flags, *OPTIONS]) == 1
    kept = (tmp_path / "pipeline.pb").read_bytes()
    pipeline = beam_runner_api_pb2.Pipeline.FromString(kept)
    assert "kept, not submitted" in capsys.readouterr().err
    steps = {
        step.unique_name: step
        for step in pipeline.components.transforms.values()
        if not step.subtransforms
    }
    makers = {made: name for name, step in steps.items() for made in step.outputs.values()}
    for name in ("read/parse", "extract/judge", "write/write"):
        assert any(step.startswith(name) for step in steps), (name, sorted(steps))
    earlier = "extract/judge/ParDo(_Extract)"
    for position, source in enumerate(SOURCES, start=1):
        stage = f"check/{position} {source}"
        # No engine fuses a source with what comes before it: what one worker read, many judge.
        assert steps[f"{stage}/batch"].spec.urn == GROUP
        (keying,) = (name for name in steps if name.startswith(f"{stage}/key"))
        assert [makers[one] for one in steps[keying].inputs.values()] == [earlier]
        earlier = f"{stage}/ask/ParDo(_Ask)"
        assert earlier in steps
    carried = list(texts(pipeline))
    assert any(b"offline-judge" in text for text in carried), "nothing was unpacked"
    for secret in (KEY, str(Path.home() / ".cache"), os.getcwd() + "/tests/"):
        assert not [text[:80] for text in carried if secret.encode() in text], secret
