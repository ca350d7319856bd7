"""Advice on further runs in sentences."""

from collections.abc import Iterator

from plenum_audit.suites import BudgetAdvice


def explain_budget(found: BudgetAdvice) -> Iterator[str]:
    """Yield what further runs would bring, for these cases and for cases like these."""
    now = found.now
    yield (
        f"With {found.runs:,} more runs the score's standard error for these cases falls from "
        f"{_points(now.these)} to {_points(found.everywhere.these)} points if all cases are "
        "repeated equally often."
    )
    yield (
        f"For cases like these it falls from {_points(now.like)} to "
        f"{_points(found.everywhere.like)} points if all are repeated, and to "
        f"{_points(found.new_cases.like)} if the runs go to new cases, two each."
    )
    if found.to_halve_these is not None and found.to_halve_like is not None:
        yield (
            f"To halve it takes about {found.to_halve_these:,} more runs of these cases, "
            f"and for cases like these about {found.to_halve_like:,} runs of new ones."
        )


def _points(error: float | None) -> str:
    return f"{100 * (error or 0.0):.1f}"
