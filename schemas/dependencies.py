"""Report missing or unusable dependencies, with the pip command that installs them.

`need` and `missing` are called before an import, so that the message comes before any work.
`import_error_message` makes the same message for an import that failed without such a call. The
versions that work are those of setup.py, in the metadata of the installed package.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.util import find_spec
from typing import Final

from ufo.schemas.errors import UsageError

PACKAGE: Final = "ufo-factuality"
CORE: Final = ""
"""The name, in place of an extra, for the dependencies of every installation."""
MODULES: Final[Mapping[str, tuple[str, ...]]] = {
    CORE: ("apache_beam",),
    "llm": ("openai",),
    "web": ("httpx", "httpcore", "protego", "trafilatura", "pypdf"),
    "serve": ("fastapi", "uvicorn"),
    "mcp": ("mcp", "fastapi"),
    "onnx": ("onnxruntime", "tokenizers"),
    "dense": ("faiss",),
    "gcp": ("google.cloud.secretmanager",),
    "hub": ("huggingface_hub", "torch", "transformers", "sentence_transformers"),
}
"""The modules of each extra that only some commands import."""
_DISTRIBUTIONS: Final = {"faiss": "faiss-cpu"}
"""The package of each module that has another name."""


def missing(extra: str, modules: Iterable[str] | None = None) -> str | None:
    """Return the dependencies that an extra lacks, with the pip command; None if it lacks none.

    These are the missing modules, or else the packages whose version does not work. `modules` names
    the needed modules, by default all of the extra.
    """
    needed = MODULES[extra] if modules is None else tuple(modules)
    command = f"pip install '{PACKAGE}[{extra}]'" if extra else f"pip install {PACKAGE}"
    absent = [name for name in needed if not _installed(name)]
    if absent:
        verb = "is" if len(absent) == 1 else "are"
        return f"{' and '.join(absent)}, which {verb} not installed: {command}"
    wrong = [mismatch for name in needed if (mismatch := _wrong_version(name))]
    return f"{' and '.join(wrong)}: {command}" if wrong else None


def need(extra: str, what: str, modules: Iterable[str] | None = None) -> None:
    """Check that the extra that `what` needs is installed, in versions that work.

    Raises:
        UsageError: it is not; the message has the pip command.
    """
    absent = missing(extra, modules)
    if absent:
        raise UsageError(f"{what} needs {absent}")


def import_error_message(error: ImportError) -> str | None:
    """Return the message for a failed import; None if no extra would mend it.

    An extra does not if it lacks the module, or if an installed module only lacks a name."""
    top = (error.name or "").partition(".")[0]
    for extra, modules in MODULES.items():
        if top in {name.partition(".")[0] for name in modules}:
            absent = missing(extra, [top])
            if absent is None and isinstance(error, ModuleNotFoundError):
                return f"this needs {error.name}, which the installed {top} does not have"
            return absent and f"this needs {absent}"
    return None


def _installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # its parent package is missing
        return False


def _wrong_version(module: str) -> str | None:
    """Return the allowed and the installed version of a module's package; None if they agree."""
    name = _DISTRIBUTIONS.get(module, module.replace("_", "-"))
    allowed = _allowed().get(name)
    if allowed is None:
        return None
    from packaging.specifiers import SpecifierSet  # with its imports only where it is needed

    try:
        installed = version(name)
    except PackageNotFoundError:  # a module without a package
        return None
    if SpecifierSet(allowed).contains(installed, prereleases=True):
        return None
    bounds = sorted(allowed.split(","), reverse=True)  # from, then below
    return f"{name} {', '.join(bounds)} (found {installed})"


@cache
def _allowed() -> Mapping[str, str]:
    """Return the versions that setup.py allows of each package, as `>=1,<2`."""
    from packaging.requirements import Requirement

    try:
        declared = [Requirement(line) for line in requires(PACKAGE) or ()]
    except PackageNotFoundError:  # a source tree that is not installed
        return {}
    return {one.name.lower(): str(one.specifier) for one in declared if one.specifier}
