"""Planning of a study: the replicates that it needs, and whether its conditions may stop."""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from plenum.base.errors import UserError
from plenum.design.kinds import KINDS
from plenum.dynamics.decision_sample_sizes import plan_decisions
from plenum.dynamics.decisions import pairwise_disagreement, tally
from plenum.dynamics.estimate import margin
from plenum.dynamics.growth import estimate_typical_growth
from plenum.dynamics.lyapunov import lyapunov
from plenum.dynamics.sample_sizes import plan_replicates
from plenum.reports.accounting.common import select_distinct
from plenum.reports.labels import condition_keys
from plenum.reports.notes import write_notes
from plenum.reports.rows import Row
from plenum.reports.settings import PlanSettings
from plenum.show.formats import format_count, format_decimals, format_warnings
from plenum.show.table import Column, Table
from plenum.show.terminal_tables import show_tables
from plenum.tracking.conditions import TrackedCondition
from plenum.tracking.study import Study
from plenum.tracking.usage import ConditionUsage


def publish_plan(plan: PlanSettings) -> None:
    """Print the answer to each question in a sentence, and the numbers of every condition."""
    study = Study(plan.study, plan.uri)
    found = KINDS[study.kind].plan(study.conditions, plan)
    for sentence in describe_plan(found.frame, plan, select_distinct(study.usage)):
        print(sentence)
    show_tables([found])


def tabulate_plan(tracked: Sequence[TrackedCondition], plan: PlanSettings) -> Table:
    """Make the table with one line a condition, and columns for what is asked."""
    rows = [Row(condition, None) for condition in tracked]
    columns = [*condition_keys(rows), Column("n")]
    if plan.asked is not None:
        columns += [
            Column("disagreement", format=format_decimals(3)),
            Column("steadier", f"for -{plan.asked:g}", format_count),
            Column("less_steady", f"for +{plan.asked:g}", format_count),
        ]
    if plan.delta is not None:
        columns += [
            Column("typical_growth", "typical pair", format_decimals(4)),
            Column("sd", format=format_decimals(3)),
            Column("replicates", "replicates per arm", format_decimals(0)),
        ]
    columns.append(Column("warnings", format=format_warnings))
    lines = pd.DataFrame(
        {**condition.factors, "condition": condition.identity, **_line(condition, plan)}
        for condition in tracked
    )
    title = f"Study {plan.study}: plan"
    told = write_notes("plan", rows, asked=plan.asked, **vars(plan))
    return Table("plan", title, lines, tuple(columns), told)


def describe_plan(
    lines: pd.DataFrame, plan: PlanSettings, usages: Sequence[ConditionUsage]
) -> list[str]:
    """Answer each question in a sentence.

    Parameters
    ----------
    lines
        What :func:`tabulate_plan` shows, one row a condition.
    usages
        What the conditions have used so far, by which calls and dollars are counted.
    """
    said = []
    if plan.asked is not None:
        sizes = lines[["steadier", "less_steady"]].to_numpy(dtype=float).ravel()
        goal = f"a disagreement that is {plan.asked:g} smaller or larger"
        said.append(_describe_need(goal, sizes, lines["n"], plan, usages))
    if plan.delta is not None:
        sizes = lines.reindex(columns=["replicates"]).to_numpy(dtype=float).ravel()
        goal = f"a difference of a typical pair's growth of {plan.delta:g}"
        said.append(_describe_need(goal, sizes, lines["n"], plan, usages))
    return said


def _describe_need(
    goal: str,
    sizes: NDArray[np.float64],
    present: pd.Series,
    plan: PlanSettings,
    usages: Sequence[ConditionUsage],
) -> str:
    """Say how many replicates find a difference, and what so many cost."""
    known = sizes[np.isfinite(sizes)]
    if not known.size:
        return f"No condition can be planned for {goal}: its column of the table is empty."
    least, most = int(known.min()), int(known.max())
    between = f"{least}" if least == most else f"{least} to {most}"
    has = sorted({min(present), max(present)})
    return (
        f"To find {goal} with power {plan.power:g}, a condition needs {between} replicates; it has "
        f"{' to '.join(map(str, has))}. {_describe_price(most, usages)}"
    )


def _describe_price(replicates: int, usages: Sequence[ConditionUsage]) -> str:
    """Say what so many replicates of every condition take, as those cost that have ended."""
    calls, dollars, priced = [], 0.0, True
    for usage in usages:
        ended, models = usage.tracked.completed + usage.tracked.failed, usage.models
        if models is None or not ended:
            return "What they cost isn't known, since not every condition has its accounts."
        calls.append(sum(row["calls"] for row in models.values()) / ended)
        dollars += sum(row["cost"] for row in models.values()) / ended
        priced &= not any(row["unpriced"] for row in models.values())
    each = sorted({round(number) for number in calls})
    number = f"{len(calls)} condition{'s' if len(calls) > 1 else ''} of {replicates} take "
    number += f"{len(calls)} x {replicates} x {each[0]} = " if len(each) == 1 else ""
    total = sum(each) * len(calls) if len(each) == 1 else sum(calls)
    bill = f", about ${replicates * dollars:,.2f} as they cost so far" if dollars else ""
    unknown = "" if priced else "; the price of some calls isn't known"
    return f"{number}{round(replicates * total):,} calls{bill}{unknown}."


def _line(condition: TrackedCondition, plan: PlanSettings) -> dict[str, Any]:
    """Compute the replicates that a condition needs, and whether it may stop."""
    line: dict[str, Any] = {"n": condition.completed, "warnings": ""}
    if plan.asked is not None:
        line |= _plan_disagreement(condition, plan.asked, plan)
    if not condition.preferences.size:
        return line | {"warnings": "no_replicates"}
    line["warnings"] = " ".join(
        lyapunov(condition.ensemble, plan.window, condition.decisions).warnings
    )
    if plan.delta is None:
        return line
    growth = estimate_typical_growth(condition.ensemble, plan.window)
    width = growth.ci_high - growth.ci_low
    if not (math.isfinite(width) and width > 0):
        return line  # too few replicates to tell how it spreads
    # An interval of a mean of R values that spread by sd has this width.
    sd = width / 2 / margin(1.0, condition.completed - 1) * math.sqrt(condition.completed)
    try:
        needed = plan_replicates(plan.delta, sd, plan.power, plan.alpha).replicates
    except ValueError as error:
        raise UserError(str(error)) from None
    return line | {"typical_growth": growth.value, "sd": sd, "replicates": needed}


def _plan_disagreement(
    condition: TrackedCondition, difference: float, plan: PlanSettings
) -> dict[str, Any]:
    """Compute the disagreement, and the replicates that a smaller and a larger one take."""
    counts = tuple(tally(condition.decisions).items())
    line: dict[str, Any] = {"disagreement": pairwise_disagreement(condition.decisions).value}
    for name, wanted in (("steadier", -difference), ("less_steady", difference)):
        line[name] = _plan_needed(counts, wanted, plan.power, plan.alpha)
    return line


@lru_cache(maxsize=1024)
def _plan_needed(
    counts: tuple[tuple[str, int], ...], difference: float, power: float, alpha: float
) -> int | None:
    """Plan by the counts of decisions; None where no condition can differ so much."""
    pilot = [decision for decision, n in counts for _ in range(n)]
    try:
        return plan_decisions(pilot, difference, power, alpha).replicates
    except ValueError:
        return None
