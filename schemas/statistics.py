"""Compute intervals of shares and means, tests of differences, and correlations.

Responses to one question are not independent: ten models that repeat one error are one observation.
So each value comes with its cluster: the question, or else the response. Every variance is the
linearised variance between clusters (Binder 1983) times G / (G - 1) for G clusters.

`add_statistics` makes them functions of the database. A view counts and groups. It passes a list of
STRUCTs, whose fields are the function's arguments. The function returns a STRUCT, or a list of
them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from itertools import accumulate, permutations, repeat
from math import exp, lgamma, log, pi, sqrt
from statistics import NormalDist
from typing import Any, NamedTuple

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

Floats = npt.NDArray[np.float64]
Clusters = npt.NDArray[np.uint64]

Z = NormalDist().inv_cdf(0.975)
MOST_ORDERED = 6  # sources: with more, not every order is compared
MOST_PAIRED = 60  # annotators: of a larger crowd, not every two are compared
_NOTHING = 1e-12  # a standard error below it is rounding


class Interval(NamedTuple):
    """A value with its bounds (NaN if there are none) and the name of the method."""

    value: float
    low: float = np.nan
    high: float = np.nan
    method: str | None = None


class Test(NamedTuple):
    """A difference with its bounds, the two-sided p, and the one-sided p of a drop."""

    difference: float
    low: float = np.nan
    high: float = np.nan
    p: float = np.nan
    p_drop: float = np.nan
    method: str | None = None


def wilson(k: Floats, n: Floats) -> tuple[Floats, Floats]:
    """Return the bounds of Wilson's interval (1927) of the shares k of n; NaN where n is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        middle = k + Z * Z / 2
        half = Z * np.sqrt(np.maximum(k * (n - k) / n, 0) + Z * Z / 4)
        low, high = (middle - half) / (n + Z * Z), (middle + half) / (n + Z * Z)
    empty = ~(n > 0)
    low[empty] = high[empty] = np.nan
    return np.clip(low, 0, 1), np.clip(high, 0, 1)


@cache
def t_bound(df: float) -> float:
    """Return the two-sided critical value of Student's t at the 5 % level, for df of at least 1."""
    bound, step = Z, 1.0
    # Newton's method: it starts below the value, where the distribution is concave, and so
    # never passes it.
    while step > _NOTHING * bound:
        density = exp(lgamma((df + 1) / 2) - lgamma(df / 2)) / sqrt(df * pi)
        density *= (1 + bound * bound / df) ** (-(df + 1) / 2)
        step = (0.975 - t_share(bound, df)) / density
        bound += step
    return bound


def t_share(t: float, df: float) -> float:
    """Return the share of Student's t distribution that lies below t."""
    whole = df + t * t
    tail = _beta_share(df / 2, 0.5, df / whole, t * t / whole) / 2
    return tail if t < 0 else 1 - tail


def _beta_share(a: float, b: float, x: float, rest: float) -> float:
    """Return the share of the beta distribution below x, by a continued fraction (DLMF 8.17.22).

    `rest` is 1 - x; computing it here would lose digits where x is near 1.
    """
    if x > (a + 1) / (a + b + 2):  # where the other tail's fraction needs fewer terms
        return 1 - _beta_share(b, a, rest, x)
    if x == 0:
        return 0.0
    below = 1.0
    for m in range(50 + int(3 * sqrt(max(a, b))), -1, -1):
        even = (m + 1) * (b - m - 1) * x / ((a + 2 * m + 1) * (a + 2 * m + 2))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        below = 1 + odd / (1 + even / below)
    logarithm = lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(rest)
    return exp(logarithm) / (a * below)


def mean_interval(value: Floats, weight: Floats, cluster: Clusters) -> Interval:
    """Return the weighted mean of values from 0 to 1, with `clustered_wilson`'s interval."""
    return clustered_wilson(*_linearised(value * weight, weight), cluster)


def ratio_interval(
    above: Floats, below: Floats, above_2: Floats, below_2: Floats, cluster: Clusters
) -> Interval:
    """Return the mean of two ratios of sums from 0 to 1, with `clustered_wilson`'s interval."""
    first, by_first = _linearised(above, below)
    second, by_second = _linearised(above_2, below_2)
    return clustered_wilson((first + second) / 2, (by_first + by_second) / 2, cluster)


def clustered_wilson(value: float, influence: Floats, cluster: Clusters) -> Interval:
    """Return the interval of a value from 0 to 1, from the linearised influence of each row on it.

    It is Wilson's interval at the effective number of independent rows, value × (1 - value) /
    variance. With few clusters that number is multiplied by (z / t)² (Korn and Graubard 1998; for
    Wilson's form Dean and Pagano 2015). Where nothing varies, it is the number of clusters. The
    interval stays within 0 and 1 and has a width above 0. One cluster alone has none.
    """
    sums = by_cluster(influence, cluster)
    if len(sums) < 2 or np.isnan(value):
        return Interval(value)
    variance = float(sums @ sums) * len(sums) / (len(sums) - 1)
    effective = float(len(sums))
    if variance > _NOTHING**2:
        effective = value * (1 - value) / variance * (Z / t_bound(len(sums) - 1)) ** 2
    low, high = wilson(np.array([value * effective]), np.array([effective]))
    return Interval(value, float(low[0]), float(high[0]), "clustered Wilson")


def paired_t(difference: Floats) -> Test:
    """Test whether the mean difference of pairs is zero, by Student's paired t (1908).

    Where all differences are equal, t is undefined, and there is no interval. The p of a drop is
    then from a sign test: n drops of n pairs happen by chance with the probability 1/2 to the power
    of n, so five are the first that are significant at the level 0.05.
    """
    n = len(difference)
    mean = float(difference.mean()) if n else np.nan
    if n < 2:
        return Test(mean, method="none: one pair")
    error = float(difference.std(ddof=1)) / np.sqrt(n)
    if error < _NOTHING:
        drop = 0.5**n if mean < -_NOTHING else 1.0
        return Test(mean, p_drop=drop, method="none: all differences are equal")
    return _t_test(mean, error, n - 1, "paired t")


def unpaired_t(a: Floats, cluster_a: Clusters, b: Floats, cluster_b: Clusters) -> Test:
    """Test whether two means differ, by Welch's t (1947) on the variances between clusters."""
    mean_a, by_a = _linearised(a, np.ones_like(a))
    mean_b, by_b = _linearised(b, np.ones_like(b))
    sums = [by_cluster(by_a, cluster_a), by_cluster(by_b, cluster_b)]
    difference = mean_a - mean_b
    if min(map(len, sums)) < 2:
        return Test(difference, method="none: a model has one question or response")
    variances = [float(one @ one) * len(one) / (len(one) - 1) for one in sums]
    error = float(np.sqrt(sum(variances)))
    if error < _NOTHING:
        return Test(difference, method="none: all differences are equal")
    parts = [v * v / (len(one) - 1) for v, one in zip(variances, sums, strict=True)]
    return _t_test(difference, error, sum(variances) ** 2 / sum(parts), "Welch t")


def correlations(x: Floats, y: Floats, cluster: Clusters) -> list[Interval]:
    """Return Pearson's, Spearman's and Kendall's (tau-b) correlation with intervals by Fisher's z.

    The variances are 1 / (n - 3) for Pearson, Bonett and Wright (2000) for Spearman, and Fieller,
    Hartley and Pearson (1957) for Kendall. Here n is the effective number of rows: fewer, the more
    the influences vary between clusters. Kendall's uses the number for ranks. NaN where one of the
    variables is constant.
    """
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return [Interval(np.nan)] * 3
    ranks = _ranks(x), _ranks(y)
    pearson, n = _pearson(x, y, cluster)
    spearman, n_of_ranks = _pearson(*ranks, cluster)
    kendall = _kendall(x, y)
    return [
        _fisher(pearson, 1.0, n - 3, "Fisher z"),
        _fisher(spearman, 1 + spearman * spearman / 2, n_of_ranks - 3, "Fisher z, Bonett-Wright"),
        _fisher(kendall, 0.437, n_of_ranks - 4, "Fisher z, Fieller"),
    ]


def by_cluster(influence: Floats, cluster: Clusters) -> Floats:
    """Return the sum over each cluster."""
    return np.bincount(np.unique(cluster, return_inverse=True)[1], influence).astype(np.float64)


def _linearised(above: Floats, below: Floats) -> tuple[float, Floats]:
    """Return the ratio of the sums, and the first-order influence of each row on it."""
    total = below.sum()
    if total == 0:
        return np.nan, np.zeros_like(above)
    value = above.sum() / total
    return float(value), (above - value * below) / total


def _t_test(difference: float, error: float, df: float, method: str) -> Test:
    half = t_bound(df) * error
    below = t_share(difference / error, df)
    p = 2 * min(below, t_share(-difference / error, df))
    return Test(difference, difference - half, difference + half, p, below, method)


def _ranks(x: Floats) -> Floats:
    """Return the rank of each value from 1; equal values get their mean rank."""
    _, inverse, counts = np.unique(x, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[inverse]


def _kendall(x: Floats, y: Floats) -> float:
    """Return Kendall's tau-b (1945) in n log² n steps; neither variable may be constant."""
    first, second = (np.unique(one, return_inverse=True)[1] for one in (x, y))
    order = np.lexsort((second, first))
    low = second[order]
    discordant = 0  # pairs whose greater y comes first, by the highest bit in which the two differ
    for bit in range(int(low.max()).bit_length()):
        block = low >> (bit + 1)
        at = np.argsort(block, kind="stable")
        greater, block = (low[at] >> bit) & 1, block[at]
        seen = np.cumsum(greater)
        before = (seen - greater)[np.searchsorted(block, block)]
        discordant += int(((1 - greater) * (seen - before)).sum())
    tied, tied_2, both = map(_equal_pairs, (first, second, first * len(x) + second))
    pairs = len(x) * (len(x) - 1) // 2
    agreeing = pairs - tied - tied_2 + both - 2 * discordant
    return float(np.clip(agreeing / sqrt(pairs - tied) / sqrt(pairs - tied_2), -1, 1))


def _equal_pairs(values: npt.NDArray[np.int64]) -> int:
    counts = np.unique(values, return_counts=True)[1]
    return int((counts * (counts - 1) // 2).sum())


def _pearson(x: Floats, y: Floats, cluster: Clusters) -> tuple[float, float]:
    """Return the correlation, and the effective number of independent rows for its variance."""
    x, y = (x - x.mean()) / x.std(), (y - y.mean()) / y.std()
    value = float(np.clip((x * y).mean(), -1, 1))
    influence = x * y - value * (x * x + y * y) / 2
    alone = float(influence @ influence)
    sums = by_cluster(influence, cluster)
    together = float(sums @ sums)
    if alone < _NOTHING:
        return value, float(len(sums))
    return value, len(x) / max(1.0, together / alone)


def _fisher(value: float, variance: float, n: float, method: str) -> Interval:
    if abs(value) >= 1 - _NOTHING:
        return Interval(value, value, value, method)
    if n <= 0:
        return Interval(value)
    half = Z * np.sqrt(variance / n)
    low, high = np.tanh(np.arctanh(value) + np.array([-half, half]))
    return Interval(value, float(low), float(high), method)


class Corrected(NamedTuple):
    """A mean corrected by labels with its bounds, and the weight of the judge's verdicts in it."""

    corrected_score: float = np.nan
    low: float = np.nan
    high: float = np.nan
    power: float = np.nan
    method: str | None = None


def corrected(
    score: Floats,
    cluster: Clusters,
    label: Floats,
    verdict: Floats,
    share: Floats,
    weight: Floats,
    stratum: Clusters,
    label_cluster: Clusters,
    response_weight: Floats | None = None,
    cell: Clusters | None = None,
) -> Corrected:
    """Return the mean score that people would have given, had they labelled everything.

    The method is prediction-powered inference (Angelopoulos et al. 2023). The estimate is `power`
    times the judge's mean, plus the mean of (label - power × verdict) over the labelled units.
    `power` is tuned as in PPI++, for labelled units that are among the judged ones. The variance is
    linearised, within strata and between clusters (Särndal et al. 1992, two-phase sampling). The
    interval is Student's t, cut to 0 to 1; its degrees of freedom are by Satterthwaite (1946), so
    that a cell with few labels is not taken for one with many.

    Among few labels there may be none that differs from the judge; the variance would then be 0. So
    for the variance two invented labels are added to each cell: one of a claim that the judge
    wrongly supports, and one of a claim that it wrongly refutes. Agresti and Coull (1998) do the
    same for a share. Where none of n labels differs, the bounds are near 3 / n, the rule of three.
    The addition shrinks with the square of n.

    Args:
        score: the judge's score of each response; `cluster`: the cluster of the response.
        label: from 0 to 1, by people, of each labelled unit, with the judge's `verdict`.
        share: the weight of the unit in the mean over responses; `weight`: how many units it stands
            for; `stratum`: the stratum from which it was drawn.
        response_weight: the weight of each response in the mean (none: they are equal).
        cell: the part of the run that was sampled on its own, which has its own strata (none: all
            units are one).
    """
    if len(label) == 0 or len(score) == 0:
        return Corrected()
    response_weight = np.ones_like(score) if response_weight is None else response_weight
    cell = np.zeros(len(label), np.uint64) if cell is None else cell
    total, responses = share.sum(), response_weight.sum()

    def mean(values: Floats) -> float:
        return float(share @ values / total)

    judged, people = mean(verdict), mean(label)
    spread = judged - judged * judged  # a verdict is 0 or 1
    power = 1.0
    if spread > _NOTHING:
        power = float(np.clip((mean(verdict * label) - judged * people) / spread, 0, 1))
    by_judge = float(response_weight @ score / responses)
    value = power * by_judge + people - power * judged
    method = "prediction-powered, clustered"
    bounds = np.clip(value, 0, 1)
    names, at = np.unique(np.concatenate([cluster, label_cluster]), return_inverse=True)
    n_clusters, n_labelled = len(np.unique(cluster)), len(np.unique(label_cluster))
    if min(n_clusters, n_labelled) < 2:
        return Corrected(float(bounds), power=power)
    deviation = share * (label - power * verdict - (people - power * judged)) / total
    of_judge = power * response_weight * (score - by_judge) / responses
    of_labels = _within(deviation, weight, stratum) * np.sqrt(n_labelled / (n_labelled - 1))
    influence = np.concatenate(
        [of_judge * np.sqrt(n_clusters / (n_clusters - 1)), of_labels],
    )
    sums = np.bincount(at, influence, len(names))
    unseen, freedom = 0.0, 0.0
    variances = []
    for group in np.unique(cell):
        own = cell == group
        by_cell = by_cluster(of_labels[own], label_cluster[own])
        added = 2 * float(share[own].sum() / total) ** 2 / (int(own.sum()) + 2) ** 2
        variance = float(by_cell @ by_cell) + added
        unseen += added
        variances.append(variance)
        freedom += variance**2 / max(len(by_cell) - 1, 1)
    df = min(sum(variances) ** 2 / freedom, n_labelled - 1)
    margin = t_bound(max(df, 1)) * np.sqrt(float(sums @ sums) + unseen)
    low, high = np.clip([value - margin, value + margin], 0, 1)
    return Corrected(float(bounds), float(low), float(high), power, method)


def corrected_by_cell(
    score: Floats,
    response_weight: Floats,
    cluster: Clusters,
    label: Floats,
    verdict: Floats,
    share: Floats,
    weight: Floats,
    stratum: Clusters,
    cell: Clusters,
    label_cluster: Clusters,
) -> Corrected:
    """Call `corrected` with arguments in the order of the view's lists."""
    of_labels = label, verdict, share, weight, stratum, label_cluster
    return corrected(score, cluster, *of_labels, response_weight=response_weight, cell=cell)


def _within(deviation: Floats, weight: Floats, stratum: Clusters) -> Floats:
    """Return deviations from the means of their strata.

    The number drawn from each stratum is fixed. So differences between strata count only because
    the responses themselves are a sample: by the share of the stratum that was labelled.
    """
    at = np.unique(stratum, return_inverse=True)[1]
    n = np.bincount(at)[at]
    centre = (np.bincount(at, deviation) / np.bincount(at))[at]
    between = centre / np.sqrt(np.maximum(weight, 1))
    inside = (deviation - centre) * np.sqrt(n / np.maximum(n - 1, 1))
    return np.where(n == 1, deviation, between + inside)


class Agreement(NamedTuple):
    """How far annotators agree: all of them (no names), or two, on the units that they share.

    `n_units` have labels of two or more, which make `n_pairs` of labels, of which `n_equal` are
    equal. `kappa` is Cohen's, for two annotators; `alpha` is Krippendorff's, for nominal labels.
    """

    annotator_a: str | None
    annotator_b: str | None
    n_units: int
    n_pairs: int
    n_equal: int
    share_equal: float
    kappa: float
    alpha: float


def annotators_agreement(
    unit: Clusters, annotator: npt.NDArray[Any], label: Floats
) -> list[Agreement]:
    """Return the agreement of all annotators, and of each pair of them that shares a unit.

    Pairs are compared among MOST_PAIRED annotators at most. Each has one label of a unit or none.
    """
    names, who = np.unique(annotator.astype(str), return_inverse=True)
    values, choice = np.unique(label, return_inverse=True)
    units, of = np.unique(unit, return_inverse=True)
    table = np.full((len(units), len(names)), -1)
    table[of, who] = choice
    agreements = [_agreement(table, len(values), None, None)]
    if len(names) > MOST_PAIRED:
        return agreements
    labelled = table >= 0
    shared = labelled.T.astype(np.int64) @ labelled.astype(np.int64)
    for first in range(len(names)):
        for second in range(first + 1, len(names)):
            if shared[first, second]:
                both = table[:, [first, second]]
                agreements.append(
                    _agreement(both, len(values), str(names[first]), str(names[second]))
                )
    return agreements


def _agreement(
    table: npt.NDArray[np.int64], n_values: int, first: str | None, second: str | None
) -> Agreement:
    """Return the agreement of the columns of a table of label numbers, with -1 for a gap."""
    counts = np.stack([(table == value).sum(1) for value in range(n_values)], axis=1)
    counts = counts[counts.sum(1) >= 2]
    sizes = counts.sum(1)
    pairs = int((sizes * (sizes - 1)).sum()) // 2
    equal = int((counts * (counts - 1)).sum()) // 2
    if not pairs:
        return Agreement(first, second, 0, 0, 0, np.nan, np.nan, np.nan)
    kappa = np.nan
    if table.shape[1] == 2:
        both = table[(table >= 0).all(1)]
        kappa = cohens_kappa(both[:, 0], both[:, 1])
    alpha = krippendorffs_alpha(counts)
    return Agreement(first, second, len(counts), pairs, equal, equal / pairs, kappa, alpha)


def cohens_kappa(first: npt.NDArray[np.int64], second: npt.NDArray[np.int64]) -> float:
    """Return Cohen's kappa (1960) of two annotators: their agreement beyond that by chance.

    It is NaN where both gave one and the same label throughout."""
    if not len(first):
        return np.nan
    values = np.unique(np.concatenate([first, second]))
    chance = float(sum((first == one).mean() * (second == one).mean() for one in values))
    return float(((first == second).mean() - chance) / (1 - chance)) if chance < 1 else np.nan


def krippendorffs_alpha(counts: npt.NDArray[np.int64]) -> float:
    """Return Krippendorff's alpha (2011) for nominal labels, where annotators may have gaps.

    NaN where all labels are equal: there is no disagreement to expect.

    Args:
        counts: how often each unit (a row) got each label (a column).
    """
    counts = counts[counts.sum(1) >= 2]
    sizes = counts.sum(1)
    of_label = counts.sum(0)
    n = int(sizes.sum())
    expected = n * n - int((of_label * of_label).sum())
    if n == 0 or expected == 0:
        return np.nan
    differing = sizes * sizes - (counts * counts).sum(1)
    return float(1 - (n - 1) * (differing / (sizes - 1)).sum() / expected)


class WayOfAsking(NamedTuple):
    """The score and cost of one source (single), of an order (seq) or of the vote of all (mv)."""

    mode: str
    source_order: str
    given: bool
    factuality_score: float
    coverage: float
    n_labelled: int
    accuracy: float
    balanced_accuracy: float
    accuracy_all: float
    balanced_accuracy_all: float
    n_calls: int
    cost_usd: float
    n_requests: int
    paid_usd: float


def source_orders(
    names: Any,
    response: Clusters,
    scored: Floats,
    decided: Clusters,
    supported: Clusters,
    label: Floats,
    asker: Clusters,
    place: Clusters,
    n_calls: Floats,
    cost_usd: Floats,
    n_requests: Floats,
    paid_usd: Floats,
) -> list[WayOfAsking]:
    """Return the scores and costs of each source, of every order of all, and of their vote.

    Args:
        names: the sources in the user's order; the first has the bit 2, the vote the bit 1.
        response: the response of each unit. `decided` has the bits of the sources with a valid
            vote, `supported` of the sources that support the claim. `label` is from 0 to 1 by
            people, NaN without one.
        scored: 1 where the response has a score, else 0; it then counts by its cost alone.
        asker: the response of each request; `place`: its source (from 1). `n_calls` and `cost_usd`
            are of a run without a cache, `n_requests` and `paid_usd` of this run.
    """
    if len(names) > MOST_ORDERED:
        raise ValueError(
            f"the orders of {len(names)} sources are too many to compare, {MOST_ORDERED} are "
            "allowed; 'ufo benchmark DIR --order a,b,c' recomputes one of any length."
        )
    known, of = np.unique(response, return_inverse=True)
    whole = np.bincount(of)
    kinds, at = np.unique(decided << 8 | supported, return_inverse=True)
    decides, supports = kinds >> 8, kinds & 255
    weight, true, false = (
        np.bincount(at, scored * factor)
        for factor in (1 / whole[of], np.nan_to_num(label), np.nan_to_num(1 - label))
    )
    if not weight.any():
        return []
    theirs = np.isin(asker, known)
    whose = np.searchsorted(known, asker[theirs])
    place = place[theirs]
    counts = n_calls[theirs], n_requests[theirs]
    costs = cost_usd[theirs], paid_usd[theirs]

    @cache
    def asking(source: int, before: int) -> tuple[float, ...]:
        """Return the requests to a source and their cost, for units left open by earlier ones: of
        a run without a cache, and of this run."""
        share = (np.bincount(of, (decided & before) == 0) / whole)[whose]
        own = (place == source) & (share > 0)  # requests that are not sent cost nothing
        # A request that holds several facts is needed while one of them is open.
        asked = [np.ceil(one[own] * share[own]).sum() for one in counts]
        spent = [(one[own] * share[own]).sum() for one in costs]
        return asked[0], spent[0], asked[1], spent[1]

    own_order = tuple(range(1, len(names) + 1))
    ways: list[tuple[str, tuple[int, ...], tuple[int, ...]]] = [("mv", own_order, (0,))]
    ways += [("single", (one,), (one,)) for one in own_order]
    ways += [("seq", order, order) for order in permutations(own_order)]
    results = []
    for mode, order, stages in ways:
        # From the last source to the first, so that the first deciding one overwrites the others.
        verdict = np.full(len(kinds), np.nan)
        for number in reversed(stages):
            verdict = np.where(decides >> number & 1, supports >> number & 1, verdict)
        by = ~np.isnan(verdict)
        right, kept = true[verdict == 1].sum(), false[verdict == 0].sum()
        labelled, answered = (true.sum(), false.sum()), (true[by].sum(), false[by].sum())
        all_kept = kept + labelled[1] - answered[1]  # false claims that are not taken for true
        before = repeat(0) if mode == "mv" else accumulate((1 << one for one in order), initial=0)
        by_source = zip(*map(asking, order, before), strict=True)
        calls, cost, requests, paid = map(sum, by_source)
        results.append(
            WayOfAsking(
                mode,
                ",".join(names[one - 1] for one in order),
                mode == "seq" and order == own_order,
                weight[verdict == 1].sum() / weight.sum(),
                weight[by].sum() / weight.sum(),
                round(sum(labelled)),
                _ratio(right + kept, sum(answered)),
                (_ratio(right, answered[0]) + _ratio(kept, answered[1])) / 2,
                _ratio(right + all_kept, sum(labelled)),
                (_ratio(right, labelled[0]) + _ratio(all_kept, labelled[1])) / 2,
                int(calls),
                cost,
                int(requests),
                paid,
            )
        )
    return results


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else np.nan


# The types of fields that are not DOUBLE.
_TYPES: Mapping[str, str] = {
    **dict.fromkeys(("method", "mode", "source", "source_order"), "VARCHAR"),
    **dict.fromkeys(("annotator", "annotator_a", "annotator_b"), "VARCHAR"),
    **dict.fromkeys(("cluster", "stratum", "cell", "response", "unit"), "UBIGINT"),
    **dict.fromkeys(("n_units", "n_pairs", "n_equal"), "BIGINT"),
    **dict.fromkeys(("decided", "supported", "place", "n_labelled"), "BIGINT"),
    **dict.fromkeys(("n_calls", "n_requests"), "BIGINT"),
    "given": "BOOLEAN",
}

# A function, the fields of each list that it takes, the row that it returns, and whether many.
_FUNCTIONS: Sequence[tuple[Callable[..., Any], Sequence[str], type[Any], bool]] = (
    (mean_interval, ["value weight cluster"], Interval, False),
    (ratio_interval, ["above below above_2 below_2 cluster"], Interval, False),
    (paired_t, ["difference"], Test, False),
    (unpaired_t, ["score cluster", "score cluster"], Test, False),
    (
        corrected_by_cell,
        ["score weight cluster", "label verdict share weight stratum cell cluster"],
        Corrected,
        False,
    ),
    (annotators_agreement, ["unit annotator label"], Agreement, True),
    (correlations, ["x y cluster"], Interval, True),
    (
        source_orders,
        [
            "source",
            "response scored decided supported label",
            "response place n_calls cost_usd n_requests paid_usd",
        ],
        WayOfAsking,
        True,
    ),
)


def add_statistics(connection: duckdb.DuckDBPyConnection) -> None:
    """Register the statistics as functions of the database."""

    def add(name: str, call: Callable[..., Any], takes: list[str], returned: str) -> None:
        connection.create_function(
            name, call, takes, returned, type="arrow", null_handling="special"
        )

    add("wilson", _wilson, ["DOUBLE", "DOUBLE"], "STRUCT(low DOUBLE, high DOUBLE)")
    for function, lists, kind, many in _FUNCTIONS:
        call = partial(_call_rows, function, many)
        takes = [f"{_sql(fields.split())}[]" for fields in lists]
        add(
            function.__name__,
            _with_arity(len(lists), call),
            takes,
            _sql(kind._fields) + "[]" * many,
        )


def _with_arity(n: int, call: Callable[..., pa.Array]) -> Callable[..., pa.Array]:
    """Return the function with `n` parameters: the database would count `*columns` as one."""
    return (call, lambda a, b: call(a, b), lambda a, b, c: call(a, b, c))[n - 1]


def _call_rows(function: Callable[..., Any], many: bool, *columns: pa.ChunkedArray) -> pa.Array:
    """Return the results of a function for every row of lists, with NaN as NULL."""
    results: list[object] = []
    for row in zip(*columns, strict=True):
        result = function(*(array for rows in row for array in _arrays(rows)))
        results.append([one._asdict() for one in result] if many else result._asdict())
    return pa.array(results, from_pandas=True)


def _sql(fields: Iterable[str]) -> str:
    typed = (f"{name} {_TYPES.get(name, 'DOUBLE')}" for name in fields)
    return f"STRUCT({', '.join(typed)})"


def _arrays(rows: pa.ListScalar) -> list[Any]:
    """Return the fields of a list of STRUCTs, one array each; NULL is an empty list."""
    values = rows.values
    if values is None:
        values = pa.array([], rows.type.value_type)
    return [field.to_numpy(zero_copy_only=False) for field in values.flatten()]


def _wilson(k: pa.ChunkedArray, n: pa.ChunkedArray) -> pa.Array:
    low, high = wilson(*(one.to_numpy().astype(float) for one in (k, n)))
    columns = [pa.array(one, from_pandas=True) for one in (low, high)]
    return pa.StructArray.from_arrays(columns, ["low", "high"])
