"""What `scripts/explore.py` is asked."""

from dataclasses import dataclass
from pathlib import Path

from omegaconf import DictConfig

from plenum.base.errors import UserError
from plenum.reports.settings import Settings, settings


@dataclass(frozen=True)
class Asked:
    """A study to explore.

    Attributes
    ----------
    chosen
        The study, and how it is estimated; ``out`` is the page's file.
    condition
        The first letters of the identity of the only condition to show; empty for all.
    replicates
        The most transcripts of a condition; ``None`` for all.
    """

    chosen: Settings
    condition: str = ""
    replicates: int | None = None

    @property
    def out(self) -> Path:
        """The file that the page is written to."""
        return self.chosen.out


def asked(cfg: DictConfig) -> Asked:
    """Check the script's config.

    Raises
    ------
    UserError
        The study isn't named, or a value is malformed.
    """
    chosen = settings(cfg)
    if chosen.out.suffix not in (".html", ".htm") or chosen.out.is_dir():
        raise UserError(f"out: {chosen.out}; the name of a file that ends in .html")
    most = cfg.replicates
    if most is not None and (type(most) is not int or most < 2):
        raise UserError(f"replicates: {most}; a whole number from 2 on, or null for all")
    return Asked(chosen, "" if cfg.condition is None else str(cfg.condition), most)
