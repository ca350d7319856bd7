"""Exact reruns: whether the journals of a condition that was run again have the same bytes."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pandas as pd
from omegaconf import DictConfig

from plenum.base.errors import UserError
from plenum.reports.labels import label, varying
from plenum.reports.markdown import markdown
from plenum.reports.printing import show
from plenum.reports.settings import source
from plenum.reports.sheets import of_cells
from plenum.reports.table import Table
from plenum.tracking import query
from plenum.tracking.query import FACTORS, Rerun

IDENTICAL, CIRCUMSTANCES, DIFFERS = "artifact-identical", "environment", "differs"
MISSING, PENDING = "missing", "pending"
OUTCOMES = (IDENTICAL, CIRCUMSTANCES, DIFFERS, PENDING, MISSING)

_CHAIN = b',"chain":"'
_EXCERPT = 40
"""Bytes of context around a difference, on either side of it."""

_LINES = 24
"""More differences than this are written, not printed."""


@dataclass(frozen=True)
class Settings:
    """What `scripts/reruns.py` is asked: a study in a store, the journals, and where files go."""

    study: str
    uri: str
    journals: Path
    out: Path


@dataclass(frozen=True)
class Difference:
    """Where two journals first differ.

    Attributes
    ----------
    offset
        Bytes before it in the first journal.
    line
        Its line, from 1.
    entry
        What the line says of itself: ``kind``, ``round``, ``seat``; of the first journal where it
        has the line.
    first, second
        The bytes around it on both sides.
    """

    offset: int
    line: int
    entry: dict[str, Any]
    first: str
    second: str

    @property
    def place(self) -> str:
        """The entry in words, such as ``turn, round 3, Chair``."""
        parts = [str(self.entry.get("kind", "?"))]
        parts += [f"round {self.entry['round']}"] if "round" in self.entry else []
        return ", ".join([*parts, *([str(self.entry["seat"])] if "seat" in self.entry else [])])


@dataclass(frozen=True)
class Comparison:
    """How a replicate's rerun came out.

    Attributes
    ----------
    outcome
        ``artifact-identical``: equal bytes. ``environment``: equal but for the environments that
        the journals name. ``differs``. ``pending``: equal so far, and one of the two hasn't ended.
        ``missing``: one of the two isn't there.
    difference
        Where it differs.
    environment
        Keys in which the environments differ, with both values.
    ended
        How the first run's replicate ended: ``completed`` or ``failed``; empty where it hasn't.
    """

    outcome: str
    difference: Difference | None = None
    environment: dict[str, tuple[str, str]] = field(default_factory=dict)
    ended: str = ""


@dataclass(frozen=True)
class Line:
    """A replicate of a condition, and how its rerun compares with the first run."""

    first: Rerun
    again: Rerun
    replicate: int
    files: tuple[Path, Path]
    found: Comparison

    def record(self, study: str) -> dict[str, object]:
        """The comparison as a line of a CSV."""
        d = self.found.difference
        entry = d.entry if d else {}
        return {
            "study": study,
            **{name: self.first.factors[name] for name in FACTORS},
            "condition": self.first.identity,
            "first": self.first.rerun,
            "rerun": self.again.rerun,
            "replicate": self.replicate,
            "outcome": self.found.outcome,
            "ended": self.found.ended,
            "first_file": str(self.files[0]),
            "rerun_file": str(self.files[1]),
            "offset": d.offset if d else None,
            "line": d.line if d else None,
            **{key: entry.get(key, "") for key in ("kind", "round", "seat")},
            "first_bytes": d.first if d else "",
            "rerun_bytes": d.second if d else "",
            "environment": " ".join(self.found.environment),
        }


def settings(cfg: DictConfig) -> Settings:
    """Check the config of `scripts/reruns.py`.

    Raises
    ------
    UserError
        The study isn't named, or there is no store, or no such folder of journals.
    """
    study, uri = source(cfg)
    journals = Path(str(cfg.journals))
    if not journals.is_dir():
        raise UserError(f"journals: there is no folder {journals}; run.py writes it where it runs")
    return Settings(study, uri, journals, Path(cfg.out))


def publish(chosen: Settings) -> int:
    """Compare every rerun of a study with the first run, and say how they came out.

    Returns
    -------
    int
        The exit status: 0 where all replicates have ended in both runs, with equal bytes but
        for the environment that they name; else 1.

    Raises
    ------
    UserError
        There is no such study, it holds no rerun, or nothing of it can be compared.
    """
    conditions = query.reruns(chosen.study, chosen.uri)
    lines = [line for runs in conditions.values() for line in _compared(runs, chosen.journals)]
    if not lines:
        raise UserError(
            f"study: {chosen.study!r} holds no rerun; run its conditions with rerun=0,1"
        )
    counts = Counter(line.found.outcome for line in lines)
    if counts.keys() <= {MISSING, PENDING}:
        raise UserError(
            f"study: no replicate of {chosen.study!r} and its rerun have both ended in "
            f"{chosen.journals} ({_counted(counts)})"
        )
    sheets = [_conditions(lines), *_differences(lines), *_environments(lines)]
    files = _write(chosen, lines, sheets)
    query.log_report(chosen.study, chosen.uri, files)
    show([s for s in sheets if s is sheets[0] or len(s.body) <= _LINES])
    failed = sum(line.found.ended == "failed" for line in lines)
    short = f"; {failed} of them failed, so that little was compared" * bool(failed)
    print(f"{len(lines)} replicate{'s' * (len(lines) != 1)} run again: {_counted(counts)}{short}")
    print(f"written: {', '.join(map(str, files))}")
    return int(any(counts[outcome] for outcome in (DIFFERS, PENDING, MISSING)))


def compare(first: Path, second: Path) -> Comparison:
    """Compare two journals byte by byte.

    What differs first counts. Lines are compared without their ``chain``, which repeats every
    difference in all lines behind it, and the environment in the head and in the lines with which
    a journal goes on elsewhere is told apart from what was said: it alone makes no difference.
    """
    if not (first.exists() and second.exists()):
        return Comparison(MISSING)
    both = first.read_bytes(), second.read_bytes()
    entries = _entries(both[0]), _entries(both[1])
    last = entries[0][-1].body if entries[0] else {}
    ended = str(last.get("status", "")) if last.get("kind") == "end" else ""
    return replace(_compare(both, entries), ended=ended)


def _compare(both: tuple[bytes, bytes], entries: "tuple[list[_Entry], list[_Entry]]") -> Comparison:
    ended = all(own and own[-1].body.get("kind") == "end" for own in entries)
    if both[0] == both[1]:
        return Comparison(IDENTICAL if ended else PENDING)
    environment = _environment(*entries)
    words = tuple([entry for entry in own if not entry.elsewhere] for own in entries)
    for one, other in zip_longest(*words):
        if one is None or other is None:
            if not ended:
                return Comparison(PENDING, None, environment)
            return Comparison(DIFFERS, _only_in_one(one, other, both), environment)
        if one.said != other.said:
            return Comparison(DIFFERS, _difference(one, other), environment)
    if not ended:
        return Comparison(PENDING, None, environment)
    if environment:
        return Comparison(CIRCUMSTANCES, None, environment)
    return Comparison(DIFFERS, _anywhere(*both), environment)


@dataclass(frozen=True)
class _Entry:
    """A whole line of a journal."""

    number: int
    offset: int
    text: bytes
    body: dict[str, Any]

    @property
    def elsewhere(self) -> bool:
        """Whether the line only says that the journal goes on in another environment."""
        return self.body.get("kind") == "reopen" and "environment" in self.body

    @property
    def said(self) -> bytes:
        """The line without its chain, and a head without its environment."""
        text = self.text.rpartition(_CHAIN)[0] or self.text
        if self.body.get("kind") != "head" or "environment" not in self.body:
            return text
        rest = {k: v for k, v in self.body.items() if k not in ("environment", "chain")}
        return json.dumps(rest, ensure_ascii=False, separators=(",", ":"))[:-1].encode()


def _entries(data: bytes) -> list[_Entry]:
    """The whole lines; what a kill tore is left out."""
    found = []
    offset = 0
    for number, text in enumerate(data.split(b"\n")[:-1], start=1):
        try:
            body = json.loads(text)
        except ValueError:
            body = {}
        found.append(_Entry(number, offset, text, body if isinstance(body, dict) else {}))
        offset += len(text) + 1
    return found


def _environment(first: list[_Entry], second: list[_Entry]) -> dict[str, tuple[str, str]]:
    """The keys in which the last named environments differ, or any that was left on the way."""
    named = [
        [e.body["environment"] for e in own if isinstance(e.body.get("environment"), dict)]
        for own in (first, second)
    ]
    keys = sorted({key for own in named for environment in own for key in environment})
    values = {
        key: tuple(" then ".join(dict.fromkeys(str(e.get(key, "-")) for e in own)) for own in named)
        for key in keys
    }
    return {key: (one, other) for key, (one, other) in values.items() if one != other}


def _difference(one: _Entry, other: _Entry) -> Difference:
    """Where two lines part; a head's environment is passed over."""
    at = _first(one.said, other.said)
    # The environment stands last in a head: what is before it keeps its place.
    return Difference(
        one.offset + at, one.number, one.body, _excerpt(one.said, at), _excerpt(other.said, at)
    )


def _only_in_one(one: _Entry | None, other: _Entry | None, both: tuple[bytes, bytes]) -> Difference:
    """A line that the other journal doesn't have."""
    left = one or other
    assert left is not None
    offset = left.offset if one else len(both[0])
    texts = [_excerpt(entry.text, 0) if entry else "" for entry in (one, other)]
    return Difference(offset, left.number, left.body, texts[0], texts[1])


def _anywhere(first: bytes, second: bytes) -> Difference:
    """The first byte that differs, wherever it is: in a chain, or behind the last whole line."""
    at = _first(first, second)
    line = first.count(b"\n", 0, at) + 1
    own = next((e for e in _entries(first) if e.number == line), None)
    body = own.body if own else {}
    return Difference(at, line, body, _excerpt(first, at), _excerpt(second, at))


def _first(one: bytes, other: bytes) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _excerpt(text: bytes, at: int) -> str:
    around = text[max(at - _EXCERPT, 0) : at + _EXCERPT].decode(errors="replace")
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in around)


def _compared(runs: Sequence[Rerun], journals: Path) -> Iterator[Line]:
    """Every rerun of a condition against its first run."""
    first, *others = runs
    for again in others:
        for replicate in range(max(first.target, again.target)):
            name = f"{replicate:03d}.jsonl"
            files = (journals / first.folder / name, journals / again.folder / name)
            yield Line(first, again, replicate, files, compare(*files))


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{counts[outcome]} {outcome}" for outcome in OUTCOMES if counts[outcome])


def _write(chosen: Settings, lines: Sequence[Line], sheets: Sequence[Table]) -> list[Path]:
    chosen.out.mkdir(parents=True, exist_ok=True)
    files = [chosen.out / "reruns.csv", chosen.out / "reruns.md"]
    table = pd.DataFrame([line.record(chosen.study) for line in lines])
    table.astype({"offset": "Int64", "line": "Int64"}).to_csv(files[0], index=False)
    text = "\n".join(map(markdown, sheets))
    files[1].write_text(f"# Reruns of study {chosen.study}\n\n{text}", encoding="utf-8")
    return files


def _conditions(lines: Sequence[Line]) -> Table:
    groups: dict[tuple[str, int], list[Line]] = {}
    for line in lines:
        groups.setdefault((line.first.identity, line.again.rerun), []).append(line)
    factors = [line.first.factors for line in lines]
    names = [n for n in FACTORS if n in varying(factors) or n in ("scenario", "roles")]
    rest = [n for n in FACTORS if n not in names]
    body = []
    for own in groups.values():
        counts = Counter(line.found.outcome for line in own)
        line = own[0]
        body.append(
            (
                *(line.first.factors[n] for n in names),
                f"{line.first.rerun}, {line.again.rerun}",
                str(len(own)),
                *(str(counts[outcome]) for outcome in OUTCOMES),
            )
        )
    notes = (
        "artifact-identical: the journals have equal bytes; environment: equal but for the "
        "environments that they name; pending: equal so far, one hasn't ended",
        "journals alone are compared: calls.jsonl says when and how fast",
        f"backend: {', '.join(dict.fromkeys(own['backend'] for own in factors))}",
    )
    title = f"Reruns ({label(factors[0], rest)})"
    return of_cells(
        title, (*names, "runs", "replicates", *OUTCOMES), tuple(body), notes, len(names)
    )


def _differences(lines: Sequence[Line]) -> list[Table]:
    body = [
        (
            f"{line.again.folder}/{line.replicate:03d}.jsonl",
            str(d.offset),
            str(d.line),
            d.place,
            f"{d.first}\n{d.second}",
        )
        for line in lines
        if (d := line.found.difference) is not None
    ]
    notes = ("byte: before it in the first run's journal; excerpts: first run above, rerun below",)
    head = ("journal", "byte", "line", "entry", "excerpts")
    return [of_cells("First differing bytes", head, tuple(body), notes)] * bool(body)


def _environments(lines: Sequence[Line]) -> list[Table]:
    """A warning where journals of other environments are compared."""
    named: dict[tuple[str, str, str], int] = {}
    for line in lines:
        for key, values in line.found.environment.items():
            named[(key, *values)] = named.get((key, *values), 0) + 1
    body = tuple((key, one, other, str(count)) for (key, one, other), count in named.items())
    notes = ("equal bytes are promised within one environment only",)
    head = ("key", "first run", "rerun", "replicates")
    return [of_cells("Warning: the environments differ", head, body, notes)] * bool(body)
