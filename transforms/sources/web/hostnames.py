"""What kind of place a hostname is that no rule knows: a language model is asked, once.

The prompt holds the hostname and nothing else, so that a host is one entry of the cache of
requests, whichever page or run asks for it.

Task: hostname_category, role verifier, step category; text: one of the kinds::

    <host>the-herald.example</host>
"""

import asyncio
import re
from collections.abc import Iterable, Mapping

from schemas.records import CATEGORIES
from transforms.judges.llm.asking import Asker
from transforms.llm.base import Choice
from transforms.prompts.data import element
from transforms.sources.web.categories import OTHER, Categories, normal

PROMPT = "hostname_category_system"
STEP = "category"

_WORD = re.compile(rf"\b({'|'.join(CATEGORIES)})\b")
_MAX_HOST = 253  # characters of a name in the DNS (RFC 1035)


async def kinds_of(
    hostnames: Iterable[str], rules: Categories, asker: Asker | None = None
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


async def _asked(host: str, asker: Asker) -> str:
    reply = await asker.ask(asker.prompts[PROMPT], element("host", host), keep=_says)
    if reply.error:
        return OTHER
    kind = kind_in(reply.choice)
    if kind is None:
        asker.failed(reply, f"the kind of {host}")
    return kind or OTHER


def kind_in(choice: Choice) -> str | None:
    """Return the one kind that a reply names; None where it names none, or several."""
    if choice.refusal or choice.finish_reason in ("length", "content_filter"):
        return None
    named = set(_WORD.findall(choice.text.lower()))
    return named.pop() if len(named) == 1 else None


def _says(choice: Choice) -> bool:
    return kind_in(choice) is not None


def _is_name(host: str) -> bool:
    """Tell whether this can be the name of a public host: not an address, not "localhost"."""
    return 0 < len(host) <= _MAX_HOST and "." in host and not host.rsplit(".", 1)[1].isdigit()
