"""Table S4: the scenarios, as they lie in `scenarios/`; no run is needed."""

import pandas as pd

from plenum import scenarios
from plenum.base import project
from plenum.reports.numbered.source import Made, Source
from plenum.reports.published import published
from plenum.reports.table import Column, Table
from plenum.scenarios import Scenario


def cases(source: Source) -> Made | None:
    """One line a scenario: domain, type, options, question."""
    found = _every()
    columns = (
        Column("scenario", key=True),
        *map(Column, ("domain", "type", "options")),
        Column("question", "decision question"),
    )
    notes = (
        "choice: one option is decided on; allocation: preferences are shares, and the decision is "
        "the option that comes first",
        "full texts: scenarios/SCENARIO.yaml, written anew; the papers' own types and names of "
        "options are in the CSV (001, Table S4)",
    )
    known = {one.factors["scenario"]: one for one in published("table-s4")}
    records = [
        {
            **{"scenario": one.id, "title": one.title, "domain": one.domain, "type": one.type},
            **{"options": _options(one), "question": one.question, "digest": one.digest},
            **{f"published_{n}": known[one.id][n] if one.id in known else "" for n in _PUBLISHED},
        }
        for one in found
    ]
    frame = pd.DataFrame(records)
    return Made((Table("table_s4", "Table S4: scenarios", frame, columns, notes),), frame)


_PUBLISHED = ("domain", "type", "options")


def _options(one: Scenario) -> str:
    return " / ".join(option.name for option in one.options)


def _every() -> list[Scenario]:
    """All scenarios: the papers' in their order, then those that others have added."""
    order = [one.factors["scenario"] for one in published("table-s4")]
    found = [scenarios.load(path) for path in (project.root() / "scenarios").glob("*.yaml")]
    place = {name: n for n, name in enumerate(order)}
    return sorted(found, key=lambda one: (place.get(one.id, len(place)), one.id))
