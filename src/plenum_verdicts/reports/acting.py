"""Advice on acting alone, and acts: in sentences, as a table, a figure, and JSON."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd

from plenum.base import UserError, percent
from plenum.reports import Column, Table
from plenum_verdicts.acting import MOST_RUNS, ActAdvice, ActRisk, ActRule, CaseAct
from plenum_verdicts.design import VerdictConfig
from plenum_verdicts.reports.names import short
from plenum_verdicts.reports.outputs import REHEARSAL, make_folder, write_texts

SCHEMA = "plenum.acts/1"
"""Version of the format of ``acts.json``."""

_FILE = "acts.json"


def tabulate_advice(advice: ActAdvice) -> Table:
    """Return a line for each number of runs."""
    wrong = "wrong" if advice.known else "contradicted"
    columns = (
        Column("runs", key=True),
        Column("agreeing", "must agree"),
        Column("acts", "acts on"),
        Column("wrong", f"{wrong} acts"),
        Column("at_most", "at most"),
        Column("shown", f"risk of {_percent(advice.risk)} shown"),
    )
    frame = pd.DataFrame([_line(each) for each in advice.rules])
    return Table("acting", "Acting alone, by the number of runs", frame, columns)


def publish_acts(
    acts: Sequence[CaseAct],
    rule: ActRule,
    study: str,
    settings: VerdictConfig,
    errors: Sequence[str],
    simulated: bool = False,
) -> list[str]:
    """Write ``acts.json``, and return a line for each case.

    Parameters
    ----------
    errors
        Reasons why runs are missing.
    simulated
        Simulated agents decided, which is said.

    Raises
    ------
    UserError
        The folder ``out`` can't be written to.
    """
    held = {
        "schema": SCHEMA,
        "study": study,
        "rule": asdict(rule),
        "simulated": simulated,
        "acts": [asdict(each) for each in acts],
        "errors": list(errors),
    }
    out = Path(settings.out)
    with make_folder(out):
        files = write_texts([(_FILE, json.dumps(held, indent=1) + "\n")], out)
    lines = [f"{short(each.case)}: {_act(each)}" for each in acts]
    rehearsal = [f"This is a {REHEARSAL}."] if simulated else []
    return [*lines, *errors, *rehearsal, f"written: {', '.join(map(str, files))}"]


def remove_stale_acts(settings: VerdictConfig) -> None:
    """Remove the acts of an earlier command: one that is killed would leave them as its own."""
    with make_folder(Path(settings.out)):
        (Path(settings.out) / _FILE).unlink(missing_ok=True)


def read_rule(path: str) -> ActRule:
    """Read the rule that ``decide=true`` chose from its ``suite.json``.

    Raises
    ------
    UserError
        The file can't be read, or no rule was chosen.
    """
    try:
        held = json.loads(Path(path).read_text(encoding="utf-8"))
        acting = (held.get("suite") or held)["acting"]
        chosen = acting["chosen"]
        if chosen is None:
            raise UserError(
                f"rule: {path}: no rule was shown to hold the risk, so a person decides every case"
            )
        rule = ActRule(int(chosen["runs"]), int(chosen["agreeing"]))
        if rule.runs > MOST_RUNS:
            raise ValueError(f"{rule.runs} runs")
        return rule
    except OSError as error:
        raise UserError(f"rule: {path} can't be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError, RecursionError):
        raise UserError(
            f"rule: {path} holds no rule; verdict.json of logs=FILE decide=true does"
        ) from None


def _act(act: CaseAct) -> str:
    if act.decision is not None:
        return f"{act.decision} ({act.agreeing} of {act.runs} runs agree)"
    if not act.leading:
        return f"ask a person (none of {act.runs} runs came to a decision)"
    return f"ask a person ({act.agreeing} of {act.runs} runs decided {act.leading})"


def _line(each: ActRisk) -> dict[str, Any]:
    low, high = (100 * value for value in each.acts.like)
    return {
        "runs": each.rule.runs,
        "agreeing": each.rule.agreeing,
        "acts": f"{100 * each.acts.value:.1f} % [{low:.1f}, {high:.1f}]",
        "wrong": percent(each.wrong, 1) if each.acts.value > 0 else "-",
        "at_most": percent(each.at_most, 1),
        "shown": "yes" if each.shown else "no",
    }


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
