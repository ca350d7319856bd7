"""Random draws of faults: functions of the body's key and its count."""

from bisect import bisect_right
from itertools import accumulate

from plenum.base.identity import make_generator
from support.fault_server.settings import ANSWER_KINDS, KINDS, FaultSettings


class FaultDraws:
    """The random draws of a server, which don't depend on the order of requests.

    ``key`` identifies a request's body; ``n`` is how often the server has received it before.
    """

    def __init__(self, settings: FaultSettings) -> None:
        rates = settings.faults.rates
        transport = [kind for kind in KINDS if kind not in ANSWER_KINDS]
        self._transport = _Ladder({kind: rates[kind] for kind in transport})
        # An answer fault shows only where no transport fault hides it. Scaled up by that, its
        # rate is a share of all requests, as the others' are.
        shown = 1 - self._transport.total
        self._answer = _Ladder(
            {kind: rates[kind] / shown if shown > 0 else 0.0 for kind in ANSWER_KINDS}
        )

    def transport(self, key: str, n: int) -> str | None:
        """Return the fault of a body's ``n``-th request; a retry may have another one."""
        if not self._transport.total:
            return None
        return self._transport.pick(float(make_generator("fault", 0, key, n).random()))

    def answer(self, key: str) -> str | None:
        """Return the fault of the answer to a body, the same for every request of it."""
        if not self._answer.total:
            return None
        return self._answer.pick(float(make_generator("fault", 0, key).random()))


class _Ladder:
    """Kinds of fault as consecutive intervals of [0, 1], each as long as its rate."""

    def __init__(self, rates: dict[str, float]) -> None:
        self._kinds = tuple(rates)
        self._tops = list(accumulate(rates.values()))
        self.total = self._tops[-1]

    def pick(self, draw: float) -> str | None:
        place = bisect_right(self._tops, draw)
        return self._kinds[place] if place < len(self._kinds) else None
