"""Look up the names of pages: the pages of a title or alias, the names in a text.

`aliases.arrow` has one row for each (name, page). The names of a page are its title, the titles of
redirects to it, and its title without a final parenthesis ("Big Stone Gap" for "Big Stone Gap
(film)"). All are normalised as by MediaWiki. The file is sorted by a 64-bit hash of the name. So
one binary search of a memory-mapped column looks up all candidate names of a text.

The hashes are equal in every process, and computed for all substrings of a text at once. They are
the polynomial hash of Karp & Rabin (Efficient randomized pattern-matching algorithms, 1987) modulo
2^64 over mixed letters. The hash of a substring is the difference of two prefix sums. Cryptographic
hashes took half of the time of re-ranking.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ufo.indexes.store import column_view, read_mapped
from ufo.indexes.tokens import STOP_WORDS

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


ALIASES = "aliases.arrow"
ALIAS_SCHEMA = pa.schema(
    [
        pa.field("key", pa.uint64(), nullable=False),
        pa.field("kind", pa.int8(), nullable=False),
        pa.field("page", pa.int64(), nullable=False),
        pa.field("name", pa.string(), nullable=False),
    ]
)
TITLE, ALIAS, BASE = 0, 1, 2  # kinds of a name, the most specific first

_KEPT_NAMES = 65_536
_KEPT_TEXTS = 8_192
_MOST_PAGES = 20  # of one name; ambiguous names such as "John Smith" have hundreds
_HOPS = 3  # redirects followed; chains are rare, and longer ones are loops
_NONE = -1
_LONGEST_NAME = 6  # words; fewer than 1 in 100 titles that are named in prose are longer
_WORD = re.compile(r"[^\s,;:!?\"“”()\[\]]+")
_ENDINGS = (".", "…", "'", "’", "'s", "’s")
_DISAMBIGUATED = re.compile(r"(.*\S)\s*\([^()]*\)")


def normal_name(name: str) -> str:
    """Normalise a title as MediaWiki does: single spaces, the first letter a capital.

    https://www.mediawiki.org/wiki/Manual:Page_title: underscores and spaces are the same, runs of
    them count once, and the first letter's case does not matter.
    """
    words = " ".join(name.replace("_", " ").split())
    # Unlike str.capitalize(): the rest keeps its case, and "ß", which becomes two letters, too.
    first = words[:1].upper()
    return first + words[1:] if len(first) == 1 else words


def base_name(title: str) -> str:
    """Return a title without its final parenthesis, which disambiguates it."""
    match = _DISAMBIGUATED.fullmatch(title)
    return match[1] if match else title


def name_table(titles: Sequence[str], names: Sequence[str], pages: Sequence[int]) -> pa.Table:
    """Return the rows of `aliases.arrow`: `titles` by page, and the aliases `names` of `pages`."""
    normal = list(map(normal_name, titles))
    bases = [(base, page) for page, name in enumerate(normal) if (base := base_name(name)) != name]
    every = [*normal, *names, *(base for base, _ in bases)]
    columns = [
        pa.array(name_keys(every)),
        pa.array([TITLE] * len(normal) + [ALIAS] * len(names) + [BASE] * len(bases), pa.int8()),
        pa.array([*range(len(normal)), *pages, *(page for _, page in bases)], pa.int64()),
        pa.array(every, pa.string()),
    ]
    order = [(name, "ascending") for name in ALIAS_SCHEMA.names]
    return pa.Table.from_arrays(columns, schema=ALIAS_SCHEMA).sort_by(order).combine_chunks()


def write_names(folder: Path, titles: Sequence[str], aliases: Sequence[str], targets: Keys) -> int:
    """Write the names of the pages; return the number of aliases among them.

    `targets` are the hashes of the titles that each alias redirects to.
    """
    pages = follow(aliases, targets, name_keys(map(normal_name, titles)))
    resolved = np.flatnonzero(pages >= 0)
    names = [aliases[at] for at in resolved.tolist()]
    with pa.ipc.new_file(folder / ALIASES, ALIAS_SCHEMA) as writer:
        writer.write_table(name_table(titles, names, pages[resolved].tolist()))
    return len(names)


class NameTable:
    """The names of an index's pages; safe for readers in several threads."""

    def __init__(self, folder: Path) -> None:
        table = read_mapped(folder / ALIASES)
        self._keys: Keys = column_view(table, "key")
        self._pages: npt.NDArray[np.int64] = column_view(table, "page")
        self.pages = lru_cache(_KEPT_NAMES)(self._pages_of)
        self.names_in = lru_cache(_KEPT_TEXTS)(self._names_in)

    def __len__(self) -> int:
        return len(self._keys)

    def _pages_of(self, name: str) -> tuple[int, ...]:
        """Return the pages (rows of `pages.arrow`) of a name in any spelling: none, or up to 20.

        Pages with this title come first, then pages with this alias, then pages with this title and
        a parenthesis; at most 20.
        """
        name = normal_name(name)
        [key] = keys_in(name, np.array([0]), np.array([len(name)]))
        first, last = np.searchsorted(self._keys, [key, key + np.uint64(1)]).tolist()
        return tuple(dict.fromkeys(self._pages[first : min(last, first + _MOST_PAGES)].tolist()))

    def _names_in(self, text: str) -> tuple[str, ...]:
        """Return the normalised names of pages in `text`, in order; the longest of overlaps.

        A name starts with a capital or a digit in the text. Single function words ("The", "It") are
        not names, although Wikipedia has pages for them.
        """
        text = " ".join(text.replace("_", " ").split())
        names: dict[str, None] = {}
        free = 0  # the index of the first word after the last name
        starts, ends, words = _candidates(text)
        for at in self._known(keys_in(text, starts, ends)).tolist():
            word, length = words[at]
            if word >= free:
                names[text[starts[at] : ends[at]]] = None
                free = word + length
        return tuple(names)

    def _known(self, keys: Keys) -> npt.NDArray[np.intp]:
        """Return the positions of the keys that are in the table, ascending."""
        if not len(self._keys):
            return np.empty(0, np.intp)
        at = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.flatnonzero(self._keys[at] == keys)


def _candidates(text: str) -> tuple[Positions, Positions, list[tuple[int, int]]]:
    """Return the candidate names in a text, by their first word and the longest first.

    Returns their starts and ends in the text, and the first word and the number of words of each.
    `text` must have single spaces, as normalised names have.
    """
    spans = [match.span() for match in _WORD.finditer(text)]
    ends = [_ends(text, start, end) for start, end in spans]
    firsts: list[int] = []
    lasts: list[int] = []
    words: list[tuple[int, int]] = []
    for at, (start, _) in enumerate(spans):
        if not (text[start].isupper() or text[start].isdigit()):
            continue
        for length in range(min(_LONGEST_NAME, len(spans) - at), 0, -1):
            for end in ends[at + length - 1]:
                if length > 1 or (end > start + 1 and text[start:end].lower() not in STOP_WORDS):
                    firsts.append(start)
                    lasts.append(end)
                    words.append((at, length))
    return (np.array(firsts, np.int64), np.array(lasts, np.int64), words)


def _ends(text: str, start: int, end: int) -> tuple[int, ...]:
    """Return the ends of names with this last word: with and without a full stop or possessive.

    There are none for a lower-case function word ("Bank of the").
    """
    word = text[start:end]
    if word in STOP_WORDS:
        return ()
    if not word.endswith(_ENDINGS):
        return (end,)
    plain = word.rstrip(".…'’")
    base = plain[:-2] if plain.endswith(("'s", "’s")) else plain
    return tuple(dict.fromkeys((end, start + len(plain), start + len(base))))


def follow(aliases: Sequence[str], targets: Keys, titles: Keys) -> Positions:
    """Return the page to which each alias redirects, directly or through other aliases, or -1.

    `targets` and `titles` are hashes (`name_keys`) of each alias's target and each page's title. Of
    several pages with one title the first is taken. With hashes, the English Wikipedia's 7 million
    titles and 11 million redirects take 0.3 GB, several times less than as records in a shuffle.
    """
    pages = _look_up(targets, titles, np.arange(len(titles)))
    keys = name_keys(aliases)
    for _ in range(_HOPS - 1):
        known = pages != _NONE
        pages[~known] = _look_up(targets[~known], keys[known], pages[known])
    return pages


def _look_up(wanted: Keys, keys: Keys, pages: Positions) -> Positions:
    """Return the lowest page with each wanted key, or -1; `pages[i]` has the key `keys[i]`."""
    if not len(keys):
        return np.full(len(wanted), _NONE, np.int64)
    order = np.lexsort((pages, keys))
    at = np.minimum(np.searchsorted(keys[order], wanted), len(keys) - 1)
    result: Positions = np.where(keys[order][at] == wanted, pages[order][at], _NONE)
    return result
