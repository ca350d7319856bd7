"""Advice on acting alone, and acts: in sentences, as a table, a figure, and JSON."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import pandas as pd
from pydantic import Field, TypeAdapter, ValidationError

from plenum.base import UserError, open_regular_file, percent, refuse_repeats
from plenum.reports import Column, Table
from plenum_verdicts.acting import (
    MOST_RUNS,
    ActAdvice,
    ActRisk,
    ActRule,
    CaseAct,
    Learnt,
    LearntRule,
)
from plenum_verdicts.design import Risk, VerdictConfig
from plenum_verdicts.dynamics import STABLE, UNDECIDED
from plenum_verdicts.reports.names import short
from plenum_verdicts.reports.outputs import REHEARSAL, make_folder, write_texts

SCHEMA = "plenum.acts/2"
"""Version of the format of ``acts.json``."""

RULE_SCHEMA = "plenum.rule/1"
"""Version of the format of a rule, which is ``acting`` in the JSON of a suite."""

_FILE = "acts.json"
_LARGEST = 64 * 2**20
"""Bytes of the file of a rule: the verdict on some 50,000 cases is next to it."""


@dataclass(frozen=True)
class _HeldRisk:
    """One of the rules that were looked at."""

    rule: ActRule
    at_most: Annotated[float, Field(ge=0, le=1)]
    shown: bool


@dataclass(frozen=True)
class _HeldAdvice:
    """The part of a suite's JSON that ``decide`` adds."""

    schema: Literal["plenum.rule/1"]
    risk: Risk
    known: bool
    chosen: ActRule
    rules: Annotated[tuple[_HeldRisk, ...], Field(min_length=1, max_length=MOST_RUNS)]
    learnt: Learnt


_ADVICE = TypeAdapter(_HeldAdvice)
_ROUNDED = 1e-4
"""How far a bound, which is found by bisection, may lie from the risk."""


def tabulate_advice(advice: ActAdvice) -> Table:
    """Return a line for each number of runs."""
    wrong = "wrong" if advice.known else "contradicted"
    columns = (
        Column("runs", key=True),
        Column("agreeing", "must agree"),
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
        **asdict(rule),
        "simulated": simulated,
        "acts": [asdict(each) for each in acts],
        "errors": list(errors),
    }
    out = Path(settings.out)
    with make_folder(out):
        files = write_texts([(_FILE, json.dumps(held, indent=1) + "\n")], out)
    wrong = "wrong" if rule.known else "contradicted by other runs"
    risk = f"at most {_percent(rule.risk)} of such acts are {wrong}"
    lines = [f"{short(each.case)}: {_act(each, risk)}" for each in acts]
    told = (
        f"The rule was learnt from {short(learnt.program)} on {learnt.date} (rows "
        f"{learnt.rows[:12]}), and is valid until {learnt.valid_until}."
    )
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
            text = file.read(_LARGEST + 1)
        if len(text) > _LARGEST:
            raise ValueError(f"it has more than {_LARGEST >> 20} MB")
        return _read_rule(path, text)
    except OSError as error:
        raise UserError(f"rule: {path} can't be read: {error.strerror or error}") from None
    except ValidationError as error:
        first = error.errors()[0]
        why = f"{'.'.join(map(str, ('acting', *first['loc'])))}: {first['msg']}"
    except RecursionError:
        why = "it is nested too deeply"
    except ValueError as error:
        why = str(error)
    raise UserError(
        f"rule: {path} holds no rule: {short(why)}; verdict.json of logs=FILE decide=true does"
    )


def _read_rule(path: str, text: bytes) -> LearntRule:
    """Return the rule in the JSON of a suite; a :class:`ValueError` says what is wrong with it."""
    given = json.loads(
        text, object_pairs_hook=refuse_repeats(ValueError), parse_constant=_refuse_constant
    )
    suite = given.get("suite") or given if isinstance(given, dict) else {}
    held = suite.get("acting") if isinstance(suite, dict) else None
    if not isinstance(held, dict):
        raise ValueError("acting: it isn't there")
    if held.get("chosen", 0) is None:
        raise UserError(
            f"rule: {path}: no rule was shown to hold the risk, so a person decides every case"
        )
    advice = _ADVICE.validate_json(json.dumps(held), strict=True)
    found = suite.get("verdict")
    verdict = found.get("verdict") if isinstance(found, dict) else None
    if verdict not in (STABLE, UNDECIDED):
        raise UserError(
            f"rule: {path}: the suite that it was learnt from is {verdict or 'without a verdict'}, "
            "so a person decides every case"
        )
    if [each.rule for each in advice.rules] != [
        ActRule(count, count) for count in range(1, len(advice.rules) + 1)
    ]:
        raise ValueError("acting.rules: they aren't those of 1, 2 and more runs that all agree")
    shown = [each for each in advice.rules if each.shown]
    if not shown or advice.chosen != shown[0].rule:
        raise ValueError("acting.chosen: it isn't the shown rule of the fewest runs")
    if shown[0].at_most > advice.risk + _ROUNDED:
        raise ValueError("acting.rules: more acts may be wrong than it says to be shown")
    return LearntRule(advice.chosen, advice.risk, advice.known, advice.learnt)


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number")


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
        "agreeing": each.rule.agreeing,
        "cases": f"{each.acts.cases:,}",
        "acts": f"{100 * each.acts.value:.1f} % [{low:.1f}, {high:.1f}]",
        "wrong": percent(each.wrong, 1) if each.acts.value > 0 else "-",
        "at_most": percent(each.at_most, 1),
        "shown": "yes" if each.shown else "no",
    }


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
