"""What the tables by number share: published numbers beside those of a run."""

from collections.abc import Sequence

import pandas as pd

from plenum.design.factors import FACTORS
from plenum.reports.labels import provenance
from plenum.reports.published import NOTE, Published, beside
from plenum.reports.rows import Row, frame

_COUNTS = ("study", "condition", "target", "completed", "failed", "pending", "warnings", "status")
_ESTIMATES = (
    *("estimand", "lambda", "ci_low", "ci_high", "se", "interval", "rounds_used"),
    *("flip_rate", "flip_rate_ci_low", "flip_rate_ci_high"),
    *("time_to_majority", "time_to_majority_ci_low", "time_to_majority_ci_high"),
)
_VALUES = ("lambda", "flip_rate", "time_to_majority", "n")


def reported_of(row: Row, files: Sequence[str]) -> Published | None:
    """What the first of some files says of a condition."""
    found = (beside(name, row.tracked.factors) for name in files)
    return next((one for one in found if one is not None), None)


def record(row: Row, files: Sequence[str]) -> dict[str, object]:
    """A condition as a line of a CSV: factors, counts, estimates, and what is published."""
    own = row.record()
    line: dict[str, object] = {name: own.get(name) for name in ("study", *FACTORS)}
    line |= {name: own.get(name) for name in (*_COUNTS, *_ESTIMATES)}
    published = reported_of(row, files)
    values = published.values if published else {}
    line |= {f"published_{name}": _number(values.get(name)) for name in _VALUES}
    return line | {"published_source": published.source if published else ""}


def with_published(rows: Sequence[Row], files: Sequence[str]) -> pd.DataFrame:
    """The condition table, with published values as they are printed, and where they stand."""
    lines = frame(rows)
    found = [reported_of(row, files) for row in rows]
    for name in _VALUES:
        lines[f"printed_{name}"] = [one.values.get(name, "") if one else "" for one in found]
    lines["printed_in"] = [one.source if one else "" for one in found]
    return lines


def notes(rows: Sequence[Row], files: Sequence[str]) -> tuple[str, ...]:
    """The last notes of a table: where published and own numbers come from."""
    return (*published_notes(rows, files), provenance(rows))


def published_notes(rows: Sequence[Row], files: Sequence[str]) -> list[str]:
    """What a reader must know of published numbers; nothing where there are none."""
    found = [one for row in rows if (one := reported_of(row, files))]
    if not found:
        return []
    sources = ", ".join(dict.fromkeys(one.source for one in found))
    return [f"{NOTE} ({sources})"]


def _number(text: str | None) -> float | None:
    return float(text) if text else None
