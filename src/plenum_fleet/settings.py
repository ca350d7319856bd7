"""The settings of batches and of workers on a cluster, which hold for a whole sweep."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import AfterValidator

from plenum.base.errors import UserError
from plenum.design.ranges import Count, NotNegative, Positive, match_rule
from plenum.design.schema import SweepSettings

RayAddress = Annotated[
    str,
    match_rule(r"auto|local|ray://.*|(\[.+\]|[^\s/:]+):[0-9]+", "it is HOST:PORT, auto or null"),
]
_RAY = "hydra/launcher=ray"


def _divisible(value: float) -> float:
    """Check a share of a cluster's CPUs, which are dealt out in small parts."""
    return _dealt_out(value, "it is 0, or 0.0001 or more", value >= 1e-4)


def _apart(value: float) -> float:
    """Check a share of a cluster's GPUs, of which several go to nobody in parts."""
    allowed = "it is 0, or 0.0001 or more, and above 1 whole"
    return _dealt_out(value, allowed, value >= 1e-4 and (value <= 1 or value % 1 == 0))


def _dealt_out(value: float, allowed: str, fits: bool) -> float:
    if value and not fits:
        raise ValueError(f"{value}; {allowed}")
    return value


Cpus = Annotated[NotNegative, AfterValidator(_divisible)]
Gpus = Annotated[NotNegative, AfterValidator(_apart)]


@dataclass(frozen=True)
class Batch(SweepSettings):
    """For how many seconds a batch is waited for, and how many lie between looks at it.

    Attributes
    ----------
    wait_s, poll_s
        Seconds until a batch's rest goes out at the full price; between looks at it.
    """

    needs: ClassVar[str] = "calls.batch=true"

    wait_s: Positive = 86_400.0
    poll_s: Positive = 30.0


@dataclass(frozen=True)
class Workers(SweepSettings):
    """The number of workers that ``hydra/launcher=ray`` starts, and the resources of each.

    A hosted model runs once a worker.

    Attributes
    ----------
    number
        Workers of ``hydra/launcher=ray``; ``null``: as many as fit.
    cpus, gpus
        What each takes of the cluster.
    """

    needs: ClassVar[str] = _RAY

    number: Count | None = None
    cpus: Cpus = 1.0
    gpus: Gpus = 0.0

    def __post_init__(self) -> None:
        if not (self.number or self.cpus or self.gpus):
            raise UserError(
                "workers.number: null; as many as fit are no number where each takes nothing "
                "(workers.cpus=0 workers.gpus=0)"
            )


@dataclass(frozen=True)
class Ray(SweepSettings):
    """The cluster to join; without one, one on this machine.

    Attributes
    ----------
    address : ``auto``, ``HOST:PORT``, ``null``
        Cluster of Ray; ``null``: ``RAY_ADDRESS``, else this machine.
    """

    needs: ClassVar[str] = _RAY

    address: RayAddress | None = None
