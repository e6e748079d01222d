"""Two logistic regressions over named features: supported, and refuted among the rest."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp
from operator import mul

from ufo.transforms.verifiers.base import Probabilities

_LARGEST = 30.0


@dataclass(frozen=True, slots=True)
class Regressions:
    """Intercepts and weights, `(supported, refuted)` for each feature in order."""

    intercepts: tuple[float, float]
    supported: tuple[float, ...]
    refuted: tuple[float, ...]

    @classmethod
    def of(cls, weights: Mapping[str, Sequence[float]], names: Sequence[str]) -> "Regressions":
        """Read weights by feature name, with `intercept` among them; a missing one weighs 0."""
        intercept = weights["intercept"]
        rows = [weights.get(name, (0.0, 0.0)) for name in names]
        return cls(
            (intercept[0], intercept[1]),
            tuple(row[0] for row in rows),
            tuple(row[1] for row in rows),
        )

    def probabilities(self, vector: Sequence[float], at_most: float = 1.0) -> Probabilities:
        """Return the probabilities of a pair with these features, supported `at_most` so likely."""
        supported = min(at_most, chance(self.intercepts[0], self.supported, vector))
        refuted = (1 - supported) * chance(self.intercepts[1], self.refuted, vector)
        return Probabilities(supported, refuted, 1 - supported - refuted)


def chance(score: float, weights: Sequence[float], vector: Sequence[float]) -> float:
    """Return a regression's probability for these features; `score` is its intercept."""
    for product in map(mul, weights, vector):
        score += product
    return 1 / (1 + exp(-max(-_LARGEST, min(_LARGEST, score))))
