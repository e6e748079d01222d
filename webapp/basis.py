"""Describe the basis of a result: the judge and how far to trust it, the sources, the language."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ufo.indexes.manifest import read_manifest
from ufo.schemas.errors import UfoError
from ufo.schemas.records import Response
from ufo.transforms.english.language import is_english
from ufo.transforms.judges.offline import NAME, trust
from ufo.webapp.answers import Basis

_UNKNOWN = "How often it agrees with people is not known here: `ufo label` measures it."
Asked = tuple[str, str, Mapping[str, Any]]
"""The name, type and options of a source."""


def basis(
    judge: str,
    models: Iterable[str],
    judged: Sequence[str],
    sources: Sequence[Asked],
    response: Response,
) -> Basis:
    """Return the basis to show beside a result.

    Args:
        judge: its name; `models` are those whose verdicts count, or that are going to be asked.
        judged: the types of the sources whose evidence they judge.
        sources: in the order they are asked.
        response: the one judged.
    """
    models = list(dict.fromkeys(models))
    named = ", ".join(models)
    who = f"{judge} ({named})" if named else judge
    return Basis(
        judge=f"Judge {who}.",
        trust=trust(models, judged) if judge == NAME else _UNKNOWN if judged else "",
        sources=[_described(*one, response) for one in sources],
        language=_language(response),
    )


def _described(name: str, type_: str, options: Mapping[str, Any], response: Response) -> str:
    if type_ == "reference":
        given = response.n_references
        return f"{name}: {given or 'no'} given {'text' if given == 1 else 'texts'}"
    if type_ == "wikipedia" and options.get("index"):
        return f"{name}: {size_of(str(options['index']))}"
    if type_ == "web":
        return f"{name}: pages found by {options.get('search') or 'a web search'}"
    if type_ == "llm":
        return f"{name}: what {options.get('knowledge_model') or 'a language model'} knows"
    return name


def size_of(folder: str) -> str:
    """Return the numbers of articles and passages of an index and its date, in words."""
    try:
        manifest, _ = read_manifest(Path(folder))
    except (UfoError, OSError):
        return f"the index {folder}, which is not on this machine"
    counts, dated = manifest["counts"], manifest.get("dump_date")
    size = f"an index of {counts['articles']:,} articles, {counts['passages']:,} passages"
    return f"{size}, dump of {dated}" if dated else size


def _language(response: Response) -> str:
    if is_english(response.text, response.language):
        return f"{response.language} (given)" if response.language else "English, as far as seen"
    return f"{response.language or 'not English, as far as seen'}: the offline judge knows English"
