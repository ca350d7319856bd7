"""Shares and estimates as screens, pages and tables write them, such as ``57 %``."""

import math


def keep_finite(value: float) -> float | None:
    """Return a number, or None for NaN and infinity, which JSON doesn't have."""
    return value if math.isfinite(value) else None


def percent(share: float, digits: int = 0) -> str:
    """Format a share in percent, as in ``57 %``."""
    return f"{100 * share:.{digits}f} %"


def format_percent_between(share: float, low: float, high: float) -> str:
    """Format a share in whole percent with its interval, as in ``15 % [3, 38]``."""
    return f"{percent(share)} [{100 * low:.0f}, {100 * high:.0f}]"


def format_number_between(value: float, low: float, high: float, digits: int = 4) -> str:
    """Format a number with its interval, as in ``0.024 [0.005, 0.043]``; say if it has none."""
    known = math.isfinite(low + high)
    bounds = f"[{low:.{digits}f}, {high:.{digits}f}]" if known else "[no interval]"
    return f"{value:.{digits}f} {bounds}"


def format_signed_percent(difference: float) -> str:
    """Format a difference of shares, as in ``+6 %``."""
    return f"{100 * difference:+.0f} %"
