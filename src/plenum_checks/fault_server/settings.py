"""Settings of a fault server: faults, latency, limits, and its address."""

from dataclasses import dataclass, field, fields
from typing import Annotated, Literal

from omegaconf import DictConfig
from pydantic import Field

from plenum.base import UserError
from plenum.design import (
    Count,
    Float,
    Int,
    NotNegative,
    Probability,
    Seed,
    StrictSettings,
    make_plain,
    require,
    validate,
)

ANSWER_KINDS = ("length", "malformed", "empty_text", "refusal")
"""Faults of the answer itself; repeating the request gives the same bytes."""

Rate = Probability
Seconds = NotNegative
Most = Count | None


@dataclass(frozen=True)
class Faults(StrictSettings):
    """Rates of the kinds of fault, as shares of all requests in [0, 1].

    ``all`` is a total that is spread evenly over the kinds of :data:`SPREAD` and excludes rates of
    single kinds. In seconds: ``retry_after_s`` is sent with each 429, a hang ends after ``hang_s``,
    and the body of a trickle takes ``trickle_s``.

    Raises
    ------
    UserError
        Rates add up to more than 1, or stand next to ``all``.
    """

    rate_limit: Rate = 0.0
    server_error: Rate = 0.0
    unavailable: Rate = 0.0
    hang: Rate = 0.0
    reset: Rate = 0.0
    truncated: Rate = 0.0
    wrong_type: Rate = 0.0
    empty_choices: Rate = 0.0
    length: Rate = 0.0
    malformed: Rate = 0.0
    trickle: Rate = 0.0
    auth: Rate = 0.0
    content_filter: Rate = 0.0
    empty_text: Rate = 0.0
    refusal: Rate = 0.0
    all: Rate | None = None
    retry_after_s: Seconds = 0.2
    hang_s: Seconds = 600.0
    trickle_s: Seconds = 2.0

    def __post_init__(self) -> None:
        single = {kind: rate for kind in KINDS if (rate := float(getattr(self, kind)))}
        if self.all is not None and single:
            raise UserError(
                f"faults.all: {self.all} is set together with faults.{next(iter(single))}; "
                "set one or the other"
            )
        total = sum(single.values())
        require(total <= 1 + 1e-9, f"faults: the rates add up to {total:g}; at most 1 is allowed")

    @property
    def rates(self) -> dict[str, float]:
        """The rate of each kind, with ``all`` spread out."""
        if self.all is None:
            return {kind: float(getattr(self, kind)) for kind in KINDS}
        return {kind: self.all / len(SPREAD) if kind in SPREAD else 0.0 for kind in KINDS}


_NO_KINDS = ("all", "retry_after_s", "hang_s", "trickle_s")
KINDS = tuple(each.name for each in fields(Faults) if each.name not in _NO_KINDS)
"""Every kind of fault."""
_ALONE = ("auth", "content_filter", "empty_text", "refusal")
SPREAD = tuple(kind for kind in KINDS if kind not in _ALONE)
"""The kinds of fault that ``faults.all`` is spread over."""


@dataclass(frozen=True)
class Latency(StrictSettings):
    """Time until an answer, in seconds: lognormal, or fixed if ``sigma`` is 0."""

    median_s: Seconds = 0.05
    sigma: Annotated[Float, Field(ge=0, le=5)] = 0.0


@dataclass(frozen=True)
class Limits(StrictSettings):
    """Maximal numbers of requests at once and within 60 seconds; ``None`` is unlimited."""

    in_flight: Most = None
    rpm: Most = None


@dataclass(frozen=True)
class BatchFaults(StrictSettings):
    """Faults of batches, and their duration.

    Of items, a share ``errored`` fails, and a share ``lost`` is answered but missing in the
    results. Of submits, a share ``busy`` is refused with 429, a share ``before`` ends in an error
    before the batch is accepted, and a share ``after`` in one afterwards. Of looks and downloads, a
    share ``garbled`` returns an error, half of the data, or nonsense. A batch takes ``takes_s``
    seconds; a share ``slow`` takes ``slow_s``, and a share ``stuck`` never ends, even after a
    cancellation. Items not answered within ``window_s`` expire. More than ``most_items`` in flight
    are refused. The server's clock is ``behind_s`` seconds slow.
    """

    errored: Rate = 0.0
    lost: Rate = 0.0
    busy: Rate = 0.0
    before: Rate = 0.0
    after: Rate = 0.0
    garbled: Rate = 0.0
    stuck: Rate = 0.0
    slow: Rate = 0.0
    takes_s: Seconds = 0.0
    slow_s: Seconds = 600.0
    window_s: Seconds = 86_400.0
    behind_s: Seconds = 0.0
    most_items: Most = None


@dataclass(frozen=True)
class FaultSettings(StrictSettings):
    """All settings of a fault server.

    Parameters
    ----------
    host, port
        The address to listen on; port 0 takes a free one.
    seed
        Seed of faults and latencies.
    answers
        ``simulated``, or ``canned``: fixed valid answers that take hardly any time.
    key
        If set, other keys get 401. It is for tests and isn't a secret.
    schemas
        What becomes of a schema that an answer is to have: ``honoured``, ``ignored`` as by a server
        that doesn't know the field, or ``refused`` with 400.
    """

    host: str = "127.0.0.1"
    port: Annotated[Int, Field(ge=0, le=65535)] = 8123
    seed: Seed = 0
    answers: Literal["simulated", "canned"] = "simulated"
    key: str | None = None
    schemas: Literal["honoured", "ignored", "refused"] = "honoured"
    faults: Faults = field(default_factory=Faults)
    latency: Latency = field(default_factory=Latency)
    limits: Limits = field(default_factory=Limits)
    batches: BatchFaults = field(default_factory=BatchFaults)


def check_fault_settings(cfg: DictConfig) -> FaultSettings:
    """Check a composed config.

    Raises
    ------
    UserError
        A value isn't allowed, or has the wrong type.
    """
    return validate(FaultSettings, make_plain(cfg))
