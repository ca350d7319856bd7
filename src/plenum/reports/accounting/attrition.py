"""Whether failure goes with the condition: attrition biases."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from plenum.dynamics import Association, association, holm
from plenum.reports.accounting.common import (
    rows_of,
    spaced,
)
from plenum.reports.rows import FACTORS, grouped
from plenum.reports.sheets import Sheet, number, probability, provenance
from plenum.tracking.accounts import Accounted

_SIGNIFICANT = 0.05


class _Test(NamedTuple):
    """A test of failure against the conditions, or against the levels of a factor."""

    over: str
    counts: dict[str, tuple[int, int]]
    association: Association
    p_holm: float


def attrition(found: Sequence[Accounted]) -> Sheet:
    """Whether failure goes with the condition, or with a factor of the design."""
    tests = _tests(found)
    head = (
        *("over", "failed/ended", "lowest rate", "highest rate", "test", "chi2"),
        *("Cramér's V", "p", "Holm"),
    )
    body = tuple(_tested(test) for test in tests)
    pending = sum(sum(a.pending.values()) for a in found)
    notes = (
        *_said(tests),
        *_left_out(pending),
        *_methods(tests),
        provenance(rows_of(found)),
    )
    title = "Attrition: does failure go with the condition?"
    return Sheet(title, head, body, notes)


def _tests(found: Sequence[Accounted]) -> list[_Test]:
    rows = rows_of(found)
    each = {str(n): (row.failed, row.n + row.failed) for n, row in enumerate(rows)}
    varying = [n for n in FACTORS if len({r.tracked.factors[n] for r in rows}) > 1]
    pools = []
    overall = _Test("condition", each, _associated(each), math.nan)
    tested = len(varying) > 1 and not overall.association.untested
    for name in varying if tested else ():
        levels = grouped(rows, (name,))
        counts = {
            level: (sum(r.failed for r in group), sum(r.n + r.failed for r in group))
            for (level,), group in levels.items()
        }
        pools.append((name, counts, _associated(counts)))
    adjusted = holm([pool[2].p for pool in pools])
    return [overall, *(_Test(*pool, float(p)) for pool, p in zip(pools, adjusted, strict=True))]


def _associated(counts: dict[str, tuple[int, int]]) -> Association:
    return association([n - bad for bad, n in counts.values()], [bad for bad, _ in counts.values()])


def _tested(test: _Test) -> tuple[str, ...]:
    a = test.association
    return (
        test.over,
        f"{a.failed:,}/{a.completed + a.failed:,}",
        *(_extreme(test, min), _extreme(test, max), spaced(a.method)),
        *(number(a.statistic, 2), number(a.cramers_v, 2), probability(a.p)),
        probability(test.p_holm),
    )


def _extreme(test: _Test, which: Callable[..., str]) -> str:
    """The counts of the condition or level that failed least or most; a level's name too."""
    ended = {level: bad / n for level, (bad, n) in test.counts.items() if n}
    if not ended:
        return "-"
    level = which(ended, key=lambda level: ended[level])
    bad, n = test.counts[level]
    by_name = test.over != "condition" and len(set(ended.values())) > 1
    return f"{bad}/{n} {level}" if by_name else f"{bad}/{n}"


def _said(tests: Sequence[_Test]) -> list[str]:
    """What the tests mean, in plain sentences."""
    overall = tests[0].association
    if overall.untested:
        return [f"{overall.untested}: nothing to test"]
    p = _p(overall.p)
    if overall.p < _SIGNIFICANT:
        lines = [
            f"failures are associated with the condition ({p}): estimates of the conditions that "
            "lost most are of a selected set"
        ]
    else:
        lines = [
            f"no association with the condition found ({p}); with {overall.failed:,} failed and "
            f"{overall.completed:,} completed replicates this test could miss one"
        ]
    if overall.least_p > _SIGNIFICANT:
        lines[0] += f": however unevenly they fall, p can't be below {probability(overall.least_p)}"
    own = [test for test in tests[1:] if test.p_holm < _SIGNIFICANT]
    lines += [
        f"failures are associated with {test.over} ({_p(test.p_holm)} by Holm), with the "
        f"highest rate at {_extreme(test, max)}"
        for test in own
    ]
    return lines


def _p(p: float) -> str:
    return f"p = {probability(p)}".replace("= <", "< ")


def _left_out(pending: int) -> list[str]:
    if not pending:
        return []
    return [
        f"{pending:,} pending replicates are no failures and left out; one that fails ends sooner "
        "than one that completes, so while some are pending the rates are too high"
    ]


_TESTS = {
    "fisher": "fisher: Fisher's exact test",
    "chi_square": "chi square: Pearson's test",
    "monte_carlo": "monte carlo: exact test by chi2 over 10,000 tables with the same margins",
}


def _methods(tests: Sequence[_Test]) -> list[str]:
    used = [
        text for name, text in _TESTS.items() if any(t.association.method == name for t in tests)
    ]
    pools = ["factors pool all others; Holm: p adjusted over the factors"] * (len(tests) > 1)
    return ["; ".join([*used, *pools])] if used else []
