"""Optional dependencies: what each extra of setup.py installs, and the message where it is missing.

`need` or `missing` is called before the import, so that the message comes before any work.
`explained` makes the same message of an import that failed without such a call.
"""

from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from typing import Final

from ufo.schemas.errors import UsageError

MODULES: Final[Mapping[str, tuple[str, ...]]] = {
    "llm": ("openai", "httpx2"),
    "web": ("httpx", "httpcore", "protego", "trafilatura", "pypdf"),
    "serve": ("fastapi", "uvicorn"),
    "dense": ("faiss",),
    "gcp": ("google.cloud.secretmanager",),
    "plots": ("matplotlib",),
    "hub": ("huggingface_hub", "torch", "transformers", "sentence_transformers"),
}
"""The modules that we import of each extra."""


def missing(extra: str, modules: Iterable[str] | None = None) -> str | None:
    """Return a message with the modules of an extra that are missing and the pip command, or None.

    `modules` are those that are needed, by default all of the extra.
    """
    needed = MODULES[extra] if modules is None else modules
    absent = [name for name in needed if not _installed(name)]
    if not absent:
        return None
    verb = "is" if len(absent) == 1 else "are"
    return (
        f"{' and '.join(absent)}, which {verb} not installed: pip install 'ufo-factuality[{extra}]'"
    )


def need(extra: str, what: str, modules: Iterable[str] | None = None) -> None:
    """Check that the extra that `what` needs is installed.

    Raises:
        UsageError: it is not; the message has the pip command.
    """
    absent = missing(extra, modules)
    if absent:
        raise UsageError(f"{what} needs {absent}")


def explained(error: ModuleNotFoundError) -> str | None:
    """Return the message for a failed import, None if no extra has the module."""
    top = (error.name or "").partition(".")[0]
    for extra, modules in MODULES.items():
        if top in {name.partition(".")[0] for name in modules}:
            return f"this needs {missing(extra, [top]) or error}"
    return None


def _installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # not even its parent
        return False
