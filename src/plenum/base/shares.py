"""Shares as every screen, page and table writes them, such as ``57 %``."""


def percent(share: float, digits: int = 0) -> str:
    """Format a share in percent, as in ``57 %``."""
    return f"{100 * share:.{digits}f} %"


def percent_between(share: float, low: float, high: float) -> str:
    """Format a share in whole percent with its interval, as in ``15 % [3, 38]``."""
    return f"{percent(share)} [{100 * low:.0f}, {100 * high:.0f}]"


def signed_percent(difference: float) -> str:
    """Format a difference of shares, as in ``+6 %``."""
    return f"{100 * difference:+.0f} %"
