"""What the offline judge measures of a claim against a passage, as a few named numbers."""

from math import log
from typing import Final

from transforms.judges.offline.alignment import Alignment, weigh
from transforms.judges.offline.prepared import PreparedClaim, PreparedPassage
from transforms.judges.offline.words import STOP

# The order is that of `features` and of the weights in model.py.
NAMES: Final = (
    "said",  # share of the claim's parts that the passage or its title says
    "said_at_once",  # weighted share that its best sentence says
    "pairs",  # share of the claim's neighbouring words that are neighbours in the passage
    "function_words",  # share of the claim's function words in the best sentence
    "common_said",  # share of the common words (weight < 1) that the passage says
    "names_missing",  # number of the claim's names that it does not say
    "words_missing",  # number of the claim's other, less common words that it does not say
    "common_missing",  # number of the claim's common words that it does not say
    "numbers_missing",  # number of the claim's numbers and dates that it does not say
    "scattered",  # weight of what it says, but not in its best sentence
    "scattered_nearby",  # ... but not in two neighbouring sentences
    "personal",  # 1 where the claim speaks of I, we or you
    "log_passage",  # natural logarithm of 1 + words of the passage
    "log_sentences",  # ... of 1 + its sentences
    "log_best",  # ... of 1 + words of its best sentence
    "log_claim",  # ... of 1 + words of the claim
)

_PERSONAL: Final = frozenset("i me my mine we us our you your i'm i've i'd i'll you're".split())
_LOGS: Final = tuple(log(1 + n) for n in range(512))


def _log(count: int) -> float:
    return _LOGS[count] if count < 512 else log(1 + count)


def features(
    claim: PreparedClaim, passage: PreparedPassage, found: Alignment
) -> tuple[float, ...]:
    """The numbers named in NAMES. Needs a claim with at least one part and `found.best` >= 0."""
    weights, said, titled = found.weights, found.said, found.titled
    total = sum(weights)
    count = names_missing = words_missing = common = common_missing = 0
    for item in claim.items:
        has = said & 1
        said >>= 1
        count += has
        if item.name:
            names_missing += 1 - has
        elif item.word.weight >= 1.0:
            words_missing += 1 - has
        else:
            common += 1
            common_missing += 1 - has
    numbers = said.bit_count()
    count += numbers
    all_said = weigh(weights, found.said)

    masks = found.masks
    best_weight = weigh(weights, masks[found.best] | titled)
    nearby, before, tried = best_weight, 0, {masks[found.best]}
    for mask in masks:
        window = mask | before
        if mask and before and window not in tried:
            tried.add(window)
            weight = weigh(weights, window | titled)
            if weight > nearby:
                nearby = weight
        before = mask

    here = {w.lower for w in passage.words[found.best] if not w.kind}
    function_words = function_said = personal = 0
    for w in claim.words:
        if w.kind == STOP:
            lower = w.lower
            function_words += 1
            if lower in here:
                function_said += 1
            if lower in _PERSONAL:
                personal = 1
    survived = 0
    for pair in claim.pairs:
        if pair in passage.pairs:
            survived += 1
    return (
        count / len(weights),
        best_weight / total,
        survived / len(claim.pairs) if claim.pairs else 0.0,
        function_said / function_words if function_words else 0.0,
        1.0 - common_missing / common if common else 1.0,
        names_missing,
        words_missing,
        common_missing,
        len(claim.quantities) - numbers,
        all_said - best_weight,
        all_said - nearby,
        personal,
        _log(passage.size),
        _log(len(masks)),
        _log(len(passage.words[found.best])),
        _log(len(claim.words)),
    )
