"""The offline judge: claims by rules, verdicts by a small model, without network and LLM."""

import json
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final

from ufo.schemas.errors import UfoError

NAME: Final = "offline"
FIGURES: Final = "figures.json"
"""What `benchmarks/accuracy/judge.py` measured of the shipped verifiers, by name and set."""
_MEASURED: Final = {
    "reference": ("reference texts", "given_texts", "health claims, sentences of papers"),
    "wikipedia": ("an encyclopaedia", "encyclopaedia", "climate claims, sentences of Wikipedia"),
    "web": ("web pages", "claims", "claims of ChatGPT, pages that a search found"),
}
"""By type of source: the kind of evidence, the test set most like it, and a description of the
set."""
_FEW: Final = 10  # claims called contradicted, too few for a share of them
_UNKNOWN: Final = "how often it agrees with people is not known"


def judged_by(verifier: str | None = None) -> str:
    """Return a sentence for users: the verifier that judges, and how far it can be trusted.

    None is the default verifier.
    """
    # A run whose judge is a model needs no verifier, and starts faster without.
    from ufo.transforms.verifiers.by_name import DEFAULT_VERIFIER, make_verifier

    name = verifier or DEFAULT_VERIFIER
    made = make_verifier(name)
    return _sentence(made.name, made.accuracy() or _measured(name, _MEASURED))


def trust(models: Iterable[str], types: Iterable[str], said: str = "") -> str:
    """Return how far the verifiers can be trusted on evidence of these types of sources.

    `models` are values of the column `model`; "" where nothing was judged. The figures hold for the
    shipped version of a verifier, not for other versions. `said` is what the class of another says
    of its accuracy.
    """
    kinds = list(dict.fromkeys(types))
    if not kinds:
        return ""
    return " ".join(_of_model(model, kinds, said) for model in dict.fromkeys(models))


def _of_model(model: str, types: Iterable[str], said: str) -> str:
    # As above.
    from ufo.transforms.verifiers.by_name import VERIFIERS, make_verifier, shown

    name, known = model.rpartition("@")[0] or model, said or _UNKNOWN
    try:
        if name in VERIFIERS.types() and shown(name) == model:
            known = make_verifier(name).accuracy() or _measured(name, types)
    except (UfoError, OSError):  # a verifier that is not on this machine
        pass
    return _sentence(name, known)


def _sentence(name: str, known: str) -> str:
    return f"Verifier {name} (a first look; for findings use a language model): {known}."


def _measured(name: str, types: Iterable[str]) -> str:
    measured, said = _figures().get(name, {}), []
    for type_ in types:
        kind, of, what = _MEASURED.get(type_, (f"evidence of the source {type_}", "", ""))
        found = measured.get(of)
        if found is None:
            said.append(f"with {kind} {_UNKNOWN}")
            continue
        n, called = found["n"], round(found["refuted_called"])
        share = f"of 10 claims that it calls contradicted {_of_ten(found['refuted_precision'])} are"
        if called < _FEW:
            right = round(found["refuted_precision"] * called) or "none"
            share = f"it called {called or 'none'} of {n:,} claims contradicted"
            share += f", {right} of them rightly" if called else ""
        finds = f"of 10 false claims it finds {_of_ten(found['refuted_recall'])}"
        said.append(f"with {kind} {share}, and {finds} ({n:,} {what})")
    return "; ".join(said) or _UNKNOWN


def _of_ten(share: float) -> str:
    tenths = round(10 * share)
    return f"about {tenths}" if tenths else "hardly any" if share else "none"


@cache
def _figures() -> Mapping[str, Any]:
    path = files("ufo.transforms.verifiers") / FIGURES
    found: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found
