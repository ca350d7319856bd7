"""What no estimator takes: each refuses it by a ValueError that says what is wrong."""

from collections.abc import Callable
from typing import Any

import exact_processes
import numpy as np
import pytest
from slow_dynamics import walks

from plenum.dynamics.branching import branching
from plenum.dynamics.contrasts import contrast
from plenum.dynamics.decisions import estimate_share, mcnemar
from plenum.dynamics.divergence import divergence
from plenum.dynamics.lyapunov import lyapunov
from plenum.dynamics.majority import time_to_majority
from plenum.dynamics.meta_analysis import pool
from plenum.dynamics.nulls import reversal_test, shuffle_test
from plenum.dynamics.resampling import bootstrap
from plenum.dynamics.sample_sizes import plan_replicates
from plenum.dynamics.switches import switch_counts
from plenum_worlds.dynamics.two_lines import fit_two_lines
from plenum_worlds.dynamics.within_world import estimate_divergence

NAN = float("nan")
ARM = walks(4, 3, seed=1)
NO_ENSEMBLES = [
    *(np.zeros(shape) for shape in ((4, 3), (2, 4, 3, 1), (2, 0, 3), (2, 4, 1))),
    *(np.full((2, 4, 3), value) for value in (np.nan, np.inf)),
]
NO_PREFERENCES = [np.zeros(shape) for shape in ((20, 5, 3), (1, 2, 20, 5, 3), (2, 3, 5, 1))]
GRID: dict[str, tuple[float, ...]] = {
    **dict.fromkeys(("alpha", "gamma", "shock_freq"), (0.1,)),
    "agents": (2,),
    "beta": (0.0, 0.2),
}


REFUSED: list[tuple[Callable[..., Any], list[tuple[Any, ...]], dict[str, Any], str]] = [
    (divergence, [(e,) for e in NO_ENSEMBLES], {}, "an ensemble"),
    (lyapunov, [(e,) for e in NO_ENSEMBLES], {}, "an ensemble"),
    (lyapunov, [(ARM, w) for w in ((0, 20), (-1, 5), (3, 3), (9, 3))], {}, "a window is"),
    (lyapunov, [(ARM,)], {"interval": "hac"}, "interval 'hac'"),
    (lyapunov, [(ARM, (3, 20), ["A"] * n) for n in (3, 5)], {}, "decisions for 4 replicates"),
    (bootstrap, [(ARM,)], {"draws": 0}, "draws"),
    (bootstrap(ARM, draws=10).interval, [("jackknife",)], {}, "interval 'jackknife'"),
    (reversal_test, [(ARM,)], {"draws": 0}, "draws"),
    (reversal_test, [(ARM,)], {"centre": "mode"}, "centre 'mode'"),
    (reversal_test, [(ARM, (5, 5))], {}, "a window is"),
    (reversal_test, [(e,) for e in NO_ENSEMBLES], {}, "an ensemble"),
    (shuffle_test, [(ARM,)], {"draws": 0}, "draws"),
    (shuffle_test, [(ARM, (5, 5))], {}, "a window is"),
    (shuffle_test, [(e,) for e in NO_ENSEMBLES], {}, "an ensemble"),
    (contrast, [(ARM, ARM)], {"draws": 0}, "draws"),
    (contrast, [(ARM, ARM, (5, 5))], {}, "a window is"),
    (contrast, [(ARM, np.full((4, 20, 3), np.nan))], {}, "an ensemble"),
    (contrast, [(ARM, ARM[:3])], {"paired": True}, "paired arms of 4 and 3 replicates"),
    (contrast, [(ARM, ARM)], {"decisions": (["A"] * 3, None)}, "3 decisions for 4 replicates"),
    (
        branching,
        [
            *((np.zeros(s), np.zeros((2, 3))) for s in ((2, 1, 5, 3), (2, 3, 5), (2, 3, 0, 3))),
            (np.zeros((0, 3, 5, 3)), np.zeros((0, 3))),
            (np.zeros((2, 3, 5, 1)), np.zeros((2, 1))),
            (np.full((2, 3, 5, 3), np.nan), np.zeros((2, 3))),
            *((np.zeros((2, 3, 5, 3)), np.zeros(s)) for s in ((3, 3), (2, 4, 3))),
            (np.zeros((2, 3, 5, 3)), np.full((2, 3), np.nan)),
        ],
        {},
        "shape|finite",
    ),
    (estimate_share, [(-1, 3), (4, 3), (1, 0)], {}, "isn't a share"),
    (mcnemar, [([], []), ([True], [True, False])], {}, "pairs are needed"),
    (exact_processes.chaotic_map, [(23,)], {}, "at most 22 rounds"),
    (time_to_majority, [(p,) for p in NO_PREFERENCES], {}, "replicates, rounds, seats, options"),
    (time_to_majority, [(np.zeros((1, 2, 5, 3)), "last")], {}, "reading 'last'"),
    (switch_counts, [(p,) for p in NO_PREFERENCES], {}, "replicates, rounds, seats, options"),
    (
        plan_replicates,
        [
            *((delta, 0.1) for delta in (0.0, NAN, np.inf, 1e-6)),
            *((0.1, sd) for sd in (0.0, NAN)),
            *((0.1, 0.1, *levels) for levels in ((1.0, 0.05), (0.05, 0.05), (0.8, 0.0))),
        ],
        {},
        "delta|sd|power",
    ),
    (pool, [([1.0], [1.0, 2.0]), ([[1.0]], [[1.0]])], {}, "one standard error an effect"),
    (estimate_divergence, [([],)], {}, "no world"),
    (
        fit_two_lines,
        [([1, 2], [1, 2, 3]), ([1, 2], [1, 2], [1]), ([[1, 2]], [[1, 2]])],
        {},
        "one length",
    ),
]


@pytest.mark.parametrize(("estimator", "calls", "more", "message"), REFUSED)
def test_what_is_malformed_is_refused(
    estimator: Callable[..., Any], calls: list[tuple[Any, ...]], more: dict[str, Any], message: str
) -> None:
    for arguments in calls:
        with pytest.raises(ValueError, match=message):
            estimator(*arguments, **more)
