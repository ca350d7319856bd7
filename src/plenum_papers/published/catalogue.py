"""The files of a clone of the authors' repository, by study and condition."""

import hashlib
import re
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from omegaconf import DictConfig

from plenum.base.errors import UserError
from plenum.base.project import resolve_path
from plenum.base.regular_files import open_regular_file, read_bytes
from plenum.design.condition import temperature_label
from plenum_papers.items.published_values import read_numbers
from plenum_papers.published import rules

_NAME = re.compile(
    r"(?P<scenario>[A-Z]{2}-\d\d)(?:__T(?P<temperature>\d+(?:\.\d+)?(?:e-?\d+)?))?"
    r"(?:__N(?P<first>\d+))?__roles(?P<roles>True|False)(?:__N(?P<agents>\d+)__R(?P<length>\d+))?"
    r"(?:__ablate-(?P<seat>[A-Z][a-z]+))?(?:__R(?P<rounds>\d+))?(?:__(?P<model>[a-z].*))?\.jsonl"
)
_MODELS = {
    None: "uniform",
    "multimodel": "mixed",
    "gpt-4.1": "gpt-4.1",
    "anthropic__claude-sonnet-4-6": "claude-sonnet-4.6",
    "gemini__models-gemini-2.5-flash": "gemini-2.5-flash",
    "grok__grok-3": "grok-3",
}
"""Options of ``conf/model`` by their names in files."""

REFERENCE = resolve_path("reference/published.yaml")
"""The catalogue of the papers' runs."""


@dataclass(frozen=True)
class PublishedFile:
    """A released file: one condition.

    Attributes
    ----------
    path
        Path relative to the clone.
    folder
        Name of its group of folders in ``reference/published.yaml``.
    scenario, roles, model, temperature, memory, rounds, agents
        The condition's factors, by the names that the studies use; ``agents`` seats.
    lines
        Number of its lines: runs, some of which may be torn; 0 if they weren't counted.
    """

    path: Path
    folder: str
    scenario: str
    roles: str
    model: str
    temperature: str
    memory: str
    rounds: int
    agents: int
    lines: int

    @property
    def perturbation(self) -> str:
        """The wordings that its runs read."""
        return {"semantic": "registers6", "hosted": "variants20"}.get(self.folder, "none")

    @property
    def cell(self) -> tuple[Any, ...]:
        """The factors that identify the condition."""
        return tuple(
            value for key, value in vars(self).items() if key not in ("path", "folder", "lines")
        )


@dataclass(frozen=True)
class Selection:
    """The files of a study.

    Attributes
    ----------
    files
        One file per condition.
    left_out
        Files of the same conditions that are less complete or later, each with the one used
        instead.
    """

    files: tuple[PublishedFile, ...]
    left_out: tuple[tuple[Path, Path], ...]


@dataclass(frozen=True)
class Release:
    """A clone of the authors' repository, with its catalogue.

    Attributes
    ----------
    clone
        The folder of the clone.
    catalogue
        The file that assigns released files to studies.
    """

    clone: Path
    catalogue: Path = REFERENCE

    @cached_property
    def rules(self) -> dict[str, Any]:
        """The catalogue's entries; raises :class:`UserError` if it can't be read."""
        return rules.read(self.catalogue)

    @property
    def origin(self) -> str:
        """The origin of the runs: the repository and its commit."""
        return f"github.com/{self.rules['repository']}@{self.rules['commit']}"

    @property
    def studies(self) -> tuple[str, ...]:
        """The names of the studies."""
        return tuple(self.rules["studies"])

    @cached_property
    def _blobs(self) -> dict[str, str]:
        """Git's digest of each released file by path; empty if none are known."""
        if "files" not in self.rules:
            return {}
        return rules.blobs(self.catalogue.parent / self.rules["files"])

    def absent(self, studies: Collection[str] = ()) -> list[str]:
        """Return the released files that the clone lacks, of all or of some studies."""
        wanted = [rule for name in studies for rule in self.rules["studies"][name]]
        return [
            path
            for path in self._blobs
            if not (self.clone / path).is_file()
            and (not studies or any(self._wants(rule, Path(path)) for rule in wanted))
        ]

    def _wants(self, rule: Mapping[str, Any], path: Path) -> bool:
        file = _file(path, rule["in"])
        folders = map(Path, self.rules["folders"][rule["in"]])
        return file is not None and path.parent in folders and _matches(file, rule)

    def read(self, path: Path) -> bytes:
        """Return the bytes of a file after comparing them with its released digest.

        Raises
        ------
        UserError
            The file can't be read, or it was changed since its release.
        """
        try:
            data = read_bytes(self.clone / path)
        except OSError as error:
            raise UserError(f"published: {self.clone / path} can't be read: {error}") from None
        blob = hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
        if self._blobs and self._blobs.get(str(path)) != blob:
            raise UserError(
                f"published: {self.clone / path} is not as it was released in {self.origin}"
            )
        return data

    def selection(self, study: str) -> Selection:
        """Return the files of a study of the papers.

        Raises
        ------
        UserError
            There is no such study, or the clone has none of its files.
        """
        if study not in self.studies:
            raise UserError(f"study: {study!r} is not one of {', '.join(self.studies)}")
        cells: defaultdict[tuple[Any, ...], list[PublishedFile]] = defaultdict(list)
        for rule in self.rules["studies"][study]:
            for file in self._files[rule["in"]]:
                if _matches(file, rule) and file not in cells[file.cell]:
                    cells[file.cell].append(file)
        chosen, left_out = [], []
        for files in filter(None, cells.values()):
            best = max(files, key=lambda file: file.lines)  # the first of several equally whole
            chosen.append(best)
            left_out += [(file.path, best.path) for file in files if file is not best]
        if not chosen:
            raise UserError(
                f"published: {self.clone} holds no file of {study}; clone "
                f"{self.rules['repository']}, or name other studies by study="
            )
        chosen.sort(key=lambda file: (file.scenario, float(file.temperature[1:])))
        return Selection(tuple(chosen), tuple(left_out))

    def options(self, scenario: str) -> dict[str, str]:
        """Return the option names of a scenario by label, from Table S4 or the released packet.

        Empty for a scenario that Table S4 lacks.
        """
        listed = {row["scenario"]: row["options"] for row in read_numbers("table-s4")}
        names = self.rules.get("options", {}).get(scenario) or listed.get(scenario)
        return dict(zip("ABC", names.split(" / "), strict=True)) if names else {}

    def list_unused(self) -> list[str]:
        """Return the files of runs that no study uses or leaves out."""
        used: set[Path] = set()
        for study in self.studies:
            selected = self.selection(study)
            used |= {file.path for file in selected.files}
            used |= {path for path, _ in selected.left_out}
        roots = {Path(folder) for names in self.rules["folders"].values() for folder in names}
        files = {
            p.relative_to(self.clone) for r in roots for p in (self.clone / r).rglob("*.jsonl")
        }
        return sorted(map(str, files - used))

    @cached_property
    def _files(self) -> dict[str, list[PublishedFile]]:
        """The files by their group of folders."""
        return {
            name: [
                replace(file, lines=_lines(path))
                for folder in folders
                for path in sorted((self.clone / folder).glob("*.jsonl"))
                if (file := _file(path.relative_to(self.clone), name))
            ]
            for name, folders in self.rules["folders"].items()
        }


def _matches(file: PublishedFile, rule: Mapping[str, Any]) -> bool:
    usual = {"rounds": 20, "agents": 5}
    wanted = {**usual, **rule}
    return all(
        getattr(file, key) in (value if isinstance(value, list) else [value])
        for key, value in wanted.items()
        if key != "in"
    )


def _lines(path: Path) -> int:
    try:
        with open_regular_file(path) as lines:
            return sum(1 for line in lines if line.strip())
    except OSError as error:
        raise UserError(f"published: {path} can't be read: {error}") from None


def _file(path: Path, folder: str) -> PublishedFile | None:
    """Parse a file's name into its condition; ``None`` if it has another form."""
    parsed = _NAME.fullmatch(path.name)
    if not parsed or parsed["model"] not in _MODELS:
        return None
    roles = "on" if parsed["roles"] == "True" else "off"
    hosted = folder == "hosted"
    return PublishedFile(
        path=path,
        folder=folder,
        scenario=parsed["scenario"],
        roles=f"ablate_{parsed['seat'].lower()}" if parsed["seat"] else roles,
        model="qwen2.5-7b" if hosted else _MODELS[parsed["model"]],
        temperature=temperature_label(float(parsed["temperature"] or 0)),
        memory={"k3": "k3", "k1": "k1"}.get(folder, "k15"),
        rounds=int(parsed["rounds"] or parsed["length"] or 20),
        agents=int(parsed["first"] or parsed["agents"] or 5),
        lines=0,
    )


def find_release(cfg: DictConfig) -> Release:
    """Return the clone that a script's config names.

    Raises
    ------
    UserError
        No clone is named, or an archive as well; the folder isn't a clone of the authors'
        repository, or the catalogue doesn't exist.
    """
    if cfg.get("archive") is not None:
        raise UserError("published: an archive is named too; import one after the other")
    catalogue = REFERENCE if cfg.catalogue is None else Path(str(cfg.catalogue))
    release = Release(Path(str(cfg.published)), catalogue)
    repository = release.rules["repository"]
    if cfg.published is None:
        raise UserError(f"published: missing; name a clone of github.com/{repository}")
    if not any((release.clone / f).is_dir() for g in release.rules["folders"].values() for f in g):
        raise UserError(f"published: {release.clone} is no clone of github.com/{repository}")
    return release
