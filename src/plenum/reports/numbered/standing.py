"""Table S1: target, realised replicates and deficit, by group."""

from collections.abc import Callable, Mapping, Sequence

import pandas as pd

from plenum.design.factors import FACTORS, varying
from plenum.reports.accounting.common import distinct, reasons_in, rows_of, whys_in
from plenum.reports.formats import NONE, count
from plenum.reports.labels import provenance
from plenum.reports.numbered.source import Made, Source
from plenum.reports.published import NOTE, Published, key, published
from plenum.reports.table import Column, Table
from plenum.tracking.usage import ConditionUsage

Factors = Mapping[str, str]

GROUPS: dict[str, Callable[[Factors], bool]] = {
    "branching": lambda f: "branches" in f["settings"],
    "reruns": lambda f: "rerun=" in f["settings"],
    "one shot": lambda f: f["protocol"] == "one_shot",
    "semantics": lambda f: f["perturbation"] != "none",
    "ablation": lambda f: f["roles"].startswith("ablate_"),
    "memory": lambda f: f["memory"] != "k15",
    "temperature": lambda f: f["temperature"] != "t0",
    "provider": lambda f: f["model"] not in ("uniform", "gpt-4.1-mini", "mixed"),
    "headline": lambda f: f["scenario"] == "HL-01",
    "core": lambda f: True,
}
"""What a condition is for: the first that holds. The papers' groups, and those that they lack."""

_ORDER = ("headline", "core", "ablation", "semantics", "provider")
_KEYS = ("scenario", "roles", "model")


def standing(source: Source) -> Made | None:
    """One line a condition, and one for each roles and model over all scenarios."""
    found = distinct(source.accounts)
    differing = varying(one.tracked.factors for one in found)
    shown = [n for n in FACTORS if n in _KEYS or n in differing]
    lines = [_line(group(one.tracked.factors), [one], one.tracked.factors) for one in found]
    lines += _totals(found)
    order = [*_ORDER, *(name for name in GROUPS if name not in _ORDER)]
    places = list(dict.fromkeys(str(line.get("scenario", "")) for line in lines))

    def place(line: Mapping[str, object]) -> tuple[int, int]:
        return order.index(str(line["group"])), places.index(str(line.get("scenario", "")))

    lines.sort(key=place)
    counted = ["target", "realised", "deficit"]
    counted += [n for n in ("failed", "pending") if any(line[n] for line in lines)]
    columns = (
        Column("group", key=True),
        *(Column(n, n, key=True) for n in shown),
        *(Column(n, format=count) for n in counted),
        Column(("published_realised", "published_target"), "published", _of_target),
    )
    known = any(line["published_realised"] is not None for line in lines)
    notes = (
        "realised: completed replicates; deficit: target - realised = failed + pending",
        *_missing(found),
        *[f"{NOTE}; published: realised / target (001, Table S1)"] * known,
        provenance(rows_of(found)),
    )
    frame = pd.DataFrame(lines).convert_dtypes()
    title = f"Table S1: run accounting ({_named(source)})"
    return Made((Table("table_s1", title, frame, columns, notes),), frame)


def group(factors: Factors) -> str:
    """What a condition is for."""
    return next(name for name, holds in GROUPS.items() if holds(factors))


def _line(name: str, own: Sequence[ConditionUsage], factors: Factors) -> dict[str, object]:
    """Replicates of some conditions, which must add up."""
    target = sum(a.tracked.target for a in own)
    realised = sum(a.tracked.completed for a in own)
    failed = sum(sum(a.tracked.failures.values()) for a in own)
    pending = sum(sum(a.pending.values()) for a in own)
    if target != realised + failed + pending:
        raise ValueError(f"{target} replicates are not {realised} + {failed} + {pending}")
    known = _published(factors)
    return {
        **{"group": name, **factors, "target": target, "realised": realised},
        **{"deficit": target - realised, "failed": failed, "pending": pending},
        "published_target": int(known["target"]) if known else None,
        "published_realised": int(known["realised"]) if known else None,
    }


def _published(factors: Factors) -> Published | None:
    usual = factors.get("protocol") == "deliberation" and group(factors) not in (
        "branching",
        "reruns",
    )
    lines = published("table-s1") if usual else ()
    return next((one for one in lines if key(one.factors) == key(factors)), None)


def _totals(found: Sequence[ConditionUsage]) -> list[dict[str, object]]:
    """Lines of all scenarios, for the conditions that the papers' core has."""
    cells: dict[tuple[str, ...], list[ConditionUsage]] = {}
    for one in found:
        factors = one.tracked.factors
        if group(factors) in ("headline", "core"):
            rest = tuple(factors[n] for n in FACTORS if n != "scenario")
            cells.setdefault(rest, []).append(one)
    return [
        _line("core", own, {**own[0].tracked.factors, "scenario": f"all {len(own)}"})
        for own in cells.values()
        if len({a.tracked.factors["scenario"] for a in own}) == len(own) > 2
    ]


def _of_target(realised: float, target: float) -> str:
    return NONE if pd.isna(realised) else f"{realised} / {target}"


def _missing(found: Sequence[ConditionUsage]) -> list[str]:
    """Why replicates are missing, in one line."""
    failed = {
        reason: sum(a.tracked.failures.get(reason, 0) for a in found)
        for reason in reasons_in(found)
    }
    waiting = {why: sum(a.pending.get(why, 0) for a in found) for why in whys_in(found)}
    parts = [f"{what}: {_listed(counts)}" for what, counts in
            (("failed by", failed), ("pending by", waiting)) if counts]  # fmt: skip
    return ["; ".join(parts)] if parts else []


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {n:,}" for name, n in counts.items())


def _named(source: Source) -> str:
    return ", ".join(source.names)
