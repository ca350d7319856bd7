"""What every aggregation script is told."""

import math
import os
from dataclasses import dataclass
from pathlib import Path

from omegaconf import DictConfig, OmegaConf

from plenum.base.errors import UserError
from plenum.dynamics import DRAWS, INTERVALS, WINDOW
from plenum.dynamics.planning import SPENDING


@dataclass(frozen=True)
class Settings:
    """What to report on.

    Attributes
    ----------
    study, uri
        The experiment, and the tracking store that holds it.
    out
        The folder that files are written to.
    window
        First and last round of the λ̂ fit.
    interval
        Method of λ̂'s interval.
    draws, seed
        Of bootstrap, reversals and permutations.
    baseline, reruns
        Other studies in the store: one-shot votes that deliberations are compared with, and
        reruns that a figure shows. Empty for none.
    """

    study: str
    uri: str
    out: Path
    window: tuple[int, int] = WINDOW
    interval: str = INTERVALS[0]
    draws: int = DRAWS
    seed: int = 0
    baseline: str = ""
    reruns: str = ""


def settings(cfg: DictConfig) -> Settings:
    """Check a script's config.

    Raises
    ------
    UserError
        The study isn't named, or a value is malformed.
    """
    study, uri = source(cfg)
    window = _window(cfg)
    if cfg.interval not in INTERVALS:
        raise UserError(f"interval: {cfg.interval}; one of {', '.join(INTERVALS)}")
    _whole(cfg, "draws", 100)
    _whole(cfg, "seed", 0)
    return Settings(
        study,
        uri,
        Path(cfg.out),
        window,
        cfg.interval,
        cfg.draws,
        cfg.seed,
        _other(cfg, "baseline"),
        _other(cfg, "reruns"),
    )


@dataclass(frozen=True)
class Plan:
    """What `scripts/plan.py` is asked: see `plan_replicates` and `look` of `plenum.dynamics`."""

    study: str
    uri: str
    window: tuple[int, int]
    delta: float
    power: float
    alpha: float
    half_width: float
    maximum: int
    looks: tuple[int, ...]
    spending: str


def plan(cfg: DictConfig) -> Plan:
    """Check what `scripts/plan.py` is asked.

    Raises
    ------
    UserError
        A value is malformed.
    """
    study, uri = source(cfg)
    for key in ("delta", "power", "alpha", "half_width"):
        if type(cfg[key]) not in (int, float) or not 0 < cfg[key] < math.inf:
            raise UserError(f"{key}: {cfg[key]}; a number above 0")
    if not cfg.alpha < cfg.power < 1:
        raise UserError(f"power: {cfg.power}; between alpha ({cfg.alpha}) and 1")
    if cfg.spending not in SPENDING:
        raise UserError(f"spending: {cfg.spending}; one of {', '.join(SPENDING)}")
    _whole(cfg, "maximum", 3)
    looks = OmegaConf.to_container(cfg.looks) if OmegaConf.is_list(cfg.looks) else None
    if not isinstance(looks, list) or any(type(n) is not int or n < 3 for n in looks):
        raise UserError(f"looks: {cfg.looks}; a list of whole numbers from 3 on, as in [10,20]")
    if list(looks) != sorted(set(looks)) or (looks and looks[-1] >= cfg.maximum):
        raise UserError(f"looks: {looks}; increasing, and below maximum ({cfg.maximum})")
    return Plan(
        study=study,
        uri=uri,
        window=_window(cfg),
        delta=float(cfg.delta),
        power=float(cfg.power),
        alpha=float(cfg.alpha),
        half_width=float(cfg.half_width),
        maximum=cfg.maximum,
        looks=tuple(looks),
        spending=cfg.spending,
    )


def calibration(cfg: DictConfig) -> tuple[int, int, Path]:
    """Check the config of `scripts/calibrate.py`: draws, workers, folder.

    Raises
    ------
    UserError
        A number is malformed.
    """
    _whole(cfg, "draws", 2)
    if cfg.workers is not None:
        _whole(cfg, "workers", 1)
    return cfg.draws, cfg.workers or os.cpu_count() or 1, Path(cfg.out)


def source(cfg: DictConfig) -> tuple[str, str]:
    """The study that a script is to read, and the store that holds it.

    Raises
    ------
    UserError
        The study isn't named, or there is no store.
    """
    if OmegaConf.is_missing(cfg, "study"):
        raise UserError("study: missing; name the study, as in study=hl01_2x2")
    if cfg.tracking.uri is None:
        raise UserError(
            f"tracking: {cfg.tracking.name} holds no study to read; use local or server"
        )
    return str(cfg.study), str(cfg.tracking.uri)


def _other(cfg: DictConfig, key: str) -> str:
    """Another study that a script may be told of; empty for none."""
    return "" if cfg.get(key) is None else str(cfg[key])


def _window(cfg: DictConfig) -> tuple[int, int]:
    window = OmegaConf.to_container(cfg.window) if OmegaConf.is_list(cfg.window) else cfg.window
    if not (
        isinstance(window, list)
        and len(window) == 2
        and all(type(bound) is int for bound in window)
        and 1 <= window[0] < window[1]
    ):
        raise UserError(f"window: {window}; it is [first,last] with 1 <= first < last")
    return window[0], window[1]


def _whole(cfg: DictConfig, key: str, least: int) -> None:
    if type(cfg[key]) is not int or cfg[key] < least:
        raise UserError(f"{key}: {cfg[key]}; a whole number from {least} on")
