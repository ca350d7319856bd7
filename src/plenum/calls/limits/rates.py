"""Requests and tokens a minute, as the config states them for a provider or for a model."""

from dataclasses import dataclass

from plenum.calls.limits.token_bucket import TakenUnits, TokenBucket
from plenum.design.settings import Calls


@dataclass(frozen=True, slots=True)
class Units:
    """The units that a call took of a minute."""

    request: TakenUnits | None
    tokens: TakenUnits | None


_NONE = Units(None, None)


class Rates:
    """The limits a minute under one name, if there are any.

    Parameters
    ----------
    calls
        The limits that the user states.
    name
        A provider, or a model.
    now
        The clock, in seconds.
    """

    def __init__(self, calls: Calls, name: str, now: float) -> None:
        rpm, tpm = calls.rpm.get(name), calls.tpm.get(name)
        self._name = name
        self._requests = TokenBucket(rpm, now) if rpm else None
        self._tokens = TokenBucket(tpm, now) if tpm else None

    def wait(self, tokens: int, now: float) -> float:
        """Return the seconds until a call of so many tokens may go."""
        wait = self._requests.wait(1, now) if self._requests else 0.0
        return max(wait, self._tokens.wait(tokens, now)) if self._tokens else wait

    def longest(self, tokens: int, now: float) -> tuple[float, str]:
        """Return the seconds as :meth:`wait`, and the setting that causes them."""
        by_requests = self._requests.wait(1, now) if self._requests else 0.0
        wait = self.wait(tokens, now)
        # Of two limits that ask for the same wait, requests are the simpler one to tell.
        return wait, f"calls.{'tpm' if wait > by_requests else 'rpm'}.{self._name}"

    def take(self, tokens: int, now: float) -> Units:
        """Take a call's units."""
        # Most names have no limits: one object for all of their calls.
        if self._requests is self._tokens is None:
            return _NONE
        return Units(
            self._requests.take(1, now) if self._requests else None,
            self._tokens.take(tokens, now) if self._tokens else None,
        )

    def settle(self, units: Units, used: int) -> None:
        """Correct the tokens to those that a call used."""
        # Requests aren't settled: one was made, however many tokens it took.
        if self._tokens and units.tokens:
            self._tokens.settle(units.tokens, used)

    def give_back(self, units: Units) -> None:
        """Return a call's units, since nothing was called."""
        if self._requests and units.request:
            self._requests.settle(units.request, 0)
        self.settle(units, 0)
