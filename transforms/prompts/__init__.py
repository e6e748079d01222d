"""The prompts, one text file each, with `{variables}`.

- `NAME_system.txt`: the fixed system message of a step, which providers can cache.
- `NAME_user.txt`: the template of the user message.
- `argument_NAME.txt`, `function_NAME.txt`: descriptions of functions and their arguments.
- `published`, `faaf`: prompts that follow the papers.

A user's folder with files of the same names overrides any of them.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from importlib import resources
from pathlib import Path

from ufo.schemas.errors import UsageError, unknown_value
from ufo.schemas.text_file import read_text

_VARIABLE = re.compile(r"\{([a-z_]+)\}")
_ALONE = re.compile(r"^\{([a-z_]+)\}\n?", re.MULTILINE)
_DIGITS = 12


@dataclass(frozen=True, slots=True)
class Prompts:
    """The texts of the prompts, by name."""

    texts: Mapping[str, str]

    def __getitem__(self, name: str) -> str:
        return self.texts[name]

    def render(self, name: str, **values: str) -> str:
        """Return the prompt with its variables replaced; braces in values are left as they are.

        A line with only a variable is left out if its value is empty.
        """
        text = _ALONE.sub(lambda match: match[0] if values[match[1]] else "", self.texts[name])
        return _VARIABLE.sub(lambda match: values[match[1]], text).rstrip("\n")

    def version(self, names: Iterable[str]) -> str:
        """Return 12 hex digits of SHA-256 over these prompts: the column `prompt_version`."""
        digest = sha256()
        for name in sorted(set(names)):
            digest.update(f"{name}\0{self.texts[name]}\0".encode("utf-8", "surrogatepass"))
        return digest.hexdigest()[:_DIGITS]


def load_prompts(directory: str | None = None) -> Prompts:
    """Return the shipped prompts, overridden by files of the same name in `directory`.

    Raises:
        UsageError: `directory` is not a folder or has no prompts, or a file has an unknown name, is
            not UTF-8, or does not have exactly the variables of the shipped prompt.
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
            text = read_text(str(path)).replace("\r\n", "\n").rstrip("\n")
        except ValueError as error:
            raise UsageError(f"{path} cannot be read: {error}") from error
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
