"""What a sweep makes vary in the studies that it adds to."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from plenum.design.condition import Job
from plenum.tracking import store
from plenum.tracking.stored import StoredCondition, stored_conditions

_MOST = 6
"""So many values of a factor are listed."""


def now_varying(jobs: Sequence[Job]) -> list[str]:
    """One line for each study that held conditions of one value of a factor, and gets another.

    The tables of a study compare all its conditions: who adds some by mistake, such as with other
    ``rounds`` in the study ``default``, should learn it before the first call.
    """
    studies: defaultdict[tuple[str, str], list[Job]] = defaultdict(list)
    for job in jobs:
        if job.tracking_uri:
            studies[job.study, store.absolute(job.tracking_uri)].append(job)
    lines = []
    for (study, uri), added in studies.items():
        changed = _changed(stored_conditions(study, uri), added)
        if changed:
            factors = ", ".join(f"{name} ({_listed(values)})" for name, values in changed.items())
            lines.append(
                f"study {study}: now varies in {factors}; its tables hold all of them, and "
                "study=NAME keeps these conditions apart"
            )
    return lines


def _changed(held: Sequence[StoredCondition], jobs: Sequence[Job]) -> dict[str, list[str]]:
    """The values of each factor that all conditions of a study shared, and don't any more."""
    if not held:
        return {}
    before = [_factors(condition.params, condition.target) for condition in held]
    added = [_factors(job.condition.factors, job.replicates) for job in jobs]
    cells = {job.condition.cell for job in jobs}
    kept = [
        factors
        for condition, factors in zip(held, before, strict=True)
        if condition.cell not in cells
    ]
    changed = {}
    for name in added[0]:
        values = list(dict.fromkeys(f[name] for f in (*kept, *added) if name in f))
        if len({f[name] for f in before if name in f}) == 1 and len(values) > 1:
            changed[name] = values
    return changed


def _factors(named: Mapping[str, object], replicates: int) -> dict[str, str]:
    """Factors by name as texts; a world's come once, under its own names."""
    double = ("scenario", "roles", "protocol", "memory") if "task" in named else ()
    factors = {name: str(value) for name, value in named.items() if name not in double}
    return {**factors, "replicates": str(replicates)}


def _listed(values: Sequence[str]) -> str:
    more = f", and {len(values) - _MOST} more" if len(values) > _MOST else ""
    return ", ".join(values[:_MOST]) + more
