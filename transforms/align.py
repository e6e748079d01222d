"""Align given claims with the sentences of the response."""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Final

_WORD: Final = re.compile(r"[^\W_]+")
_COMMON: Final = frozenset(
    re.findall(
        r"\w+",
        """a an the of in on at by for with from to into as is are was were be been being has have
        had do does did and or but not it its he she him his her they them their this that these
        those which who whom whose there s t""",
    )
)
# Words are compared by their beginning, which makes "moved" and "moving" the same.
_STEM: Final = 6
# The penalty for aligning a claim before the previous one, as a share of the highest similarity:
# claims are mostly in the order of their sentences.
_BACKWARDS: Final = 0.2


def align(claims: Sequence[str], sentences: Sequence[str]) -> list[int | None]:
    """Return the index of the most similar sentence for each claim, None without a common word.

    Similarity is the weighted share of common content words; words in few sentences have higher
    weights. The alignment with the highest total similarity is computed by dynamic programming,
    with a penalty for going back in the text; the earlier sentence wins ties. Time and memory are
    proportional to claims × sentences.
    """
    holders: dict[str, list[int]] = {}
    for index, sentence in enumerate(sentences):
        for word in _stems(sentence):
            holders.setdefault(word, []).append(index)
    placed: list[int | None] = [None] * len(claims)
    rows: list[tuple[int, list[int]]] = []  # (claim, for each sentence where the claim before is)
    best = [0.0] * len(sentences)
    stems = [_stems(claim) for claim in claims]
    repeated = Counter(word for words in stems for word in words)
    for number, words in enumerate(stems):
        shared = _shared(words, repeated, holders, len(sentences))
        if shared is None:
            continue
        # The best place of the claim before at or before each sentence, and anywhere.
        forward = _running_best(best)
        top = forward[-1]
        jump = best[top] - _BACKWARDS
        came = [at if best[at] >= jump else top for at in forward]
        best = [score + max(best[at], jump) for score, at in zip(shared, forward, strict=True)]
        rows.append((number, came))
    if rows:
        at = max(range(len(best)), key=best.__getitem__)
        for number, came in reversed(rows):
            placed[number] = at
            at = came[at]
    return placed


def _running_best(scores: Sequence[float]) -> list[int]:
    """Return for each index the first index up to it with the highest score."""
    top = 0
    places = []
    for index, score in enumerate(scores):
        if score > scores[top]:
            top = index
        places.append(top)
    return places


def _stems(text: str) -> set[str]:
    return {word[:_STEM] for word in _WORD.findall(text.lower()) if word not in _COMMON}


def _shared(
    words: set[str], repeated: Counter[str], holders: dict[str, list[int]], n_sentences: int
) -> list[float] | None:
    """Return the weighted share of a claim's words in each sentence, None if there are none.

    The weight of a word decreases with the numbers of sentences and of claims that contain it: the
    subject of the text is in every claim, while sentences may refer to it by a pronoun.
    """
    shared = [0.0] * n_sentences
    total = 0.0
    found = False
    for word in sorted(words):
        having = holders.get(word, ())
        weight = 1.0 / ((len(having) or 1) * repeated[word])
        total += weight
        for index in having:
            shared[index] += weight
            found = True
    return [score / total for score in shared] if found else None
