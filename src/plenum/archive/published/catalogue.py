"""The files of a clone of the authors' repository, by study and condition."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from omegaconf import DictConfig

from plenum.base import project
from plenum.base.errors import UserError
from plenum.design.condition import temperature_label

_NAME = re.compile(
    r"(?P<scenario>[A-Z]{2}-\d\d)(?:__T(?P<temperature>[\d.e-]+))?"
    r"(?:__N(?P<first>\d+))?__roles(?P<roles>True|False)(?:__N(?P<agents>\d+)__R\d+)?"
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
"""Model options of ``conf/model`` by what file names call them."""


@dataclass(frozen=True)
class PublishedFile:
    """A released file: one condition.

    Attributes
    ----------
    path
        In the clone, relative to it.
    folder
        The name of its group of folders in ``reference/published.yaml``.
    scenario, roles, model, temperature, memory, rounds, agents
        The condition's factors, by the names that the studies use; ``agents`` seats.
    lines
        How many lines it has: runs, but for torn ones.
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
    def cell(self) -> tuple[Any, ...]:
        """What files of the same condition have in common."""
        return tuple(
            value for key, value in vars(self).items() if key not in ("path", "folder", "lines")
        )


@dataclass(frozen=True)
class Selection:
    """The files of a study.

    Attributes
    ----------
    files
        One a condition.
    left_out
        Files of the same conditions that are less whole, or come later, each with the one that
        stands for it.
    """

    files: tuple[PublishedFile, ...]
    left_out: tuple[tuple[Path, Path], ...]


@cache
def reference() -> dict[str, Any]:
    """What ``reference/published.yaml`` says."""
    text = project.resolve("reference/published.yaml").read_text(encoding="utf-8")
    loaded: dict[str, Any] = yaml.safe_load(text)
    return loaded


def selection(clone: Path, study: str) -> Selection:
    """The files of a study of the papers.

    Raises
    ------
    UserError
        There is no such study, or the clone has none of its files.
    """
    rules = reference()["studies"]
    if study not in rules:
        raise UserError(f"study: {study!r} is not one of {', '.join(rules)}")
    cells: defaultdict[tuple[Any, ...], list[PublishedFile]] = defaultdict(list)
    for rule in rules[study]:
        for file in _files(clone, rule["in"]):
            if _matches(file, rule) and file not in cells[file.cell]:
                cells[file.cell].append(file)
    chosen, left_out = [], []
    for files in filter(None, cells.values()):
        best = max(files, key=lambda file: file.lines)  # the first of several that are as whole
        chosen.append(best)
        left_out += [(file.path, best.path) for file in files if file is not best]
    if not chosen:
        raise UserError(
            f"published: {clone} holds no file of {study}; clone {reference()['repository']}"
        )
    return Selection(tuple(chosen), tuple(left_out))


def _matches(file: PublishedFile, rule: Mapping[str, Any]) -> bool:
    usual = {"rounds": 20, "agents": 5}
    wanted = {**usual, **rule}
    return all(
        getattr(file, key) in (value if isinstance(value, list) else [value])
        for key, value in wanted.items()
        if key != "in"
    )


@cache
def _files(clone: Path, name: str) -> tuple[PublishedFile, ...]:
    found = []
    for folder in reference()["folders"][name]:
        for path in sorted((clone / folder).glob("*.jsonl")):
            parsed = _NAME.fullmatch(path.name)
            if parsed is not None and parsed["model"] in _MODELS:
                found.append(_file(clone, path, name, parsed))
    return tuple(found)


def _file(clone: Path, path: Path, folder: str, parsed: re.Match[str]) -> PublishedFile:
    roles = "on" if parsed["roles"] == "True" else "off"
    hosted = folder == "hosted"
    with path.open("rb") as lines:
        count = sum(1 for line in lines if line.strip())
    return PublishedFile(
        path=path.relative_to(clone),
        folder=folder,
        scenario=parsed["scenario"],
        roles=f"ablate_{parsed['seat'].lower()}" if parsed["seat"] else roles,
        model="qwen2.5-7b" if hosted else _MODELS[parsed["model"]],
        temperature=temperature_label(float(parsed["temperature"] or 0)),
        memory={"k3": "k3", "k1": "k1"}.get(folder, "k15"),
        rounds=int(parsed["rounds"] or 20),
        agents=int(parsed["first"] or parsed["agents"] or 5),
        lines=count,
    )


def everything(clone: Path) -> Iterator[tuple[str, Selection]]:
    """All studies, each with its files."""
    for study in reference()["studies"]:
        yield study, selection(clone, study)


def clone_of(cfg: DictConfig) -> Path:
    """The clone that a script is to read.

    Raises
    ------
    UserError
        None is named, or it isn't a clone of the authors' repository.
    """
    repository = reference()["repository"]
    if cfg.published is None:
        raise UserError(f"published: missing; name a clone of github.com/{repository}")
    clone = Path(str(cfg.published))
    if not (clone / "data/raw/chaos_v1").is_dir():
        raise UserError(f"published: {clone} is no clone of github.com/{repository}")
    return clone
