"""Read raised and lowered text: marks of notes, powers, ordinals, fractions, isotopes.

`1,200` with a raised 3 is a number and the mark of a note, `10` with a raised 6 is a power. The
rules are in `superscripts.yaml`. Where none can tell, the text has UNREADABLE in its place, and the
sentence is left out.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Final

import yaml

from ufo.transforms.sentences import segment

UNREADABLE: Final = "\ufffc"
"""Stands for what cannot be told (U+FFFC, the object replacement character)."""
CONTEXT: Final = 60
"""How many characters before and after raised text are looked at."""

_POWERS = {"2": "²", "3": "³"}
_LONGEST = 60  # characters; longer raised text is a remark
_NUMBER = re.compile(r"[0-9]{1,4}")


@dataclass(frozen=True, slots=True)
class _Rule:
    before: re.Pattern[str]
    raised: re.Pattern[str]
    after: re.Pattern[str]
    languages: Sequence[str]
    says: str
    gives: str

    def fits(self, before: str, raised: str, after: str, language: str) -> bool:
        return bool(
            self.raised.fullmatch(raised)
            and (not self.languages or language in self.languages)
            and self.after.match(after)
            and self.before.search(before)
        )


class Superscripts:
    """Reads the raised texts of a document from its beginning to its end."""

    def __init__(self, language: str = "") -> None:
        self._language = language[:2].lower()
        self._marks: set[int] = set()
        self._last = -1

    def read(self, before: str, raised: str, after: str, *, is_note: bool = False) -> str:
        """Return what stands in a text for `raised`, between the texts `before` and `after`.

        `is_note` says that its markup makes it the mark of a note.
        """
        raised = " ".join(raised.split())
        if is_note or not raised:
            return ""
        if len(raised) > _LONGEST:
            return f" {raised} "
        before, after = before[-CONTEXT:], after[:CONTEXT]
        fitting = (r for r in _rules() if r.fits(before, raised, after, self._language))
        rule = next(fitting)
        says = self._in_series(rule.says, raised)
        if says == "mark":
            self._note(raised)
            return ""
        written = _written(says, before, raised, after, rule.gives)
        joins = _digits_meet(before, written) or _digits_meet(written, after)
        return UNREADABLE if joins else written

    def _in_series(self, says: str, raised: str) -> str:
        number = int(raised) if _NUMBER.fullmatch(raised) else -1
        if says == "serial":
            goes_on = number == 1 or not self._marks.isdisjoint((number, number - 1))
            return "mark" if goes_on else "unknown"
        if says == "unless_serial":
            return "unknown" if number == self._last + 1 else "power"
        return says

    def _note(self, raised: str) -> None:
        for number in map(int, _NUMBER.findall(raised)):
            self._marks.add(number)
            self._last = number


def _digits_meet(before: str, after: str) -> bool:
    return before[-1:].isdigit() and after[:1].isdigit()


def lowered(before: str, text: str, after: str) -> str:
    """Return what stands in a text for a lowered `text`; it never joins digits: H2O, log10 100."""
    text = " ".join(text.split())
    starts = "_" if _digits_meet(before, text) else ""
    ends = " " if _digits_meet(text, after) else ""
    return f"{starts}{text}{ends}"


def readable(text: str) -> tuple[str, int]:
    """Return a text without the sentences that have UNREADABLE, and how many these are."""
    if UNREADABLE not in text:
        return text, 0
    kept: list[str] = []
    at = left_out = 0
    for start, end in segment(text):
        if UNREADABLE in text[start:end]:
            kept.append(text[at:start].rstrip(" "))
            at = end
            left_out += 1
    lines = "".join([*kept, text[at:]]).split("\n")
    return "\n".join(line.strip() for line in lines if line.strip()), left_out


def _written(says: str, before: str, raised: str, after: str, gives: str) -> str:
    plain = raised.replace("−", "-").replace("–", "-").replace("- ", "-")
    if says == "square" and plain in _POWERS:
        return _POWERS[plain]
    if says in ("power", "square"):
        return f"^{plain}" if re.fullmatch(r"[-+]?\w+[-+]?", plain) else f"^({plain})"
    if says == "plain":
        return plain
    if says == "fraction":
        return f" {raised}" if before[-1:].isdigit() else raised
    if says == "apart":
        return f" {raised}" + (" " if after[:1].isalnum() else "")
    return {"degree": "°", "other": gives}.get(says, UNREADABLE)


@cache
def _rules() -> Sequence[_Rule]:
    text = resources.files(__package__).joinpath("superscripts.yaml").read_text("utf-8")
    table = yaml.safe_load(text)

    def pattern(source: str, ending: str = "") -> re.Pattern[str]:
        for name, part in table["parts"].items():
            source = source.replace(f"{{{name}}}", part)
        return re.compile(f"(?:{source}){ending}")

    return [
        _Rule(
            pattern(row.get("before", ""), r"\Z"),
            pattern(row.get("raised", ".*")),
            pattern(row.get("after", "")),
            row.get("languages", ()),
            row["says"],
            row.get("gives", ""),
        )
        for row in table["rules"]
    ]
