"""How values are written in cells."""

from plenum.show.formats import format_dollars


def test_a_cost_without_a_price_is_never_0() -> None:
    assert format_dollars(0.0, 0) == "0.00"
    assert format_dollars(0.0, 12) == "unknown: 12 unpriced"
    assert format_dollars(1.5, 12) == "1.50 + 12 unpriced"
