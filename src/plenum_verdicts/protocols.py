"""Protocols judged, and studies of them planned, from the settings of the commands."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
from omegaconf import DictConfig
from pydantic import Field

from plenum.base.errors import UserError
from plenum.design.ranges import Float, NotNegative, StrictSettings, Whole
from plenum.design.validation import read_settings
from plenum_verdicts.design import Names
from plenum_verdicts.logs.protocol_logs import count_protocols, read_protocols
from plenum_verdicts.reports.outputs import make_folder, write_texts
from plenum_verdicts.reports.steady import PlanCheck, publish_steadiness
from plenum_verdicts.steadiness.judged_protocols import SteadyVerdict, judge_steadiness
from plenum_verdicts.steadiness.protocol_runs import SteadyRuns
from plenum_verdicts.steadiness.steady_plans import (
    WORDINGS,
    SteadyPlan,
    plan_steadiness,
    predict_power,
)

Share = Annotated[Float, Field(ge=0.001, le=0.999)]
"""A share that is neither nothing nor all."""


@dataclass(frozen=True)
class SteadyConfig(StrictSettings):
    """The runs of protocols, and what they are judged by.

    Attributes
    ----------
    steady : a file, or a list
        Protocols that are compared, in place of ``logs``.
    columns : a column by field
        Columns of these tables.
    reference : a name
        What the others are compared with; else ``reference``, or the first.
    margin
        Least lead of the reference over a constant.
    perturbed : a column, or a list
        What should not matter; else ``wording``, ``order``.
    plan : a ``plan.json``
        What ``scripts/plan.py`` fixed beforehand.
    out : a folder
        Page and ``steady.json``.
    """

    steady: Names
    columns: dict[str, Any] = field(default_factory=dict)
    reference: str = ""
    margin: Share = 0.05
    perturbed: Names = field(default_factory=list)
    plan: str | None = None
    out: str = "outputs/steady"


@dataclass(frozen=True)
class SteadyPlanConfig(SteadyPlan, StrictSettings):
    """A study to plan, with the ranges of its settings."""

    margin: Share
    cases: Annotated[Whole, Field(ge=0)] = 0
    runs: Annotated[Whole, Field(ge=0, le=100)] = 0
    options: Annotated[Whole, Field(ge=2, le=26)] = 3
    accuracy: Share = 0.45
    gain: Share = 0.1
    price: NotNegative | None = None


def judge_protocols(
    frame: pd.DataFrame, reference: str = "", margin: float = 0.05
) -> SteadyVerdict:
    """Judge whether protocols are steadier at kept quality than votes of the reference.

    Parameters
    ----------
    frame
        One row a run, as for :func:`plenum_verdicts.logs.protocol_logs.count_protocols`.
    reference, margin
        As for that, and for :func:`plenum_verdicts.steadiness.judged_protocols.judge_steadiness`.

    Raises
    ------
    UserError
        A column is missing, a value has no meaning, or cases are too few.

    Examples
    --------
    >>> rows = [
    ...     (name, case, wording, run, "AB"[(case + wording * (name == "reference")) % 2])
    ...     for name in ("reference", "calm") for case in range(40)
    ...     for wording in (0, 1) for run in (0, 1)
    ... ]
    >>> frame = pd.DataFrame(rows, columns=["protocol", "case", "wording", "run", "decision"])
    >>> right = frame["decision"] == frame["case"].map(lambda case: "AB"[case % 2])
    >>> found = judge_protocols(frame.assign(right=right, cost=1))
    >>> found.protocols[0].stability, found.sensitive, found.status
    (0.0, False, 3)
    """
    return judge_steadiness(count_protocols(frame, reference).runs, margin)


def judge_steady_config(cfg: DictConfig) -> int:
    """Judge the protocols that the config of ``scripts/verdict.py`` names; return the exit status.

    Raises
    ------
    UserError
        A value is malformed, or the runs can't be judged.
    """
    if cfg.logs:
        raise UserError("logs: steady= has the runs of protocols; give one of both")
    given = {} if cfg.margin is not None else {"margin": 0.05}
    asked = read_settings(SteadyConfig, cfg, **given)
    written = Path(asked.out).expanduser() / "steady.json"
    if any(Path(file).expanduser().resolve() == written.resolve() for file in asked.steady):
        raise UserError(f"out: {asked.out}; steady={written} would be written over: give another")
    rows = read_protocols(asked.steady, asked.columns)
    log = count_protocols(rows, asked.reference, asked.perturbed)
    found = judge_steadiness(log.runs, asked.margin)
    check = _check_plan(asked.plan, log.runs, asked.margin) if asked.plan else None
    publish_steadiness(found, log, None if cfg.dry_run else Path(asked.out), check)
    return found.status


def _check_plan(file: str, runs: SteadyRuns, margin: float) -> PlanCheck:
    try:
        given = json.loads(Path(file).read_text(encoding="utf-8"))
        named, _ = given.pop("digest"), given.pop("power")
        plan = SteadyPlan(**given)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise UserError(f"plan: {file} is no plan that scripts/plan.py wrote") from None
    if plan.digest != named:
        raise UserError(f"plan: {file} was changed after it was made: its digest isn't {named}")
    found = {
        "margin": (plan.margin, margin),
        "reference": (plan.reference or runs.reference.name, runs.reference.name),
        "cases": (plan.cases, min(len(runs.cases), plan.cases)),  # more show no less
        "runs at a wording": (plan.runs, min(each.least for each in runs.protocols)),
    }
    differs = (f"{name}: {a} planned, {b} found" for name, (a, b) in found.items() if a != b)
    return PlanCheck(named, tuple(differs))


def publish_steady_plan(cfg: DictConfig) -> None:
    """Print and write the plan that the config of ``scripts/plan.py`` asks for.

    Raises
    ------
    UserError
        A value is malformed, or nothing can show what is asked.
    """
    plan, out = plan_steadiness(read_settings(SteadyPlanConfig, cfg)), Path(cfg.out)
    power = round(predict_power(plan, plan.cases), 3)
    dollars = "" if plan.price is None else f", {plan.calls * plan.price:,.2f} dollars"
    print(
        f"{plan.cases:,} cases x {WORDINGS} wordings x {plan.runs} runs x 2 protocols: "
        f"{plan.calls:,} runs{dollars}; shown in {100 * power:.0f} % of studies if a protocol "
        f"is steadier by {plan.gain:g} at equal cost and accuracy {plan.accuracy:g}"
    )
    text = json.dumps({**asdict(plan), "power": power, "digest": plan.digest}, indent=2)
    with make_folder(out):
        (file,) = write_texts([("plan.json", f"{text}\n")], out)
    print(f"written: {file}; its digest is {plan.digest}")
