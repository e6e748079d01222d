"""Intervals of shares and means, tests of differences, and correlations.

Responses to one question are not independent: ten models that say the same say it once. So each
value comes with its cluster, the question or else the response, and every variance is the
linearised one between clusters (Binder 1983) times G / (G - 1) for G clusters.
"""

from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Clusters = npt.NDArray[np.uint64]

Z = NormalDist().inv_cdf(0.975)
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


class Correlation(NamedTuple):
    """A correlation with its bounds and the name of the method."""

    metric: str
    value: float = np.nan
    low: float = np.nan
    high: float = np.nan
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


def t_bound(df: float) -> float:
    """Return the two-sided critical value of t at the 5 % level."""
    from scipy import special

    return float(special.stdtrit(df, 0.975))


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
    """Return the interval of a value from 0 to 1 of which each row has this linearised influence.

    Wilson's at the effective number of independent rows, value × (1 - value) / variance, cut by
    (z / t)² for a variance from few clusters (Korn and Graubard 1998; Dean and Pagano 2015 on
    Wilson's form). Where nothing varies the clusters are counted. It stays within 0 and 1 and is
    never a point. One cluster alone has none.
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

    Where all differences are equal there is no t: a drop then has the p of a sign test.
    """
    n = len(difference)
    mean = float(difference.mean()) if n else np.nan
    if n < 2:
        return Test(mean, method="none: one pair")
    error = float(difference.std(ddof=1)) / np.sqrt(n)
    if error < _NOTHING:
        drop = 0.5**n if mean < 0 else 1.0
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


def correlations(x: Floats, y: Floats, cluster: Clusters) -> list[Correlation]:
    """Return Pearson's, Spearman's and Kendall's (tau-b) correlation with intervals by Fisher's z.

    The variances are 1 / (n - 3), Bonett and Wright's (2000) and Fieller, Hartley and Pearson's
    (1957), with n cut by how much more the influences on the correlation vary between clusters
    than rows would alone; ranks stand for Kendall's. NaN where either is always the same.
    """
    from scipy import stats

    names = ("pearson", "spearman", "kendall")
    if len(x) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return [Correlation(name) for name in names]
    ranks = stats.rankdata(x), stats.rankdata(y)
    pearson, n = _pearson(x, y, cluster)
    spearman, n_of_ranks = _pearson(*ranks, cluster)
    kendall = float(stats.kendalltau(x, y).statistic)
    found = (
        (pearson, 1.0, n - 3, "Fisher z"),
        (spearman, 1 + spearman * spearman / 2, n_of_ranks - 3, "Fisher z, Bonett-Wright"),
        (kendall, 0.437, n_of_ranks - 4, "Fisher z, Fieller"),
    )
    return [Correlation(name, *_fisher(*one)) for name, one in zip(names, found, strict=True)]


def by_cluster(influence: Floats, cluster: Clusters) -> Floats:
    """Return the sum over each cluster."""
    return np.bincount(np.unique(cluster, return_inverse=True)[1], influence).astype(np.float64)


def _linearised(above: Floats, below: Floats) -> tuple[float, Floats]:
    """Return the ratio of the sums, and what each row adds to it to first order."""
    total = below.sum()
    if total == 0:
        return np.nan, np.zeros_like(above)
    value = above.sum() / total
    return float(value), (above - value * below) / total


def _t_test(difference: float, error: float, df: float, method: str) -> Test:
    from scipy import special

    half = t_bound(df) * error
    below = float(special.stdtr(df, difference / error))
    p = 2 * min(below, float(special.stdtr(df, -difference / error)))
    return Test(difference, difference - half, difference + half, p, below, method)


def _pearson(x: Floats, y: Floats, cluster: Clusters) -> tuple[float, float]:
    """Return the correlation, and how many independent rows its variance is that of."""
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
