"""What every aggregation script is told."""

from dataclasses import dataclass
from pathlib import Path

from omegaconf import DictConfig, OmegaConf

from plenum.dynamics import DRAWS, INTERVALS, WINDOW
from plenum.errors import UserError


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
    """

    study: str
    uri: str
    out: Path
    window: tuple[int, int] = WINDOW
    interval: str = INTERVALS[0]
    draws: int = DRAWS
    seed: int = 0


def settings(cfg: DictConfig) -> Settings:
    """Check a script's config.

    Raises
    ------
    UserError
        The study isn't named, or a value is malformed.
    """
    if OmegaConf.is_missing(cfg, "study"):
        raise UserError("study: missing; name the study, as in study=hl01_2x2")
    window = OmegaConf.to_container(cfg.window) if OmegaConf.is_list(cfg.window) else cfg.window
    if not (
        isinstance(window, list)
        and len(window) == 2
        and all(type(bound) is int for bound in window)
        and 1 <= window[0] < window[1]
    ):
        raise UserError(f"window: {window}; it is [first,last] with 1 <= first < last")
    if cfg.interval not in INTERVALS:
        raise UserError(f"interval: {cfg.interval}; one of {', '.join(INTERVALS)}")
    for key, least in (("draws", 100), ("seed", 0)):
        if type(cfg[key]) is not int or cfg[key] < least:
            raise UserError(f"{key}: {cfg[key]}; a whole number from {least} on")
    return Settings(
        str(cfg.study),
        str(cfg.tracking.uri),
        Path(cfg.out),
        (window[0], window[1]),
        cfg.interval,
        cfg.draws,
        cfg.seed,
    )
