"""A verifier for tests: a passage states its probabilities, as in "0.8 0.1 0.1"."""

from collections.abc import Sequence

from ufo import Pair, Probabilities, Verifier

STATED = f"{__file__}:Stated"
"""Its name, for `--verifier`."""


class Stated(Verifier):
    """Reads the probabilities out of the passage, and keeps what it was asked."""

    name = "stated"
    calls: list[list[Pair]] = []  # noqa: RUF012 - a class found by its file is one class
    opens = 0

    def open(self) -> None:
        type(self).opens += 1

    def fingerprint(self) -> str:
        return "0123456789abcdef"

    def accuracy(self) -> str:
        return "always right"

    def predict(self, pairs: Sequence[Pair]) -> list[Probabilities]:
        self.calls.append(list(pairs))
        return [self.stated(pair.passage) for pair in pairs]

    def stated(self, passage: str) -> Probabilities:
        if passage == "too large":
            raise MemoryError
        return Probabilities(*map(float, passage.split()[:3]))


class Unusable(Stated):
    def unavailable(self) -> str | None:
        return "it is broken; mend it"


class Broken(Stated):
    name = "broken"

    def open(self) -> None:
        raise OSError("no such weights")
