"""The base class of verifiers, the models of the offline judge.

A verifier predicts whether a passage supports a claim, refutes it, or does not answer. It computes
in this process; for a model behind an endpoint write a judge (`ufo.transforms.judges`).
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ufo.schemas.records import NOANS, REFUTED, SUPPORTED

if TYPE_CHECKING:  # keeps `import ufo` fast
    import numpy as np

    Array = np.ndarray[Any, np.dtype[np.float32]]
else:
    Array = Any


SUPPORTED_FROM: Final = 0.5


class Pair(NamedTuple):
    """A claim and the passage to check it against; `title` is the passage's, or empty."""

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


class Verifier:
    """Base class of verifiers.

    A subclass implements `predict`. Its constructor takes plain values; load large or unpicklable
    objects in `open`, which is called once in each process.
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
        """Return how often the verifier is right, as part of a sentence; "" if that is unknown.

        For shipped verifiers figures.json has it (`ufo.transforms.judges.trust`).
        """
        return ""

    def predict(self, pairs: Sequence[Pair]) -> list[Probabilities]:
        """Return the probabilities of each pair, in order.

        A pair's probabilities do not depend on the other pairs of the call.
        """
        raise NotImplementedError(f"{type(self).__name__} does not implement predict")
