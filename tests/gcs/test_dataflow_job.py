"""A launch of the flex template up to the job that Dataflow would get, and that job's own pipeline
run to its end: no service, no credentials."""

import base64
import bz2
import json
import os
import subprocess
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from apache_beam.portability.api import beam_runner_api_pb2

from tests.gcs.conftest import PYTHON, ROOT, Place, as_lines, records
from tests.llm_server import KEY, LlmServer
from ufo.schemas.results import open_results

IMAGE = "europe-docker.pkg.dev/my-project/ufo/ufo:1"
GROUP = "beam:transform:group_by_key:v1"
SOURCES = ("reference", "wikipedia", "llm")


@dataclass(frozen=True, slots=True)
class Launched:
    """What a launch has left in the buckets: the job for Dataflow, and its pipeline."""

    job: dict[str, Any]
    pipeline: Any
    staged: bytes

    @property
    def steps(self) -> dict[str, Any]:
        """The steps that do something, by their names."""
        found = self.pipeline.components.transforms.values()
        return {step.unique_name: step for step in found if not step.subtransforms}

    def maker(self, collection: str) -> tuple[str, str]:
        """The step that makes a collection, and under which name."""
        (found,) = (
            (name, output)
            for name, step in self.steps.items()
            for output, made in step.outputs.items()
            if made == collection
        )
        return found

    def before(self, name: str) -> Iterator[str]:
        """The steps that a step needs, up to and with the last groups."""
        for collection in self.steps[name].inputs.values():
            maker, _ = self.maker(collection)
            yield maker
            if self.steps[maker].spec.urn != GROUP:
                yield from self.before(maker)

    def texts(self) -> Iterator[bytes]:
        """All that the job carries, functions unpacked."""
        yield json.dumps(self.job).encode()
        yield self.staged
        components = self.pipeline.components
        for step in components.transforms.values():
            if step.spec.urn == "beam:transform:pardo:v1":
                payload = beam_runner_api_pb2.ParDoPayload.FromString(step.spec.payload)
                yield unpacked(payload.do_fn.payload)
        for coder in components.coders.values():
            yield unpacked(coder.spec.payload)


def unpacked(payload: bytes) -> bytes:
    """The pickle in a payload, which Beam compresses, without the place of Beam itself: its own
    functions tell it, and it may be below the folder of the tests."""
    try:
        data = base64.b64decode(payload, validate=True)
    except ValueError:
        return payload
    for unpack in (bz2.decompress, zlib.decompress):
        try:
            return unpack(data).replace(os.fsencode(PYTHON.parents[1]), b"")
        except (OSError, zlib.error):
            continue
    return data


class Launcher:
    """The template's launcher: its words are the parameters of a launch."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.temp = place.server.bucket("staging")

    def run(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        job = (
            *("--runner=DataflowRunner", "--project=my-project", "--region=europe-west1"),
            *("--job_name=ufo-night", "--temp_location=gs://staging/temp", "--max_num_workers=4"),
            "--template_location=gs://staging/job_object",
        )
        ours = {name for name in self.place.environment if name.startswith("UFO_")}
        environment = {k: v for k, v in self.place.environment.items() if k not in ours}
        return subprocess.run(
            [PYTHON, ROOT / "scripts/dataflow/launch.py", *words, *job],
            env={**environment, "UFO_IMAGE": IMAGE, **variables},
            cwd=self.place.folder,
            capture_output=True,
            text=True,
        )

    def launched(self) -> Launched:
        (name,) = (name for name in self.temp.names("temp/") if name.endswith("/pipeline.pb"))
        staged = self.temp[name]
        pipeline = beam_runner_api_pb2.Pipeline.FromString(staged)
        return Launched(json.loads(self.temp["job_object"]), pipeline, staged)

    def work(self, launched: Launched, **variables: str) -> None:
        """Run the pipeline of a job to its end."""
        path = self.place.folder / "pipeline.pb"
        path.write_bytes(launched.staged)
        worker = subprocess.run(
            [PYTHON, Path(__file__).with_name("run_job.py"), path],
            env={**self.place.environment, **variables},
            cwd=self.place.folder,
            capture_output=True,
            text=True,
        )
        assert worker.returncode == 0, worker.stderr[-3000:]


@pytest.fixture
def launcher(place: Place) -> Launcher:
    return Launcher(place)


@pytest.fixture
def endpoint() -> Iterator[LlmServer]:
    with LlmServer() as server:
        yield server


def test_a_launch_of_the_template(
    launcher: Launcher, place: Place, index: Path, endpoint: LlmServer, tmp_path: Path
) -> None:
    place.put(index, "index")
    place.bucket["in.jsonl"] = as_lines(records())
    words = (
        "--run=night",
        "--judge=llm",
        "--model=offline-judge",
        "--samples=2",
        f"--sources={','.join(SOURCES)}",
    )
    done = launcher.run(
        *("--input=gs://b/in.jsonl", "--output=gs://b/out", "--index=gs://b/index", *words),
        *("--streaming=false", "--citation="),
        OPENAI_API_KEY=KEY,
        OPENAI_BASE_URL=endpoint.base_url,
    )
    assert done.returncode == 0, done.stderr
    assert "job finishes it in gs://b/out/run=night" in done.stdout
    assert "out/run=night/manifest.json" not in place.bucket.names()
    (status,) = place.ufo("status", "gs://b/out", "--json").json
    assert (status["run"], status["state"]) == ("night", "elsewhere")

    launched = launcher.launched()
    check_job(launched.job)
    check_graph(launched)
    texts = list(launched.texts())
    assert any(b"offline-judge" in text for text in texts), "nothing was unpacked"
    for secret in (KEY, str(place.folder), str(Path.home()), os.getcwd()):
        assert not [text[:80] for text in texts if secret.encode() in text], secret

    # What Dataflow would run, run here: with a worker's environment, of which only the key is set.
    launcher.work(launched, OPENAI_API_KEY=KEY)
    assert "out/run=night/manifest.json" in place.bucket.names()
    assert place.bucket.names("out/cache/"), "answers are kept for a bundle that is tried again"
    for name in place.bucket.names("out/run=night/"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(place.bucket[name])
    (tmp_path / "in.jsonl").write_bytes(place.bucket["in.jsonl"])
    here = ("--input", tmp_path / "in.jsonl", "--output", tmp_path / "here", "--index", index)
    variables = {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": endpoint.base_url}
    same = place.ufo_here("evaluate", *here, *words, "--cache=off", **variables)
    assert same.code == 0, same.err
    there, expected = rows(tmp_path / "out"), rows(tmp_path / "here")
    for found in (there, expected):
        # What a model remembers is another sample each time.
        found["passages"] = [row for row in found["passages"] if row["source"] != "llm"]
    assert there["passages"]
    assert there == expected
    assert {row["source"] for row in there["verdicts"]} > {"reference", "wikipedia"}


def test_a_launch_of_a_stream(launcher: Launcher, place: Place) -> None:
    words = ("--sources=reference", "--judge=offline", "--run=feed", "--streaming=true")
    done = launcher.run("--input=gs://b/in/*.jsonl", "--output=gs://b/out", *words)
    assert done.returncode == 0, done.stderr
    launched = launcher.launched()
    assert launched.job["type"] == "JOB_TYPE_STREAMING"
    assert "enable_streaming_engine" in launched.job["environment"]["experiments"]
    collections = launched.pipeline.components.pcollections.values()
    unbounded = beam_runner_api_pb2.IsBounded.UNBOUNDED
    assert any(collection.is_bounded == unbounded for collection in collections)
    asking = next(
        name for name in launched.steps if name.endswith("check/1 reference/ask/ParDo(_Ask)")
    )
    assert any(name.endswith("check/1 reference/batch") for name in launched.before(asking))
    for text in launched.texts():
        assert str(place.folder).encode() not in text
        assert os.getcwd().encode() not in text


def rows(output: Path) -> dict[str, list[dict[str, Any]]]:
    """The rows of a run's tables, but for those that tell requests apart."""
    with open_results(output) as results:
        return {
            table: results.query(f"SELECT * EXCLUDE (run) FROM {table} ORDER BY ALL").to_pylist()
            for table in ("responses", "sentences", "fact_units", "verdicts", "passages")
        }


def check_job(job: dict[str, Any]) -> None:
    """The job as Dataflow's API takes it."""
    assert job["name"] == "ufo-night"
    assert job["type"] == "JOB_TYPE_BATCH"
    (pool,) = job["environment"]["workerPools"]
    assert [one["containerImage"] for one in pool["sdkHarnessContainerImages"]] == [IMAGE]
    assert pool["autoscalingSettings"]["maxNumWorkers"] == 4
    assert pool["machineType"] == "e2-standard-2"
    assert not pool.get("packages"), "nothing of the launcher's is brought along"
    assert "use_runner_v2" in job["environment"]["experiments"]


def check_graph(launched: Launched) -> None:
    """The steps by their names, the chain of sources, and where the work is spread anew."""
    steps = launched.steps
    (environment,) = launched.pipeline.components.environments.values()
    payload = beam_runner_api_pb2.DockerPayload.FromString(environment.payload)
    assert payload.container_image == IMAGE
    assert not environment.dependencies
    for name in ("read/parse", "extract/judge", "write/write", "finish"):
        assert any(step.startswith(name) for step in steps), (name, sorted(steps))
    assert steps["spread/ReshufflePerKey/GroupByKey"].spec.urn == GROUP, "files are spread"
    earlier = "extract/judge/ParDo(_Extract)"
    for position, source in enumerate(SOURCES, start=1):
        stage = f"check/{position} {source}"
        asking = f"{stage}/ask/ParDo(_Ask)"
        before = set(launched.before(asking))
        # No engine fuses a source with what comes before it: what one worker read, many judge.
        assert f"{stage}/batch" in before
        assert steps[f"{stage}/batch"].spec.urn == GROUP
        assert earlier not in before
        (keying,) = (name for name in steps if name.startswith(f"{stage}/key"))
        (asked,) = steps[keying].inputs.values()
        maker, output = launched.maker(asked)
        assert maker == earlier
        assert output == ("noans" if position > 1 else output)
        earlier = asking
