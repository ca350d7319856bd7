"""The typed settings of the scripts that read a study, with their ranges."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from omegaconf import DictConfig, OmegaConf
from pydantic import BeforeValidator, Field

from plenum.base.errors import UserError
from plenum.design.ranges import Positive, StrictSettings, Text, Whole
from plenum.design.validation import read_settings
from plenum.dynamics.fit import WINDOW
from plenum.dynamics.resampling import DRAWS
from plenum.records.transcript import WHO

T = TypeVar("T")


def _require_increasing(
    given: Any, least: int, allowed: str, length: int | None = None
) -> tuple[int, ...]:
    """Return a list as a tuple if it holds whole numbers that increase."""
    numbers = list(given) if isinstance(given, list | tuple) else None
    if numbers is None or not all(type(n) is int and n >= least for n in numbers):
        raise ValueError(f"{given}; it is {allowed}")
    if numbers != sorted(set(numbers)) or length not in (None, len(numbers)):
        raise ValueError(f"{numbers}; it is {allowed}")
    return tuple(numbers)


def _refuse_address(given: object) -> object:
    """Refuse an address, of which a path would make folders of odd names."""
    if "://" in str(given):
        raise ValueError(f"{given}; it is a file or folder")
    return given


_FIRST_LAST = "[first,last] with 1 <= first < last"
Window = Annotated[
    tuple[int, int],
    BeforeValidator(partial(_require_increasing, least=1, allowed=_FIRST_LAST, length=2)),
]
Exact = Annotated[Positive, Field(strict=True)]
Interval = Literal["jackknife", "percentile", "seed_compatible"]
Split = Annotated[
    Literal["", *WHO],  # type: ignore[valid-type]
    BeforeValidator(lambda given: "" if given is None else given),
]
Out = Annotated[Path, BeforeValidator(_refuse_address)]
"""A file or folder that a script writes."""


@dataclass(frozen=True)
class Settings(StrictSettings):
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
    split
        Who answered: the part by which the replicates of each condition are told apart, as if it
        were a factor. Empty for none.
    every
        True if every table is printed, or what fits a screen.
    captions
        True if captions are drawn into figures.
    """

    study: str
    uri: str
    out: Out
    window: Window = WINDOW
    interval: Interval = "jackknife"
    draws: Annotated[Whole, Field(ge=100)] = DRAWS
    seed: Annotated[Whole, Field(ge=0)] = 0
    baseline: Text = ""
    reruns: Text = ""
    split: Split = ""
    every: bool = False
    captions: bool = False

    @property
    def folder(self) -> Path:
        """The folder of what is written now: within ``out`` if conditions are split."""
        return self.out / f"by_{self.split}" if self.split else self.out


@dataclass(frozen=True)
class PlanSettings(StrictSettings):
    """The settings of `scripts/plan.py`.

    See `plan_decisions` and `plan_replicates` of `plenum.dynamics`. Of `difference` and `delta`
    those that are given are the questions.
    """

    study: str
    uri: str
    window: Window
    power: Exact
    alpha: Exact
    difference: Annotated[Exact, Field(lt=1)] | None = None
    delta: Exact | None = None

    @property
    def asked(self) -> float | None:
        """The difference of disagreement that is asked for; 0.2 where nothing is."""
        nothing = self.difference is None and self.delta is None
        return 0.2 if nothing else self.difference


def read_study_settings(kind: type[T], cfg: DictConfig, **given: Any) -> T:
    """Read the settings of a script that needs a study, and the address of its store.

    ``given`` are values that don't come from the key of their name.

    Raises
    ------
    UserError
        The study isn't named, there is no store, or a value is malformed.
    """
    if "study" not in given and OmegaConf.is_missing(cfg, "study"):
        raise UserError("study: missing; name the study, as in study=hl01_2x2")
    if "uri" not in given:
        given["uri"] = store_uri(cfg)
    return read_settings(kind, cfg, **given)


def check_report_settings(cfg: DictConfig) -> Settings:
    """Check the config of a script that reports on a study."""
    return read_study_settings(Settings, cfg)


def read_names(given: Any) -> tuple[str, ...]:
    """Return the names that a value holds: one, several with commas, or a list; none for null."""
    if not OmegaConf.is_list(given):
        given = [] if given is None else str(given).split(",")
    return tuple(dict.fromkeys(str(name).strip() for name in given))


def check_plan_settings(cfg: DictConfig) -> PlanSettings:
    """Check the config of `scripts/plan.py`."""
    planned = read_study_settings(PlanSettings, cfg)
    if not planned.alpha < planned.power < 1:
        raise UserError(f"power: {planned.power}; between alpha ({planned.alpha}) and 1")
    return planned


def store_uri(cfg: DictConfig) -> str:
    """Return the address of the tracking store that a script needs.

    Raises
    ------
    UserError
        There is none.
    """
    if cfg.tracking.uri is None:
        raise UserError(f"tracking: {cfg.tracking.name} holds no study; use local or server")
    return str(cfg.tracking.uri)
