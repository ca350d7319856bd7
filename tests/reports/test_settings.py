"""What the scripts are asked is checked before anything is read: every refusal names its key."""

import math
import os
from pathlib import Path
from typing import Any

import pytest
from omegaconf import DictConfig, OmegaConf

from plenum.base.errors import UserError
from plenum.dynamics import INTERVALS
from plenum.reports.settings import Plan, Settings, calibration, plan, settings


def tables(**changes: Any) -> DictConfig:
    """The config of scripts/tables.py."""
    return OmegaConf.create(
        {
            **{"study": "s1", "tracking": {"uri": "sqlite:///a.db"}, "out": "out/s1"},
            **{"window": [3, 20], "interval": "jackknife", "draws": 10_000, "seed": 0},
            **changes,
        }
    )


def planned(**changes: Any) -> DictConfig:
    """The config of scripts/plan.py."""
    return OmegaConf.create(
        {
            **{"study": "s1", "tracking": {"uri": "sqlite:///a.db"}, "window": [3, 20]},
            **{"delta": 0.03, "power": 0.8, "alpha": 0.05, "half_width": 0.02},
            **{"maximum": 100, "looks": [], "spending": "obrien_fleming"},
            **changes,
        }
    )


def calibrated(**changes: Any) -> DictConfig:
    """The config of scripts/calibrate.py."""
    return OmegaConf.create({"draws": 100, "workers": 3, "out": "docs", **changes})


WINDOWS = [[3], [3, 4, 5], [0, 5], [5, 5], [9, 4], [3.0, 20], ["3", 20], [True, 20], "3-20", 20]
WINDOWS += [None, {"first": 3}]


# --- what is taken -----------------------------------------------------------------------------


def test_settings_are_what_was_asked() -> None:
    assert settings(tables(window=[5, 12], interval="bca", draws=100, seed=7)) == Settings(
        "s1", "sqlite:///a.db", Path("out/s1"), (5, 12), "bca", 100, 7
    )
    assert settings(tables()) == Settings("s1", "sqlite:///a.db", Path("out/s1"))


@pytest.mark.parametrize("interval", INTERVALS)
def test_every_interval_can_be_asked_for(interval: str) -> None:
    assert settings(tables(interval=interval)).interval == interval


def test_a_plan_is_what_was_asked() -> None:
    found = plan(
        planned(
            **{"window": [1, 2], "delta": 1, "power": 0.9, "alpha": 0.1, "half_width": 0.5},
            **{"maximum": 30, "looks": [3, 29], "spending": "pocock"},
        )
    )
    assert found == Plan(
        *("s1", "sqlite:///a.db", (1, 2), 1.0, 0.9, 0.1, 0.5, 30, (3, 29), "pocock")
    )


def test_a_calibration_is_what_was_asked() -> None:
    assert calibration(calibrated()) == (100, 3, Path("docs"))
    assert calibration(calibrated(draws=2, workers=1)) == (2, 1, Path("docs"))


def test_without_a_number_of_workers_every_core_works() -> None:
    assert calibration(calibrated(workers=None))[1] == (os.cpu_count() or 1)


# --- what is refused ---------------------------------------------------------------------------


def test_a_study_must_be_named() -> None:
    for check, config in ((settings, tables(study="???")), (plan, planned(study="???"))):
        with pytest.raises(UserError, match="study: missing"):
            check(config)


@pytest.mark.parametrize("window", WINDOWS, ids=str)
def test_a_window_is_two_increasing_rounds(window: object) -> None:
    for check, config in ((settings, tables(window=window)), (plan, planned(window=window))):
        with pytest.raises(UserError, match=r"^window: "):
            check(config)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *(("interval", value) for value in ("wald", "Jackknife", None)),
        *(("draws", value) for value in (99, 0, -1, 100.0, "100", True, None)),
        *(("seed", value) for value in (-1, 0.5, "0", False, None)),
    ],
)
def test_malformed_settings_are_refused_by_name(key: str, value: object) -> None:
    with pytest.raises(UserError, match=f"^{key}: "):
        settings(tables(**{key: value}))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *(
            (key, value)
            for key in ("delta", "power", "alpha", "half_width")
            for value in (0, -0.1, math.inf, math.nan, "0.1", True, None)
        ),
        *(("power", value) for value in (1, 1.5, 0.05, 0.01)),
        *(("spending", value) for value in ("haybittle", None)),
        *(("maximum", value) for value in (2, 30.0, "30", None)),
        *(("looks", value) for value in (5, "5", None, [2], [5.0], ["5"], [True, 5], [[5]])),
        *(("looks", value) for value in ([5, 4], [5, 5], [100], [10, 101])),
    ],
)
def test_a_malformed_plan_is_refused_by_name(key: str, value: object) -> None:
    with pytest.raises(UserError, match=f"^{key}: "):
        plan(planned(**{key: value}))


def test_alpha_is_below_power() -> None:
    with pytest.raises(UserError, match=r"^power: 0.8; between alpha \(0.8\) and 1"):
        plan(planned(alpha=0.8))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *(("draws", value) for value in (1, 0, 2.0, "2", None, True)),
        *(("workers", value) for value in (0, -1, 1.0, "1", True)),
    ],
)
def test_a_malformed_calibration_is_refused_by_name(key: str, value: object) -> None:
    with pytest.raises(UserError, match=f"^{key}: "):
        calibration(calibrated(**{key: value}))
