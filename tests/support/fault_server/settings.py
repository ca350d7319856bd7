"""Settings of a fault server: faults, latency, limits, and what becomes of batches."""

from dataclasses import dataclass, field, fields
from typing import Literal

from plenum.design.ranges import StrictSettings

ANSWER_KINDS = ("length", "malformed")
"""Faults of the answer itself; repeating the request gives the same bytes."""


@dataclass(frozen=True)
class Faults(StrictSettings):
    """Rates of the kinds of fault, as shares of all requests.

    ``all`` is a total that is spread evenly over all kinds but ``auth`` and ``content_filter``. In
    seconds: ``retry_after_s`` is sent with each 429, a hang ends after ``hang_s``, and the body of
    a trickle takes ``trickle_s``.
    """

    rate_limit: float = 0.0
    server_error: float = 0.0
    unavailable: float = 0.0
    hang: float = 0.0
    reset: float = 0.0  # half the body, then a TCP reset
    truncated: float = 0.0  # half the JSON, with the right length for that half
    wrong_type: float = 0.0  # 200 with an HTML page
    empty_choices: float = 0.0
    length: float = 0.0  # cut in the middle, finish_reason length
    malformed: float = 0.0  # a broken STATE line, ballot or count
    trickle: float = 0.0  # the good body in small pieces
    auth: float = 0.0
    content_filter: float = 0.0
    all: float = 0.0
    retry_after_s: float = 0.2
    hang_s: float = 600.0
    trickle_s: float = 2.0

    @property
    def rates(self) -> dict[str, float]:
        """The rate of each kind, with ``all`` spread out."""
        spread = self.all / (len(KINDS) - len(_ALONE))
        return {kind: getattr(self, kind) + (0.0 if kind in _ALONE else spread) for kind in KINDS}


_ALONE = ("auth", "content_filter")
_NO_KINDS = ("all", "retry_after_s", "hang_s", "trickle_s")
KINDS = tuple(each.name for each in fields(Faults) if each.name not in _NO_KINDS)
"""Every kind of fault."""


@dataclass(frozen=True)
class Latency(StrictSettings):
    """Time until an answer, in seconds."""

    median_s: float = 0.05


@dataclass(frozen=True)
class Limits(StrictSettings):
    """Maximal numbers of requests at once and within 60 seconds; ``None`` is unlimited."""

    in_flight: int | None = None
    rpm: int | None = None


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

    errored: float = 0.0
    lost: float = 0.0
    busy: float = 0.0
    before: float = 0.0
    after: float = 0.0
    garbled: float = 0.0
    stuck: float = 0.0
    slow: float = 0.0
    takes_s: float = 0.0
    slow_s: float = 600.0
    window_s: float = 86_400.0
    behind_s: float = 0.0
    most_items: int | None = None


@dataclass(frozen=True)
class FaultSettings(StrictSettings):
    """All settings of a fault server.

    ``answers`` are those of the simulated backend, or ``canned``: one fixed turn, for any prompt
    that asks for one. ``schemas`` says what becomes of a schema that an answer is to have: it is
    ``honoured``, ``ignored`` as by a server that doesn't know the field, or ``refused`` with 400.
    With a ``key`` other keys get 401. ``port=0`` takes a free one.
    """

    port: int = 0
    answers: Literal["simulated", "canned"] = "simulated"
    key: str | None = None
    schemas: Literal["honoured", "ignored", "refused"] = "honoured"
    faults: Faults = field(default_factory=Faults)
    latency: Latency = field(default_factory=Latency)
    limits: Limits = field(default_factory=Limits)
    batches: BatchFaults = field(default_factory=BatchFaults)
