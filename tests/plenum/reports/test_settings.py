"""What the scripts are asked is checked before anything is read: every refusal names its key."""

import math
from pathlib import Path
from typing import Any

import pytest
from hydra import compose, initialize_config_dir
from omegaconf import DictConfig, OmegaConf

from plenum.base.errors import UserError
from plenum.dynamics.resampling import INTERVALS
from plenum.reports.explorer.publish import ExploredStudy
from plenum.reports.settings import (
    PlanSettings,
    Settings,
    check_plan_settings,
    check_report_settings,
    read_study_settings,
)

CONFIGS = {
    "tables": {"window": [3, 20], "interval": "jackknife", "draws": 10_000, "seed": 0},
    "explore": {"window": [3, 20], "out": "out/page.html", "condition": None, "replicates": None},
    "plan": {"window": [3, 20], "delta": 0.03, "power": 0.8, "alpha": 0.05},
}


def config(script: str, **changes: Any) -> DictConfig:
    """The config of a script."""
    study = {"study": "s1", "tracking": {"uri": "sqlite:///a.db"}, "out": "out/s1"}
    return OmegaConf.create({**study, **CONFIGS[script], **changes})


def asked(script: str, **changes: Any) -> Any:
    """What a script makes of its config."""
    cfg = config(script, **changes)
    if script == "plan":
        return check_plan_settings(cfg)
    return read_study_settings({"tables": Settings, "explore": ExploredStudy}[script], cfg)


def test_settings_are_what_was_asked(root: Path) -> None:
    source = ("s1", "sqlite:///a.db")
    chosen = Settings(*source, Path("out/s1"), (5, 12), "percentile", 100, 7)
    assert (
        check_report_settings(
            config("tables", window=[5, 12], interval="percentile", draws=100, seed=7)
        )
        == chosen
    )
    assert asked("tables") == Settings(*source, Path("out/s1"))
    assert asked("tables", baseline=17, reruns=None).baseline == "17"
    assert [asked("tables", interval=name).interval for name in INTERVALS] == list(INTERVALS)
    found = asked("plan", window=[1, 2], delta=1, power=0.9, alpha=0.1)
    assert found == PlanSettings(*source, (1, 2), 0.9, 0.1, delta=1.0)
    assert (found.asked, asked("plan", delta=None).asked) == (None, 0.2)
    with initialize_config_dir(str(root / "conf"), version_base="1.3"):
        page = read_study_settings(ExploredStudy, compose("explore", ["study=s"]))
    assert (page.out, page.condition, page.replicates) == (
        *(Path("outputs/s/explorer.html"), "", None),
    )


WINDOWS = [[3], [3, 4, 5], [0, 5], [5, 5], [9, 4], [3.0, 20], ["3", 20], [True, 20], "3-20", 20]
REFUSED: dict[tuple[str, str], list[Any]] = {
    ("tables", "study"): ["???"],
    ("plan", "study"): ["???"],
    ("tables", "window"): [*WINDOWS, None, {"first": 3}],
    ("plan", "window"): [*WINDOWS, None, {"first": 3}],
    ("tables", "interval"): ["wald", "Jackknife", None],
    ("tables", "draws"): [99, 0, -1, 100.0, "100", True, None],
    ("tables", "seed"): [-1, 0.5, "0", False, None],
    **{
        ("plan", key): [0, -0.1, math.inf, math.nan, "0.1", True]
        for key in ("delta", "alpha", "difference")
    },
    ("plan", "power"): [0, -0.1, math.inf, math.nan, "0.1", True, None, 1, 1.5, 0.05, 0.01],
    ("explore", "out"): ["page.txt", "."],
    ("explore", "replicates"): [1, "some", 2.0],
    ("explore", "window"): [[5, 3]],
}


@pytest.mark.parametrize(("script", "key"), REFUSED)
def test_what_is_malformed_is_refused_by_name(script: str, key: str) -> None:
    for value in REFUSED[script, key]:
        with pytest.raises(UserError, match=rf"^{key}: "):
            asked(script, **{key: value})


def test_alpha_is_below_power() -> None:
    with pytest.raises(UserError, match=r"^power: 0.8; between alpha \(0.8\) and 1"):
        asked("plan", alpha=0.8)
