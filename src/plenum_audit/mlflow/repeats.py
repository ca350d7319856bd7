"""Rows of an evaluation in which every case occurs several times.

MLflow shows and scores one trace a row, so that a case is repeated as rows: its runs stand next to
each other, each with its own trace and its own assessments, and tags name the case and the run.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from plenum.base import UserError, flatten
from plenum_verdicts.cases import plain
from plenum_verdicts.logs import list_names
from plenum_verdicts.readers import CASE_TAG, make_label

_RUN_TAG = "plenum.run"
"""The tag of a trace that has the number of its run, from 1."""


@dataclass(frozen=True)
class RepeatedPrediction:
    """A function whose cases are evaluated several times each.

    Attributes
    ----------
    predict_fn
        As for ``mlflow.genai.evaluate``.
    runs
        Number of runs of each case, at least 2.
    """

    predict_fn: Callable[..., Any]
    runs: int

    def rows(self, data: Any) -> list[dict[str, Any]]:
        """Return the rows of the evaluation: all cases once, then all again.

        Runs of a case aren't neighbours, so that a disturbance of a minute hits several cases.

        Parameters
        ----------
        data
            A list of dictionaries, a data frame or a data set of MLflow, with ``inputs`` and
            maybe ``expectations`` and ``tags``. A tag ``plenum.case`` names the case; by default
            its inputs do.

        Raises
        ------
        UserError
            A row has no inputs, or holds outputs or a trace, which nothing would be called for.
        """
        cases = [_without_missing(row) for row in _records(data)]
        for number, row in enumerate(cases, 1):
            if not isinstance(row.get("inputs"), dict):
                raise UserError(f"data, row {number}: inputs: give the arguments by name")
            for given in {"outputs", "trace"} & row.keys():
                raise UserError(
                    f"data, row {number}: {given}: it exists already; repeats need new runs"
                )
        names = [name for name, _ in list_names([_tell_case(plain(row)) for row in cases])]
        return [
            {**row, "tags": {**(row.get("tags") or {}), CASE_TAG: name, _RUN_TAG: str(run)}}
            for run in range(1, self.runs + 1)
            for name, row in zip(names, cases, strict=True)
        ]

    def evaluate(self, data: Any, scorers: Sequence[Any], model_id: str | None = None) -> Any:
        """Call ``mlflow.genai.evaluate`` on the rows, and return its result.

        Parameters
        ----------
        data
            As for :meth:`rows`.
        scorers, model_id
            As for ``mlflow.genai.evaluate``.
        """
        import mlflow

        return mlflow.genai.evaluate(
            data=self.rows(data),
            scorers=list(scorers),
            predict_fn=self.predict_fn,
            model_id=model_id,
        )


def repeat(predict_fn: Callable[..., Any], k: int) -> RepeatedPrediction:
    """Have MLflow evaluate every case ``k`` times.

    Parameters
    ----------
    predict_fn
        As for ``mlflow.genai.evaluate``. It must not remember answers: a cache makes runs alike.
    k
        Number of runs of each case, at least 2.

    Raises
    ------
    UserError
        ``k`` is below 2.

    Examples
    --------
    >>> repeated = repeat(lambda question: "A", 3)
    >>> rows = repeated.rows([{"inputs": {"question": "Which bid?"}}])
    >>> [(row["tags"]["plenum.case"], row["tags"]["plenum.run"]) for row in rows]
    [('Which bid?', '1'), ('Which bid?', '2'), ('Which bid?', '3')]
    """
    if isinstance(k, bool) or not isinstance(k, int) or k < 2:
        raise UserError(f"k: {k!r}; it is a whole number of at least 2")
    return RepeatedPrediction(predict_fn, k)


def _records(data: Any) -> Sequence[Mapping[str, Any]]:
    """Return the rows of a list, a data frame, or a data set of MLflow."""
    frame = data.to_df() if hasattr(data, "to_df") else data
    rows = frame.to_dict("records") if hasattr(frame, "to_dict") else frame
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows) or not rows:
        raise UserError("data: give a list of dictionaries, a data frame or a data set of MLflow")
    return rows


def _tell_case(row: Mapping[str, Any]) -> tuple[str, str]:
    """Return what a row's case is called, and JSON of all that it is."""
    label = (row.get("tags") or {}).get(CASE_TAG) or make_label(row["inputs"])
    return flatten(label) or "(empty)", json.dumps(row, sort_keys=True)


def _without_missing(row: Mapping[str, Any]) -> dict[str, Any]:
    """Drop the empty cells of a row of a data frame."""
    return {
        key: value
        for key, value in row.items()
        if value is not None and not (isinstance(value, float) and math.isnan(value))
    }
