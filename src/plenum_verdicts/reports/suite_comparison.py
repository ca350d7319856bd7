"""Two programs on a suite in sentences."""

from collections.abc import Iterator

from plenum_verdicts.suites import SuiteComparison

_MEASURES = {"score": "score", "agreement": "share of pairs of runs that decide alike"}


def explain_comparison(found: SuiteComparison, baseline: str) -> Iterator[str]:
    """Yield whether the program is worse than the one in the log ``baseline``."""
    margin = f"{100 * found.margin:.3g} points"
    if found.worse and found.within:
        yield f"Worse than {baseline}, but not by more than {margin}, on these cases."
    elif found.worse:
        yield f"Worse than {baseline} on these cases."
    elif found.within:
        yield f"Not worse than {baseline} by more than {margin} on these cases."
    else:
        yield (
            f"Can't tell whether it is worse than {baseline}: {found.further:,} more runs of each "
            "case, of both programs, would likely tell for these cases."
        )
    (a, b), (c, d) = found.these, found.like
    left = ""
    if found.alone:
        left = f" {found.alone:,} cases are left out, which don't have two runs of both."
    yield (
        f"Its {_MEASURES[found.measure]} is {100 * found.difference:+.1f} points from the "
        f"baseline's over {found.cases:,} cases ([{100 * a:+.1f}, {100 * b:+.1f}] for these cases, "
        f"[{100 * c:+.1f}, {100 * d:+.1f}] for cases like these; each limit holds with 95 %).{left}"
    )
