"""The settings of the backend, as ``backend.*`` of the config."""

from dataclasses import dataclass
from typing import Literal

from plenum.design import Backend, Count


@dataclass(frozen=True)
class ParrotSettings(Backend):
    """The option that the parrot is for, counted from 1; another one makes another condition."""

    name: Literal["parrot"] = "parrot"
    option: Count = 1
