"""Estimate tokens, to keep requests within a model's context.

Tokens are estimated without a model's vocabulary. A text is split into words, short runs of digits
and runs of punctuation, as by the pre-tokenizer of GPT-2 and most later models. Words over 8
letters count as several tokens. Limits of cost and rate use an upper bound instead.

The size of the context is set by the user (`--context`), or is named by the server or by its error.
"""

import json
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, Final

from ufo.transforms.llm.errors import Overflow

_LETTERS: Final = 8  # letters of a word for each token
_BLANKS: Final = 4  # blanks for each token, where there are several: as in code
_OTHERS: Final = 2  # letters outside ASCII for each token, but for those that stand for a word
_ASCII_TOKENS: Final = re.compile(
    rf"[A-Za-z]{{1,{_LETTERS}}}|\d{{1,3}}|[^\w\s]{{1,2}}|_{{1,{_LETTERS}}}|\s{{2,{_BLANKS}}}"
)
# Han, kana and Hangul count as a token each.
_TOKENS: Final = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
    rf"|[A-Za-z]{{1,{_LETTERS}}}|[^\W\d_]{{1,{_OTHERS}}}|\d{{1,3}}|[^\w\s]{{1,2}}|_{{1,{_LETTERS}}}"
    rf"|\s{{2,{_BLANKS}}}"
)
_PER_MESSAGE: Final = 4  # tokens of the template around a message
_MARGIN: Final = 1.1  # for prompts with more tokens a word than the earlier ones
_SPARE: Final = 16  # tokens of a chat template
_SURE: Final = 0.8  # lower bound of the true count, as a factor of the estimate
_SHORT: Final = 256  # tokens; in a shorter prompt the chat template dominates the count
_HIGHEST: Final = 8  # upper bound of the true count, as a factor of the estimate
_SIZES: Final = range(128, 2**31)  # of a context
_MORE: Final = 1.3  # factor on the ratio after a prompt that should have fitted was refused
_LOWER: Final = 0.75  # the assumed context, as a share of a prompt refused as too long
_FEWEST_BYTES: Final = 3  # of a token, on average
_FEW: Final = 4000  # characters: a shorter prompt fits everywhere
_DENSEST: Final = 12  # characters of a token, more than in any language on average


@lru_cache(maxsize=256)  # many requests share the system message and the function
def count(text: str) -> int:
    """Estimate the tokens of a text."""
    return len((_ASCII_TOKENS if text.isascii() else _TOKENS).findall(text))


def prompt_tokens(body: Mapping[str, Any]) -> int:
    """Estimate the tokens of the prompt of a request's JSON, including functions."""
    total = sum(_PER_MESSAGE + count(message["content"]) for message in body["messages"])
    for name in ("tools", "response_format"):
        if name in body:
            total += count(json.dumps(body[name], ensure_ascii=False))
    return total


def tokens_at_most(body: Mapping[str, Any]) -> int:
    """Return the most tokens that a request's JSON may have, for limits of cost and rate."""
    return len(json.dumps(body, ensure_ascii=False).encode()) // _FEWEST_BYTES + 1


def far_fewer(body: Mapping[str, Any], counted: int | None) -> bool:
    """Return whether an endpoint counted far fewer tokens than a request's messages can have."""
    characters = sum(len(message["content"]) for message in body["messages"])
    return bool(counted) and characters > _FEW and (counted or 0) * _DENSEST < characters


class Context:
    """The size of the context of one model at one endpoint, as far as this run knows it.

    The methods take prompts in estimated tokens, and correct them by the ratio of the tokens that
    the endpoint counted to the estimate.
    """

    def __init__(self, size: int | None = None) -> None:
        self.size = size
        """The tokens that prompt and reply may have together, None while unknown."""
        self._guess: int | None = None  # where an error names no size
        self._ratio = 1.0

    @property
    def known(self) -> bool:
        """Whether the size is known, or guessed from a refusal."""
        return bool(self.size or self._guess)

    def room(self, prompt: int) -> int | None:
        """Return the estimated tokens that fit beside a prompt, None where they are unknown."""
        size = self.size or self._guess
        return None if size is None else max(0, int(self._left(prompt, size) / self._ratio))

    def limit(self, prompt: int, most: int, expects: int) -> int:
        """Return the token limit of a reply: at most `most`, at least `expects`.

        Between them it is what the prompt leaves. A guessed size is ignored: it may be too low.
        """
        if self.size is None:
            return most
        return min(most, max(self._left(prompt, self.size), expects, 1))

    def hopeless(self, prompt: int) -> bool:
        """Return whether a prompt is certainly too long."""
        return self.size is not None and _SURE * self._ratio * prompt > self.size

    def counted(self, prompt: int, tokens: int | None) -> None:
        """Correct the ratio by the tokens that the endpoint counted in a prompt.

        Only a higher ratio counts: some servers count only the part of a prompt that they had not
        read before. A number that no vocabulary can give is ignored.
        """
        if tokens and prompt >= _SHORT and tokens <= _HIGHEST * prompt:
            self._ratio = max(self._ratio, tokens / prompt)

    def refused(self, prompt: int, limit: int, expects: int, overflow: Overflow) -> bool:
        """Record that a request was refused as too long; return whether a lower limit may help.

        `limit` was the token limit of its reply.
        """
        if overflow.prompt:
            self.counted(prompt, overflow.prompt)
        named = overflow.context or 0
        if named not in _SIZES:
            self._guess = min(self._guess or prompt, int(_LOWER * self._ratio * prompt))
        else:
            self.size = named
            if not overflow.prompt and self._ratio * prompt + limit <= self.size:
                self._ratio *= _MORE
        fits = self.size is not None and self.size - self._ratio * prompt >= expects
        return fits and self.limit(prompt, limit, expects) < limit

    def _left(self, prompt: int, size: int) -> int:
        return int(size - _MARGIN * self._ratio * prompt) - _SPARE


# --- the context that servers state ------------------------------------------------------------

Look = Callable[[str, Mapping[str, Any] | None], Awaitable[Any]]
"""Asks a server: a path, or a whole URL, and the JSON to post. Returns JSON, None for an error."""

# The fields in which servers give the size, the one in use before the largest possible.
_NAMES: Final = (
    "loaded_context_length",  # LM Studio
    "n_ctx",  # llama.cpp
    "num_ctx",  # Ollama
    "max_model_len",  # vLLM, SGLang
    "max_seq_len",  # TabbyAPI
    "ctx_len",  # Jan
    "context_length",  # OpenRouter, Together, Ollama
    "context_window",  # Groq
    "context_size",  # Novita
    "max_context_window_tokens",  # GitHub Copilot
    "max_input_tokens",  # LiteLLM, GitHub Models
    "max_total_tokens",  # TGI
    "max_context_length",  # Mistral, LM Studio
)
_KOBOLDCPP: Final = "/api/extra/true_max_context_length"
_SET: Final = re.compile(r"^(num_ctx)\s+(\d+)", re.MULTILINE)  # in Ollama's text of parameters


async def stated_context(look: Look, url: str, model: str, own: bool) -> int | None:
    """Return the size of a model's context that a server states, None where it does not.

    The list of models is asked for (`/v1/models`). A server of the user's `own` is also asked as
    llama.cpp (`/props`), LM Studio (`/api/v0/models`), Ollama (`/api/ps`, `/api/show`), TGI
    (`/info`), TabbyAPI (`/v1/model`) and KoboldCpp.
    """
    root = url.partition("?")[0].rstrip("/").removesuffix("/v1")
    places: list[tuple[str, Mapping[str, Any] | None]] = [("/models", None)]
    if own:
        paths = ("/props", "/api/v0/models", "/api/ps", "/info", "/v1/model", _KOBOLDCPP)
        places += [(root + path, None) for path in paths]
        places.insert(4, (f"{root}/api/show", {"model": model}))
    for path, body in places:
        if size := size_in(await look(path, body), model):
            return size
    return None


def size_in(payload: Any, model: str) -> int | None:
    """Return the size of a model's context in a server's description of its models or of itself."""
    if isinstance(payload, Mapping):
        if [*payload] == ["value"]:  # KoboldCpp
            payload = {_NAMES[0]: payload["value"]}
        listed = payload.get("data", payload.get("models"))
        payload = listed if isinstance(listed, list) else payload
    if isinstance(payload, list):  # Together lists its models without an object around them
        payload = _entry(payload, model)
    sizes = dict(reversed([*_numbers(payload)]))
    return next((sizes[name] for name in _NAMES if name in sizes), None)


def _entry(listed: list[Any], model: str) -> Any:
    """Return the entry of a model in a list, or the only entry."""
    entries = [entry for entry in listed if isinstance(entry, Mapping)]
    for name in ("id", "model", "name"):
        for entry in entries:
            if entry.get(name) in (model, f"{model}:latest"):
                return entry
    return entries[0] if len(entries) == 1 else None


def _numbers(described: Any) -> Iterator[tuple[str, int]]:
    """Yield the names and values of the fields that can be sizes, at any depth of objects."""
    if not isinstance(described, Mapping):
        return
    for field, value in described.items():
        name = str(field).rpartition(".")[2]  # Ollama: "llama.context_length"
        yield from _numbers(value)
        if name == "parameters" and isinstance(value, str):
            yield from ((match[1], int(match[2])) for match in _SET.finditer(value))
        elif (size := str(value).removesuffix(".0")).isdecimal() and int(size) in _SIZES:
            yield name, int(size)
