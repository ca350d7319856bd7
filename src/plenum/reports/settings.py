"""What every aggregation script is told."""

from dataclasses import dataclass
from pathlib import Path

from omegaconf import DictConfig, OmegaConf

from plenum.dynamics.lyapunov import WINDOW
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
    """

    study: str
    uri: str
    out: Path
    window: tuple[int, int] = WINDOW


def settings(cfg: DictConfig) -> Settings:
    """Check a script's config.

    Raises
    ------
    UserError
        The study isn't named, or the window is malformed.
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
    return Settings(str(cfg.study), str(cfg.tracking.uri), Path(cfg.out), (window[0], window[1]))
