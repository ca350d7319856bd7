"""Which request meets which fault, and how long it waits: functions of seed, key and count."""

import math
from bisect import bisect_right
from itertools import accumulate

from plenum.base.identity import generator
from plenum_checks.fault_server.settings import ANSWER_KINDS, KINDS, Settings


class Draws:
    """The random side of a server; the order in which requests arrive plays no part in it.

    ``key`` names a request's body, ``n`` says how many times the server has taken it before.
    """

    def __init__(self, settings: Settings) -> None:
        rates = settings.faults.rates
        transport = [kind for kind in KINDS if kind not in ANSWER_KINDS]
        self._transport = _Ladder({kind: rates[kind] for kind in transport})
        # An answer fault shows only where no transport fault hides it. Scaled up by that, its
        # rate is a share of all requests, as the others' are.
        shown = 1 - self._transport.total
        self._answer = _Ladder(
            {kind: rates[kind] / shown if shown > 0 else 0.0 for kind in ANSWER_KINDS}
        )
        self._latency = settings.latency
        self._seed = settings.seed

    def transport(self, key: str, n: int) -> str | None:
        """The fault of the ``n``-th time that a body is sent: a retry isn't doomed."""
        if not self._transport.total:
            return None
        return self._transport.pick(float(generator("fault", self._seed, key, n).random()))

    def answer(self, key: str) -> str | None:
        """The fault of the answer to a body: the same however often it is asked for."""
        if not self._answer.total:
            return None
        return self._answer.pick(float(generator("fault", self._seed, key).random()))

    def latency(self, key: str, n: int) -> float:
        """Seconds from the request to its answer."""
        if not self._latency.sigma:
            return self._latency.median_s
        normal = float(generator("latency", self._seed, key, n).normal())
        return self._latency.median_s * math.exp(self._latency.sigma * normal)


class _Ladder:
    """Kinds with their rates, one above the other on [0, 1]."""

    def __init__(self, rates: dict[str, float]) -> None:
        self._kinds = tuple(rates)
        self._tops = list(accumulate(rates.values()))
        self.total = self._tops[-1]

    def pick(self, draw: float) -> str | None:
        place = bisect_right(self._tops, draw)
        return self._kinds[place] if place < len(self._kinds) else None
