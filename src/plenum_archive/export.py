"""Export of a study to one file."""

import hashlib
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
from omegaconf import DictConfig
from pydantic import AfterValidator

from plenum.base.errors import UserError
from plenum.base.file_locks import require_writable
from plenum.base.progress import show_progress
from plenum.base.project import code_version
from plenum.reports.accounting.publish import make_accounts
from plenum.reports.settings import Out, Settings, read_study_settings
from plenum.show.table import format_csv
from plenum.tracking.conditions import is_simulated
from plenum.tracking.study import Study
from plenum_archive import dictionary, layout, scrub
from plenum_archive.container import Packer, write_sealed
from plenum_archive.gather import ArchivedCondition, gather_conditions
from plenum_archive.layout import COUNTS, DICTIONARY, FORMAT, KIND, MANIFEST, README
from plenum_archive.readme import readme
from plenum_archive.verify import check_archive, seal, size, summarise_archive

_PACKAGES = ("mlflow", "numpy", "pandas", "pyarrow")


def _check_zip(out: Path) -> Path:
    if out.is_dir():
        raise ValueError(f"{out} is a folder; name a file, as in out=s1.zip")
    if out.suffix != ".zip":
        raise ValueError(f"{out}; the name of a file that ends in .zip")
    return out


@dataclass(frozen=True)
class Export(Settings):
    """The config of `scripts/export.py`; ``out`` is the file to write."""

    out: Annotated[Out, AfterValidator(_check_zip)]
    overwrite: bool = False


def read_config(cfg: DictConfig) -> Export:
    """Check the config of `scripts/export.py`.

    Raises
    ------
    UserError
        The study isn't named, a value is malformed, or the file exists already.
    """
    chosen = read_study_settings(Export, cfg)
    if not chosen.overwrite and chosen.out.exists():
        raise UserError(
            f"out: {cfg.out} is there already; name another file, or say overwrite=true"
        )
    require_writable("out", chosen.out.parent)
    return chosen


def export(chosen: Settings) -> None:
    """Write a study to an archive, check it, and print what it contains.

    Raises
    ------
    UserError
        The study can't be read, is incomplete, or holds a secret.
    """
    _ = Study(chosen.study, chosen.uri).kind  # refuses a study of several kinds
    with ExitStack() as stack:
        with show_progress("reading") as report_progress:
            conditions = stack.enter_context(
                gather_conditions(chosen.study, chosen.uri, report_progress)
            )
        whole = partial(_require_whole, chosen.study)
        packer = stack.enter_context(write_sealed(chosen.out, whole))
        named = _pack(packer, chosen, conditions)
    for what, files in named.items():
        more = f" and {len(files) - 1} more" if len(files) > 1 else ""
        print(f"note: {files[0]}{more} names {what}; it is kept as it is", file=sys.stderr)
    print(summarise_archive(chosen.study, _counts(conditions)))
    print(f"written and checked: {chosen.out} ({size(chosen.out)}, SHA-256 {seal(chosen.out)})")


def _pack(
    packer: Packer, chosen: Settings, conditions: Sequence[ArchivedCondition]
) -> dict[str, list[str]]:
    """Write all files; return the files that name this machine, by what they name."""
    named: dict[str, list[str]] = {}

    def add(name: str, data: bytes) -> None:
        scrub.refuse_secrets(name, data)
        for what in scrub.list_revealed(data):
            named.setdefault(what, []).append(name)
        packer.add(name, data)

    tables = {f"{layout.TABLES}/{name}": d for name, d in _tables(chosen, conditions).items()}
    failures = Counter(
        replicate.tags["plenum.failure"]
        for condition in conditions
        for replicate in condition.replicates
        if replicate.replicate < condition.run.target and replicate.tags["plenum.failure"]
    )
    add(README, readme(chosen, conditions, _counts(conditions), failures, sorted(tables)).encode())
    with show_progress("writing") as report_progress:
        for done, condition in enumerate(conditions, start=1):
            for name, data in condition.files():
                add(name, data)
            report_progress(done, len(conditions))
    for name, data in tables.items():
        add(name, data)
    add(DICTIONARY, dictionary.of([*packer.files, DICTIONARY, MANIFEST]))
    packer.add(MANIFEST, layout.pack_archive(_manifest(packer, chosen, conditions)))
    return named


def _manifest(
    packer: Packer, chosen: Settings, conditions: Sequence[ArchivedCondition]
) -> dict[str, Any]:
    return {
        "kind": KIND,
        "format": FORMAT,
        "study": chosen.study,
        "backends": sorted({condition.run.params.get("backend", "") for condition in conditions}),
        "simulated": any(
            is_simulated(condition.run.params, condition.run.tags) for condition in conditions
        ),
        "counts": _counts(conditions),
        "estimates": {
            "window": list(chosen.window),
            "interval": chosen.interval,
            "draws": chosen.draws,
            "seed": chosen.seed,
        },
        "run_by": sorted(
            {condition.run.tags.get("plenum.version", "") for condition in conditions}
        ),
        "written_by": {"plenum": code_version(), **{name: version(name) for name in _PACKAGES}},
        "conditions": [
            {
                "folder": condition.place,
                "condition": condition.run.tags["plenum.condition"],
                "cell": condition.run.tags["plenum.cell"],
                "name": condition.run.name,
                "run_id": condition.run.run_id,
                **condition.counts,
            }
            for condition in conditions
        ],
        "files": dict(packer.files),
    }


def _counts(conditions: Sequence[ArchivedCondition]) -> dict[str, int]:
    sums = {key: sum(condition.counts[key] for condition in conditions) for key in COUNTS}
    return {"conditions": len(conditions), **sums}


def _tables(chosen: Settings, gathered: Sequence[ArchivedCondition]) -> dict[str, bytes]:
    """Return the study's non-empty tables as CSV, by file name."""
    tables = gathered[0].run.kind.make_frames(chosen) | _make_accounts(chosen, gathered)
    return {
        f"{name}.csv": format_csv(table).encode() for name, table in tables.items() if len(table)
    }


def _make_accounts(
    chosen: Settings, gathered: Sequence[ArchivedCondition]
) -> dict[str, pd.DataFrame]:
    """Return the tables of `scripts/accounting.py`: replicates, calls, failures and files."""
    usage = Study(chosen.study, chosen.uri).usage
    usage = sorted(usage, key=lambda a: a.tracked.factors.get("scenario", ""))
    tables = make_accounts(usage)
    stored = {condition.stored: condition for condition in gathered}
    files = tables["manifest"].to_dict("records")
    lines = [line | _digests(stored[line["run_id"]]) for line in files]
    if "accounting_servers" in tables:
        by_server = tables["accounting_servers"]
        tables["accounting_servers"] = by_server.assign(
            server=by_server["server"].map(scrub.server)
        )
    return tables | {"manifest": pd.DataFrame(lines).convert_dtypes()}


def _digests(condition: ArchivedCondition) -> dict[str, Any]:
    """Return the id of the run that first tracked a condition, and the digests of its files."""
    together = hashlib.sha256()
    for replicate in sorted(condition.transcripts):
        if replicate < condition.run.target:
            together.update(condition.transcripts[replicate].read_bytes())
    digests: dict[str, Any] = {
        f"sha256_{name}": hashlib.sha256(data).hexdigest()
        for name in condition.run.kind.tables
        if (data := condition.artifacts.get(f"{name}.parquet")) is not None
    }
    return {
        "run_id": condition.run.run_id,
        **digests,
        "sha256_transcripts": together.hexdigest() if condition.transcripts else None,
    }


def _require_whole(study: str, part: Path) -> None:
    """Refuse an archive that doesn't pass its own check."""
    with show_progress("checking") as say:
        problems = check_archive(part, say).problems
    if problems:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        raise UserError(
            f"study: {study!r} doesn't agree with itself: {problems[0]}{more}; the same "
            "run.py command brings it up to date"
        )
