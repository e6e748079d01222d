"""Intervals of shares and means, tests of differences, and correlations.

Responses to one question are not independent: ten models that say the same say it once. So each
value comes with its cluster, the question or else the response, and every variance is the
linearised one between clusters (Binder 1983) times G / (G - 1) for G clusters.

`add_statistics` makes them functions of the database. A view counts and groups; what it gives to a
function is a list of STRUCTs, whose fields are the function's arguments, and what comes back is a
STRUCT or a list of them.
"""

from collections.abc import Callable, Iterable, Sequence
from statistics import NormalDist
from typing import Any, NamedTuple

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

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


class Corrected(NamedTuple):
    """A mean corrected by labels with its bounds, and the weight of the judge's verdicts in it."""

    value: float = np.nan
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
) -> Corrected:
    """Return the mean score that people would have given, had they labelled everything.

    Prediction-powered inference (Angelopoulos et al. 2023): the judge's mean, times `power`, plus
    the mean of (label - power × verdict) over the labelled units; `power` is tuned as in PPI++, for
    labelled units that are among the judged. The variance is that of the linearised estimate,
    within strata and between clusters (after Särndal et al. 1992, two-phase sampling), the
    interval Student's t, cut to 0 to 1.

    Of few labels none may differ from the judge, and then they do not vary. So the variance has
    that of two labels more, on which the judge is wrong in either direction, as Agresti and Coull
    (1998) add some to a share: where none of n differs the bounds are near 3 / n, the rule of
    three. It shrinks with the square of n.

    Args:
        score: the judge's score of each response, and the cluster that it is in.
        label: 1 or 0, by people, of each labelled unit, with the judge's `verdict`.
        share: what the unit counts in the mean over responses; `weight`: how many units it stands
            for; `stratum`: where it was drawn.
    """
    total = share.sum()
    if len(label) == 0 or len(score) == 0:
        return Corrected()

    def mean(values: Floats) -> float:
        return float(share @ values / total)

    judged, people = mean(verdict), mean(label)
    spread = judged - judged * judged  # a verdict is 0 or 1
    power = 1.0
    if spread > _NOTHING:
        power = float(np.clip((mean(verdict * label) - judged * people) / spread, 0, 1))
    value = power * score.mean() + people - power * judged
    method = "prediction-powered, clustered"
    bounds = np.clip(value, 0, 1)
    names, at = np.unique(np.concatenate([cluster, label_cluster]), return_inverse=True)
    n_clusters, n_labelled = len(np.unique(cluster)), len(np.unique(label_cluster))
    if min(n_clusters, n_labelled) < 2:
        return Corrected(float(bounds), power=power)
    deviation = share * (label - power * verdict - (people - power * judged)) / total
    influence = np.concatenate(
        [
            power * (score - score.mean()) / len(score) * np.sqrt(n_clusters / (n_clusters - 1)),
            _within(deviation, weight, stratum) * np.sqrt(n_labelled / (n_labelled - 1)),
        ]
    )
    sums = np.bincount(at, influence, len(names))
    unseen = 2 / (len(label) + 2) ** 2
    margin = t_bound(n_labelled - 1) * np.sqrt(float(sums @ sums) + unseen)
    low, high = np.clip([value - margin, value + margin], 0, 1)
    return Corrected(float(bounds), float(low), float(high), power, method)


def _within(deviation: Floats, weight: Floats, stratum: Clusters) -> Floats:
    """Return deviations from the means of their strata.

    How many of each stratum are drawn is fixed, so what strata differ by counts only as far as the
    responses themselves are a sample: by the share of the stratum that was labelled.
    """
    at = np.unique(stratum, return_inverse=True)[1]
    n = np.bincount(at)[at]
    centre = (np.bincount(at, deviation) / np.bincount(at))[at]
    between = centre / np.sqrt(np.maximum(weight, 1))
    inside = (deviation - centre) * np.sqrt(n / np.maximum(n - 1, 1))
    return np.where(n == 1, deviation, between + inside)


Row = tuple[Any, ...]

_CLUSTERS = ("cluster", "stratum")
_TEXTS = ("metric", "method")
_NUMBER = "DOUBLE"

# A function, the fields of each list that it takes, and the row that it returns.
_FUNCTIONS: Sequence[tuple[Callable[..., Any], Sequence[str], type[Any]]] = (
    (mean_interval, ["value weight cluster"], Interval),
    (ratio_interval, ["above below above_2 below_2 cluster"], Interval),
    (paired_t, ["difference"], Test),
    (unpaired_t, ["score cluster", "score cluster"], Test),
    (corrected, ["score cluster", "label verdict share weight stratum cluster"], Corrected),
)


def add_statistics(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the statistics functions of the database."""
    connection.create_function(
        "wilson",
        _wilson,
        ["DOUBLE", "DOUBLE"],
        "STRUCT(low DOUBLE, high DOUBLE)",
        type="arrow",
        null_handling="special",
    )
    for function, lists, kind in _FUNCTIONS:
        _add(connection, function, lists, _sql(kind._fields), kind)
    rows = f"{_sql(Correlation._fields)}[]"
    _add(connection, correlations, ["x y cluster"], rows, Correlation)


def _add(
    connection: duckdb.DuckDBPyConnection,
    function: Callable[..., Any],
    lists: Sequence[str],
    returned: str,
    kind: type[Any],
) -> None:
    one = pa.struct([(f, pa.string() if f in _TEXTS else pa.float64()) for f in kind._fields])
    many = returned.endswith("[]")

    def call(*columns: pa.ChunkedArray) -> pa.Array:
        found = []
        for row in zip(*columns, strict=True):
            result = function(*(array for rows in row for array in _arrays(rows)))
            found.append([_plain(r) for r in result] if many else _plain(result))
        return pa.array(found, pa.list_(one) if many else one)

    connection.create_function(
        function.__name__,
        # The database counts parameters, and `*columns` is one.
        call if len(lists) == 1 else lambda first, second: call(first, second),
        [f"{_sql(fields.split())}[]" for fields in lists],
        returned,
        type="arrow",
        null_handling="special",
    )


def _sql(fields: Iterable[str]) -> str:
    kinds = dict.fromkeys(_TEXTS, "VARCHAR") | dict.fromkeys(_CLUSTERS, "UBIGINT")
    return f"STRUCT({', '.join(f'{name} {kinds.get(name, _NUMBER)}' for name in fields)})"


def _arrays(rows: pa.ListScalar) -> list[Any]:
    """Return the fields of a list of STRUCTs, one array each; nothing is an empty list."""
    values = rows.values
    if values is None:
        values = pa.array([], rows.type.value_type)
    return [field.to_numpy(zero_copy_only=False) for field in values.flatten()]


def _plain(row: Any) -> dict[str, Any]:
    """Return a row by the names of its fields, NaN as NULL."""
    return {
        name: None if isinstance(value, float) and np.isnan(value) else value
        for name, value in row._asdict().items()
    }


def _wilson(k: pa.ChunkedArray, n: pa.ChunkedArray) -> pa.Array:
    low, high = wilson(*(one.to_numpy().astype(float) for one in (k, n)))
    columns = [pa.array(one, from_pandas=True) for one in (low, high)]
    return pa.StructArray.from_arrays(columns, ["low", "high"])
