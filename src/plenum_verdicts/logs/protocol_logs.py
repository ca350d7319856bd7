"""The runs of protocols in tables: read, checked, and counted by case and wording."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from plenum.base.errors import UserError
from plenum.dynamics.fit import Floats
from plenum_verdicts.logs.log_columns import ABSENT, NOT_RENAMED, read_column
from plenum_verdicts.readers.data_sets import Wrong
from plenum_verdicts.readers.log_reader import LogSource, find_reader, read_records
from plenum_verdicts.steadiness.protocol_runs import ProtocolRuns, SteadyRuns
from plenum_verdicts.suites.suite_runs import Codes

PERTURBED = ("wording", "order")
"""Columns of what should not matter, if the user names none."""

_NEEDED = ("protocol", "case", "run", "decision", "right")
_KNOWN = (*_NEEDED, *PERTURBED, "cost", "answer", "day", "time", "backend")
_RIGHT = {"true": "1", "yes": "1", "false": "0", "no": "0"}
_UNDECIDED = ("", "nan", "None", "none", "null", "<NA>")
"""Texts of a missing decision; plenum's ``NONE`` is one, of a committee without a majority."""


@dataclass(frozen=True)
class ProtocolLog:
    """The runs of protocols, and what was found in their rows.

    Attributes
    ----------
    runs
        The counted runs, those of the reference first.
    chosen
        True if the reference was named, by the user or by its own name.
    left_out, unshared
        Number of cases that some protocol lacks, and of runs at a wording that some one lacks.
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
    unshared: int
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
    read = [_read_file(file, columns) for file in files]
    own = [frame.attrs["own"] for frame in read if frame.attrs["own"]]
    if len(set(own)) < len(own):
        raise UserError(
            f"steady: {max(own, key=own.count)} names two files; give a column protocol"
        )
    return pd.concat(read, ignore_index=True)


def _read_file(file: str, columns: Mapping[str, Any]) -> pd.DataFrame:
    source, rows = LogSource(file), []
    try:
        for place, row in read_records(find_reader(source), source):
            if isinstance(row, Wrong):
                raise UserError(f"logs={file}: {place}: {row}")
            rows.append(row)
    except UserError as problem:
        raise UserError(str(problem).replace("logs=", "steady=")) from None
    frame = pd.DataFrame(rows)
    known = ", ".join(map(str, frame.columns))[:300]
    for name, of in columns.items():
        if NOT_RENAMED.get(name) != of:
            if name not in _KNOWN:
                raise UserError(f"columns.{name}: unknown; there are {', '.join(_KNOWN)}")
            values = [read_column(row, str(of)) for row in rows]
            if all(value is ABSENT for value in values):
                raise UserError(f"columns.{name}: no row of {file} has a column {of}: {known}")
            frame[name] = values
    own = "" if "protocol" in frame else Path(file).stem
    frame = frame.assign(protocol=own) if own else frame
    frame.attrs["own"] = own
    return frame


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
        Columns of what should not matter; by default those of :data:`PERTURBED` that vary.

    Raises
    ------
    UserError
        A column is missing, a value has no meaning, or a run occurs twice.
    """
    # A column of one value tells nothing of what should not matter.
    varied = (name for name in PERTURBED if name in rows and rows[name].map(_text).nunique() > 1)
    named = tuple(perturbed) or tuple(varied)
    frame = _check(rows, named)
    names = list(dict.fromkeys(frame["protocol"]))
    chosen = reference or ("reference" if "reference" in names else names[0])
    if chosen not in names:
        raise UserError(f"reference: {chosen} is none of {', '.join(names)}")
    if len(names) < 2:
        raise UserError(f"steady: only the protocol {names[0]} is there; two or more are compared")
    # The order of rows must not matter: the reference's first run is the first by its number.
    number = pd.to_numeric(frame["run"], errors="coerce")
    frame = frame.assign(number=number).sort_values(["number", "run"], kind="stable")
    days = frame["day"].nunique() if (frame["day"] != "").all() else 0
    # Runs of one day may repeat each other: a rerun is meant to be one of another day.
    once = ["protocol", "case", "setting", "day"]
    kept = frame.drop_duplicates(once) if days > 1 else frame
    # Other wordings may be easier: a case counts at those that all protocols have.
    shared = kept.groupby(["case", "setting"])["protocol"].transform("nunique") == len(names)
    if not shared.any():
        raise UserError("steady: no case is in all protocols at one wording; name both alike")
    runs, unknown = _encode(kept[shared], [chosen, *sorted(set(names) - {chosen})])
    return ProtocolLog(
        runs=runs,
        chosen=bool(reference) or chosen == "reference",
        left_out=len(set(kept["case"]) - set(kept["case"][shared])),
        unshared=int((~shared).sum()),
        unknown=unknown,
        perturbed=named,
        thinned=len(frame) - len(kept),
        days=days,
        simulated="backend" in rows and bool((rows["backend"] == "simulated").any()),
    )


def _check(rows: pd.DataFrame, perturbed: Sequence[str]) -> pd.DataFrame:
    """Return the rows as texts and numbers, with ``setting``, ``failed`` and ``day``."""
    if rows.empty:
        raise UserError("steady: there are no rows")
    for name in (*_NEEDED, *perturbed):
        if name not in rows:
            known = ", ".join(map(str, rows.columns))[:300]
            raise UserError(
                f"steady: there is no column {name}; columns.{name}=NAME names it: {known}"
            )
    texts = rows.map(_text).reindex(columns=list({*rows, "cost", "answer"}), fill_value="")
    days = [name for name in ("day", "time") if name in rows and (texts[name] != "").any()][:1]
    for name in ("protocol", "case", "run", *perturbed, *days):
        if (empty := texts[name] == "").any():
            raise UserError(f"steady: row {int(empty.argmax()) + 1} has no {name}")
    failed = texts["decision"].isin(_UNDECIDED)
    frame = texts.assign(
        setting=texts[list(perturbed)].agg(" / ".join, axis=1) if perturbed else "",
        failed=failed,
        right=_read_numbers(texts, "right", ~failed, 1, "0 to 1, true or false").where(~failed, 0),
        cost=_read_numbers(texts, "cost", texts["cost"] != "", 1e300, "a number from 0"),
        day=_read_days(texts[days[0]]) if days else "",
    )
    _refuse_other_answers(frame)
    twice = frame.duplicated(["protocol", "case", "setting", "run"])
    if twice.any():
        row = frame[twice].iloc[0]
        raise UserError(
            f"steady: run {row['run']} of protocol {row['protocol']}, case {row['case']}, "
            f"{'/'.join(perturbed)} {row['setting']} occurs twice; a column wording, order or one "
            "that perturbed= names tells runs of equal numbers apart"
        )
    return frame


def _refuse_other_answers(frame: pd.DataFrame) -> None:
    """Refuse an answer that contradicts what is right; a score between may say more than both."""
    binary = frame["right"].isin([0, 1]) & (frame["answer"] != "") & ~frame["failed"]
    odd = binary & ((frame["decision"] == frame["answer"]) != (frame["right"] == 1))
    if odd.any():
        row = frame[odd].iloc[0]
        raise UserError(
            f"steady: case {row['case']}: the answer is {row['answer']}, and the decision "
            f"{row['decision']} has right={row['right']:g}"
        )


def _text(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # a column of whole numbers with a gap is read as fractions
    text = str(value).strip()
    return "" if value is ABSENT or pd.isna(value) else text


def _read_days(given: pd.Series) -> pd.Series:
    if given.name == "day":  # which may be a label, such as that of a batch
        return given
    if (
        pd.to_numeric(given, errors="coerce").notna().any()
    ):  # seconds or milliseconds since 1970, or a clock's
        raise UserError(f"steady: time is {given.iloc[0]}; give dates, or a column day")
    return given.str[:10]


def _read_numbers(
    texts: pd.DataFrame, name: str, given: pd.Series, most: float, allowed: str
) -> pd.Series:
    numbers = pd.to_numeric(texts[name].str.lower().replace(_RIGHT), errors="coerce")
    wrong = given & ~numbers.between(0, most)
    if wrong.any():
        row = int(wrong.argmax())
        value = texts[name].iloc[row] or "empty"
        raise UserError(f"steady: {name} is {value} in row {row + 1}; it is {allowed}")
    return numbers


def _encode(frame: pd.DataFrame, names: Sequence[str]) -> tuple[SteadyRuns, int]:
    """Return the counted runs, and the number of cases whose right answer nobody decided."""
    # A failed run differs from all others, so that it is a decision of its own.
    own = pd.Series([f"\0{n}" for n in range(len(frame))], frame.index)
    label = frame["decision"].where(~frame["failed"], own)
    case, cases = pd.factorize(frame["case"], sort=True)
    setting = pd.factorize(frame["setting"], sort=True)[0]
    option = label.groupby(case).transform(lambda each: pd.factorize(each, sort=True)[0])
    frame = frame.assign(case=case, setting=setting, option=option.astype(int))
    right = np.zeros((len(cases), frame["option"].max() + 2))  # and one that no run decided
    right[case, frame["option"]] = frame["right"]
    if (other := right[case, frame["option"]] != frame["right"]).any():
        row = frame[other].iloc[0]
        raise UserError(
            f"steady: case {cases[row['case']]}: the decision {row['decision']} is right in one "
            "row and not in another; a decision of a case is right or wrong"
        )
    shape = (len(cases), setting.max() + 1, right.shape[1])
    protocols = tuple(_count(name, frame[frame["protocol"] == name], shape) for name in names)
    first = np.zeros(shape[:2], np.intp)
    # Of several runs the first one is written last.
    reference = frame[frame["protocol"] == names[0]][::-1]
    first[reference["case"], reference["setting"]] = reference["option"]
    constants, answers, answer, unknown = _find_constants(frame, right)
    return SteadyRuns(protocols, tuple(cases), right, constants, answers, answer, first), unknown


def _count(name: str, frame: pd.DataFrame, shape: tuple[int, ...]) -> ProtocolRuns:
    counts: Codes = np.zeros(shape, np.intp)
    np.add.at(counts, (frame["case"], frame["setting"], frame["option"]), 1)
    cost = frame.groupby("case")["cost"]
    # One unknown cost leaves the protocol's unknown: a mean of the others may be another one.
    mean = np.array(cost.agg(lambda values: values.mean(skipna=False)), np.float64)
    spread = np.array(cost.var().fillna(0) / cost.size(), np.float64)
    return ProtocolRuns(name, counts, mean, spread, int(frame["failed"].sum()))


def _find_constants(
    frame: pd.DataFrame, right: Floats
) -> tuple[Floats, tuple[str, ...], Codes, int]:
    """Return how right each answer would be in each case, at most."""
    decided = frame[~frame["failed"]]
    given = frame["answer"].groupby(frame["case"]).first()
    known = pd.Index(sorted({*decided["decision"], *given[given != ""]}) or ["no answer"])
    # In a case of which nobody decided right, any answer that nobody gave may be the right one.
    # A wrong answer may have a score, too: the worst and the best that were met stand for 0 and 1.
    scores = decided["right"]
    least, best = (scores.min(), scores.max()) if scores.nunique() > 1 else (0.0, 1.0)
    untold = (right.max(1) <= least) & (given == "").to_numpy()
    constants = np.repeat(np.where(untold, best, least)[:, None], len(known), 1)
    told = given[given != ""]
    constants[told.index, known.get_indexer(pd.Index(told))] = best
    answer: Codes = np.full(constants.shape, -1, np.intp)
    at = decided["case"], known.get_indexer(pd.Index(decided["decision"]))
    constants[at], answer[at] = decided["right"], decided["option"]
    return constants, tuple(known), answer, int(untold.sum())
