"""The image of Dataflow's workers is made of what Docker is sent."""

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "scripts/dataflow"


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
