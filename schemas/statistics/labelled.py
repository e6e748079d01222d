"""Correct scores by people's labels of some units, and measure the agreement of two sources."""

from typing import NamedTuple

import numpy as np

from ufo.schemas.statistics.estimates import Clusters, Floats, by_cluster, t_bound

_NOTHING = 1e-12


class Corrected(NamedTuple):
    """A mean corrected by labels with its bounds, and the weight of the judge's verdicts in it."""

    value: float = np.nan
    low: float = np.nan
    high: float = np.nan
    power: float = np.nan
    method: str | None = None


class Kappa(NamedTuple):
    """The share of equal answers, and Cohen's kappa with its bounds."""

    agreement: float = np.nan
    kappa: float = np.nan
    low: float = np.nan
    high: float = np.nan
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


def kappa(n: Floats, n_equal: Floats, n_a: Floats, n_b: Floats, cluster: Clusters) -> Kappa:
    """Return Cohen's kappa (1960) of two sources, with the interval of its linearised influences.

    Args:
        n: how many units of each response both decide; `n_equal` of them alike; `n_a` and `n_b`:
            how many either supports.
    """
    total = n.sum()
    if total == 0:
        return Kappa()
    agreement, a, b = (float(one.sum() / total) for one in (n_equal, n_a, n_b))
    chance = a * (1 - b) + b * (1 - a)  # of disagreeing
    if chance < _NOTHING:
        return Kappa(agreement)
    value = 1 - (1 - agreement) / chance
    of_chance = (2 * b - 1) * (n_a - a * n) + (2 * a - 1) * (n_b - b * n)
    influence = ((n_equal - agreement * n) * chance - (1 - agreement) * of_chance) / (
        total * chance * chance
    )
    sums = by_cluster(influence, cluster)
    if len(sums) < 2:
        return Kappa(agreement, value)
    error = float(np.sqrt(sums @ sums * len(sums) / (len(sums) - 1)))
    if error < _NOTHING:
        return Kappa(agreement, value)
    margin = t_bound(len(sums) - 1) * error
    low, high = np.clip([value - margin, value + margin], -1, 1)
    return Kappa(agreement, value, float(low), float(high), "cluster-robust t")
