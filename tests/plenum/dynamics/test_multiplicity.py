"""Families of tests: Holm and Benjamini-Hochberg."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from statsmodels.stats.multitest import multipletests

from plenum.dynamics.multiplicity import benjamini_hochberg, holm

pytestmark = pytest.mark.long

METHODS = [(holm, "holm"), (benjamini_hochberg, "fdr_bh")]
Adjust = Callable[[list[float]], np.ndarray]


@pytest.mark.parametrize(("adjust", "name"), METHODS)
@settings(max_examples=20)  # statsmodels needs 0.06 s for each
@given(p=st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_adjusted_p_agree_with_statsmodels(adjust: Adjust, name: str, p: list[float]) -> None:
    assert_allclose(adjust(p), multipletests(p, method=name)[1], atol=1e-12)


@pytest.mark.parametrize(("adjust", "name"), METHODS)
def test_a_test_without_a_result_counts_as_one_that_found_nothing(
    adjust: Adjust, name: str
) -> None:
    found = adjust([0.01, np.nan, 0.04, 0.03, np.nan])
    assert_allclose(
        found[[0, 2, 3]], multipletests([0.01, 1, 0.04, 0.03, 1], method=name)[1][[0, 2, 3]]
    )
    assert np.isnan(found[[1, 4]]).all()


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
def test_a_family_holds_p_or_nothing(adjust: Adjust) -> None:
    assert adjust([]).shape == (0,)
    assert np.isnan(adjust([np.nan, np.nan])).all()
    for p in ([-0.1, 0.5], [1.1], [[0.1, 0.2]], [np.inf]):
        with pytest.raises(ValueError, match="p-values"):
            adjust(p)


def test_known_values() -> None:
    assert_allclose(holm([0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02])
    assert_allclose(benjamini_hochberg([0.01, 0.04, 0.03, 0.005]), [0.02, 0.04, 0.04, 0.02])
