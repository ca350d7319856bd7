"""Advice on acting alone, and acts: in sentences, as a table, a figure, and JSON."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import pandas as pd
from pydantic import Field, TypeAdapter, ValidationError

from plenum.base.errors import UserError
from plenum.base.identity import digest
from plenum.base.json_reply import read_object
from plenum.base.regular_files import open_regular_file
from plenum.base.shares import percent
from plenum.base.text import flatten
from plenum.show.table import Column, Table
from plenum_verdicts.acting.act_rule import MOST_RUNS, ActRule
from plenum_verdicts.acting.case_act import CaseAct
from plenum_verdicts.acting.choice import ActAdvice, ActRisk
from plenum_verdicts.acting.rule_origin import RuleOrigin
from plenum_verdicts.design import Risk, VerdictConfig
from plenum_verdicts.dynamics.audits import STABLE, UNDECIDED
from plenum_verdicts.reports.names import short
from plenum_verdicts.reports.outputs import REHEARSAL, make_folder, write_texts

SCHEMA = "plenum.acts/2"
"""Version of the format of ``acts.json``."""

RULE_SCHEMA = "plenum.rule/1"
"""Version of the format of a rule, which is ``acting`` in the JSON of a suite."""

_FILE = "acts.json"
_LARGEST = 64 * 2**20
"""Bytes of the file of a rule: the verdict on some 50,000 cases is next to it."""

_ROUNDED = 1e-4
"""Tolerance of a bound against the risk: it is found by bisection."""


@dataclass(frozen=True)
class _LookedAt:
    rule: ActRule
    at_most: Annotated[float, Field(ge=0, le=1)]
    shown: bool


@dataclass(frozen=True)
class LearntRule:
    """The part of a suite's JSON that ``decide`` adds, as far as it is needed to act.

    Attributes
    ----------
    risk
        The share of its acts that is wrong at most, as was shown.
    known
        True if right answers were known; else an act counted as wrong if it contradicted the most
        frequent decision of the case's other runs.
    chosen
        The rule.
    rules
        All that were looked at.
    """

    schema: Literal["plenum.rule/1"]
    risk: Risk
    known: bool
    chosen: ActRule
    rules: Annotated[tuple[_LookedAt, ...], Field(max_length=MOST_RUNS)]
    learnt: RuleOrigin

    def __post_init__(self) -> None:
        shown = [each for each in self.rules if each.shown]
        if [each.rule.runs for each in self.rules] != list(range(1, len(self.rules) + 1)):
            raise ValueError("its table isn't that of 1, 2 and more runs")
        if not shown or shown[0].rule != self.chosen or shown[0].at_most > self.risk + _ROUNDED:
            raise ValueError("its table doesn't show that the chosen rule has the fewest runs")


_RULE = TypeAdapter(LearntRule)


def tabulate_advice(advice: ActAdvice) -> Table:
    """Return a line for each number of runs."""
    wrong = "wrong" if advice.known else "contradicted"
    columns = (
        Column("runs", "runs that agree", key=True),
        Column("cases"),
        Column("acts", "acts on"),
        Column("wrong", f"{wrong} acts"),
        Column("at_most", "at most"),
        Column("shown", f"risk of {_percent(advice.risk)} shown"),
    )
    frame = pd.DataFrame([_line(each) for each in advice.rules])
    return Table("acting", "Acting alone, by the number of runs", frame, columns)


def publish_acts(
    acts: Sequence[CaseAct],
    rule: LearntRule,
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
    learnt = rule.learnt
    held = {
        "schema": SCHEMA,
        "study": study,
        "rule": asdict(rule.chosen),
        **{name: getattr(rule, name) for name in ("risk", "known")},
        "learnt": asdict(learnt),
        "simulated": simulated,
        "acts": [asdict(each) for each in acts],
        "errors": list(errors),
    }
    out = Path(settings.out)
    with make_folder(out):
        files = write_texts([(_FILE, json.dumps(held, indent=1, default=str) + "\n")], out)
    wrong = "wrong" if rule.known else "contradicted by other runs"
    risk = f"at most {_percent(rule.risk)} of such acts are {wrong}"
    lines = [f"{short(each.case)}: {_act(each, risk)}" for each in acts]
    origin = f"{short(learnt.program)} on {learnt.day} (rows {learnt.rows})"
    told = f"The rule was learnt from {origin}, and is valid until {learnt.until}."
    rehearsal = [f"This is a {REHEARSAL}."] if simulated else []
    return [*lines, *errors, told, *rehearsal, f"written: {', '.join(map(str, files))}"]


def remove_stale_acts(settings: VerdictConfig) -> None:
    """Remove the acts of an earlier command: one that is killed would leave them as its own."""
    with make_folder(Path(settings.out)):
        (Path(settings.out) / _FILE).unlink(missing_ok=True)


def read_rule(path: str) -> LearntRule:
    """Read the rule that ``decide=true`` chose from the JSON of a suite.

    Raises
    ------
    UserError
        The file can't be read, it holds no rule that it shows, or its suite is unstable.
    """
    try:
        with open_regular_file(Path(path)) as file:
            text = file.read(_LARGEST).decode()  # of a larger one the rest is missed
        held = read_object(text, {"schema"}, ValueError, closed=False, finite=True)
        suite = held.get("suite") or held
        acting, verdict = suite["acting"], suite["verdict"]["verdict"]
        if acting.pop("digest", None) != digest(acting):
            raise ValueError("it isn't as it was written: its digest is another one")
        undecided = acting["chosen"] is None
        rule = None if undecided else _RULE.validate_json(json.dumps(acting), strict=True)
    except OSError as error:
        raise UserError(f"rule: {path} can't be read: {error.strerror or error}") from None
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        first = error.errors()[0] if isinstance(error, ValidationError) else None
        place = ".".join(map(str, first["loc"])) if first else ""
        why = flatten(f"its {place} can't be {first['input']!r}" if first and place else str(error))
        raise UserError(
            f"rule: {path} holds no rule, as verdict.json of decide=true does: {why[:200]}"
        ) from None
    if rule is None:
        raise UserError(
            f"rule: {path}: none was shown to hold the risk; a person decides each case"
        )
    if verdict not in (STABLE, UNDECIDED):
        raise UserError(f"rule: {path}: the suite that it was learnt from is {verdict}, not stable")
    return rule


def _act(act: CaseAct, risk: str) -> str:
    """Say what is done, with decisions in quotes: one may be called as our words are."""
    leading = json.dumps(short(act.leading), ensure_ascii=False)
    if act.decision is not None:
        return f"{leading} ({act.agreeing} of {act.runs} runs agree; {risk})"
    if not act.leading:
        return f"ask a person (none of {act.runs} runs came to a decision)"
    return f"ask a person ({act.agreeing} of {act.runs} runs decided {leading})"


def _line(each: ActRisk) -> dict[str, Any]:
    low, high = (100 * value for value in each.acts.like)
    return {
        "runs": each.rule.runs,
        "cases": f"{each.acts.cases:,}",
        "acts": f"{100 * each.acts.value:.1f} % [{low:.1f}, {high:.1f}]",
        "wrong": percent(each.wrong, 1) if each.acts.value > 0 else "-",
        "at_most": percent(each.at_most, 1),
        "shown": "yes" if each.shown else "no",
    }


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
