"""Say how far the verdicts of a judge can be trusted, in one line or in figures.

Terminal, HTML, notebook and page take both from here. What was measured of the shipped verifiers is
in `transforms/verifiers/figures.json`; docs/judging.md explains it.
"""

import json
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final, NamedTuple

from ufo.schemas.errors import UfoError
from ufo.transforms.judges.offline import NAME

LONGEST_LINE: Final = 90
FIGURES: Final = "figures.json"
"""What `benchmarks/accuracy/judge.py` measured of the shipped verifiers, by name and set."""


class _Kind(NamedTuple):
    """A kind of evidence, with the test set that is most like it."""

    words: str
    """How a sentence names the kind."""
    test_set: str
    """The name of the set in the figures."""
    described: str


_MEASURED: Final = {
    "reference": _Kind("reference texts", "given_texts", "health claims, sentences of papers"),
    "wikipedia": _Kind(
        "an encyclopaedia", "encyclopaedia", "climate claims, sentences of Wikipedia"
    ),
    "web": _Kind("web pages", "claims", "claims of ChatGPT, pages that a search found"),
}
"""By type of source."""
_FEW: Final = 10  # claims called contradicted, too few for a share of them
_UNKNOWN: Final = "how often it agrees with people is not known"

# What to do comes first. Each line has at most LONGEST_LINE characters.
_ADVICE: Final = "A first look; for findings use a model"
_NOT_MEASURED: Final = "It was not measured on evidence of this kind."
_OF_OTHERS: Final = (
    "How often this judge is right was not measured: read the evidence, or label a sample."
)


def trust_line(
    judges: Iterable[str], models: Iterable[str], types: Iterable[str], stated: str = ""
) -> str:
    """Return a line of advice on how far to trust verdicts; "" where nothing was judged.

    Args:
        judges: the names of the judges that gave the verdicts.
        models: values of the column `model`, of the offline judge's verifiers.
        types: the types of the sources whose evidence was judged.
        stated: what the class of a verifier that is not installed says of its accuracy.

    Example:
        >>> trust_line(["llm"], ["m"], ["web"])
        'How often this judge is right was not measured: read the evidence, or label a sample.'
    """
    names, kinds = set(judges), list(dict.fromkeys(types))
    if not names or not kinds:
        return ""
    if NAME not in names:
        return _OF_OTHERS
    if not (named := list(dict.fromkeys(models))):
        return ""  # no verifier was asked
    recalls: list[float] = []
    for model in named:
        by_its_author = _stated(model) or stated
        if by_its_author:
            line = f"{_ADVICE}. The verifier's author says: {by_its_author}."
            return line if len(line) <= LONGEST_LINE else f"{_ADVICE}."
        figures = _figures().get(_name_of(model), {}) if _is_installed(model) else {}
        for kind in kinds:
            measured = figures.get(_MEASURED[kind].test_set) if kind in _MEASURED else None
            if not measured:
                return f"{_ADVICE}. {_NOT_MEASURED}"
            recalls.append(measured["refuted_recall"])
    words = _MEASURED[kinds[0]].words if len(kinds) == 1 else "these sources"
    return f"{_ADVICE}. With {words} it finds {_share_in_words(min(recalls))} false claims."


def _share_in_words(share: float) -> str:
    """Return the word for a share of false claims that are found: few, some or many."""
    if share < 0.2:
        return "few"
    return "some" if share < 0.5 else "many"


def trust_figures(models: Iterable[str], types: Iterable[str], stated: str = "") -> str:
    """Return how far verifiers can be trusted on evidence of these types of sources, in figures.

    `models` are values of the column `model`; "" where nothing was judged. The figures hold for the
    shipped version of a verifier, not for other versions. `stated` is what the class of another
    says of its accuracy.
    """
    kinds = list(dict.fromkeys(types))
    if not kinds:
        return ""
    return " ".join(_of_model(model, kinds, stated) for model in dict.fromkeys(models))


def verifier_figures(verifier: str) -> str:
    """Return how far a verifier can be trusted on each kind of evidence, in figures."""
    # A command whose judge is a model needs no verifier, and starts faster without.
    from ufo.transforms.verifiers.by_name import make_verifier

    loaded = make_verifier(verifier)
    return _sentence(loaded.name, loaded.accuracy() or _measured(verifier, _MEASURED))


def _of_model(model: str, types: Iterable[str], stated: str) -> str:
    name, known = _name_of(model), _stated(model) or stated or _UNKNOWN
    if _is_installed(model) and not _stated(model):
        known = _measured(name, types)
    return _sentence(name, known)


def _stated(model: str) -> str:
    """Return the accuracy that the class of an installed verifier states."""
    # As above.
    from ufo.transforms.verifiers.by_name import make_verifier

    return make_verifier(_name_of(model)).accuracy() if _is_installed(model) else ""


def _name_of(model: str) -> str:
    return model.rpartition("@")[0] or model


def _is_installed(model: str) -> bool:
    """Return whether a model names an installed verifier in the version that is installed."""
    # As above.
    from ufo.transforms.verifiers.by_name import VERIFIERS, model_column

    try:
        return _name_of(model) in VERIFIERS.types() and model_column(_name_of(model)) == model
    except (UfoError, OSError):  # a verifier that is not on this machine
        return False


def _sentence(name: str, known: str) -> str:
    return f"Verifier {name} (a first look; for findings use a language model): {known}."


def _measured(name: str, types: Iterable[str]) -> str:
    measured, parts = _figures().get(name, {}), []
    for type_ in types:
        kind = _MEASURED.get(type_, _Kind(f"evidence of the source {type_}", "", ""))
        figures = measured.get(kind.test_set)
        if figures is None:
            parts.append(f"with {kind.words} {_UNKNOWN}")
            continue
        n, called = figures["n"], round(figures["refuted_called"])
        share = (
            f"of 10 claims that it calls contradicted {_of_ten(figures['refuted_precision'])} are"
        )
        if called < _FEW:
            right = round(figures["refuted_precision"] * called) or "none"
            share = f"it called {called or 'none'} of {n:,} claims contradicted"
            share += f", {right} of them rightly" if called else ""
        finds = f"of 10 false claims it finds {_of_ten(figures['refuted_recall'])}"
        parts.append(f"with {kind.words} {share}, and {finds} ({n:,} {kind.described})")
    return "; ".join(parts) or _UNKNOWN


def _of_ten(share: float) -> str:
    tenths = round(10 * share)
    return f"about {tenths}" if tenths else "hardly any" if share else "none"


@cache
def _figures() -> Mapping[str, Any]:
    path = files("ufo.transforms.verifiers") / FIGURES
    figures: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return figures
