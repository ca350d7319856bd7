"""What figures say of conditions: names, estimates, n, and the warnings below."""

import math
from collections.abc import Iterable, Sequence

from plenum.dynamics import LyapunovEstimate
from plenum.reports.figures.words import LONG, plain, realised
from plenum.reports.labels import provenance
from plenum.reports.marks import explained
from plenum.reports.rows import Row


def name(row: Row, names: Sequence[str]) -> str:
    """A condition by some of its factors, as in ``roles on, model mixed``."""
    return of(names, key(row, names))


def key(row: Row, names: Sequence[str]) -> tuple[str, ...]:
    """Some factors of a condition; ``condition`` is its identity."""
    return tuple(
        row.tracked.identity if n == "condition" else row.tracked.factors[n] for n in names
    )


def of(names: Iterable[str], values: Iterable[str]) -> str:
    """Factors with their values; scenarios, settings and roles taken out name themselves."""
    return ", ".join(plain(_told(*pair), LONG) for pair in zip(names, values, strict=True))


def _told(factor: str, value: str) -> str:
    if factor == "temperature":
        return f"T = {value.removeprefix('t')}"
    own = factor == "scenario" or value.startswith("ablate_")
    return value if own or (factor == "settings" and value != "default") else f"{factor} {value}"


def interval(low: float, high: float) -> str:
    """An interval with three decimals, or nothing where there is none."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return ""
    return f"[{low:.3f}, {high:.3f}]".replace("-", "−")


def signed(value: float) -> str:
    """A number with three decimals and a true minus; ``-`` where there is none."""
    return f"{value:.3f}".replace("-", "−") if math.isfinite(value) else "-"


def estimate(exponent: LyapunovEstimate) -> str:
    """λ̂ with its interval, or why there is none."""
    if math.isnan(exponent.value):
        return exponent.status
    limits = interval(exponent.ci_low, exponent.ci_high)
    return f"{signed(exponent.value)} {limits}".rstrip()


def counted(row: Row) -> str:
    """Completed of target replicates; one number where all were completed."""
    return str(row.n) if row.n == row.tracked.target else f"{row.n}/{row.tracked.target}"


def foot(rows: Sequence[Row], *told: str, warnings: Iterable[str] | None = None) -> list[str]:
    """The lines under a figure: what is drawn, n, what the letters warn of, the backend.

    ``warnings`` are those that the figure shows as letters, where they aren't the conditions'.
    """
    given = [name for row in rows for name in row.warnings] if warnings is None else warnings
    meant = explained(given)
    return [
        *told,
        realised(rows) + (f"; warnings: {meant}" if meant else "; no warnings"),
        provenance(rows),
    ]
