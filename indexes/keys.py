"""64-bit keys of names: equal in every process, and those of all parts of a text made at once.

The polynomial hash of Karp & Rabin (Efficient randomized pattern-matching algorithms, 1987) modulo
2^64, of letters that are mixed first: any part's hash is the difference of two running sums. A
cryptographic hash of each part took half of the time that re-ranking takes.
"""

from collections.abc import Iterable
from itertools import islice

import numpy as np
import numpy.typing as npt

Keys = npt.NDArray[np.uint64]
Positions = npt.NDArray[np.int64]

_BASE = 0x9E3779B97F4A7C15  # odd, and so with an inverse
_INVERSE = pow(_BASE, -1, 1 << 64)
_NAMES = 4096  # whose keys are made at once
_KEPT = 1 << 16


def name_keys(names: Iterable[str]) -> Keys:
    """Return the key of each name."""
    left = iter(names)
    found = [np.empty(0, np.uint64)]
    while some := list(islice(left, _NAMES)):
        ends = np.cumsum([len(name) for name in some], dtype=np.int64)
        found.append(keys_in("".join(some), np.concatenate([[0], ends[:-1]]), ends))
    return np.concatenate(found)


def keys_in(text: str, starts: Positions, ends: Positions) -> Keys:
    """Return the key of `text[start:end]` for each pair of `starts` and `ends`."""
    letters = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    powers, inverses = _powers(len(letters) + 1)
    sums = np.zeros(len(letters) + 1, np.uint64)
    np.cumsum(_mixed(letters.astype(np.uint64) + np.uint64(1)) * powers[:-1], out=sums[1:])
    return _mixed((sums[ends] - sums[starts]) * inverses[starts])


def _mixed(values: Keys) -> Keys:
    """Return the values with every bit spread over all (the end of splitmix64, Vigna 2015)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def _series(base: int, count: int) -> Keys:
    return np.cumprod(np.r_[np.uint64(1), np.full(count - 1, base, np.uint64)], dtype=np.uint64)


_kept = _series(_BASE, _KEPT), _series(_INVERSE, _KEPT)


def _powers(count: int) -> tuple[Keys, Keys]:
    """Return the first `count` powers of the base, and of its inverse."""
    if count > _KEPT:
        return _series(_BASE, count), _series(_INVERSE, count)
    return _kept[0][:count], _kept[1][:count]
