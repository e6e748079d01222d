"""The prompts: one file each, found by name, with `{variables}` that are checked both ways.

A prompt is plain text. `NAME_system.txt` is the fixed prefix of a step, so that providers can cache
it, `NAME_user.txt` arranges the data, `argument_NAME.txt` and `function_NAME.txt` describe what a
function takes. A folder of files with the same names overrides any of them.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from importlib import resources
from pathlib import Path

from schemas.errors import UsageError, unknown_value

_VARIABLE = re.compile(r"\{([a-z_]+)\}")
_ALONE = re.compile(r"^\{([a-z_]+)\}\n?", re.MULTILINE)
_DIGITS = 12


@dataclass(frozen=True, slots=True)
class Prompts:
    """The texts in use, by name."""

    texts: Mapping[str, str]

    def __getitem__(self, name: str) -> str:
        return self.texts[name]

    def render(self, name: str, **values: str) -> str:
        """Return the prompt with its variables filled; nothing in a value is taken for a variable.

        A line that is a variable alone is left out where its value is empty.
        """
        text = _ALONE.sub(lambda found: found[0] if values[found[1]] else "", self.texts[name])
        return _VARIABLE.sub(lambda found: values[found[1]], text).rstrip("\n")

    def version(self, names: Iterable[str]) -> str:
        """Return 12 hex digits of SHA-256 over these prompts: the column `prompt_version`."""
        digest = sha256()
        for name in sorted(set(names)):
            digest.update(f"{name}\0{self.texts[name]}\0".encode("utf-8", "surrogatepass"))
        return digest.hexdigest()[:_DIGITS]


def load_prompts(directory: str | None = None) -> Prompts:
    """Return the shipped prompts, those in `directory` in place of the ones of the same name.

    Raises:
        UsageError: the folder is none or has no prompt, a file is not named like a prompt, is not
            UTF-8, lacks a variable of the shipped prompt or has one that it does not.
    """
    shipped = {
        Path(file.name).stem: file.read_text(encoding="utf-8").rstrip("\n")
        for file in resources.files(__name__).iterdir()
        if file.name.endswith(".txt")
    }
    return Prompts(shipped | _overrides(shipped, directory) if directory else shipped)


def _overrides(shipped: Mapping[str, str], directory: str) -> dict[str, str]:
    folder = Path(directory)
    if not folder.is_dir():
        raise UsageError(f"--prompts {directory!r} is not a folder; give one with prompt files")
    texts: dict[str, str] = {}
    for path in sorted(folder.glob("*.txt")):
        if path.stem not in shipped:
            raise UsageError(f"{path}: {unknown_value('prompt', path.stem, sorted(shipped))}")
        try:
            text = path.read_text(encoding="utf-8-sig").rstrip("\n")
        except UnicodeDecodeError as error:
            raise UsageError(f"{path} is not UTF-8 ({error.reason}); save it as UTF-8") from error
        _check_variables(path, set(_VARIABLE.findall(shipped[path.stem])), text)
        texts[path.stem] = text
    if not texts:
        raise UsageError(
            f"--prompts {directory!r} has no prompt (*.txt); name the files as the shipped ones: "
            + ", ".join(sorted(shipped))
        )
    return texts


def _check_variables(path: Path, expected: set[str], text: str) -> None:
    found = set(_VARIABLE.findall(text))
    allowed = ", ".join(f"{{{name}}}" for name in sorted(expected)) or "none"
    for name in sorted(expected - found):
        raise UsageError(f"{path} lacks the variable {{{name}}}; it must have {allowed}")
    for name in sorted(found - expected):
        raise UsageError(f"{path} has the unknown variable {{{name}}}; it may have {allowed}")
