"""What a call costs: stated before listed, and never guessed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plenum.design.condition import StatedPrice
from plenum.models.api.prices import Price, Prices

LISTED = Price(0.4e-6, 1.6e-6, 0.1e-6)


def close(found: Price | None, expected: Price) -> bool:
    assert found is not None
    numbers = (found.input, found.output, found.cached)
    return numbers == pytest.approx((expected.input, expected.output, expected.cached))


def test_a_listed_price_is_found_with_and_without_the_provider() -> None:
    assert close(Prices().of("gpt-4.1-mini"), LISTED)
    assert close(Prices().of("openai/gpt-4.1-mini"), LISTED)


def test_a_stated_price_goes_before_the_listed_one_and_touches_no_other() -> None:
    prices = Prices({"gpt-4.1-mini": StatedPrice(2.0, 3.0, 0.5)})
    assert close(prices.of("gpt-4.1-mini"), Price(2e-6, 3e-6, 0.5e-6))
    assert close(Prices().of("gpt-4.1-mini"), LISTED)


def test_without_a_price_of_their_own_cached_tokens_cost_what_others_do() -> None:
    assert close(Prices({"mine": StatedPrice(2.0, 3.0)}).of("mine"), Price(2e-6, 3e-6, 2e-6))


def test_a_stated_price_may_be_nothing() -> None:
    assert close(Prices({"gpt-4.1-mini": StatedPrice(0.0, 0.0)}).of("gpt-4.1-mini"), Price(0, 0, 0))


def test_where_nobody_charges_every_model_costs_nothing() -> None:
    free = Prices({"mine": StatedPrice(2.0, 3.0)}, charged=False)
    for model in ("mine", "gpt-4.1-mini", "no-such-model"):
        assert free.of(model) == Price(0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    "model",
    ["openai/my-own-model", "hosted_vllm/gpt-4.1", "lm_studio/gpt-4.1", "no-such-model", ""],
)
def test_a_price_that_nobody_knows_is_none(model: str) -> None:
    """A name that a hosted model has, too, says nothing of a server of one's own."""
    assert Prices().of(model) is None


def test_a_model_that_runs_on_ollama_costs_nothing() -> None:
    assert close(Prices().of("ollama/llama3"), Price(0, 0, 0))


@pytest.mark.parametrize("model", ["dashscope/qwen-flash", "dashscope/qwen3-max"])
def test_a_model_that_is_listed_without_a_price_a_token_is_not_free(model: str) -> None:
    """Such as one whose price depends on the length of the prompt."""
    price = Prices().of(model)
    assert price is None or price.input > 0


@given(fresh=st.integers(0, 10**6), cached=st.integers(0, 10**6), written=st.integers(0, 10**6))
def test_the_cost_is_a_sum_over_the_three_kinds_of_tokens(
    fresh: int, cached: int, written: int
) -> None:
    cost = LISTED.of(fresh + cached, written, cached)
    expected = fresh * LISTED.input + cached * LISTED.cached + written * LISTED.output
    assert cost == pytest.approx(expected)
