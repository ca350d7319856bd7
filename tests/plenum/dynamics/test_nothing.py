"""What can't be estimated is NaN, and says why."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from slow_dynamics import walks

from plenum.dynamics.bands import divergence_band
from plenum.dynamics.branching import branching
from plenum.dynamics.contrasts import contrast, interaction
from plenum.dynamics.decisions import flip_rate, pairwise_disagreement
from plenum.dynamics.divergence import divergence
from plenum.dynamics.estimate import estimate_mean, make_estimate
from plenum.dynamics.fit import fit_distances, jackknife_se
from plenum.dynamics.lyapunov import lyapunov
from plenum.dynamics.majority import time_to_majority
from plenum.dynamics.meta_analysis import pool
from plenum.dynamics.nulls import reversal_test, shuffle_test
from plenum.dynamics.resampling import bootstrap
from plenum.dynamics.summary import summarise
from plenum.dynamics.switches import switch_counts

NAN = float("nan")
NONE, ONE, SAME = (
    walks(0, 3, seed=1),
    walks(1, 3, seed=1),
    np.repeat(walks(1, 3, seed=1), 5, axis=0),
)
NOISY = SAME + 1e-12 * np.random.default_rng(7).normal(size=(5, 1, 3))
SHORT, ARM = walks(5, 3, seed=1)[:, :3], walks(5, 3, seed=2)
SEATS = np.random.default_rng(3).dirichlet(np.ones(3), (1, 20, 5))
SPIKE = SAME.copy()
SPIKE[0, 10] += [0.1, -0.1, 0]  # one round alone has divergence
BASES = np.random.default_rng(1).dirichlet(np.ones(3), (4, 3, 6))
INTERVAL = dict.fromkeys(("value", "ci_low", "ci_high"), NAN)
NOTHING: list[tuple[Callable[[], Any], dict[str, Any]]] = [
    (lambda: lyapunov(NONE), {**INTERVAL, "status": "single", "rounds_used": 0}),
    (lambda: lyapunov(ONE), {**INTERVAL, "status": "single", "zero_rounds": 0, "replicates": 1}),
    *(
        (lambda e=e: lyapunov(e), {**INTERVAL, "status": "identical", "zero_rounds": 18, "se": NAN})
        for e in (SAME, NOISY)
    ),
    (lambda: lyapunov(SHORT), {**INTERVAL, "status": "short", "rounds_used": 1}),
    (lambda: lyapunov(SHORT[:, :1]), {**INTERVAL, "status": "short", "rounds_used": 0}),
    (lambda: lyapunov(SPIKE), {**INTERVAL, "status": "short", "zero_rounds": 17}),
    *(
        (lambda e=e, test=test: test(e, draws=5), {"value": NAN, "p": NAN, "null": []})
        for e in (NONE, ONE, SAME, SHORT)
        for test in (reversal_test, shuffle_test)
    ),
    *((lambda e=e: bootstrap(e, draws=5), {"value": NAN, "slopes": []}) for e in (NONE, ONE, SAME)),
    *(
        (
            lambda e=e, paired=paired: contrast(ARM, e, draws=5, paired=paired),
            {**INTERVAL, "se": NAN, "p": NAN, "p_wald": NAN},
        )
        for e in (SAME, SHORT)
        for paired in (False, True)
    ),
    (lambda: contrast(ARM[:2], ARM[:2], draws=5), {"value": 0.0, "se": NAN, "p": NAN}),
    (lambda: interaction(ARM, ARM, ARM, SAME), {**INTERVAL, "p": NAN, "warnings": "identical"}),
    (lambda: fit_distances(SHORT[:, :2]), {"value": NAN, "rounds": []}),
    *((lambda values=v: jackknife_se(np.array(values)), {}) for v in ([1.0, 2.0], [1, NAN, 2])),
    *((lambda e=e: divergence(e), {}) for e in (NONE, ONE)),
    *((lambda n=n: divergence_band(ARM[:n]), {}) for n in (1, 2)),
    (lambda: make_estimate(1.0, NAN, 5, 1, "t"), {"ci_low": NAN, "ci_high": NAN, "p": NAN}),
    (lambda: make_estimate(1.0, 0.1, 0, 1, "t"), {"ci_low": NAN, "ci_high": NAN, "p": NAN}),
    *(
        (lambda values=v: estimate_mean(np.array(values), ""), {"se": NAN, "ci_low": NAN, "p": NAN})
        for v in ([], [NAN], [1.0])
    ),
    (lambda: flip_rate([]), {**INTERVAL, "n": 0}),
    *((lambda d=d: pairwise_disagreement(d), {**INTERVAL, "n": len(d)}) for d in ([], ["A"])),
    (lambda: pairwise_disagreement(["A", "B"]), {"value": 1.0, "ci_low": 0.0, "ci_high": 1.0}),
    *(
        (lambda e=e: pool(e, [0.1] * len(e)), {"value": NAN, "se": NAN, "tau": NAN, "p": NAN})
        for e in ([], [0.1], [0.1, NAN])
    ),
    (lambda: switch_counts(SEATS[:0]), {"mean": [NAN] * 5, "n": 0}),
    (lambda: switch_counts(SEATS), {"sd": [NAN] * 5, "sem": [NAN] * 5, "n": 1}),
    (lambda: time_to_majority(SEATS[:0]), {"median": NAN, "ci_low": NAN, "events": 0, "n": 0}),
    (lambda: time_to_majority(SEATS), {"ci_high": np.inf}),
    (lambda: branching(BASES[:1, :, 1:], BASES[:1, 0, 0], permutations=5), {"c_p": NAN}),
    (
        lambda: branching(BASES[:, :, 1:2], BASES[:, 0, 0], permutations=5),
        {"signed_by_base": [NAN] * 4},
    ),
    (lambda: summarise(SEATS, ["A"], draws=5).lyapunov, {"status": "single"}),
]


@pytest.mark.parametrize(("estimated", "fields"), NOTHING)
def test_what_cant_be_estimated_is_not_a_number(
    estimated: Callable[[], Any], fields: dict[str, Any]
) -> None:
    found = estimated()
    if not fields:
        assert np.isnan(found).all()
    for name, value in fields.items():
        if isinstance(value, str):
            assert value == getattr(found, name) or value in getattr(found, name)
        else:
            np.testing.assert_array_equal(getattr(found, name), value)
