"""Read word lists and phrases that are kept as data."""

import tomllib
from importlib.resources import files


def word_set(words: str) -> frozenset[str]:
    """Return the words of a text, separated by white space."""
    return frozenset(words.split())


class Lists:
    """The lists of a TOML file of a package, by their names."""

    def __init__(self, package: str, name: str) -> None:
        text = (files(package) / name).read_text(encoding="utf-8")
        self.texts: dict[str, str] = tomllib.loads(text)

    def words(self, name: str) -> frozenset[str]:
        """Return a list of words."""
        return word_set(self.texts[name])

    def phrases(self, name: str) -> str:
        """Return the regular expression of a list with alternatives on each line."""
        return "|".join(self.texts[name].strip().split("\n"))
