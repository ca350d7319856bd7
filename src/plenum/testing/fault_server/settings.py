"""What a fault server is told, checked."""

import math
from dataclasses import dataclass, field, fields
from typing import cast

from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from plenum.base.errors import UserError

ANSWER_KINDS = ("length", "malformed", "empty_text", "refusal")
"""Faults of the answer itself: asking again gives the same bytes again."""
ANSWERS = ("simulated", "canned")


@dataclass(frozen=True)
class Faults:
    """How often which fault happens: shares of all requests, in [0, 1].

    ``all`` is a total that is spread evenly over the kinds of :data:`SPREAD`; it excludes rates
    of single kinds. ``retry_after_s`` is sent with each 429, ``hang_s`` ends a hang, ``trickle_s``
    is how long the body of a trickle takes; all three are seconds.

    Raises
    ------
    UserError
        A rate is outside of [0, 1], or they add up to more than 1.
    """

    rate_limit: float = 0.0
    server_error: float = 0.0
    unavailable: float = 0.0
    hang: float = 0.0
    reset: float = 0.0
    truncated: float = 0.0
    wrong_type: float = 0.0
    empty_choices: float = 0.0
    length: float = 0.0
    malformed: float = 0.0
    trickle: float = 0.0
    auth: float = 0.0
    content_filter: float = 0.0
    empty_text: float = 0.0
    refusal: float = 0.0
    all: float | None = None
    retry_after_s: float = 0.2
    hang_s: float = 600.0
    trickle_s: float = 2.0

    def __post_init__(self) -> None:
        single = {kind: float(getattr(self, kind)) for kind in KINDS}
        for kind, rate in {**single, "all": self.all or 0.0}.items():
            _require(0 <= rate <= 1, f"faults.{kind}: {rate}; allowed is 0 to 1")
        named = [kind for kind, rate in single.items() if rate]
        if self.all is not None and named:
            raise UserError(
                f"faults.all: {self.all} stands beside faults.{named[0]}; set one or the other"
            )
        total = sum(single.values())
        _require(total <= 1 + 1e-9, f"faults: the rates add up to {total:g}; at most 1 is allowed")
        for key in ("retry_after_s", "hang_s", "trickle_s"):
            _seconds(f"faults.{key}", getattr(self, key))

    @property
    def rates(self) -> dict[str, float]:
        """The rate of each kind, ``all`` spread out."""
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
class Latency:
    """How long an answer takes, in seconds: lognormal; ``sigma`` 0 is a fixed time."""

    median_s: float = 0.05
    sigma: float = 0.0

    def __post_init__(self) -> None:
        _seconds("latency.median_s", self.median_s)
        _require(0 <= self.sigma <= 5, f"latency.sigma: {self.sigma}; allowed is 0 to 5")


@dataclass(frozen=True)
class Limits:
    """The most requests at once, and in any 60 seconds; ``None`` is no limit."""

    in_flight: int | None = None
    rpm: int | None = None

    def __post_init__(self) -> None:
        for key in ("in_flight", "rpm"):
            value = getattr(self, key)
            _require(value is None or value >= 1, f"limits.{key}: {value}; 1 or more, or null")


@dataclass(frozen=True)
class Settings:
    """Everything a fault server is told.

    Parameters
    ----------
    host, port
        Where it listens; port 0 takes a free one.
    seed
        Of faults and latencies.
    answers
        ``simulated``, or ``canned``: fixed valid answers that cost nearly nothing.
    key
        Where set, other keys get 401. It is for tests and no secret.
    """

    host: str = "127.0.0.1"
    port: int = 8123
    seed: int = 0
    answers: str = "simulated"
    key: str | None = None
    faults: Faults = field(default_factory=Faults)
    latency: Latency = field(default_factory=Latency)
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        _require(0 <= self.port <= 65535, f"port: {self.port}; allowed is 0 to 65535")
        _require(self.seed >= 0, f"seed: {self.seed}; a whole number from 0 on")
        _require(self.answers in ANSWERS, f"answers: {self.answers}; one of {', '.join(ANSWERS)}")


def settings(cfg: DictConfig) -> Settings:
    """Check a composed config.

    Raises
    ------
    UserError
        A value isn't allowed, or has the wrong type.
    """
    schema = OmegaConf.structured(Settings)
    for node in (schema, *(schema[part.name] for part in fields(Settings)[-3:])):
        OmegaConf.set_readonly(node, False)  # frozen dataclasses make read-only nodes
    try:
        return cast(Settings, OmegaConf.to_object(OmegaConf.merge(schema, cfg)))
    except OmegaConfBaseException as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise UserError(f"{error.full_key}: {reason}" if error.full_key else reason) from None


def _seconds(key: str, value: float) -> None:
    _require(0 <= value < math.inf, f"{key}: {value}; seconds, 0 or more")


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise UserError(message)
