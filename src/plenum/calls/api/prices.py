"""Prices of calls: LiteLLM's price map, and prices that the user states."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from plenum.calls.api import model_table
from plenum.design.settings import StatedPrice

BATCH_SHARE = 0.5
"""The price of a call in a batch as a share of the usual one, with OpenAI and with Anthropic."""
_HOUR = 4.0
"""The surcharge for an hour in Anthropic's cache over that for five minutes."""


@dataclass(frozen=True)
class Price:
    """US dollars per token.

    ``cached`` is for input tokens that the provider had in its cache, ``writing`` is what comes
    on top of the input's price for those that it keeps there from now on, and ``hour`` for those
    that it keeps for an hour.
    """

    input: float
    output: float
    cached: float
    writing: float = 0.0
    hour: float = 0.0

    def of(
        self,
        tokens_in: int,
        tokens_out: int,
        tokens_cached: int = 0,
        tokens_written: int = 0,
        tokens_hour: int = 0,
    ) -> float:
        """Compute the cost of a call, never below 0.

        Cached and written tokens are among ``tokens_in``, those for an hour among the written ones.
        """
        # Numbers of a provider: each is bounded by what it is a part of, so that no cost is
        # negative.
        cached = min(max(tokens_cached, 0), tokens_in)
        fresh = tokens_in - cached
        written = min(max(tokens_written, 0), fresh)
        hour = min(max(tokens_hour, 0), written)
        kept = (written - hour) * self.writing + hour * self.hour
        whole = fresh * self.input + cached * self.cached + tokens_out * self.output
        return max(whole + kept, 0.0)

    def at_most(self, tokens_in: int, tokens_out: int, hour: bool = False) -> float:
        """Compute the highest cost of a call: all of its prompt may be written to the cache."""
        return self.of(tokens_in, tokens_out, 0, tokens_in, tokens_in * hour)

    @property
    def batched(self) -> "Price":
        """The price in a batch."""
        return Price(*(BATCH_SHARE * dollars for dollars in vars(self).values()))


class Prices:
    """Prices by model.

    Parameters
    ----------
    stated
        The user's, by model id, in US dollars per million tokens. They go before LiteLLM's.
    charged
        True if anybody charges: models on this machine and simulated ones cost nothing, and then
        LiteLLM's list isn't needed.
    batched
        True if all calls go in batches.
    """

    def __init__(
        self,
        stated: Mapping[str, StatedPrice] | None = None,
        *,
        charged: bool = True,
        batched: bool = False,
    ) -> None:
        self._stated = {model: _per_token(price) for model, price in (stated or {}).items()}
        self._charged, self._batched = charged, batched

    def of(self, model: str) -> Price | None:
        """Return the price of a model; ``None`` if it isn't known."""
        if not self._charged:
            return Price(0.0, 0.0, 0.0)
        price = self._stated.get(model) or _look_up(model)
        return price.batched if price and self._batched else price


def explain_prices(models: Sequence[str]) -> str:
    """Explain how to state the prices of some models: the override, with dots for the numbers."""
    escaped = [model.replace(":", "\\:") for model in models]
    override = "'+prices={" + ",".join(f"{m}:{{input:...,output:...}}" for m in escaped) + "}'"
    return f"state dollars per million tokens, 0 for a server of your own: {override}"


def _per_token(price: StatedPrice) -> Price:
    cached = price.input if price.cached is None else price.cached
    # A stated price of writing is the whole one; here counts what comes on top of the input's.
    writing = max((price.written or 0.0) - price.input, 0.0)
    per_million = (price.input, price.output, cached, writing, _HOUR * writing)
    return Price(*(dollars / 1e6 for dollars in per_million))


@cache
def _look_up(model: str) -> Price | None:
    """Return the price in LiteLLM's map, which has none for servers of one's own."""
    info = model_table.find_entry(model)
    read, written = info.get("input_cost_per_token"), info.get("output_cost_per_token")
    if read is None or written is None:
        return None
    cached, kept = (info.get(f"cache_{name}_input_token_cost") for name in ("read", "creation"))
    # Where no price of writing is listed, writing costs nothing on top.
    writing = max((kept or read) - read, 0.0)
    hourly = info.get("cache_creation_input_token_cost_above_1hr")
    # Anthropic takes a quarter of the input's price more for five minutes, and all of it for an
    # hour.
    hour = _HOUR * writing if hourly is None else max(hourly - read, 0.0)
    return Price(read, written, read if cached is None else cached, writing, hour)
