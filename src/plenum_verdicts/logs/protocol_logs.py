"""The runs of protocols in tables: read, checked, and counted by case and wording."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from plenum.base import UserError
from plenum.dynamics import Floats
from plenum_verdicts.logs.log_columns import NOT_RENAMED, read_column
from plenum_verdicts.readers import LogSource, Wrong, find_reader, read_records
from plenum_verdicts.steadiness import ProtocolRuns, SteadyRuns
from plenum_verdicts.suites import Codes

PERTURBED = ("wording", "order")
"""Columns of what should not matter, if the user names none."""

_NEEDED = ("protocol", "case", "run", "decision", "right")
_RIGHT = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}
_NONE = ("", "nan", "none", "null")


@dataclass(frozen=True)
class ProtocolLog:
    """The runs of protocols, and what was found in their rows.

    Attributes
    ----------
    runs
        The counted runs, those of the reference first.
    chosen
        True if the reference was named, by the user or by its own name.
    left_out
        Number of cases that some protocol lacks.
    unknown
        Number of cases whose right answer nobody decided.
    perturbed
        Columns of what should not matter that the rows have.
    thinned
        Number of runs that are left out, since another run of their case and wording has their day.
    days
        Number of days; 0 if none is given.
    simulated
        True if a column ``backend`` says so of a run.
    """

    runs: SteadyRuns
    chosen: bool
    left_out: int
    unknown: int
    perturbed: tuple[str, ...]
    thinned: int
    days: int
    simulated: bool


def read_protocols(files: Sequence[str], columns: Mapping[str, Any]) -> pd.DataFrame:
    """Read the rows of tables; a file without a column ``protocol`` is one, of its own name.

    Raises
    ------
    UserError
        A file can't be read, has a row that is none, or lacks a column that was named.
    """
    frames = []
    for file in files:
        source = LogSource(file)
        try:
            rows = list(read_records(find_reader(source), source))
        except UserError as problem:
            raise UserError(str(problem).replace("logs=", "steady=")) from None
        for place, row in rows:
            if isinstance(row, Wrong):
                raise UserError(f"steady={file}: {place}: {row}")
        frame = pd.DataFrame([row for _, row in rows])
        for name, of in columns.items():
            if NOT_RENAMED.get(name) != of:
                frame[name] = _rename(frame, rows, file, name, of)
        if "protocol" not in frame and len(files) > 1:
            frame["protocol"] = Path(file).stem
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


def _rename(frame: pd.DataFrame, rows: Sequence[Any], file: str, name: str, of: Any) -> list[Any]:
    values = [read_column(row, str(of)) for _, row in rows]
    if not any(isinstance(value, str | int | float) for value in values):
        known = ", ".join(map(str, frame.columns))[:300]
        raise UserError(f"columns.{name}: no row of {file} has a column {of}; there are {known}")
    return values


def count_protocols(
    rows: pd.DataFrame, reference: str = "", perturbed: Sequence[str] = ()
) -> ProtocolLog:
    """Count the decisions of protocols by case and wording.

    Parameters
    ----------
    rows
        One row a run, with ``protocol``, ``case``, ``run``, ``decision``, ``right`` (0 to 1); maybe
        ``wording``, ``order``, ``cost``, ``answer`` and ``day``. A run without a decision failed.
    reference
        The protocol that the others are compared with; by default that of this name, or the first.
    perturbed
        Columns of what should not matter; by default :data:`PERTURBED`, those that are there.

    Raises
    ------
    UserError
        A column is missing, a value has no meaning, or a run occurs twice.
    """
    frame, named = _check(rows, perturbed)
    names = list(dict.fromkeys(frame["protocol"]))
    chosen = reference or ("reference" if "reference" in names else names[0])
    if chosen not in names:
        raise UserError(f"reference: {chosen} is none of {', '.join(names)}")
    if len(names) < 2:
        raise UserError(f"steady: only the protocol {names[0]} is there; two or more are compared")
    # The order of rows must not matter: the reference's first run is the first by its number.
    number = pd.to_numeric(frame["run"], errors="coerce")
    frame = frame.assign(number=number).sort_values(["number", "run"], kind="stable")
    kept, days = _thin_days(frame)
    shared = kept.groupby("case")["protocol"].nunique()
    common = kept[kept["case"].isin(shared.index[shared == len(names)])]
    if common.empty:
        raise UserError("steady: no case is in all protocols; name cases alike in each")
    runs, unknown = _encode(common, [chosen, *sorted(set(names) - {chosen})])
    return ProtocolLog(
        runs=runs,
        chosen=bool(reference) or chosen == "reference",
        left_out=int((shared < len(names)).sum()),
        unknown=unknown,
        perturbed=named,
        thinned=len(frame) - len(kept),
        days=days,
        simulated="backend" in rows and bool((rows["backend"] == "simulated").any()),
    )


def _check(rows: pd.DataFrame, perturbed: Sequence[str]) -> tuple[pd.DataFrame, tuple[str, ...]]:
    for name in (*_NEEDED, *perturbed):
        if name not in rows:
            known = ", ".join(map(str, rows.columns))[:300]
            raise UserError(
                f"steady: there is no column {name}; columns.{name}=NAME names it: {known}"
            )
    named = tuple(perturbed) or tuple(name for name in PERTURBED if name in rows)
    frame = pd.DataFrame({name: rows[name].map(_text) for name in (*_NEEDED, *named)})
    for name in ("protocol", "case"):
        if (empty := frame[name] == "").any():
            raise UserError(f"steady: row {int(empty.argmax()) + 1} has no {name}")
    frame["setting"] = frame[list(named)].agg(" / ".join, axis=1) if named else ""
    frame["failed"] = frame["decision"] == ""
    frame["right"] = [
        0.0 if failed else _score(value, row)
        for row, (value, failed) in enumerate(zip(frame["right"], frame["failed"], strict=True), 1)
    ]
    frame["cost"] = _read_costs(rows)
    frame["answer"] = rows["answer"].map(_text) if "answer" in rows else ""
    time = rows["day"] if "day" in rows else rows.get("time")
    frame["day"] = "" if time is None else time.map(lambda value: _text(value)[:10])
    twice = frame.duplicated(["protocol", "case", "setting", "run"])
    if twice.any():
        row = frame[twice].iloc[0]
        at = f", {'/'.join(named)} {row['setting']}" if named else ""
        raise UserError(
            f"steady: run {row['run']} of protocol {row['protocol']}, case {row['case']}{at} "
            "occurs twice"
        )
    return frame, named


def _text(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # a column of whole numbers with a gap is read as fractions
    text = "" if value is None else str(value).strip()
    return "" if text.lower() in _NONE else text


def _score(text: str, row: int) -> float:
    try:
        score = _RIGHT[text.lower()] if text.lower() in _RIGHT else float(text)
    except ValueError:
        score = -1.0
    if not 0 <= score <= 1:
        raise UserError(
            f"steady: right is {text or 'empty'} in row {row}; it is 0 to 1, true or false"
        )
    return score


def _read_costs(rows: pd.DataFrame) -> pd.Series:
    if "cost" not in rows:
        return pd.Series(np.nan, rows.index)
    given = rows["cost"].map(_text)
    costs = pd.to_numeric(given.replace("", np.nan), errors="coerce")
    wrong = ((given != "") & costs.isna()) | (costs < 0) | np.isinf(costs)
    if wrong.any():
        row = int(wrong.argmax())
        raise UserError(
            f"steady: cost is {given.iloc[row]} in row {row + 1}; it is a number from 0"
        )
    return costs


def _thin_days(frame: pd.DataFrame) -> tuple[pd.DataFrame, int]:
    """Keep one run of each case, wording and day, where there are several days."""
    days = frame["day"].nunique() if (frame["day"] != "").all() else 0
    if days < 2:
        return frame, days
    # Runs of one day may repeat each other: a rerun is meant to be one of another day.
    return frame.drop_duplicates(["protocol", "case", "setting", "day"]), days


def _encode(frame: pd.DataFrame, names: Sequence[str]) -> tuple[SteadyRuns, int]:
    # A failed run differs from all others, so that it is a decision of its own.
    own = pd.Series([f"\0{n}" for n in range(len(frame))], frame.index)
    frame = frame.assign(label=frame["decision"].where(~frame["failed"], own))
    case, cases = pd.factorize(frame["case"], sort=True)
    setting = frame["setting"].factorize(sort=True)[0]
    pairs = (
        frame[["label"]].assign(case=case, right=frame["right"]).groupby(["case", "label"])["right"]
    )
    if (pairs.nunique() > 1).any():
        number, label = pairs.nunique().index[int(pairs.nunique().argmax())]
        raise UserError(
            f"steady: case {cases[number]}: the decision {label} is right in one row and not in "
            "another; a decision of a case is right or wrong"
        )
    scores = pairs.first().reset_index()
    scores["option"] = scores.groupby("case").cumcount()
    options = int(scores["option"].max()) + 2  # and one that no run decided
    right = np.zeros((len(cases), options))
    right[scores["case"], scores["option"]] = scores["right"]
    code = scores.set_index(["case", "label"])["option"]
    option = code.loc[list(zip(case, frame["label"], strict=True))].to_numpy()
    shape = (len(cases), int(setting.max()) + 1, options)
    protocols = []
    for name in names:
        of = (frame["protocol"] == name).to_numpy()
        counts: Codes = np.zeros(shape, np.intp)
        np.add.at(counts, (case[of], setting[of], option[of]), 1)
        cost = frame["cost"][of].groupby(case[of])
        variance = cost.var().fillna(0) / cost.size()
        # One unknown cost leaves the protocol's unknown: a mean of the others may be another one.
        mean = cost.agg(lambda values: values.mean(skipna=False)).to_numpy(np.float64)
        failed = int(frame["failed"][of].sum())
        spread = variance.to_numpy(np.float64)
        protocols.append(ProtocolRuns(name, counts, _fix(mean), _fix(spread), failed))
    first = np.zeros(shape[:2], np.intp)
    of = (frame["protocol"] == names[0]).to_numpy()
    first[case[of][::-1], setting[of][::-1]] = option[of][::-1]  # the first run is written last
    constants, answers, answer, unknown = _find_constants(frame, case, scores, right)
    return (
        SteadyRuns(tuple(protocols), tuple(cases), right, constants, answers, answer, first),
        unknown,
    )


def _fix(values: Any) -> Floats:
    fixed: Floats = np.asarray(values, float)
    return fixed


def _find_constants(
    frame: pd.DataFrame, case: Codes, scores: pd.DataFrame, right: np.ndarray[Any, Any]
) -> tuple[np.ndarray[Any, Any], tuple[str, ...], Codes, int]:
    """Return how right each answer would be in each case, at most."""
    decided = scores[~scores["label"].str.startswith("\0")]
    given = frame["answer"].groupby(case).first()
    known = sorted({*decided["label"], *given[given != ""]}) or ["no answer"]
    column = {label: number for number, label in enumerate(known)}
    # In a case of which nobody decided right, any answer that nobody gave may be the right one.
    untold = (right.max(1) < 1) & (given == "").to_numpy()
    constants = np.where(untold[:, None], 1.0, 0.0) * np.ones(len(known))
    told = given[given != ""]
    constants[told.index.to_numpy(), told.map(column).to_numpy(int)] = 1.0
    answer: Codes = np.full(constants.shape, -1, np.intp)
    place = decided["label"].map(column).to_numpy(int)
    constants[decided["case"], place] = decided["right"]
    answer[decided["case"], place] = decided["option"]
    return constants, tuple(known), answer, int(untold.sum())
