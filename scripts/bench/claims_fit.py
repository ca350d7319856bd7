"""The part of `claims.py` on fitted committees: how they predict others, beside resampled runs."""

from pathlib import Path
from typing import Any

import numpy as np

from plenum_fit.released_runs import read_released
from plenum_fit.surrogates import CANDIDATES
from plenum_fit.validation import (
    NEAREST,
    NEW,
    Validation,
    compute_gains,
    cross_validate,
    name_pilot,
)
from plenum_papers.published import Release

QUICK = ("peers", "stubborn", "polarising")
"""The candidates that a small part tries."""


def measure_fit(clone: Path | None, quick: bool) -> dict[str, Any]:
    """Divide the error of the best model by that of resampling, by scenario and in the mean."""
    if clone is None:
        return {"fit_gain": "needs published=CLONE"}
    recorded = tuple(read_released(Release(clone), ["landscape"]))
    tried = tuple(each for each in CANDIDATES if not quick or each.name in QUICK)
    pilots = (5,) if quick else (3, 5, 10)
    found = cross_validate(Validation(recorded, pilots, 1, 50 if quick else 200, tried))
    gains = compute_gains(found, NEW)
    figures: dict[str, Any] = {
        "fit_gain": {scenario: round(gain, 2) for scenario, gain in gains.items()},
        "fit_gain_mean": round(float(np.mean(list(gains.values()))), 3),
    }
    near = compute_gains(found, NEW, NEAREST)
    values = np.array(list(near.values()))
    draws = np.random.default_rng(0).choice(values, (10_000, len(values))).mean(axis=1)
    figures["fit_gain_nearest"] = {scenario: round(gain, 2) for scenario, gain in near.items()}
    figures["fit_gain_nearest_mean"] = round(float(values.mean()), 3)
    figures["fit_gain_nearest_interval"] = np.quantile(draws, [0.025, 0.975]).round(2).tolist()
    for size in pilots:
        each = list(compute_gains(found, name_pilot(size)).values())
        figures[f"fit_gain_pilot_{size}"] = round(float(np.mean(each)), 3)
    return figures
