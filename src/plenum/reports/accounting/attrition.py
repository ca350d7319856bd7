"""Whether failure goes with the condition: attrition biases."""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import pandas as pd

from plenum.dynamics import Association, association, holm
from plenum.reports.accounting.common import rows_of, spaced
from plenum.reports.formats import decimals, p_value
from plenum.reports.labels import provenance
from plenum.reports.rows import grouped, varying_in
from plenum.reports.table import Column, Table
from plenum.tracking.usage import ConditionUsage

_SIGNIFICANT = 0.05


class _Test(NamedTuple):
    """A test of failure against the conditions, or against the levels of a factor."""

    over: str
    counts: dict[str, tuple[int, int]]
    association: Association
    p_holm: float


def attrition(found: Sequence[ConditionUsage]) -> Table:
    """Whether failure goes with the condition, or with a factor of the design."""
    tests = _tests(found)
    columns = (
        Column("over", key=True),
        Column(("failed", "ended"), "failed/ended", lambda bad, n: f"{bad:,}/{n:,}"),
        Column(("lowest_failed", "lowest_ended", "lowest_level"), "lowest rate", _rate),
        Column(("highest_failed", "highest_ended", "highest_level"), "highest rate", _rate),
        Column("method", "test", spaced),
        Column("statistic", "chi2", decimals(2)),
        Column("cramers_v", "Cramér's V", decimals(2)),
        Column("p", format=p_value),
        Column("p_holm", "Holm", p_value),
    )
    pending = sum(sum(a.pending.values()) for a in found)
    notes = (
        *_conclusions(tests),
        *_left_out(pending),
        *_methods(tests),
        provenance(rows_of(found)),
    )
    title = "Attrition: does failure go with the condition?"
    frame = pd.DataFrame([_record(test) for test in tests])
    return Table("attrition", title, frame, columns, notes)


def _tests(found: Sequence[ConditionUsage]) -> list[_Test]:
    rows = rows_of(found)
    each = {str(n): (row.failed, row.n + row.failed) for n, row in enumerate(rows)}
    varying = varying_in(rows)
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


def _record(test: _Test) -> dict[str, object]:
    a = test.association
    return {
        **{"over": test.over, "failed": a.failed, "ended": a.completed + a.failed},
        **{f"lowest_{name}": value for name, value in _extreme(test, min).items()},
        **{f"highest_{name}": value for name, value in _extreme(test, max).items()},
        **{"method": a.method, "statistic": a.statistic, "cramers_v": a.cramers_v},
        **{"p": a.p, "p_holm": test.p_holm},
    }


def _extreme(test: _Test, which: Callable[..., str]) -> dict[str, Any]:
    """The counts of the condition or level that failed least or most; a level's name too."""
    ended = {level: bad / n for level, (bad, n) in test.counts.items() if n}
    if not ended:
        return {"failed": None, "ended": None, "level": ""}
    level = which(ended, key=lambda level: ended[level])
    bad, n = test.counts[level]
    by_name = test.over != "condition" and len(set(ended.values())) > 1
    return {"failed": bad, "ended": n, "level": level if by_name else ""}


def _rate(failed: float | None, ended: float, level: str) -> str:
    if failed is None or pd.isna(failed):
        return "-"
    return f"{int(failed)}/{int(ended)} {level}".rstrip()


def _conclusions(tests: Sequence[_Test]) -> list[str]:
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
        lines[0] += f": however unevenly they fall, p can't be below {p_value(overall.least_p)}"
    lines += [
        f"failures are associated with {test.over} ({_p(test.p_holm)} by Holm), with the "
        f"highest rate at {_rate(**_extreme(test, max))}"
        for test in tests[1:]
        if test.p_holm < _SIGNIFICANT
    ]
    return lines


def _p(p: float) -> str:
    return f"p = {p_value(p)}".replace("= <", "< ")


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
