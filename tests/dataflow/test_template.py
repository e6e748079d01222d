"""The flex template: its metadata, what a launch is told, and what builds it."""

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from scripts.dataflow import launch, metadata
from ufo.pipelines.options.groups import GROUPS

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "scripts/dataflow"
FLAGS = {flag.name: flag for flags in GROUPS.values() for flag in flags}
# Of the REST API's ParameterMetadata and its ParameterType.
FIELDS = {
    *("name", "label", "helpText", "isOptional", "regexes", "paramType", "enumOptions"),
    *("groupName", "hiddenUi"),
}
TYPES = {
    *("TEXT", "BOOLEAN", "ENUM", "NUMBER"),
    *("GCS_READ_FILE", "GCS_READ_FOLDER", "GCS_WRITE_FOLDER"),
}


def parameters() -> dict[str, dict[str, Any]]:
    found = json.loads(metadata.FILE.read_text(encoding="utf-8"))["parameters"]
    return {parameter["name"]: parameter for parameter in found}


def test_the_metadata_has_every_flag_and_its_help() -> None:
    found = parameters()
    assert set(found) == {*FLAGS, *(flag.name for flag in metadata.BEAM)}
    for name, flag in FLAGS.items():
        assert found[name]["helpText"].startswith(flag.help)
        assert set(found[name]) <= FIELDS
        assert found[name]["paramType"] in TYPES
        assert bool(found[name].get("hiddenUi")) == (name in metadata.NOT_THERE)
    assert [name for name in found if not found[name]["isOptional"]] == ["input", "output"]
    assert set(metadata.NOT_THERE) <= set(FLAGS)
    assert found["citation"]["paramType"] == "BOOLEAN"
    assert [item["value"] for item in found["mode"]["enumOptions"]] == [
        "seq",
        "mv",
        "single",
        "all",
    ]
    assert not re.match(found["samples"]["regexes"][0], "0.9")
    assert re.match(found["cache"]["regexes"][0], "gs://bucket/answers/")
    assert not re.match(found["input"]["regexes"][0], "responses.jsonl")


def test_the_metadata_is_current(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = [sys.executable, str(SCRIPTS / "metadata.py"), "--check"]
    assert subprocess.run(command, capture_output=True).returncode == 0
    old = tmp_path / "metadata.json"
    old.write_text(metadata.text().replace("majority", "minority"))
    monkeypatch.setattr(metadata, "FILE", old)
    monkeypatch.setattr(sys, "argv", ["metadata.py", "--check"])
    assert metadata.main() == 1
    monkeypatch.setattr(sys, "argv", ["metadata.py", "--write"])
    assert metadata.main() == 0
    assert old.read_text() == metadata.text()


def test_a_launch_is_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    given = [
        *("--input=gs://b/a=b.jsonl", "--run=", "--citation=true", "--no_share=False"),
        *("--template_location=gs://b/job_object", "--no_save_main_session=true", "--invented=1"),
    ]
    assert launch.words(given, "registry/ufo:1") == [
        *("evaluate", "--input=gs://b/a=b.jsonl", "--citation"),
        *("--template_location=gs://b/job_object", "--no_save_main_session"),
        *("--runner=DataflowRunner", "--sdk_container_image=registry/ufo:1"),
    ]
    assert "--invented=1 is left out" in capsys.readouterr().err
    named = ["--runner=DataflowRunner", "--sdk_container_image=mine"]
    assert launch.words(named, "registry/ufo:1") == ["evaluate", *named]


@pytest.fixture
def build(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run scripts/dataflow/build where neither docker nor gcloud is installed."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for tool in ("bash", "dirname", "git", "sed"):
        found = shutil.which(tool)
        assert found
        (folder / tool).symlink_to(found)

    def run(*words: str) -> Any:
        environment = {**os.environ, "PATH": str(folder), "UFO_TAG": "t1"}
        command = [str(SCRIPTS / "build"), *words]
        return subprocess.run(command, env=environment, capture_output=True, text=True)

    return run


def test_what_builds_it_is_one_image_and_its_metadata(build: Any) -> None:
    done = build("--print", "my-project", "europe-west1", "gs://bucket/", "mine")
    assert done.returncode == 0, done.stderr
    image = "europe-west1-docker.pkg.dev/my-project/mine/ufo:t1"
    beam = version("apache-beam")
    assert [line.rstrip() for line in done.stdout.splitlines()] == [
        f"docker build --platform linux/amd64 --file {SCRIPTS}/Dockerfile --build-arg BEAM={beam} "
        f"--build-arg IMAGE={image} --tag {image} {ROOT}",
        f"docker push {image}",
        "gcloud dataflow flex-template build gs://bucket/templates/ufo-t1.json "
        f"--project my-project --image {image} --sdk-language PYTHON "
        f"--metadata-file {SCRIPTS}/metadata.json",
    ]
    assert "gs://bucket/templates/ufo-t1.json" in done.stderr


def test_what_builds_it_tells_what_is_missing(build: Any) -> None:
    assert build("p", "r").returncode == 2
    assert "PROJECT" in build("--invented", "p", "r", "b").stderr
    done = build("p", "r", "b")
    assert done.returncode == 1
    assert "needs 'docker'" in done.stderr


@pytest.mark.slow
def test_docker_is_sent_what_the_image_is_made_of(tmp_path: Path) -> None:
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    for name in (line[1:] for line in lines if line.startswith("!")):
        source, target = ROOT / name, tmp_path / "context" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(source, target, symlinks=True, ignore=ignored)
        else:
            shutil.copy(source, target)
    copied = re.findall(r"^COPY (?!--)(.+) \S+$", (SCRIPTS / "Dockerfile").read_text(), re.M)
    for name in " ".join(copied).split():
        assert (tmp_path / "context" / name).exists(), name
    build = ["-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path / "dist")]
    done = subprocess.run(
        [sys.executable, *build, tmp_path / "context"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    (wheel,) = (tmp_path / "dist").glob("ufo_factuality-*.whl")
    inside = set(zipfile.ZipFile(wheel).namelist())
    for top in ("schemas", "indexes", "transforms", "webapp", "pipelines", "examples"):
        for path in (ROOT / top).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                assert f"ufo/{path.relative_to(ROOT).as_posix()}" in inside
