"""What `scripts/tables.py` is asked for: which tables, of which studies."""

import copy
import re
from dataclasses import replace
from typing import Any

from omegaconf import DictConfig, OmegaConf

from plenum.base.errors import UserError
from plenum.reports.numbered.catalogue import CATALOGUE
from plenum.reports.settings import Settings, settings

ALL, LIST = "all", "list"

_PREFIX = re.compile(r"^tab(?:le)?\.?[\s-]*")


def tables(cfg: DictConfig) -> list[str]:
    """The names of the tables, each once: ``s5``, or ``Table S5``.

    Raises
    ------
    UserError
        A table isn't known.
    """
    names = [_PREFIX.sub("", name.lower()) for name in _texts(cfg.table)]
    for name in names:
        if name not in (*CATALOGUE, ALL, LIST):
            raise UserError(f"table: {name}; one of {', '.join((*CATALOGUE, ALL, LIST))}")
    return list(dict.fromkeys(names))


def studies(cfg: DictConfig) -> tuple[str, ...]:
    """The studies that are named; none where the tables' own are meant."""
    if OmegaConf.is_missing(cfg, "study"):
        return ()
    return tuple(dict.fromkeys(_texts(cfg.study)))


def chosen(cfg: DictConfig, names: tuple[str, ...]) -> Settings:
    """The settings of the first study; without one, files go to ``outputs/papers``."""
    own = copy.deepcopy(cfg)
    own.study = names[0] if names else "papers"
    found = settings(own)
    return found if names else replace(found, study="")


def _texts(value: Any) -> list[str]:
    """One text, several with commas between them, or a list."""
    given = list(value) if OmegaConf.is_list(value) else str(value).split(",")
    return [str(one).strip() for one in given]
