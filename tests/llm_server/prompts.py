"""Reading the project's prompts back: what transforms/judges/llm/__init__.py says of their form."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ufo.transforms.prompts.data import read as read

_TASK = re.compile(r"\ATask: (\w+)$", re.MULTILINE)
_ATTRIBUTE = re.compile(r'(\w+)="([^"]*)"')


@dataclass(frozen=True, slots=True)
class Passage:
    text: str
    title: str | None


@dataclass(frozen=True, slots=True)
class Fact:
    number: int
    claim: str
    query: str
    passages: list[int]


def clear_only(system: str) -> bool:
    """Whether a verdict has to be true or false."""
    return "N: not clear" not in system


def clear_fact(description: str) -> str:
    """The fact of an argument of FaaF's function object."""
    return description.removeprefix("It is clear from the passage that ")


def task(system: str) -> str | None:
    match = _TASK.search(system)
    return match[1] if match else None


def published(user: str) -> str:
    """The word by which a request in a published form, in text alone, is known; "" for others."""
    match = re.search(r"^(Considering|Take|Document|QUESTION)\b", user, re.MULTILINE)
    return match[1] if match else ""


def parameters(system: str) -> dict[str, dict[str, Any]]:
    """The parameters of FaaF's function object in tags, as in the schema of a function."""
    matches = re.findall(
        r"<name>(fact_\w+)</name>\n<values>(.*?)</values>\n<description>(.*?)</description>",
        system,
        re.DOTALL,
    )
    return {
        name: {"enum": values.split(" | "), "description": text} for name, values, text in matches
    }


def elements(tag: str, text: str) -> Iterator[tuple[str, dict[str, str], str]]:
    """Yield (tag, attributes, raw content) of the elements whose tag matches a pattern."""
    pattern = rf'<({tag})((?: \w+="[^"]*")*)>(.*?)</\1>'
    for match in re.finditer(pattern, text, re.DOTALL):
        attributes = {name: read(value) for name, value in _ATTRIBUTE.findall(match[2])}
        yield match[1], attributes, match[3]


def text_of(tag: str, text: str) -> str | None:
    return next((read(content) for _, _, content in elements(tag, text)), None)


def passage_of(attributes: dict[str, str], content: str) -> Passage:
    return Passage(read(content.removeprefix("\n").removesuffix("\n")), attributes.get("title"))


def single_passage(user: str) -> Passage:
    _, attributes, content = next(elements("passage", user))
    return passage_of(attributes, content)


def numbered(letter: str, text: str) -> Iterator[tuple[int, dict[str, str], str]]:
    for tag, attributes, content in elements(rf"{letter}\d+", text):
        yield int(tag[1:]), attributes, content


def passages(user: str) -> dict[int, Passage]:
    inside = next(elements("passages", user))[2]
    return {
        number: passage_of(attributes, content)
        for number, attributes, content in numbered("p", inside)
    }


def facts(user: str) -> list[Fact]:
    inside = next(elements("facts", user))[2]
    return [
        Fact(
            number,
            read(content),
            attributes.get("query", ""),
            _numbers(attributes.get("passages", "1")),
        )
        for number, attributes, content in numbered("f", inside)
    ]


def _numbers(text: str) -> list[int]:
    numbers: list[int] = []
    for item in text.split():
        first, _, last = item.partition("-")
        numbers += range(int(first), int(last or first) + 1)
    return numbers


def sentences(user: str) -> tuple[list[tuple[int, str]], set[int], str | None]:
    """The numbered sentences, which of them begin a paragraph (by position), and the language."""
    _, attributes, inside = next(elements("text", user))
    numbered_texts: list[tuple[int, str]] = []
    starts: set[int] = set()
    end = 0
    for match in re.finditer(r"<s(\d+)>(.*?)</s\1>", inside, re.DOTALL):
        if "\n\n" in inside[end : match.start()]:
            starts.add(len(numbered_texts))
        numbered_texts.append((int(match[1]), read(match[2])))
        end = match.end()
    return numbered_texts, starts, attributes.get("language")
