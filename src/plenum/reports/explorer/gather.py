"""What the page holds: a list of conditions, and two blocks for each, read when it is chosen."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from plenum.design.factors import FACTORS
from plenum.dynamics import divergence
from plenum.dynamics.warnings import WARNINGS
from plenum.reports.explorer.facts import facts
from plenum.reports.explorer.replicates import Told, farthest, opened, path, record
from plenum.reports.explorer.talk import Talk
from plenum.reports.labels import provenance
from plenum.reports.rows import Row, varying_in
from plenum.tracking.study import StoredTranscript


@dataclass(frozen=True)
class Blocks:
    """A condition in the page: its line in the list, its replicates, its transcripts."""

    entry: dict[str, Any]
    figures: dict[str, Any]
    talk: dict[str, Any]


def blocks(
    row: Row, name: str, kept: Sequence[StoredTranscript], window: tuple[int, int], most: int | None
) -> Blocks:
    """Gather a condition; with ``most`` the page gets so many of its completed transcripts."""
    told = opened(kept)
    heads = [one.transcript.head for one in told if one.transcript is not None]
    options = _options(row, heads)
    seats = heads[0]["seats"] if heads else [{"seat": seat} for seat in row.tracked.seats]
    shown = _shown(told, most)
    talk = Talk()
    for one in told:
        if one.number in shown and one.transcript is not None:
            talk.add(one.number, one.transcript, [seat["seat"] for seat in seats])
    figures = {
        "options": options,
        "seats": [_seat(seat) for seat in seats],
        "rounds": int(row.tracked.factors["rounds"]),
        "after": row.tracked.after_round,
        "provenance": provenance([row]),
        "replicates": [record(one, one.number in shown) for one in told],
        "unbegun": max(row.tracked.target - len(told), 0),
        "facts": facts(row),
        **_divergence(row, window),
    }
    return Blocks(_entry(row, name, talk), figures, talk.packed())


def index(study: str, rows: Sequence[Row], entries: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """The list of conditions and what the whole page says."""
    listed = list(entries)
    differing = varying_in(rows)
    warned = {name for entry in listed for name in entry["warnings"]}
    return {
        "study": study,
        "provenance": provenance(rows),
        "differing": differing,
        "common": [[n, rows[0].tracked.factors[n]] for n in FACTORS if n not in differing],
        "meanings": {n: WARNINGS[n].short for n in sorted(warned) if n in WARNINGS},
        "conditions": listed,
    }


def _options(row: Row, heads: Sequence[dict[str, Any]]) -> list[list[str]]:
    """Labels and names; bare letters where no transcript is there to name them."""
    if heads:
        return [[label, name] for label, name in heads[0]["options"].items()]
    count = row.tracked.preferences.shape[3] if row.tracked.preferences.size else 3
    return [[chr(ord("A") + k), ""] for k in range(count)]


def _seat(seat: dict[str, Any]) -> dict[str, Any]:
    return {key: seat[key] for key in ("seat", "label", "mandate", "model") if key in seat}


def _shown(told: Sequence[Told], most: int | None) -> set[int]:
    """The replicates whose transcripts the page gets: what didn't complete is always among them."""
    ended = [one for one in told if one.completed and one.transcript is not None]
    if most is None or len(ended) <= most:
        return {one.number for one in told}
    paths = np.array([path(one.transcript) for one in ended if one.transcript is not None])
    chosen = {ended[position].number for position in farthest(paths, most)}
    return chosen | {one.number for one in told if not one.completed}


def _entry(row: Row, name: str, talk: Talk) -> dict[str, Any]:
    found: dict[str, Any] = {
        "id": name,
        "factors": row.tracked.factors,
        "symbol": "λ̂_pert" if row.tracked.perturbed else "λ̂",
        "status": row.status,
        "n": row.n,
        "failed": row.failed,
        "pending": row.pending,
        "target": row.tracked.target,
        "warnings": list(row.warnings),
        "split": len(set(row.tracked.decisions)) > 1,
        "transcripts": len(talk.replicates),
    }
    if row.summary is not None and math.isfinite(row.summary.lyapunov.value):
        own = row.summary.lyapunov
        found |= {"lambda": own.value, "low": _finite(own.ci_low), "high": _finite(own.ci_high)}
    return found


def _divergence(row: Row, window: tuple[int, int]) -> dict[str, Any]:
    """D(t) and the line that λ̂ fits to its logarithm; nothing where there is no ensemble."""
    if not row.tracked.preferences.size:
        return {"D": []}
    level = divergence(row.tracked.ensemble)
    found: dict[str, Any] = {"D": [_finite(value) for value in level]}
    if row.summary is None or not math.isfinite(row.summary.lyapunov.value):
        return found
    own = row.summary.lyapunov
    rounds = np.arange(1, len(level) + 1)
    used = (rounds >= window[0]) & (rounds <= window[1]) & (level > 0)
    found["window"] = [window[0], min(window[1], len(level))]
    found["fit"] = {
        "slope": own.value,
        "low": _finite(own.ci_low),
        "high": _finite(own.ci_high),
        "interval": own.interval,
        "x": float(rounds[used].mean()),
        "log": float(np.log(level[used]).mean()),
        "rounds": rounds[used].tolist(),
    }
    return found


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
