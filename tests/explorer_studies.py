"""Studies for the explorer's tests: real journals whose texts and states a test decides."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plenum.design.condition_names import name_conditions
from plenum.records.journal import Journal
from plenum.reports import estimates
from plenum.reports.explorer.contents import Explorer, gather_study
from plenum.reports.explorer.gather import COMMITTEE_EXPLORER
from plenum.reports.explorer.page import page
from plenum.reports.rows import Row
from plenum.reports.settings import Settings
from plenum.tracking.conditions import TrackedCondition
from plenum.tracking.transcripts import StoredTranscript

Say = Callable[[int, int, str], str]
Fields = Callable[[int, int, str], dict[str, str]]
SEATS = ("Chair", "Welfare", "Rights")
OPTIONS = {"A": "Single payer", "B": "Public option", "C": "Private plans"}
FACTORS = {
    **{"scenario": "HL-01", "roles": "on", "model": "uniform", "memory": "k15"},
    **{"temperature": "t0", "backend": "simulated", "perturbation": "none"},
    **{"protocol": "deliberation", "settings": "default", "rounds": "20", "seed": "0"},
}


def plain(replicate: int, round_: int, seat: str) -> str:
    """The same words from everybody, but for replicates from 2 on in the Rights' third turn."""
    words = f"In round {round_} the {seat} member keeps to what was said before."
    if seat == "Rights" and round_ >= 3 and replicate >= 2:
        words = words.replace("keeps to", "turns from")
    return words


class Kept:
    """Conditions as the tracking store would give them back, their journals in a folder."""

    explorer: Explorer

    def __init__(self, folder: Path, study: str = "told") -> None:
        self.folder, self.study = folder, study
        self.tracked: list[TrackedCondition] = []
        self.kept: dict[str, list[StoredTranscript]] = {}

    @property
    def chosen(self) -> Settings:
        return Settings(self.study, "sqlite:///unused.db", Path("unused"), draws=100)

    def data(self, most: int | None = None) -> dict[str, Any]:
        names = name_conditions([each.factors for each in self.tracked])
        named = [replace(c, name=name) for c, name in zip(self.tracked, names, strict=True)]
        return gather_study(self.explorer, self.chosen, named, self.kept, most)

    def page(self, most: int | None = None) -> Path:
        """The explorer of all conditions, as a file."""
        file = self.folder / "explorer.html"
        file.write_text(page(self.study, self.data(most), self.explorer.layout), encoding="utf-8")
        return file


class Written(Kept):
    """Conditions of committees."""

    explorer = COMMITTEE_EXPLORER

    def condition(
        self,
        replicates: int = 4,
        rounds: int = 6,
        *,
        say: Say = plain,
        options: dict[str, str] = OPTIONS,
        seats: Sequence[str] = SEATS,
        paths: NDArray[np.float64] | None = None,
        broken: dict[int, dict[str, Any]] | None = None,
        beside: Fields = lambda replicate, round_, seat: {},
        **factors: str,
    ) -> TrackedCondition:
        """Add a condition; ``broken`` ends replicates as failed, with these fields.

        ``beside`` are further fields of a turn.
        """
        number = len(self.tracked)
        given = drifting(replicates, rounds, len(options)) if paths is None else paths
        broken = broken or {}
        name = f"{number:02d}c0ffee"
        ended = [r for r in range(replicates) if r not in broken]
        made = [
            self._journal(name, r, given[r], say, options, seats, broken.get(r), beside, factors)
            for r in range(replicates)
        ]
        self.kept[f"run{number}"] = [
            StoredTranscript(
                f"{name}{r}", f"run{number}", r, "failed" if r in broken else "completed", path
            )
            for r, path in enumerate(made)
        ]
        condition = TrackedCondition(
            study=self.study,
            identity=name,
            run_id=f"run{number}",
            factors={**FACTORS, "rounds": str(rounds), **factors},
            target=replicates,
            completed=len(ended),
            failures=dict(Counter(str(end["reason"]) for end in broken.values())),
            preferences=np.repeat(given[ended][:, :, None], len(seats), axis=2),
            decisions=tuple(decision(given[r], options) for r in ended),
            seats=tuple(seats),
            indices=tuple(ended),
            simulated=True,
        )
        self.tracked.append(condition)
        return condition

    def rows(self) -> list[Row]:
        return estimates.estimate_study(self.tracked, self.chosen)

    def _journal(
        self,
        name: str,
        replicate: int,
        path: NDArray[np.float64],
        say: Say,
        options: dict[str, str],
        seats: Sequence[str],
        broken: dict[str, Any] | None,
        beside: Fields,
        factors: dict[str, str],
    ) -> Path:
        file = self.folder / name / f"{replicate:03d}.jsonl"
        known = [{"seat": s, "label": s, "mandate": True, "model": "m"} for s in seats]
        head = {**FACTORS, **factors, "condition": name, "replicate": replicate}
        with Journal(file, {**head, "options": options, "seats": known}) as journal:
            for round_, shares in enumerate(path, start=1):
                for seat in seats:
                    here = {"round": round_, "seat": seat, "model": "m"}
                    text = say(replicate, round_, seat)
                    if broken and broken["at"]["round"] == round_ and broken["at"]["seat"] == seat:
                        journal.append({"kind": "turn", **here, "text": text, "problem": "no"})
                        journal.append({"kind": "end", "status": "failed", **broken})
                        return file
                    state = {"pref": shares.tolist(), "conf": 70, "tags": ["cost", "care"]}
                    answer = {"text": text, "argument": text, "state": state}
                    further = beside(replicate, round_, seat)
                    journal.append({"kind": "turn", **here, **answer, **further})
            label = decision(path, options)
            for seat in seats:
                vote = {"decision": label, "confidence": 80}
                here = {"round": len(path), "seat": seat}
                journal.append({"kind": "ballot", **here, "text": "", "ballot": vote})
            tally = {"decision": label, "votes": len(seats), "total": len(seats)}
            end = {"status": "completed", **tally, "clerk": label, "clerk_agrees": True}
            journal.append({"kind": "end", **end})
        return file


def drifting(replicates: int, rounds: int, options: int, seed: int = 5) -> NDArray[np.float64]:
    """Committees that begin together and drift apart, replicates 0 and 1 not at all."""
    draws = np.random.Generator(np.random.PCG64(seed))
    steps = draws.normal(0, 0.25, (replicates, rounds, options)).cumsum(axis=1)
    steps[:, :2] = 0
    if replicates > 1:
        steps[1] = steps[0]
    shares = np.exp(steps)
    return np.asarray(np.round(shares / shares.sum(axis=2, keepdims=True), 3))


def decision(path: NDArray[np.float64], options: dict[str, str]) -> str:
    """The option that a trajectory ends nearest to."""
    return list(options)[int(path[-1].argmax())]
