"""Find the category of a hostname (as in Facts&Evidence), and select passages by it.

`categories.yaml` has the categories of well-known hosts. For a host without a rule a language model
is asked. The prompt has only the hostname, so a host is one entry in the cache of requests,
whichever page or run asks for it.

Task: hostname_category, role verifier, step category; text: one of the kinds::

    <host>the-herald.example</host>

`hosts_chosen` selects the passages of a vote by category and domain.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING

from ufo.schemas.errors import UsageError, unknown_value
from ufo.schemas.records import CATEGORIES
from ufo.schemas.text import host_named, host_of
from ufo.transforms.llm.request import WHOLE
from ufo.transforms.scores import OTHER, Selection
from ufo.transforms.sources.web.tables import table

if TYPE_CHECKING:
    from ufo.transforms.judges.llm.asking import Asker
    from ufo.transforms.llm.request import Choice

_WORD = re.compile(rf"\b({'|'.join(CATEGORIES)})\b")
_SECOND_LEVELS = ("ac", "co", "com", "edu", "gov", "ne", "net", "or", "org")  # as in co.uk


@cache
def _rules() -> dict[str, dict[str, str]]:
    """Return the category of each entry of `categories.yaml`, by the kind of its list."""
    rules: dict[str, dict[str, str]] = {"domains": {}, "suffixes": {}, "subdomains": {}}
    for category, lists in table("categories.yaml").items():
        for shape, entries in lists.items():
            rules[shape] |= dict.fromkeys(entries, category)
    return rules


def category_of(hostname: str) -> str | None:
    """Return the category of a hostname, or None without a rule.

    An address (127.0.0.1) or a name of this machine has none.
    """
    host = host_named(hostname).removeprefix("www.")
    if not _is_name(host):
        return None
    rules, parts = _rules(), host.split(".")
    endings = [".".join(parts[start:]) for start in range(len(parts))]
    of_country = len(parts) > 2 and parts[-2] in _SECOND_LEVELS and len(parts[-1]) == 2
    domains = [*endings, f"{parts[-3 if of_country else -2]}.*"]
    # "gov.??" matches every country.
    suffixes = [*endings, f"{parts[-2]}.??" if len(parts[-1]) == 2 else ""]
    known = [rules["domains"].get(one) for one in domains]
    known += [rules["suffixes"].get(one) for one in suffixes]
    if len(parts) > 2:
        known.append(rules["subdomains"].get(parts[0]))
    return next(filter(None, known), None)


def _is_name(host: str) -> bool:
    """Return whether this can be the name of a public host: not an address, not "localhost"."""
    return "." in host and not host.rsplit(".", 1)[1].isdigit()


# --- hostnames ----------------------------------------------------------------------------------


def hostname_of(url: str | None) -> str:
    """Return the hostname of a URL without `www.`; "" where it has none."""
    return host_of(url).removeprefix("www.")


# --- hosts that no rule knows -----------------------------------------------------------------


async def kind_of(host: str, asker: "Asker | None" = None) -> str:
    """Return the category of a host: by the rules, else by the model, else `other`.

    Without an `asker` (the offline judge) no model is asked. After a failed request, or a reply
    without a category, it is `other` and not cached: the next run asks again. Requests are in the
    asker's usage, and a reply without a category is in its failures.

    Raises:
        LlmError: no request can succeed (`final`).
    """
    host, known = host_named(host), category_of(host)
    if known or asker is None or not _is_name(host):
        return known or OTHER
    # Not needed where no model is asked.
    from ufo.transforms.judges.llm.asking import Question
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
    """Return the category that a reply names; None if it names none, or several."""
    if choice.refusal or choice.ending != WHOLE:
        return None
    named = set(_WORD.findall(choice.text.lower()))
    return named.pop() if len(named) == 1 else None


# --- what is let into a vote --------------------------------------------------------------------


def hosts_chosen(
    include_categories: Sequence[str] = (),
    exclude_categories: Sequence[str] = (),
    include_domains: Sequence[str] = (),
    exclude_domains: Sequence[str] = (),
) -> Selection:
    """Return the selection of passages by category and domain of their hosts.

    A domain includes its subdomains, and may have wildcards ("*.gov", "news.*").

    Raises:
        UsageError: a value is not a category or domain.
    """
    for flag, kinds in (
        ("include_categories", include_categories),
        ("exclude_categories", exclude_categories),
    ):
        for kind in kinds:
            if kind not in CATEGORIES:
                raise UsageError(unknown_value(f"--{flag}", kind, CATEGORIES))
    return Selection(
        without_categories=exclude_categories,
        only_categories=include_categories or None,
        without_domains=_patterns("exclude_domains", exclude_domains),
        only_domains=_patterns("include_domains", include_domains) or None,
    )


def _patterns(flag: str, domains: Iterable[str]) -> list[str]:
    """Return domains in the form of hostnames."""
    patterns = []
    for domain in domains:
        pattern = host_named(domain, wild=True).removeprefix("www.")
        if not pattern:
            raise UsageError(
                f"--{flag} {domain!r} is not a domain; write it as in example.org or *.gov, "
                "without http:// and path"
            )
        patterns.append(pattern)
    return patterns
