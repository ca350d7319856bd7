"""Attrition: the association of failure with the condition, which biases results."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd

from plenum.dynamics import association, holm
from plenum.reports.accounting.common import make_rows
from plenum.reports.formats import NONE, format_decimals, format_p_value
from plenum.reports.notes import notes
from plenum.reports.phrases import space_words
from plenum.reports.rows import Row, group_rows, list_varying_factors
from plenum.reports.table import Column, Table
from plenum.tracking import ConditionUsage

_SIGNIFICANT = 0.05
_LOWEST = ("lowest_failed", "lowest_ended", "lowest_level")
_HIGHEST = ("highest_failed", "highest_ended", "highest_level")


def tabulate_attrition(usages: Sequence[ConditionUsage]) -> Table:
    """Test whether failure is associated with the condition, or with a factor of the design."""
    rows = make_rows(usages)
    overall, *factors = tests = _tests(rows)
    columns = (
        Column("over", key=True),
        Column(("failed", "ended"), "failed/ended", lambda bad, n: f"{bad:,}/{n:,}"),
        Column(_LOWEST, "lowest rate", _rate),
        Column(_HIGHEST, "highest rate", _rate),
        Column("method", "test", space_words),
        Column("statistic", "chi2", format_decimals(2)),
        Column("cramers_v", "Cramér's V", format_decimals(2)),
        Column("p", format=format_p_value),
        Column("p_holm", "Holm", format_p_value),
    )
    below = notes(
        "attrition",
        rows,
        overall=overall,
        factors=[test | {"highest": _rate(*(test[n] for n in _HIGHEST))} for test in factors],
        alpha=_SIGNIFICANT,
        pending=sum(row.pending for row in rows),
        methods={test["method"] for test in tests},
    )
    title = "Attrition: does failure go with the condition?"
    return Table("attrition", title, pd.DataFrame(tests), columns, below)


def _tests(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Test over the conditions, and over the levels of each factor that varies."""
    overall = _test("condition", {str(n): [row] for n, row in enumerate(rows)})
    varying = list_varying_factors(rows)
    factors = []
    if len(varying) > 1 and not overall["untested"]:
        for name in varying:
            levels = group_rows(rows, (name,))
            factors.append(_test(name, {level: group for (level,), group in levels.items()}))
    for test, p in zip(factors, holm([test["p"] for test in factors]), strict=True):
        test["p_holm"] = float(p)
    return [overall, *factors]


def _test(over: str, groups: dict[str, list[Row]]) -> dict[str, Any]:
    """Test failure against the conditions, or against the levels of a factor."""
    failed = {level: sum(row.failed for row in rows) for level, rows in groups.items()}
    done = {level: sum(row.n for row in rows) for level, rows in groups.items()}
    tested = association(list(done.values()), list(failed.values()))
    ended = {level: failed[level] + done[level] for level in groups}

    def extreme(which: Callable[..., str]) -> tuple[int | None, int | None, str]:
        """Return the counts of the level that failed least or most, and its name if they differ."""
        rates = {level: failed[level] / n for level, n in ended.items() if n}
        if not rates:
            return None, None, ""
        level = which(rates, key=lambda level: rates[level])
        named = over != "condition" and len(set(rates.values())) > 1
        return failed[level], ended[level], level if named else ""

    return {
        "over": over,
        "p_holm": math.nan,
        "ended": tested.completed + tested.failed,
        **vars(tested),
        "untested": tested.untested,
        **dict(zip(_LOWEST, extreme(min), strict=True)),
        **dict(zip(_HIGHEST, extreme(max), strict=True)),
    }


def _rate(failed: float | None, ended: float, level: str) -> str:
    if failed is None or pd.isna(failed):
        return NONE
    return f"{int(failed)}/{int(ended)} {level}".rstrip()
