"""Read raised and lowered text: marks of notes, powers, ordinals, fractions, isotopes.

`1,200` with a raised 3 is a number and the mark of a note, `10` with a raised 6 is a power. The
rules are in `superscripts.yaml`. Where none can tell, the text has UNREADABLE in its place, and the
sentence is left out.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from ufo.transforms.sentences import segment
from ufo.transforms.sources.web.tables import table

UNREADABLE: Final = "\ufffc"
"""The mark in place of ambiguous text (U+FFFC, the object replacement character)."""
CONTEXT: Final = 60
"""The number of characters before and after raised text that decide its meaning."""

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
        """Return the running text for `raised`, between the texts `before` and `after`.

        `is_note` says that the markup of `raised` makes it the mark of a note.
        """
        raised = " ".join(raised.split())
        if is_note or not raised:
            return ""
        if len(raised) > _LONGEST:
            return f" {raised} "
        before, after = before[-CONTEXT:], after[:CONTEXT]
        rule = next(r for r in _rules() if r.fits(before, raised, after, self._language))
        says = self._in_series(rule.says, raised)
        if says == "mark":
            for self._last in map(int, _NUMBER.findall(raised)):
                self._marks.add(self._last)
            return ""
        if says == "fraction":
            return separate_digits(before, raised, "")
        if says == "apart":
            return f" {raised}" + (" " if after[:1].isalnum() else "")
        written = _written(says, raised, rule.gives)
        return written if written == separate_digits(before, written, after) else UNREADABLE

    def _in_series(self, says: str, raised: str) -> str:
        number = int(raised) if _NUMBER.fullmatch(raised) else -1
        if says == "serial":
            goes_on = number == 1 or number in self._marks or number - 1 in self._marks
            return "mark" if goes_on else "unknown"
        if says == "unless_serial":
            return "unknown" if number - 1 == self._last else "power"
        return says


def separate_digits(before: str, text: str, after: str) -> str:
    """Return a text with a space on each side where it would join digits to others."""
    start = " " if _digits_meet(before, text) else ""
    end = " " if _digits_meet(text, after) else ""
    return f"{start}{text}{end}"


def read_lowered(before: str, text: str, after: str) -> str:
    """Return the running text for a lowered `text`, which never joins digits: H2O, log10 100."""
    text = " ".join(text.split())
    start = "_" if _digits_meet(before, text) else ""
    return start + separate_digits("", text, after)


def _digits_meet(before: str, after: str) -> bool:
    return before[-1:].isdigit() and after[:1].isdigit()


def drop_unreadable(text: str) -> tuple[str, int]:
    """Return a text without the sentences that have UNREADABLE, and the number of these."""
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


def _written(says: str, raised: str, gives: str) -> str:
    plain = raised.replace("−", "-").replace("–", "-").replace("- ", "-")
    if says == "square" and plain in _POWERS:
        return _POWERS[plain]
    if says in ("power", "square"):
        return f"^{plain}" if re.fullmatch(r"[-+]?\w+[-+]?", plain) else f"^({plain})"
    return {"plain": plain, "degree": "°", "other": gives}.get(says, UNREADABLE)


@cache
def _rules() -> Sequence[_Rule]:
    parts = table("superscripts.yaml")["parts"]

    def pattern(source: str, ending: str = "") -> re.Pattern[str]:
        for name, part in parts.items():
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
        for row in table("superscripts.yaml")["rules"]
    ]
