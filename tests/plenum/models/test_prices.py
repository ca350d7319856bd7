"""What a call costs: stated before listed, and never guessed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plenum.calls.api.prices import Price, Prices
from plenum.design.settings import StatedPrice

LISTED = Price(0.4e-6, 1.6e-6, 0.1e-6)

STATED = {
    "gpt-4.1": StatedPrice(2.0, 3.0, 0.5),
    "mine": StatedPrice(2.0, 3.0),
    "gift": StatedPrice(0.0, 0.0),
    "kept": StatedPrice(2.0, 3.0, 0.2, written=2.5),
}


@pytest.mark.parametrize(
    ("model", "price"),
    [
        ("gpt-4.1-mini", LISTED),
        ("openai/gpt-4.1-mini", LISTED),
        ("gpt-4.1", Price(2e-6, 3e-6, 0.5e-6)),  # the stated one goes before
        ("mine", Price(2e-6, 3e-6, 2e-6)),  # cached tokens cost what others do
        ("gift", Price(0, 0, 0)),
        ("kept", Price(2e-6, 3e-6, 0.2e-6, 0.5e-6, 2e-6)),
        ("anthropic/claude-sonnet-4-6", Price(3e-6, 15e-6, 0.3e-6, 0.75e-6, 3e-6)),
        ("ollama/llama3", Price(0, 0, 0)),
        # what a hosted model is called says nothing of a server of one's own
        *((f"{server}/gpt-4.1", None) for server in ("hosted_vllm", "lm_studio")),
        *((model, None) for model in ("openai/my-own-model", "no-such-model", "")),
    ],
)
def test_a_price_is_stated_or_listed_or_unknown(model: str, price: Price | None) -> None:
    found = Prices(STATED).of(model)
    assert (found and vars(found)) == (price and pytest.approx(vars(price)))


def test_where_nobody_charges_every_model_costs_nothing() -> None:
    free = Prices({"mine": StatedPrice(2.0, 3.0)}, charged=False)
    for model in ("mine", "gpt-4.1-mini", "no-such-model"):
        assert free.of(model) == Price(0.0, 0.0, 0.0)


@pytest.mark.parametrize("model", ["dashscope/qwen-flash", "dashscope/qwen3-max"])
def test_a_model_that_is_listed_without_a_price_a_token_is_not_free(model: str) -> None:
    """Such as one whose price depends on the length of the prompt."""
    price = Prices().of(model)
    assert price is None or price.input > 0


@given(*[st.integers(0, 10**6)] * 5)
def test_what_a_cache_keeps_costs_more_and_no_call_more_than_at_most(
    fresh: int, cached: int, written: int, hour: int, out: int
) -> None:
    price = Price(2e-6, 3e-6, 0.2e-6, 0.5e-6, 2e-6)
    tokens = fresh + cached + written + hour
    cost = price.of(tokens, out, cached, written + hour, hour)
    kept = 2.5e-6 * written + 4e-6 * hour
    assert cost == pytest.approx(2e-6 * fresh + 0.2e-6 * cached + kept + 3e-6 * out)
    assert cost <= price.at_most(tokens, out, hour > 0) * (1 + 1e-12)
    half = price.batched.of(tokens, out, cached, written + hour, hour)
    assert half == pytest.approx(cost / 2)


@given(fresh=st.integers(0, 10**6), cached=st.integers(0, 10**6), written=st.integers(0, 10**6))
def test_the_cost_is_a_sum_over_the_three_kinds_of_tokens(
    fresh: int, cached: int, written: int
) -> None:
    cost = LISTED.of(fresh + cached, written, cached)
    expected = fresh * LISTED.input + cached * LISTED.cached + written * LISTED.output
    assert cost == pytest.approx(expected)
