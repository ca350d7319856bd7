"""Import of the papers' packets, wordings and prompts, for ``scenario=`` and ``prompts=``."""

import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from omegaconf import DictConfig

from plenum.base.errors import UserError
from plenum.base.project import is_wheel, project_root
from plenum.base.text import split_lines
from plenum.records.atomic_files import write_whole
from plenum.scenarios.packets import check_packets
from plenum.scenarios.scenario import check_scenario
from plenum_papers.published import prompts, wordings
from plenum_papers.published.catalogue import Release, find_release
from plenum_papers.published.wordings import FAMILIES, Packet, Wording

EDITION = "published"
"""The name of the scenarios and of the set of prompts."""

_SOURCES = {"prompts", "scenarios", "registers", "variants"}
_OPTION = re.compile(r"^([A-Z])\) (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class Design:
    """A request to import the design.

    Attributes
    ----------
    release
        A clone of the authors' repository.
    target
        The folder in which ``scenarios/published`` and ``conf/prompts/published`` are written.
    """

    release: Release
    target: Path


def read_config(cfg: DictConfig) -> Design:
    """Check the config of `scripts/import.py`.

    Raises
    ------
    UserError
        The clone doesn't exist, its catalogue names no design, or the target isn't a folder.
    """
    release = find_release(cfg)
    if not set(release.rules.get("design") or ()) >= _SOURCES:
        raise UserError(f"catalogue: {release.catalogue} does not say which files hold the design")
    if cfg.target is None and is_wheel():
        raise UserError("target: missing; name a folder: an installed plenum keeps none of yours")
    target = project_root() if cfg.target is None else Path(str(cfg.target))
    if not target.is_dir():
        raise UserError(f"target: {target} is no folder")
    return Design(release, target)


def bring_in(wanted: Design) -> None:
    """Write the design; files that exist with the same content are kept.

    Raises
    ------
    UserError
        A released file can't be read or has an unexpected form, or a target file differs. Nothing
        was written then.
    """
    texts = {wanted.target / at: _once(part(wanted.release)) for at, part in _PARTS.items()}
    missing = {folder: _find_missing(folder, files) for folder, files in texts.items()}
    try:
        places = [_stage(folder, files) for folder, files in missing.items()]
        for folder, place in zip(missing, places, strict=True):
            place.replace(folder)  # onto itself where it was there before
            count = len(missing[folder])
            print(f"{folder}: {count} files written, {len(texts[folder]) - count} kept")
    finally:
        for folder in missing:
            shutil.rmtree(_part(folder), ignore_errors=True)
    scenarios, _ = texts.values()
    cases = [Path(file).stem for file in scenarios if "/" not in file]
    print(f"scenarios: {', '.join(f'{EDITION}/{case}' for case in cases)}")
    print(
        f"of {wanted.release.origin}, which has no licence: to be run, and not to be passed on; "
        f"choose them by scenario={EDITION}/{cases[0]} prompts={EDITION}"
    )


def _once(files: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the files by name, after checking that no names are equal ignoring case."""
    texts: dict[str, str] = {}
    for name, text in files:
        if name.lower() in map(str.lower, texts):
            raise UserError(f"published: two of its texts belong into {name}")
        texts[name] = text
    return texts


def _find_missing(folder: Path, files: Mapping[str, str]) -> dict[str, str]:
    """Return the files that a folder lacks; refuse if an existing one differs."""
    lacking = {}
    if os.path.lexists(folder) and not folder.is_dir():
        raise UserError(f"target: {folder} is no folder")
    for name, text in files.items():
        path = folder / name
        if not os.path.lexists(path):
            lacking[name] = text
        elif not path.is_file() or path.read_bytes() != text.encode():
            raise UserError(f"target: {path} differs from the release; move it away, or delete it")
    return lacking


def _stage(folder: Path, files: Mapping[str, str]) -> Path:
    """Write a folder's files into it, or into a temporary one if it is missing; return it."""
    place = folder if folder.exists() else _part(folder)
    shutil.rmtree(_part(folder), ignore_errors=True)
    for name, text in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        write_whole(place / name, text)
    return place


def _part(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.part")


def _packets(release: Release) -> Iterator[tuple[str, str]]:
    """Yield the files of scenarios and their wordings, with their names."""
    texts = {}
    for case in wordings.packets(release):
        texts[case.scenario_id] = case.text
        data = _scenario(release, case)
        check_scenario(data, Path(release.rules["design"]["scenarios"]))
        yield f"{case.scenario_id}.yaml", _yaml(release, data)
    for file, (path, (canonical, *others)) in wordings.wordings(release).items():
        name = file.removesuffix(".yaml").removesuffix(".registers")
        if texts.get(name) != canonical.text:
            raise UserError(f"published: {path}: {name}: its first wording isn't its packet")
        whole: dict[str, Any] = {"scenario": name}
        if canonical.family is None:  # a register, which its ballots name
            whole["canonical"] = canonical.variant_id
        whole["packets"] = [_packet(name, each, path) for each in others]
        check_packets(whole, path, name)
        yield f"variants/{file}", _yaml(release, whole)


def _packet(case: str, wording: Wording, path: Path) -> dict[str, str]:
    """Convert a wording to the form of variants files; a register names itself in its ballots."""
    if wording.family is None:
        named = {"name": wording.label, "family": "register", "id": wording.variant_id}
        return {**named, "packet": wording.text}
    if wording.family not in FAMILIES:
        raise UserError(f"published: {path}: {wording.family!r} is no family of wordings")
    name = wording.variant_id.removeprefix(f"{case}-")
    return {"name": name, "family": FAMILIES[wording.family], "packet": wording.text}


def _scenario(release: Release, case: Packet) -> dict[str, Any]:
    """Convert a released packet to the form of a scenario file."""
    stated = dict(_OPTION.findall(case.text))
    named = {label: text.partition(":")[0] for label, text in stated.items()}
    heads = dict(line.partition(": ")[::2] for line in split_lines(case.text))
    options = release.options(case.scenario_id) or named
    return {
        "id": case.scenario_id,
        "edition": EDITION,
        "title": heads.get("Institution") or case.scenario_id,
        "domain": case.domain,
        "type": "choice",
        "question": heads.get("Principle vote") or case.scenario_id,
        "options": {
            label: {"name": name, "description": stated.get(label) or name}
            for label, name in options.items()
        },
        "packet": case.text,
    }


class _Block(yaml.SafeDumper):
    """A YAML dumper that writes multi-line texts line by line."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Block.add_representer(str, _text)


def _yaml(release: Release, data: Mapping[str, Any]) -> str:
    """Return data as YAML, after checking that it is read back unchanged."""
    text = yaml.dump(data, Dumper=_Block, sort_keys=False, allow_unicode=True, width=100)
    if yaml.safe_load(text) != data:
        raise UserError(f"published: a text of {data.get('id') or data['scenario']} can't be kept")
    return f"# From {release.origin}, which has no licence: not to be passed on.\n{text}"


_PARTS = {f"scenarios/{EDITION}": _packets, f"conf/prompts/{EDITION}": prompts.files}
