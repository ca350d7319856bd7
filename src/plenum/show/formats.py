"""Formats of values in cells; a dash represents a missing value."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from plenum.base.shares import percent
from plenum.dynamics.decisions import NO_MAJORITY
from plenum.dynamics.multiplicity import ALPHA

NONE = "-"
"""The cell of a missing value."""

NO_DECISION = "none"
"""The word for the decision of replicates without a majority."""

NO_ESTIMATES = ("no_replicates", "no_estimates", "branching")
"""Statuses of conditions that have no estimates."""


def format_text(value: Any) -> str:
    """Format text as it is; several values are separated by spaces."""
    if isinstance(value, tuple):
        return " ".join(map(format_text, value))
    return NONE if value is None or pd.isna(value) else str(value)


def format_or_dash(value: Any) -> str:
    """Format text, which may be empty."""
    return format_text(value) or NONE


def format_number(value: float, digits: int) -> str:
    """Format a number with ``digits`` decimals; infinity becomes ``never``."""
    if pd.isna(value):
        return NONE
    return "never" if math.isinf(value) else f"{value:z.{digits}f}"


def format_interval(low: float, high: float, digits: int = 4) -> str:
    """Format an interval in brackets; a limit has decimals that tell on which side of 0 it is."""
    if pd.isna(low) or pd.isna(high) or not (math.isfinite(low) and math.isfinite(high)):
        return NONE
    return f"[{_limit(low, digits)}, {_limit(high, digits)}]"


def _limit(limit: float, digits: int) -> str:
    if not math.isfinite(limit):
        return NONE
    more = next((n for n in range(digits, digits + 4) if not limit or round(limit, n)), digits)
    return f"{limit:z.{more}f}"


def format_growth(value: float, low: float, high: float) -> str:
    """Format growth per round in percent, as in ``2.0 % [1.3, 2.6]``; a dash is an open limit."""
    if not math.isfinite(value):
        return NONE
    rates = [100 * math.expm1(x) if math.isfinite(x) else math.nan for x in (value, low, high)]
    return f"{rates[0]:z.1f} % [{_limit(rates[1], 1)}, {_limit(rates[2], 1)}]"


def format_jumped(share: float, replicates: int, low: float, high: float) -> str:
    """Format how many replicates jumped, and the interval of their share: ``1/20 [0, 25 %]``."""
    if pd.isna(share):
        return NONE
    return f"{share * replicates:.0f}/{replicates:.0f} [{100 * low:.0f}, {percent(high)}]"


def round_p(p: float) -> str:
    """Write a p with three decimals, four if it is small, and as many as tell it from 5 %."""
    digits = 4 if p < 0.0095 else 3
    while p != ALPHA and round(p, digits) == ALPHA:
        digits += 1
    return f"{p:.{digits}f}"


def format_p_value(p: float) -> str:
    """Format a p-value with as many decimals as :func:`round_p` gives it."""
    return NONE if pd.isna(p) else "<.0001" if p < 1e-4 else round_p(p)


def format_count(n: float | None) -> str:
    """Format a whole number, with commas between thousands."""
    return NONE if n is None or pd.isna(n) else f"{int(n):,}"


def format_percent(share: float) -> str:
    """Format a share in percent with one decimal."""
    return NONE if pd.isna(share) else percent(share, 1)


def format_whole_percent(share: float | None) -> str:
    """Format a share in whole percent."""
    return NONE if share is None or pd.isna(share) else percent(share)


def format_dollars(cost: float, unpriced: int) -> str:
    """Format a cost in dollars, and calls without a known price; these alone are no cost of 0."""
    if pd.isna(cost):
        return NONE
    if unpriced and not cost:
        return f"unknown: {unpriced:,} unpriced"
    known = f"{cost:,.2f}" if cost >= 1 or not cost else f"{cost:.4f}"
    return f"{known} + {unpriced:,} unpriced" if unpriced else known


def format_warnings(names: str) -> str:
    """Format names of warnings, one a line of the cell."""
    return format_or_dash(names).replace(" ", "\n")


def format_tally(decisions: Mapping[str, int]) -> str:
    """Format the counts of decisions; none if no option had a majority."""
    named = ((NO_DECISION if d == NO_MAJORITY else d, n) for d, n in decisions.items())
    return ", ".join(f"{decision} {n:,}" for decision, n in named)


def format_realised(completed: int, target: int) -> str:
    """Format the completed of the target replicates."""
    return f"{completed}/{target}"


def format_share(value: float, low: float, high: float, digits: int = 3) -> str:
    """Format a number and its interval."""
    if pd.isna(value):
        return NONE
    return f"{format_number(value, digits)} {format_interval(low, high, digits)}"


def error(value: float, se: float, digits: int = 3) -> str:
    """Format a number and its standard error."""
    if pd.isna(value):
        return NONE
    return f"{format_number(value, digits)} ±{format_number(se, digits)}"


def exponent(value: float, status: str) -> str:
    """Format λ̂ with four decimals; its status if an estimated condition has none."""
    if status in NO_ESTIMATES:
        return NONE
    return status if pd.isna(value) else f"{value:.4f}"


def format_decimals(digits: int) -> Callable[[float], str]:
    """Make the format of numbers with so many decimals."""
    return lambda value: format_number(value, digits)


def format_finite(digits: int) -> Callable[[float], str]:
    """Make the format of numbers with so many decimals, where infinity is missing too."""
    return lambda value: NONE if pd.isna(value) or math.isinf(value) else f"{value:z.{digits}f}"


def format_significant(digits: int) -> Callable[[float], str]:
    """Make the format of numbers with at most so many significant digits."""
    return lambda value: NONE if pd.isna(value) else f"{value:.{digits}g}"


def format_limits(digits: int) -> Callable[[float, float], str]:
    """Make the format of intervals with so many decimals."""
    return lambda low, high: format_interval(low, high, digits)
