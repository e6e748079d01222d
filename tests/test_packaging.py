"""The wheel and the sdist, installed elsewhere, run from any folder."""

import os
import re
import shutil
import site
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[1]
NOT_PACKAGED = ("build", "dist", "results", "tests", "*.egg-info", "__pycache__", ".*")


def run(*words: object, cwd: Path) -> str:
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        [str(word) for word in words], cwd=cwd, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the sdist, and with the wheel that was built from that sdist."""
    folder = tmp_path_factory.mktemp("built")
    source = folder / "source"
    ignored = shutil.ignore_patterns(*NOT_PACKAGED)
    shutil.copytree(ROOT, source, symlinks=True, ignore=ignored)
    build = (sys.executable, "-m", "build", "--no-isolation", "--outdir", folder / "dist")
    run(*build, source, cwd=folder)
    return folder / "dist"


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an environment with the wheel, which sees what is installed here else."""
    environment = tmp_path_factory.mktemp("installed")
    run(sys.executable, "-m", "venv", "--without-pip", environment, cwd=environment)
    python = environment / "bin/python"
    (wheel,) = built.glob("*.whl")
    pip = (sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check")
    run(*pip, "install", "--no-index", "--no-deps", wheel, cwd=environment)
    purelib = run(python, "-c", "import sysconfig as s; print(s.get_path('purelib'))", cwd=built)
    # As a plain path it is searched after the environment's own folder, and an editable
    # installation there does not take effect.
    Path(purelib.strip(), "dependencies.pth").write_text("\n".join(site.getsitepackages()))
    return environment


def test_code_and_data_are_in_both(built: Path) -> None:
    (wheel,) = built.glob("*.whl")
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        in_sdist = {name.partition("/")[2] for name in archive.getnames()}
    in_wheel = set(zipfile.ZipFile(wheel).namelist())
    tops = ("schemas", "indexes", "transforms", "webapp", "pipelines", "examples")
    paths = [path for top in tops for path in (ROOT / top).rglob("*") if path.is_file()]
    expected = {
        f"ufo/{path.relative_to(ROOT).as_posix()}" for path in paths if path.suffix != ".pyc"
    } | {"ufo/__init__.py", "ufo/py.typed"}
    assert {"ufo/schemas/views/scores.sql", "ufo/webapp/page/index.html"} <= expected
    assert expected - in_wheel == set()
    assert (expected | {"README.md", "setup.py"}) - in_sdist == set()
    assert {re.split("[/-]", name)[0] for name in in_wheel} == {"ufo", "ufo_factuality"}


@pytest.mark.parametrize("repository", ["", "https://example.org/us/ufo"])
def test_a_package_index_can_show_the_readme(
    repository: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UFO_REPOSITORY", repository)
    code = "from setuptools import build_meta as b; print(b.prepare_metadata_for_build_wheel('..'))"
    source = tmp_path / "source"
    shutil.copytree(ROOT / "ufo", source / "ufo", ignore=shutil.ignore_patterns(*NOT_PACKAGED))
    for name in ("setup.py", "README.md", "LICENSE", "NOTICE"):
        shutil.copy(ROOT / name, source)
    folder = run(sys.executable, "-c", code, cwd=source).splitlines()[-1]
    metadata = (tmp_path / folder / "METADATA").read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)]+)\)", metadata)
    assert all(link.startswith(("https://", "#")) for link in links)
    for line in ("docs/semantics.md", "Project-URL: Issues, https://example.org/us/ufo/issues"):
        assert (line in metadata) == bool(repository)


def test_the_examples_are_evaluated_from_another_folder(installed: Path, tmp_path: Path) -> None:
    ufo, python = installed / "bin/ufo", installed / "bin/python"
    code = "import ufo.examples as e, ufo.pipelines.cli as c; print(e.__path__[0], c.__file__)"
    examples, program = run(python, "-c", code, cwd=tmp_path).split()
    assert Path(program).is_relative_to(installed)
    run(ufo, "index", "build", "--input", f"{examples}/encyclopaedia.xml", "--output", "index",
        cwd=tmp_path)  # fmt: skip
    words = ("evaluate", "--input", f"{examples}/responses.jsonl", "--output", "results")
    run(ufo, *words, "--sources", "reference,wikipedia", "--index", "index", cwd=tmp_path)
    report = run(ufo, "report", "results", cwd=tmp_path)
    for word in ("reference", "wikipedia", "alder-7b", "birch-chat"):
        assert word in report


def test_a_project_has_files_named_as_our_packages(installed: Path, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "tests/project", tmp_path / "project")
    printed = run(installed / "bin/python", "main.py", cwd=tmp_path / "project")
    assert printed == "answers indexes [1.0, 1.0, 1.0, 1.0]\n"
