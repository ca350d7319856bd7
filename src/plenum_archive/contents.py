"""Consistency of an archived condition: its runs and tables must agree with its transcripts."""

import json
from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet

from plenum.records.chain import DamagedJournal
from plenum.records.transcript import Transcript, read_transcript
from plenum.tracking.states import describe_replicate
from plenum_archive import layout
from plenum_archive.layout import COUNTS, ENDS, MANIFEST, RUNS, TRANSCRIPTS, ArchivedRun

_ADDED = ("votes",)
"""Columns that archives of earlier versions lack."""


def problems(folder: Path, entry: dict[str, Any]) -> Iterator[str]:
    """Yield what is wrong with an unpacked condition, one line each, beginning with a file's name.

    Parameters
    ----------
    entry
        The condition's entry in the manifest.
    """
    try:
        run, replicates = layout.read_runs((folder / RUNS).read_bytes())
        numbers = [replicate.replicate for replicate in replicates]
    except (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        yield f"{RUNS}: it can't be read ({type(error).__name__}: {error})"
        return
    if sorted(set(numbers)) != numbers:
        yield f"{RUNS}: its replicates aren't in order, each once"
    yield from _identities(folder, run, entry)
    yield from _strays(folder, numbers)
    transcripts = {}
    for replicate in replicates:
        name = f"{TRANSCRIPTS}/{replicate.replicate:03d}.jsonl"
        try:
            transcripts[replicate.replicate] = transcript = read_transcript(folder / name)
            yield from (f"{name}: {wrong}" for wrong in _disagreement(transcript, run, replicate))
        except FileNotFoundError:
            yield f"{name}: missing"
        except DamagedJournal as error:
            yield f"{name}: {str(error).rpartition('.jsonl')[2].lstrip(', :')}"
        except Exception as error:  # whole lines that are no journal of plenum's
            yield f"{name}: no transcript ({type(error).__name__}: {error})"
    yield from _counts(transcripts, run, entry)
    if len(transcripts) == len(replicates):
        yield from _tables(folder, transcripts, run)


def _identities(folder: Path, run: ArchivedRun, entry: dict[str, Any]) -> Iterator[str]:
    """Yield a line for each place that names another condition or run than the others."""
    for key in ("condition", "cell"):
        if entry.get(key) != run.tags.get(f"plenum.{key}"):
            yield f"{RUNS}: another {key} than in the manifest"
    if run.tags.get("plenum.kind") != "condition":
        yield f"{RUNS}: not of a condition"
    if entry.get("run_id") != run.run_id:
        yield f"{RUNS}: another run than in the manifest"
    described = folder / "condition.json"
    if described.exists():
        try:
            stored = json.loads(described.read_bytes())
            same = all(stored[key] == run.tags[f"plenum.{key}"] for key in ("condition", "cell"))
        except (ValueError, TypeError, KeyError, RecursionError):
            same = False
        if not same:
            yield f"{described.name}: not of this condition"


def _strays(folder: Path, numbers: Sequence[int]) -> Iterator[str]:
    """Yield a line for each transcript that belongs to no run."""
    named = {f"{number:03d}.jsonl" for number in numbers}
    transcripts = folder / TRANSCRIPTS
    for path in sorted(transcripts.iterdir()) if transcripts.is_dir() else ():
        if path.name not in named:
            yield f"{TRANSCRIPTS}/{path.name}: {RUNS} knows no such replicate"


def _disagreement(
    transcript: Transcript, run: ArchivedRun, replicate: ArchivedRun
) -> Iterator[str]:
    """Yield a line for each value in which a replicate's run and its transcript differ."""
    head = transcript.head
    if (
        head["condition"] != run.tags["plenum.condition"]
        or head["replicate"] != replicate.replicate
    ):
        yield "of another condition or replicate"
    for tag, value in {
        "kind": "replicate",
        "condition": run.tags["plenum.condition"],
        "cell": run.tags["plenum.cell"],
        "status": transcript.status,
        "failure": transcript.reason or "",
        "decision": transcript.decision or "",
        "journal": describe_replicate(transcript, replicate.tags.get("plenum.pending", "")),
    }.items():
        if replicate.tags.get(f"plenum.{tag}") != value:
            yield f"its {tag} isn't that of its run"
    for name, number in transcript.totals().items():
        known = replicate.metrics.get(name)
        # A cost without a price is not a number, and its run has no such metric.
        if (known is not None or number == number) and known != number:
            yield f"its {name} aren't those of its run: {number:g}, not {known}"


def _counts(
    transcripts: dict[int, Transcript], run: ArchivedRun, entry: dict[str, Any]
) -> Iterator[str]:
    """Yield a line for each count of the manifest that its transcripts don't give."""
    counts = {key: entry.get(key) for key in COUNTS}
    if not all(type(number) is int and number >= 0 for number in counts.values()):
        yield f"{MANIFEST}: its counts are no whole numbers"
        return
    if counts["target"] != sum(counts[end] or 0 for end in ENDS):
        yield f"{MANIFEST}: target isn't completed + failed + pending"
    # A target may have been lowered: what was run beyond it stays, and isn't counted.
    within = [t.status for number, t in transcripts.items() if number < run.target]
    actual = {"target": run.target, **{end: within.count(end) for end in ("completed", "failed")}}
    for key, number in actual.items():
        if counts[key] != number:
            yield f"{MANIFEST}: {counts[key]} {key}, but its transcripts say {number}"


def _tables(folder: Path, transcripts: dict[int, Transcript], run: ArchivedRun) -> Iterator[str]:
    """Yield a line for each Parquet file that differs from what the transcripts give."""
    if "n_target" not in run.metrics:  # interrupted: there may be files of an earlier attempt
        return
    try:
        listed = pd.read_parquet(folder / "replicates.parquet", columns=["replicate"])
        numbers = [int(number) for number in listed["replicate"]] if len(listed) else []
    except Exception as error:
        if transcripts:
            yield f"replicates.parquet: it can't be read ({type(error).__name__})"
        return
    unknown = sorted(set(numbers) - transcripts.keys())
    if unknown:
        yield f"replicates.parquet: no transcript of replicate {unknown[0]}"
        return
    # The table has a replicate that was cut short, too, which the metrics don't count.
    if len(numbers) != run.metrics.get("n_completed", 0) + run.metrics.get("n_failed", 0) + (
        sum(transcripts[number].end is None for number in numbers)
    ):
        yield "replicates.parquet: other counts than the metrics of its run"
    expected = run.kind.tabulate([transcripts[number] for number in numbers])
    for name, frame in expected.items():
        wrong = difference(folder / f"{name}.parquet", frame)
        if wrong:
            yield f"{name}.parquet: {wrong}"


def difference(path: Path, expected: pd.DataFrame) -> str:
    """Describe how a Parquet file differs from a table; return an empty text if it doesn't."""
    try:
        rows = pyarrow.parquet.read_metadata(path).num_rows  # before anything is unpacked
        if rows != len(expected):
            return f"{rows} rows, but its transcripts give {len(expected)}"
        table = pd.read_parquet(path)
    except FileNotFoundError:
        return "missing"
    except Exception as error:  # a file that others made
        return f"it can't be read ({type(error).__name__})"
    kept = BytesIO()
    expected.to_parquet(kept)
    same = pd.read_parquet(kept)  # through Parquet, which has fewer types
    same = same.drop(columns=[name for name in _ADDED if name in same and name not in table])
    if list(table) != list(same):
        return f"other columns than its transcripts give: {', '.join(map(str, table))}"
    for name in same:
        ours, theirs = same[name].tolist(), table[name].tolist()
        for row, (value, other) in enumerate(zip(ours, theirs, strict=True)):
            if value != other and not (pd.isna(value) and pd.isna(other)):
                return f"row {row}, {name}: {other!r}, but its transcripts give {value!r}"
    return ""
