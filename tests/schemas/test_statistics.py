"""The distribution of Student's t and the correlations, against scipy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from ufo.schemas.statistics import correlations, t_bound, t_share

_PAIRS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=2, max_size=60)


@given(df=st.floats(1, 1e6), t=st.floats(-50, 50))
def test_shares_and_bounds_of_t(df: float, t: float) -> None:
    assert t_share(t, df) == pytest.approx(special.stdtr(df, t), rel=1e-8, abs=1e-14)
    assert t_bound(df) == pytest.approx(special.stdtrit(df, 0.975), rel=1e-9)


@given(pairs=_PAIRS)
def test_correlations_of_values_with_ties(pairs: list[tuple[int, int]]) -> None:
    x, y = np.array(pairs, dtype=np.float64).T
    found = [one.value for one in correlations(x, y, np.arange(len(x), dtype=np.uint64))]
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        assert np.isnan(found).all()
        return
    theirs = (stats.pearsonr(x, y), stats.spearmanr(x, y), stats.kendalltau(x, y))
    assert found == pytest.approx([one.statistic for one in theirs], abs=1e-9)
