"""A gate's errors in sentences."""

from collections.abc import Iterator

from plenum.base import percent
from plenum_verdicts.suites import GateAssessment


def explain_gate(found: GateAssessment) -> Iterator[str]:
    """Yield how often a gate errs, and which gate of equal cost errs less."""
    errors, runs = found.errors, "1 run" if found.cost == 1 else f"{found.cost} runs"
    halves = ""
    if found.halves is not None:
        halves = f" Two random halves of these runs ended differently in {percent(found.halves)}."
    yield (
        f'Your gate "{errors.gate}" takes {runs} of each case. It would fail this program, '
        f"unchanged, in {percent(errors.fails)} of uses {_limits(errors.fails_limits)}, and end "
        f"differently on two identical reruns in {percent(errors.flips)} "
        f"{_limits(errors.flips_limits)}.{halves}"
    )
    yield (
        f"It would pass a program whose score is {100 * found.drop:.3g} points lower in "
        f"{percent(errors.misses)} of uses {_limits(errors.misses_limits)}. The brackets "
        "give 95 % confidence limits; more runs narrow them."
    )
    if (better := found.better) is None:
        yield "None of the gates tried that take as many runs errs less."
    else:
        yield (
            f'The gate "{better.gate}" takes as many runs and errs less: it would fail this '
            f"program in {percent(better.fails)} of uses, and pass the worse one in "
            f"{percent(better.misses)}."
        )


def _limits(limits: tuple[float, float]) -> str:
    low, high = limits
    return f"[{100 * low:.0f}, {100 * high:.0f}]"
