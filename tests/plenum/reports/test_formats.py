"""How values are written in cells."""

from plenum.reports.formats import dollars


def test_a_cost_without_a_price_is_never_0() -> None:
    assert dollars(0.0, 0) == "0.00"
    assert dollars(0.0, 12) == "unknown: 12 unpriced"
    assert dollars(1.5, 12) == "1.50 + 12 unpriced"
