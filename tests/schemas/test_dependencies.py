"""What is not installed, or in a version that does not work, and what is said of it."""

import re
import sys
from pathlib import Path

import pytest

from ufo.schemas.dependencies import CORE, MODULES, import_error_message, missing, need
from ufo.schemas.errors import UsageError

SETUP = (Path(__file__).parents[2] / "setup.py").read_text(encoding="utf-8")
OF_EXTRAS = {
    CORE: "apache_beam",
    "llm": "openai",
    "web": "httpx httpcore protego trafilatura pypdf",
    "serve": "fastapi uvicorn",
    "mcp": "mcp fastapi",
    "onnx": "onnxruntime tokenizers",
    "dense": "faiss",
    "gcp": "google.cloud.secretmanager",
    "hub": "huggingface_hub torch transformers sentence_transformers",
}


def test_every_extra_is_declared() -> None:
    declared = set(re.findall(r'^EXTRAS\["(\w+)"\]|^    "(\w+)": \[', SETUP, re.MULTILINE))
    assert set(MODULES) - {CORE} <= {one or other for one, other in declared}


@pytest.mark.parametrize(
    ("extra", "module"),
    [(extra, module) for extra, modules in OF_EXTRAS.items() for module in modules.split()],
)
def test_an_extra_needs_each_of_its_modules(
    monkeypatch: pytest.MonkeyPatch, extra: str, module: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    assert module in (missing(extra) or "").partition(", which")[0].split(" and ")
    message = import_error_message(ModuleNotFoundError("none", name=module)) or ""
    top = module.partition(".")[0]
    assert message.startswith(f"this needs {top}" if top == module else "this needs ")


def test_what_is_installed_is_not_missing() -> None:
    for extra in ("llm", "web", "serve", "onnx", "dense", CORE):
        assert missing(extra) is None
    assert missing("web", ["httpx"]) is None
    assert "nobody_has.this, which" in (missing("web", ["httpx", "nobody_has.this"]) or "")
    need("web", "the web")


def test_an_import_that_failed_though_the_module_is_there_says_why() -> None:
    failed = ModuleNotFoundError("No module named 'httpx.gone'", name="httpx.gone")
    message = "this needs httpx.gone, which the installed httpx does not have"
    assert import_error_message(failed) == message
    assert import_error_message(ModuleNotFoundError("no name")) is None
    assert import_error_message(ImportError("cannot import name 'gone'", name="httpx")) is None


def test_what_is_missing_has_the_pip_command(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("faiss", "fastapi", "uvicorn"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(UsageError) as raised:
        need("dense", "search by vectors")
    message = "needs faiss, which is not installed: pip install 'ufo-factuality[dense]'"
    assert raised.value.message == f"search by vectors {message}"
    assert (missing("serve") or "").startswith("fastapi and uvicorn, which are not installed")
    assert (
        import_error_message(ModuleNotFoundError("No module", name="faiss.contrib"))
        == f"this {message}"
    )
    assert import_error_message(ModuleNotFoundError("No module", name="nobody_has_this")) is None


@pytest.mark.parametrize(
    ("package", "version", "extra", "bounds"),
    [
        ("openai", "1.109.1", "llm", "openai >=2.0, <4"),
        ("openai", "4.0.0", "llm", "openai >=2.0, <4"),
        ("fastapi", "0.134.2", "serve", "fastapi >=0.135, <1"),
        ("protego", "0.6.2", "web", "protego >=0.7, <1"),
        ("faiss_cpu", "1.14.0", "dense", "faiss-cpu >=1.15, <2"),
        ("apache_beam", "2.60.0", CORE, "apache-beam >=2.77, <3"),
    ],
)
def test_a_version_that_does_not_work_is_named_with_those_that_do(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    package: str,
    version: str,
    extra: str,
    bounds: str,
) -> None:
    metadata = tmp_path / f"{package}-{version}.dist-info"
    metadata.mkdir()
    name = package.replace("_", "-")
    text = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    (metadata / "METADATA").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    install = f"'ufo-factuality[{extra}]'" if extra else "ufo-factuality"
    wanted = f"{bounds} (found {version}): pip install {install}"
    assert missing(extra) == wanted
    with pytest.raises(UsageError, match="the judge needs"):
        need(extra, "the judge")
    module = OF_EXTRAS[extra].split()[0]
    if package in (module, "protego"):
        gone = ImportError(f"cannot import name 'x' from '{package}'", name=package)
        assert import_error_message(gone) == f"this needs {wanted}"


def test_a_prerelease_and_a_module_without_a_package_are_taken(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "openai-3.60.0rc1.dist-info").mkdir()
    text = "Metadata-Version: 2.1\nName: openai\nVersion: 3.60.0rc1\n"
    (tmp_path / "openai-3.60.0rc1.dist-info/METADATA").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    assert missing("llm") is None
