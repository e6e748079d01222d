"""What kind of place a hostname is (Facts&Evidence's kinds), and which places are let in.

The kinds of well-known places stand in `categories.yaml`; `Categories` looks them up. The kind of a
host that no rule knows is asked of a language model. The prompt holds the hostname and nothing
else, so that a host is one entry of the cache of requests, whichever page or run asks for it.

Task: hostname_category, role verifier, step category; text: one of the kinds::

    <host>the-herald.example</host>

Which passages go into a vote is `HostSelection`: by kind and by registered domain.
"""

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Final

import yaml

from ufo.schemas.errors import UsageError, unknown_value
from ufo.schemas.records import CATEGORIES
from ufo.schemas.text import host_named, host_of, is_address

if TYPE_CHECKING:
    from ufo.transforms.judges.llm.asking import Asker
    from ufo.transforms.llm.request import Choice

OTHER: Final = "other"

_SHAPES = ("domains", "suffixes", "subdomains")
_WORD = re.compile(rf"\b({'|'.join(CATEGORIES)})\b")
_SECOND_LEVELS = ("ac", "co", "com", "edu", "gov", "ne", "net", "or", "org")  # as in co.uk


@dataclass(frozen=True, slots=True)
class Categories:
    """The rules: domain or hostname, pattern of a suffix, first part of a hostname, to a kind.

    `suffixes` are without wildcards except `?`, which stands for one letter of a country's code.
    """

    domains: Mapping[str, str]
    suffixes: Mapping[str, str]
    subdomains: Mapping[str, str]

    def of(self, hostname: str) -> str | None:
        """Return the kind of a hostname, or None where no rule says.

        A hostname of an address alone (127.0.0.1) or of this machine has none.
        """
        host = normal(hostname)
        if "." not in host or is_address(host):
            return None
        parts = host.split(".")
        for start in range(len(parts)):
            kind = self.domains.get(".".join(parts[start:]))
            if kind:
                return kind
        of_country = len(parts) > 2 and parts[-2] in _SECOND_LEVELS and len(parts[-1]) == 2
        kind = self.domains.get(f"{parts[-3 if of_country else -2]}.*")
        if kind:
            return kind
        for start in range(len(parts)):
            kind = self._of_suffix(".".join(parts[start:]))
            if kind:
                return kind
        return self.subdomains.get(parts[0]) if len(parts) > 2 else None

    def _of_suffix(self, ending: str) -> str | None:
        kind = self.suffixes.get(ending)
        if kind or ending.count(".") != 1 or ending[-3:-2] != ".":
            return kind
        return self.suffixes.get(f"{ending[:-2]}??")


def load_categories(path: str | None = None) -> Categories:
    """Return the shipped rules, those of a file of the same shape before them.

    Raises:
        UsageError: the file cannot be read, is not YAML of that shape, names a category or a shape
            that there is none of, or gives one entry to two categories.
    """
    shipped = resources.files(__package__).joinpath("categories.yaml").read_text("utf-8")
    rules = _rules(shipped, "categories.yaml")
    if path:
        try:
            text = Path(path).read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"--categories {path!r} cannot be read: {error}") from error
        own = _rules(text, path)
        rules = {shape: rules[shape] | own[shape] for shape in _SHAPES}
    return Categories(**rules)


@cache
def shipped_categories() -> Categories:
    """Return the shipped rules."""
    return load_categories()


def _rules(text: str, path: str) -> dict[str, dict[str, str]]:
    try:
        stated = [
            (shape, entry, category)
            for category, lists in yaml.safe_load(text).items()
            for shape, entries in lists.items()
            for entry in (entries if isinstance(entries, list) else [entries])
        ]
    except (yaml.YAMLError, AttributeError) as error:
        raise UsageError(
            f"{path} is not a table of categories in YAML ({error}); give categories, each with "
            "lists named domains, suffixes or subdomains"
        ) from error
    rules: dict[str, dict[str, str]] = {shape: {} for shape in _SHAPES}
    for shape, entry, category in stated:
        if category not in CATEGORIES:
            raise UsageError(f"{path}: {unknown_value('category', str(category), CATEGORIES)}")
        if shape not in _SHAPES:
            raise UsageError(f"{path}: {unknown_value('list', str(shape), _SHAPES)}")
        name = host_named(entry.strip().lstrip("."), wild=True) if isinstance(entry, str) else ""
        # YAML takes an unquoted `no` for a truth value: the country of Norway must be quoted.
        if not name:
            said = f"{path}: {entry!r} under {category} is not a domain"
            raise UsageError(f"{said}; write it as a text")
        if rules[shape].setdefault(name, category) != category:
            both = f"{rules[shape][name]} and {category}"
            raise UsageError(f"{path}: {name!r} is under {both}; keep one")
    return rules


# --- hostnames ----------------------------------------------------------------------------------


def normal(hostname: str | None) -> str:
    """Return a hostname as `host_named` writes it, without `www.`; "" for what is none."""
    return host_named(hostname).removeprefix("www.")


def pattern(domain: str) -> str:
    """Return a domain that may have wildcards ("*.gov") as `normal` writes it; "" for none."""
    return host_named(domain, wild=True).removeprefix("www.")


def hostname_of(url: str | None) -> str:
    """Return the hostname of a URL as `normal` writes it; "" where it has none."""
    return host_of(url).removeprefix("www.")


# --- hosts that no rule knows -----------------------------------------------------------------


async def kinds_of(
    hostnames: Iterable[str], rules: Categories, asker: "Asker | None" = None
) -> Mapping[str, str]:
    """Return the kind of each hostname: by the rules, else by the model, else `other`.

    Without an `asker` (the offline judge) no model is asked. A request that fails, or a reply that
    names no kind, leaves `other`, and is not kept: the next run asks again. What was sent is in
    the asker's usage, a reply without a kind in its failures.

    Raises:
        LlmError: no request can succeed (`final`).
    """
    kinds: dict[str, str] = {}
    unknown: dict[str, list[str]] = {}
    for hostname in dict.fromkeys(hostnames):
        known = rules.of(hostname)
        if known or asker is None or not _is_name(normal(hostname)):
            kinds[hostname] = known or OTHER
        else:
            unknown.setdefault(normal(hostname), []).append(hostname)
    if asker is not None:
        asked = await asyncio.gather(*(_asked(host, asker) for host in unknown))
        for spellings, kind in zip(unknown.values(), asked, strict=True):
            kinds.update(dict.fromkeys(spellings, kind))
    return kinds


async def _asked(host: str, asker: "Asker") -> str:
    from ufo.transforms.judges.llm.asking import Question  # which imports this package's base
    from ufo.transforms.prompts.data import element

    question = Question(asker.prompts["hostname_category_system"], element("host", host))
    reply = await asker.ask(question, keep=lambda choice: kind_in(choice) is not None)
    if reply.error:
        return OTHER
    kind = kind_in(reply.choice)
    if kind is None:
        asker.failed(reply, f"the kind of {host}")
    return kind or OTHER


def kind_in(choice: "Choice") -> str | None:
    """Return the one kind that a reply names; None where it names none, or several."""
    if choice.refusal or choice.finish_reason in ("length", "content_filter"):
        return None
    named = set(_WORD.findall(choice.text.lower()))
    return named.pop() if len(named) == 1 else None


def _is_name(host: str) -> bool:
    """Return whether this can be the name of a public host: not an address, not "localhost"."""
    return "." in host and not host.rsplit(".", 1)[1].isdigit()


# --- what is let into a vote --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class HostSelection:
    """Which passages may vote: none that is excluded; where any are included, only those.

    Kinds are of CATEGORIES; a domain stands for itself and all below it, and may have wildcards
    ("*.gov", "news.*").
    """

    include_categories: Sequence[str] = ()
    exclude_categories: Sequence[str] = ()
    include_domains: Sequence[str] = ()
    exclude_domains: Sequence[str] = ()

    def __post_init__(self) -> None:
        """Check the values; UsageError where one is not a category or domain."""
        for flag in ("include_categories", "exclude_categories"):
            for value in getattr(self, flag):
                if value not in CATEGORIES:
                    raise UsageError(unknown_value(f"--{flag}", value, CATEGORIES))
        for flag in ("include_domains", "exclude_domains"):
            for value in getattr(self, flag):
                if not pattern(value):
                    raise UsageError(
                        f"--{flag} {value!r} is not a domain; write it as in example.org or *.gov, "
                        "without http:// and path"
                    )

    def __bool__(self) -> bool:
        """Return whether anything is left out."""
        kinds = *self.include_categories, *self.exclude_categories
        return bool(kinds or self.include_domains or self.exclude_domains)

    def admits_host(self, hostname: str) -> bool:
        """Return whether passages of a hostname may vote, whatever kind it is."""
        if _any_covers(self.exclude_domains, hostname):
            return False
        return not self.include_domains or _any_covers(self.include_domains, hostname)

    def admits(self, hostname: str, category: str) -> bool:
        """Return whether passages of a hostname of this kind may vote."""
        if category in self.exclude_categories:
            return False
        if self.include_categories and category not in self.include_categories:
            return False
        return self.admits_host(hostname)


def _any_covers(domains: Iterable[str], hostname: str) -> bool:
    host = normal(hostname)
    wanted = map(pattern, domains)
    return any(fnmatchcase(host, one) or fnmatchcase(host, f"*.{one}") for one in wanted)
