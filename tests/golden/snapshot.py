"""What the commands of a case left behind, as values that can be written and compared."""

import csv
import hashlib
import io
import json
import re
import subprocess
import zipfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import comparing, tracked
from .masking import MASK, VOLATILE, Masks
from .studies import Case, Command

_NUMBER = re.compile(r"(?<![\w.])[−-]?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?%?(?![\w])")
_PROGRESS = re.compile(r"replicates \d+/\d+ \||writing the last ")
_TEXTS = (".md", ".tex", ".html")
_CALL_TIMES = ("latency_s", "id", "waited_s", "at", "time", "retry_after_s")


@dataclass(frozen=True)
class Known:
    """What other files of a case hold: digests of journals, and Parquet files as summarised."""

    journals: frozenset[str]
    parquet: list[Any]


def snapshot(
    case: Case,
    done: Sequence[tuple[Command, "subprocess.CompletedProcess[str]"]],
    work: Path,
    masks: Masks,
) -> dict[str, Any]:
    """Everything that is compared of a case: file name in the golden folder -> content.

    Content is a ``dict`` (JSON), a list of rows (CSV, the header first) or a text.
    """
    database = work / "mlruns/mlflow.db"
    for digest in tracked.environments(database):
        masks.hide(digest, "<environment>")
    mlflow = {name: tracked.experiment(database, name, masks) for name in case.experiments}
    identities = {
        identity: None
        for name in case.experiments
        for identity in tracked.conditions(database, name)
    }
    journals = {each: _journals(work / "mlruns/journals" / each) for each in identities}
    known = Known(
        frozenset(
            text.split()[0]
            for contents in journals.values()
            for text in contents.values()
            if isinstance(text, str)
        ),
        [
            content
            for contents in mlflow.values()
            for run in contents["runs"].values()
            for content in run["artifacts"].values()
        ],
    )
    files: dict[str, Any] = {
        "journals.json": journals,
        **_experiments(mlflow),
        "printed.txt": "".join(_printed(command, run, masks) for command, run in done),
    }
    folders = dict.fromkeys((*case.experiments, *_other_outputs(case)))
    for folder in folders:
        files.update(_outputs(work / "outputs" / folder, folder, masks, known))
    return files


def _experiments(mlflow: dict[str, Any]) -> dict[str, Any]:
    """One file an experiment; of one with the same runs as the first, the differences alone."""
    (first, base), *others = mlflow.items()
    files = {f"mlflow/{first}.json": base}
    for name, content in others:
        same = list(content["runs"]) == list(base["runs"])
        lines = list(comparing.value_differences(base, content)) if same else []
        files[f"mlflow/{name}.json"] = {f"as {first}, but": lines} if same else content
    return files


def _other_outputs(case: Case) -> list[str]:
    given = [a for command in case.commands for a in command.arguments]
    return [a.removeprefix("out=outputs/") for a in given if a.startswith("out=outputs/")]


def _printed(command: Command, run: "subprocess.CompletedProcess[str]", masks: Masks) -> str:
    """A command, its exit status and what it printed, its spaces collapsed.

    Lines of standard error are sorted, since those of conditions come as they end; those that say
    how far a sweep is are left out.
    """
    lines = [f"$ {' '.join(command.arguments)}", f"exit status {run.returncode}"]
    if command.printed == "digest":
        lines.append(_digest(masks.text(run.stdout)))
    elif command.printed == "text":
        lines += [line for line in _compact(masks.text(run.stdout)) if line]
        errors = _compact(masks.text(run.stderr))
        lines += sorted(f"stderr: {line}" for line in errors if line and not _PROGRESS.match(line))
    return "\n".join(lines) + "\n\n"


def _compact(text: str) -> list[str]:
    return [" ".join(re.sub(r"[─━═]{2,}", "", line).split()) for line in text.splitlines()]


# --- journals ----------------------------------------------------------------------------------


def _journals(folder: Path) -> dict[str, Any]:
    """Digest and number of entries of every journal, and the attempts without their times."""
    if not folder.is_dir():
        return {}
    contents: dict[str, Any] = {}
    for file in sorted(folder.rglob("*.jsonl")):
        name = str(file.relative_to(folder))
        lines = file.read_bytes().splitlines()
        if file.name == "calls.jsonl":
            contents[name] = _attempts([json.loads(line) for line in lines])
        else:
            contents[name] = f"{_digest_of_journal(lines)} {len(lines)} entries"
    return contents


def _digest_of_journal(lines: list[bytes]) -> str:
    """SHA-256 of a journal; that of a hosted model without what names the machine.

    The chain of checksums covers that too, so it is left out with it.
    """
    entries = [json.loads(line) for line in lines]
    if not any("environment" in entry for entry in entries):
        return hashlib.sha256(b"".join(line + b"\n" for line in lines)).hexdigest()
    kept = [{k: v for k, v in e.items() if k not in ("environment", "chain")} for e in entries]
    text = "\n".join(json.dumps(entry, ensure_ascii=False) for entry in kept)
    return hashlib.sha256(text.encode()).hexdigest()


def _attempts(attempts: list[dict[str, Any]]) -> dict[str, Any]:
    names = sorted({name for attempt in attempts for name in attempt})
    kept = [
        {k: v for k, v in attempt.items() if k not in (*_CALL_TIMES, "fingerprint")}
        for attempt in attempts
    ]
    lines = sorted(json.dumps(line, sort_keys=True) for line in kept)
    return {
        "fields": " ".join(names),
        "outcomes": dict(sorted(Counter(str(a.get("outcome")) for a in attempts).items())),
        "sha256": hashlib.sha256("\n".join(lines).encode()).hexdigest(),
    }


# --- outputs -----------------------------------------------------------------------------------


def _outputs(folder: Path, name: str, masks: Masks, known: Known) -> dict[str, Any]:
    """CSV files as they are; of texts their numbers; of figures what they show."""
    files: dict[str, Any] = {}
    texts: dict[str, Any] = {}
    drawings: dict[str, Any] = {}
    for file in sorted(path for path in folder.rglob("[!.]*") if path.is_file()):
        relative = str(file.relative_to(folder))
        if file.suffix == ".csv":
            files[f"{name}/{relative}"] = rows(file.read_text(encoding="utf-8"), masks)
        elif file.suffix == ".png":
            drawings[file.stem] = json.loads(file.read_text(encoding="utf-8"))
        elif file.suffix == ".svg":
            drawings.setdefault(f"{file.stem}.svg", "present")
        elif file.suffix == ".zip":
            texts[relative] = _archive(file, folder, masks, known)
        elif file.suffix in _TEXTS:
            texts[relative] = _text(file, masks)
        else:
            texts[relative] = "present"
    for members in texts.values():
        if isinstance(members, dict):
            for member in [each for each in members if each.endswith("/environment.json")]:
                environment = members.pop(member)
                files.update(
                    {"environment.json": environment} if isinstance(environment, dict) else {}
                )
    if texts:
        files[f"{name}/texts.json"] = texts
    if drawings:
        files[f"{name}/figures.json"] = drawings
    return files


def rows(text: str, masks: Masks) -> list[list[str]]:
    """A CSV file's header and rows, masked."""
    header, *body = csv.reader(io.StringIO(masks.text(text)))
    hidden = {i for i, column in enumerate(header) if VOLATILE.search(column)}
    if any("hosted" in row for row in body) and "sha256_transcripts" in header:
        hidden.add(header.index("sha256_transcripts"))
    return [header, *([MASK if i in hidden else c for i, c in enumerate(r)] for r in body)]


def _text(file: Path, masks: Masks) -> Any:
    """How often each number stands in a text that people read; words may change."""
    text = masks.text(file.read_text(encoding="utf-8"))
    if file.suffix == ".html":
        return _page(text)
    if "ccounting" in file.stem:  # has latencies; its CSV files are compared
        return "present"
    return numbers(text)


def _page(text: str) -> Any:
    """Of a page: its embedded data, or else the numbers in its visible text."""
    contents = re.findall(r"<script[^>]*application/json[^>]*>(.*?)</script>", text, re.DOTALL)
    if contents:
        return {f"data {i}": _shape(json.loads(data)) for i, data in enumerate(contents)}
    visible = re.sub(r"<(style|script|svg)\b.*?</\1>|<[^>]*>", " ", text, flags=re.DOTALL)
    return numbers(visible)


def _shape(data: Any) -> Any:
    """A digest for each part of a page's data."""
    if isinstance(data, dict):
        return {key: _digest(value) for key, value in sorted(data.items())}
    return _digest(data)


def _digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16] + f" {len(text)} characters"


def numbers(text: str) -> str:
    """Every number of a text with how often it stands there, in order of size."""
    counts = Counter(_NUMBER.findall(text.replace("−", "-").replace("$-$", "-")))
    return " ".join(f"{n}x{times}" if times > 1 else n for n, times in sorted(counts.items()))


def _archive(file: Path, folder: Path, masks: Masks, known: Known) -> dict[str, Any]:
    """An archive's members: what each holds, or what else is the same."""
    members: dict[str, Any] = {}
    first: dict[str, Any] = {}
    journals: Counter[str] = Counter()
    with zipfile.ZipFile(file) as archive:
        for name in archive.namelist():
            data, path = archive.read(name), Path(name)
            if path.suffix == ".jsonl":
                digest = _digest_of_journal(data.splitlines())
                journals[
                    f"{path.parent}: {'journals' if digest in known.journals else 'others'}"
                ] += 1
                continue
            content = _member(path, data, folder, masks)
            if path.suffix == ".parquet" and content in known.parquet:
                content = "as in MLflow"
            elif first.setdefault(path.name, content) is not content:
                content = "as the first" if first[path.name] == content else content
            members[name] = content
    return {**members, "transcripts": dict(journals)}


def _member(path: Path, data: bytes, folder: Path, masks: Masks) -> Any:
    beside = folder / path.name
    if path.suffix == ".parquet":
        return tracked.parquet(io.BytesIO(data))
    if path.suffix == ".csv":
        content = rows(data.decode(), masks)
        same = beside.is_file() and content == rows(beside.read_text("utf-8"), masks)
        return "as beside" if same else _digest(content)
    if path.suffix == ".yaml":
        return "present"  # its lines are compared in MLflow: a setting more changes one file
    if path.name == "environment.json":  # on another machine a hosted model may answer otherwise
        return next(iter(json.loads(data).values()))
    if path.suffix == ".json":
        return [masks.text(key) for key in _keys(json.loads(data))]
    return "present"


def _keys(data: Any, prefix: str = "") -> list[str]:
    """Names of all fields; values of these files stand in the journals, MLflow and CSV files."""
    if isinstance(data, list):
        return sorted({key for part in data for key in _keys(part, f"{prefix}[]")})
    if not isinstance(data, dict):
        return [prefix]
    masked = {re.sub(r"\d{3}-[0-9a-f]{16}", "CONDITION", str(k)): v for k, v in data.items()}
    return sorted({key for k, v in masked.items() for key in _keys(v, f"{prefix}.{k}".lstrip("."))})
