"""64-bit hashes of names, equal in every process, vectorised over all substrings of a text.

The polynomial hash of Karp & Rabin (Efficient randomized pattern-matching algorithms, 1987) modulo
2^64 over mixed letters: the hash of a substring is the difference of two prefix sums. Cryptographic
hashes took half of the time of re-ranking.
"""

from collections.abc import Iterable
from itertools import islice

import numpy as np
import numpy.typing as npt

Keys = npt.NDArray[np.uint64]
Positions = npt.NDArray[np.int64]

_BASE = 0x9E3779B97F4A7C15  # odd, so that it has an inverse
_INVERSE = pow(_BASE, -1, 1 << 64)
_NAMES = 4096  # names hashed at once
_KEPT = 1 << 16


def name_keys(names: Iterable[str]) -> Keys:
    """Return the key of each name."""
    left = iter(names)
    keys = [np.empty(0, np.uint64)]
    while batch := list(islice(left, _NAMES)):
        ends = np.cumsum([len(name) for name in batch], dtype=np.int64)
        keys.append(keys_in("".join(batch), np.concatenate([[0], ends[:-1]]), ends))
    return np.concatenate(keys)


def keys_in(text: str, starts: Positions, ends: Positions) -> Keys:
    """Return the key of `text[start:end]` for each pair of `starts` and `ends`."""
    letters = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    powers, inverses = _powers(len(letters) + 1)
    sums = np.zeros(len(letters) + 1, np.uint64)
    np.cumsum(_mixed(letters.astype(np.uint64) + np.uint64(1)) * powers[:-1], out=sums[1:])
    return _mixed((sums[ends] - sums[starts]) * inverses[starts])


def _mixed(values: Keys) -> Keys:
    """Mix the bits of each value (the finaliser of splitmix64, Vigna 2015)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def _series(base: int, count: int) -> Keys:
    return np.cumprod(np.r_[np.uint64(1), np.full(count - 1, base, np.uint64)], dtype=np.uint64)


_kept = _series(_BASE, _KEPT), _series(_INVERSE, _KEPT)


def _powers(count: int) -> tuple[Keys, Keys]:
    """Return the first `count` powers of the base and of its inverse."""
    if count > _KEPT:
        return _series(_BASE, count), _series(_INVERSE, count)
    return _kept[0][:count], _kept[1][:count]
