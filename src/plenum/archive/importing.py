"""Bring a study's file back into a tracking store."""

import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from plenum.archive import layout
from plenum.archive.checking import checked, existing, held, problems
from plenum.archive.opening import Box
from plenum.archive.progress import progress
from plenum.base.errors import UserError
from plenum.base.identity import folder_of
from plenum.design.validation import is_study
from plenum.tracking import query, store


@dataclass(frozen=True)
class Import:
    """What `scripts/import.py` is asked: no name keeps the archive's, no folder no journals."""

    archive: Path
    study: str
    uri: str
    journals: Path | None


def asked(cfg: DictConfig) -> Import:
    """Check the config of `scripts/import.py`.

    Raises
    ------
    UserError
        The archive isn't named or isn't there, or there is no store to write to.
    """
    if OmegaConf.is_missing(cfg, "archive"):
        raise UserError("archive: missing; name the file, as in archive=s1.zip")
    archive = existing("archive", Path(str(cfg.archive)))
    if cfg.tracking.uri is None:
        raise UserError(f"tracking: {cfg.tracking.name} keeps no study; use local or server")
    journals = None if cfg.journals is None else Path(str(cfg.journals))
    if journals is not None:
        store.require_writable("journals", journals)
    study = "" if cfg.study is None else str(cfg.study)
    if study and not is_study(study):
        raise UserError(f"study: {study!r}; use letters, digits, '.', '_' and '-'")
    return Import(archive, study, store.absolute(str(cfg.tracking.uri)), journals)


def bring_back(wanted: Import) -> None:
    """Check an archive and write it to a tracking store.

    Raises
    ------
    UserError
        The archive isn't whole, or the store holds another study of this name.
    """
    store.quieten()
    from plenum.archive.restore import restore

    with ExitStack() as stack:
        with progress("checking") as say:
            found, box = stack.enter_context(checked(wanted.archive, say))
        if found.problems or box is None:
            lines = problems(wanted.archive, found.problems)
            for line in lines[:-1]:
                print(line, file=sys.stderr)
            raise UserError(f"{lines[-1]}; nothing was imported")
        study = wanted.study or str(found.manifest["study"])
        unpacked = _journals(box, found.manifest, wanted.journals)
        with progress("writing") as written:
            new = restore(box, found.manifest, study, wanted.uri, written)
        for path, name in unpacked.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(box.read(name))
    if wanted.journals is not None:
        print(f"journals: {len(unpacked)} written to {wanted.journals}")
    if not new:
        print(f"study {study} is there already, with the same contents: nothing to do")
        return
    print(held(study, found.manifest["counts"]))
    print(f"imported: {wanted.archive} as study {study}")


def _journals(box: Box, manifest: dict[str, Any], folder: Path | None) -> dict[Path, str]:
    """Where transcripts go as journals, and from which file; those that are there are left.

    Raises
    ------
    UserError
        A journal is there and says something else.
    """
    found: dict[Path, str] = {}
    if folder is None:
        return found
    for told in manifest["conditions"]:
        run, replicates = layout.read_runs(box.read(f"{told['folder']}/{layout.RUNS}"))
        rerun = query.rerun({"settings": run.params.get("settings", "")})
        own = folder / folder_of(run.tags["plenum.condition"], rerun)
        for one in replicates:
            path = own / f"{one.replicate:03d}.jsonl"
            name = layout.transcript(told["folder"], one.replicate)
            if not path.exists():
                found[path] = name
            elif path.read_bytes() != box.read(name):
                raise UserError(
                    f"journals: {path} is there already and says something else; name another "
                    "folder"
                )
    return found
