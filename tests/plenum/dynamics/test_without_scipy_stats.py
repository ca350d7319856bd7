"""Two estimators say what SciPy's say, to the last bit, and don't import its slow module."""

import subprocess
import sys

import numpy as np
import pytest
from scipy.stats import CensoredData, ecdf, false_discovery_control

from plenum.dynamics.multiplicity import benjamini_hochberg
from plenum.dynamics.survival import kaplan_meier


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.filterwarnings("ignore:The confidence interval is undefined")
def test_the_share_without_an_event_and_its_limits_are_scipy_s(seed: int) -> None:
    draw = np.random.Generator(np.random.PCG64(seed))
    size, scale = draw.integers(1, 40), draw.choice([1, 3])
    times = draw.integers(0, 12, size) / scale
    observed = draw.random(size) < draw.choice([0.0, 0.3, 0.7, 1.0])
    at = np.arange(13) / draw.choice([1, 3])
    theirs = ecdf(CensoredData.right_censored(times, ~observed)).sf
    limits = theirs.confidence_interval(0.95, method="log-log")
    curve, low, high = kaplan_meier(times, observed, at)
    assert np.array_equal(curve, theirs.evaluate(at))
    for ours, limit in ((low, limits.low.evaluate(at)), (high, limits.high.evaluate(at))):
        known = np.isfinite(limit)
        assert np.array_equal(ours[known], limit[known])
        assert np.isfinite(ours).all()


@pytest.mark.parametrize("seed", range(30))
def test_adjusted_p_values_are_scipy_s(seed: int) -> None:
    draw = np.random.Generator(np.random.PCG64(seed))
    p = np.round(draw.random(draw.integers(1, 40)), draw.integers(1, 9))
    assert np.array_equal(benjamini_hochberg(p), false_discovery_control(p))


@pytest.mark.slow
def test_neither_imports_scipy_stats() -> None:
    code = (
        "import sys, numpy as np\n"
        "import plenum.dynamics.majority\n"
        "from plenum.dynamics.multiplicity import benjamini_hochberg\n"
        "from plenum.dynamics.survival import kaplan_meier\n"
        "kaplan_meier(np.ones(3), np.array([True, False, True]), np.arange(3.0))\n"
        "benjamini_hochberg([0.1, 0.2])\n"
        "print('scipy.stats' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
