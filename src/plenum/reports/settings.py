"""What every aggregation script is told."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from omegaconf import DictConfig, OmegaConf

from plenum.base.errors import UserError
from plenum.design.ranges import Choice, Range, Whole, check_ranges
from plenum.dynamics import DRAWS, INTERVALS, WINDOW
from plenum.dynamics.planning import SPENDING


class _Increasing:
    """Two rounds, the first before the last."""

    def check(self, key: str, value: object) -> None:
        """Refuse anything else."""
        rounds = value if isinstance(value, tuple) else ()
        if [*map(type, rounds)] != [int, int] or not 1 <= rounds[0] < rounds[1]:
            shown = list(value) if isinstance(value, tuple) else value
            raise UserError(f"{key}: {shown}; it is [first,last] with 1 <= first < last")


Window = Annotated[tuple[int, int], _Increasing()]
Positive = Annotated[float, Range(0, above=True)]


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
    window: Window = WINDOW
    interval: Annotated[str, Choice(INTERVALS)] = INTERVALS[0]
    draws: Annotated[int, Whole(100)] = DRAWS
    seed: Annotated[int, Whole(0)] = 0
    baseline: str = ""
    reruns: str = ""


def settings(cfg: DictConfig) -> Settings:
    """Check a script's config.

    Raises
    ------
    UserError
        The study isn't named, or a value is malformed.
    """
    others = ["" if cfg.get(key) is None else str(cfg[key]) for key in ("baseline", "reruns")]
    numbers = (_tuple(cfg.window), cfg.interval, cfg.draws, cfg.seed)
    chosen = Settings(*source(cfg), Path(cfg.out), *numbers, *others)
    check_ranges("", chosen)
    return chosen


@dataclass(frozen=True)
class Plan:
    """What `scripts/plan.py` is asked: see `plan_replicates` and `look` of `plenum.dynamics`."""

    study: str
    uri: str
    window: Window
    delta: Positive
    power: Positive
    alpha: Positive
    half_width: Positive
    maximum: Annotated[int, Whole(3)]
    looks: tuple[int, ...]
    spending: Annotated[str, Choice(SPENDING)]


def plan(cfg: DictConfig) -> Plan:
    """Check what `scripts/plan.py` is asked.

    Raises
    ------
    UserError
        A value is malformed.
    """
    numbers = (cfg.delta, cfg.power, cfg.alpha, cfg.half_width, cfg.maximum)
    planned = Plan(*source(cfg), _tuple(cfg.window), *numbers, _tuple(cfg.looks), cfg.spending)
    check_ranges("", planned)
    looks, maximum = planned.looks, planned.maximum
    if not planned.alpha < planned.power < 1:
        raise UserError(f"power: {planned.power}; between alpha ({planned.alpha}) and 1")
    if not isinstance(looks, tuple) or any(type(n) is not int or n < 3 for n in looks):
        raise UserError(f"looks: {cfg.looks}; a list of whole numbers from 3 on, as in [10,20]")
    if list(looks) != sorted(set(looks)) or (looks and looks[-1] >= maximum):
        raise UserError(f"looks: {cfg.looks}; increasing, and below maximum ({maximum})")
    return planned


def calibration(cfg: DictConfig) -> tuple[int, int, Path]:
    """Check the config of `scripts/calibrate.py`: draws, workers, folder.

    Raises
    ------
    UserError
        A number is malformed.
    """
    Whole(2).check("draws", cfg.draws)
    if cfg.workers is not None:
        Whole(1).check("workers", cfg.workers)
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


def _tuple(value: Any) -> Any:
    """A list of a config as a tuple; anything else as it is, for the checks to refuse."""
    given = OmegaConf.to_container(value) if OmegaConf.is_list(value) else value
    return tuple(given) if isinstance(given, list) else given
