"""Ask a language model for the category of a web host that no rule knows.

The prompt has only the hostname, so a host is one entry in the cache of requests, whichever page or
run asks for it.

Task: hostname_category, role verifier, step category; text: one of the kinds::

    <host>the-herald.example</host>
"""

import re
from typing import TYPE_CHECKING

from ufo.schemas.records import CATEGORIES
from ufo.schemas.text import host_named
from ufo.transforms.llm.request import WHOLE
from ufo.transforms.scores import OTHER
from ufo.transforms.sources.host_categories import category_of, is_public_name

if TYPE_CHECKING:
    from ufo.transforms.judges.llm.asking import Asker
    from ufo.transforms.llm.request import Choice

_WORD = re.compile(rf"\b({'|'.join(CATEGORIES)})\b")


async def kind_of(host: str, asker: "Asker | None" = None) -> str:
    """Return the category of a host: by the rules, else by the model, else `other`.

    Without an `asker` (the offline judge) no model is asked. After a failed request, or a reply
    without a category, the result is `other` and not cached: the next run asks again. Requests are
    in the asker's usage, and a reply without a category is in its failures.

    Raises:
        LlmError: no request can succeed (`final`).
    """
    host, known = host_named(host), category_of(host)
    if known or asker is None or not is_public_name(host):
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
        asker.record_failure(reply, f"the kind of {host}")
    return kind or OTHER


def kind_in(choice: "Choice") -> str | None:
    """Return the category that a reply names; None if it names none, or several."""
    if choice.refusal or choice.ending != WHOLE:
        return None
    named = set(_WORD.findall(choice.text.lower()))
    return named.pop() if len(named) == 1 else None
