"""The typed settings of the scripts that read a study, with their ranges."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_origin, get_type_hints

from omegaconf import DictConfig, OmegaConf

from plenum.base.errors import UserError
from plenum.design.ranges import Choice, Range, Whole, check_ranges
from plenum.dynamics import DRAWS, INTERVALS, WINDOW
from plenum.dynamics.planning import SPENDING
from plenum.records.remote_files import destination

T = TypeVar("T")


@dataclass(frozen=True)
class _Increasing:
    """A rule for whole numbers that increase, maybe of a given count, with its description."""

    least: int
    allowed: str
    length: int | None = None

    def check(self, key: str, value: object) -> None:
        """Refuse other values."""
        given = list(value) if isinstance(value, tuple) else None
        integers = given is not None and all(type(n) is int and n >= self.least for n in given)
        refused = given is None or not integers or given != sorted(set(given))
        if refused or self.length not in (None, len(given or ())):
            raise UserError(f"{key}: {value if given is None else given}; it is {self.allowed}")


Window = Annotated[tuple[int, int], _Increasing(1, "[first,last] with 1 <= first < last", 2)]
Looks = Annotated[
    tuple[int, ...], _Increasing(3, "an increasing list of whole numbers from 3 on, as in [10,20]")
]
Positive = Annotated[float, Range(0, above=True)]


@dataclass(frozen=True)
class Settings:
    """The study to report on, and the settings of its estimates.

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
    every
        Whether every table is printed, or what fits a screen.
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
    every: bool = False


@dataclass(frozen=True)
class Plan:
    """The settings of `scripts/plan.py`: see `plan_replicates` and `look` of `plenum.dynamics`."""

    study: str
    uri: str
    window: Window
    delta: Positive
    power: Positive
    alpha: Positive
    half_width: Positive
    maximum: Annotated[int, Whole(3)]
    looks: Looks
    spending: Annotated[str, Choice(SPENDING)]


@dataclass(frozen=True)
class Calibration:
    """The settings of `scripts/calibrate.py`; without ``workers`` every core works."""

    draws: Annotated[int, Whole(2)]
    workers: Annotated[int | None, Whole(1)]
    out: Path


def read(kind: type[T], cfg: DictConfig) -> T:
    """Read a script's config as a dataclass: each field has the name of its key, and its rules.

    Raises
    ------
    UserError
        The study isn't named, there is no store, or a value is malformed.
    """
    hints = get_type_hints(kind)
    given = dict(zip(("study", "uri"), source(cfg), strict=True)) if "uri" in hints else {}
    names = [name for name in hints if name in cfg and name not in given]
    values = {name: _converted(name, cfg[name], hints[name]) for name in names}
    typed = kind(**given, **values)
    check_ranges("", typed)
    return typed


def settings(cfg: DictConfig) -> Settings:
    """Check the config of a script that reports on a study."""
    return read(Settings, cfg)


def plan(cfg: DictConfig) -> Plan:
    """Check the config of `scripts/plan.py`."""
    planned = read(Plan, cfg)
    if not planned.alpha < planned.power < 1:
        raise UserError(f"power: {planned.power}; between alpha ({planned.alpha}) and 1")
    if planned.looks and planned.looks[-1] >= planned.maximum:
        raise UserError(f"looks: {cfg.looks}; below maximum ({planned.maximum})")
    return planned


def source(cfg: DictConfig) -> tuple[str, str]:
    """Return the study that a script is to read, and the store that holds it.

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


def _converted(name: str, value: Any, hint: Any) -> Any:
    """Convert a config's value to a field's type; the field's rules refuse other types."""
    if hint is str:
        return "" if value is None else str(value)
    if hint is Path:
        return destination(name, str(value))
    if get_origin(hint) is tuple and OmegaConf.is_list(value):
        return tuple(value)
    return value
