"""The offline judge: claims by rules, verdicts by a small model, without network and LLM."""

import json
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Final

from ufo.schemas.errors import UfoError

NAME: Final = "offline"
FIGURES: Final = "figures.json"
"""What was measured of the shipped verifiers, by name and set: `measure_judge.py --write`."""
_SET: Final = "claims"  # whole claims with their evidence from the web, as a user's are
_FEW: Final = 10  # claims called contradicted, too few for a share of them
_UNKNOWN: Final = "how often it agrees with people is not known"


def judged_by(verifier: str | None = None) -> str:
    """Return a sentence for users: the verifier that judges, and how often it is right.

    None is the default verifier; where that is not DEFAULT, the text says why.
    """
    from ufo.transforms.verifiers.by_name import DEFAULT, default_verifier, make_verifier

    name, reason = (verifier, "") if verifier else default_verifier()
    made = make_verifier(name)
    fallback = f"{DEFAULT} cannot be used: {reason}. " if reason else ""
    return fallback + _sentence(made.name, made.accuracy() or _measured(name))


def judged_as(models: Iterable[str]) -> str:
    """Return the sentences on the verifiers that judged, by values of the column `model`.

    What was measured holds for a verifier as it is shipped now, not for another version of it.
    """
    return " ".join(map(_of_model, dict.fromkeys(models)))


def _of_model(model: str) -> str:
    from ufo.transforms.verifiers.by_name import VERIFIERS, shown

    name = model.rpartition("@")[0] or model
    try:
        if name in VERIFIERS.types() and shown(name) == model:
            return judged_by(name)
    except (UfoError, OSError):  # one that this machine has not
        pass
    return _sentence(name, _UNKNOWN)


def _sentence(name: str, accuracy: str) -> str:
    return f"Verifier {name} (a first look; for findings use a language model): {accuracy}."


def _measured(name: str) -> str:
    found = _figures().get(name, {}).get(_SET)
    if found is None:
        return _UNKNOWN
    of, recognised = found["refuted_precision"], _of_ten(found["refuted_recall"])
    called = round(found["refuted_called"])
    right = f"of 10 claims that it calls contradicted {_of_ten(of)} are"
    if called < _FEW:
        right = (
            f"it called {called} of {found['n']} claims contradicted, {round(of * called)} of them "
            "rightly"
        )
    return (
        f"{right}, of 10 false ones it finds {recognised}, measured on web evidence that it was "
        "not fitted on"
    )


def _of_ten(share: float) -> str:
    return f"about {round(10 * share)}" if round(10 * share) else "hardly any"


@cache
def _figures() -> Mapping[str, Any]:
    path = files("ufo.transforms.verifiers") / FIGURES
    found: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found
