"""The base class of verifiers, the models of the offline judge.

A verifier predicts whether a passage supports a claim, refutes it, or does not answer. It computes
in this process; for a model behind an endpoint write a judge (`ufo.transforms.judges`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ufo.schemas.records import NOANS, REFUTED, SUPPORTED
from ufo.transforms.verifiers.measured import BY_SET, MEASURED

if TYPE_CHECKING:  # keeps `import ufo` fast
    import numpy as np

    Array = np.ndarray[Any, np.dtype[np.float32]]
else:
    Array = Any


SUPPORTED_FROM: Final = 0.5


class Pair(NamedTuple):
    """A claim and the passage that it is checked against; `title` is the passage's, or empty."""

    claim: str
    passage: str
    title: str = ""


class Probabilities(NamedTuple):
    """Calibrated probabilities of the three outcomes; they sum to 1."""

    supported: float
    refuted: float
    noans: float

    @property
    def outcome(self) -> str:
        """Return `supported` from a probability of .5, else the likelier of the other two.

        `noans` wins a tie with `refuted`.
        """
        if self.supported >= SUPPORTED_FROM:
            return SUPPORTED
        return REFUTED if self.refuted > self.noans else NOANS


@dataclass(frozen=True, slots=True, eq=False)
class Head:
    """The last layer: softmax of `weights` · vector + `bias`.

    `weights` has the shape (3, d) and `bias` (3,), the outcomes in the order of Probabilities.
    """

    weights: Array
    bias: Array

    def probabilities(self, vectors: Array) -> list[Probabilities]:
        """Return the probabilities of vectors of the shape (n, d)."""
        import numpy as np

        # Not a matrix product: its rounding may differ with the number of rows.
        logits = (vectors[:, None, :] * self.weights[None, :, :]).sum(axis=2) + self.bias
        raised = np.exp(logits - logits.max(axis=1, keepdims=True))
        shares = raised / raised.sum(axis=1, keepdims=True)
        return [Probabilities(*row) for row in shares.tolist()]


class Verifier:
    """Base class of verifiers.

    A subclass implements `predict`, or `vectors` and `head`. Its constructor takes plain values;
    load large or unpicklable objects in `open`, which is called once in each process.
    """

    name: str = ""
    """Shown in the column `model`; set by the registry where the class has none."""

    def unavailable(self) -> str | None:
        """Return an error message with the remedy if the verifier cannot be used, else None."""
        return None

    def open(self) -> None:
        """Load what the verifier needs in this process. Called once before the first pair."""

    def close(self) -> None:
        """Release what `open` loaded."""

    def fingerprint(self) -> str:
        """Return a text that changes whenever results may change: for example a checksum of the
        weights. Its first characters are shown beside the name."""
        return ""

    def accuracy(self) -> str:
        """Return a short text on its measured accuracy, "" where it is unknown."""
        return MEASURED.get(self.name, "")

    def by_set(self) -> Mapping[str, float]:
        """Return the measured balanced accuracy by data set, and the recall on `false_claims`."""
        return BY_SET.get(self.name, {})

    def predict(self, pairs: Sequence[Pair]) -> list[Probabilities]:
        """Return the probabilities of each pair, in order.

        A pair's probabilities do not depend on the other pairs of the call.
        """
        known = self.settled(pairs)
        left = [pair for pair, found in zip(pairs, known, strict=True) if found is None]
        weighed = iter(self.head().probabilities(self.vectors(left)) if left else ())
        return [next(weighed) if found is None else found for found in known]

    def settled(self, pairs: Sequence[Pair]) -> list[Probabilities | None]:
        """Return the probabilities of pairs that do not depend on the last layer, None for others.

        By default all pairs depend on it. `ufo judges fit` does not change these probabilities.
        """
        return [None] * len(pairs)

    def vectors(self, pairs: Sequence[Pair]) -> Array:
        """Return the input of the last layer, shape (n, d): by default log-probabilities, d = 3.

        `ufo judges fit` refits the last layer on these.
        """
        import numpy as np

        found = np.array(self.predict(pairs), dtype=np.float32).reshape(-1, 3)
        return np.log(np.maximum(found, 1e-6))

    def head(self) -> Head:
        """Return the last layer; by default the identity."""
        import numpy as np

        return Head(np.eye(3, dtype=np.float32), np.zeros(3, dtype=np.float32))
