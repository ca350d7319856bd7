"""A released file as a condition: its factors, and journals of its replicates."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from plenum.base.errors import UserError
from plenum.base.identity import digest
from plenum.base.project import resolve_path
from plenum.design.condition import temperature_label
from plenum.records.failures import Failure
from plenum.records.journal import Journal
from plenum_papers.published.catalogue import PublishedFile, Release
from plenum_papers.published.records import Record, entries, parse_record
from plenum_papers.published.wordings import FAMILIES

_HOSTED = ("torch_version", "transformers_version", "dtype")


@dataclass(frozen=True)
class PublishedCondition:
    """A released file that was read and checked.

    Attributes
    ----------
    release
        The clone that contains it.
    source
        The file.
    runs
        Its runs by replicate.
    torn
        Number of lines that hold no run.
    """

    release: Release
    source: PublishedFile
    runs: dict[int, Record]
    torn: int

    @property
    def target(self) -> int:
        """The number of replicates that the authors planned: 20, or one per wording."""
        wanted: int = 0 if self.source.folder == "semantic" else self.release.rules["replicates"]
        return max(wanted, 1 + max(self.runs))

    @cached_property
    def mapping(self) -> dict[str, Any]:
        """The condition as plain data, with its cell."""
        first, source = next(iter(self.runs.values())), self.source
        models = self._models
        repository = self.release.rules["repository"]
        identity = digest(["published", repository, source.perturbation, *source.cell])
        settings = "default" if source.agents == 5 else f"agents={source.agents}"
        worded: dict[str, Any] = {}
        if variants := [list(self._wording(each)) for each in self._sorted if each.variant_id]:
            worded["variants"] = variants
        return {
            "condition": identity,
            "cell": identity,
            "scenario": source.scenario,
            "roles": source.roles,
            "model": source.model,
            "memory": source.memory,
            "temperature": source.temperature,
            "backend": "published",
            "perturbation": source.perturbation,
            "protocol": "deliberation",
            "settings": settings,
            "rounds": source.rounds,
            "seed": 0,
            **worded,
            "options": self._options,
            "seats": [
                {"seat": seat, "label": seat, "mandate": self._has_mandate(seat), "model": model}
                for seat, model in models.items()
                if seat in first.seats
            ],
            "clerk": models["clerk"],
            "window": int(source.memory[1:]),
            "argument_words": 110,
            "sampling.temperature": first.run.condition.temperature,
            "file": str(source.path),
            "published": self.release.origin,
        }

    def write(self, folder: Path) -> list[Path]:
        """Write a journal for each replicate, and return their paths; existing ones are kept."""
        mapping = self.mapping
        return [
            self._write(folder / mapping["condition"] / f"{index:03d}.jsonl", mapping, index)
            for index in range(self.target)
        ]

    def _write(self, path: Path, mapping: dict[str, Any], index: int) -> Path:
        record = self.runs.get(index)
        head = {key: value for key, value in mapping.items() if key != "cell"}
        with Journal(path, {**head, "replicate": index, **self._circumstances(record)}) as journal:
            if journal.end is None:
                for entry in list(self._entries(record))[len(journal.entries) :]:
                    journal.append(entry)
        return path

    def _entries(self, record: Record | None) -> Iterator[dict[str, Any]]:
        if record is not None:
            return entries(record, self._models, tuple(self._options))
        detail = "the authors' files hold completed runs alone, and none of this number"
        missing = {"kind": "end", "status": "failed", "reason": str(Failure.UNRECORDED)}
        return iter([{**missing, "at": {"call": "", "round": 0, "seat": ""}, "detail": detail}])

    def _circumstances(self, record: Record | None) -> dict[str, Any]:
        if record is None or not record.variant_id:
            return {}
        name, family = self._wording(record)
        circumstances: dict[str, Any] = {"variant": name, "family": family}
        if record.backend is not None:
            backend = record.backend.model_dump()
            named = {key: backend[key] for key in _HOSTED}
            circumstances["environment"] = {**named, "device": backend["gpu_name"]}
        return circumstances

    def _wording(self, record: Record) -> tuple[str, str]:
        """Return the name of a wording, and its family."""
        name = str(record.variant_id).removeprefix(f"{self.source.scenario}-")
        if record.family:
            return name, FAMILIES.get(record.family, record.family)
        return (
            ("canonical", "canonical") if name == "v0" else (str(record.variant_label), "register")
        )

    @property
    def _options(self) -> dict[str, str]:
        return self.release.options(self.source.scenario)

    @property
    def _models(self) -> dict[str, str]:
        """The model of each seat, in speaking order, and of the clerk."""
        first = next(iter(self.runs.values()))
        lineup = _lineup(self.source.model)
        chosen = lineup["default"] or lineup["seats"]
        seats = {s: chosen if isinstance(chosen, str) else chosen[s] for s in first.seats}
        return {**seats, "clerk": str(lineup["clerk"] or lineup["default"])}

    def _has_mandate(self, seat: str) -> bool:
        return self.source.roles != "off" and self.source.roles != f"ablate_{seat.lower()}"

    @property
    def _sorted(self) -> list[Record]:
        return [self.runs[index] for index in sorted(self.runs)]


def load(release: Release, source: PublishedFile) -> PublishedCondition:
    """Read and check a released file.

    Raises
    ------
    UserError
        It can't be read, was changed, or a line of it isn't a run.
    """
    data = release.read(source.path)
    records, torn = parse_record(source.path, data)
    for record in records:
        _agrees(record, source)
        if record.seats != records[0].seats:
            raise UserError(f"published: {source.path}: other seats speak in some of its runs")
    worded = any(record.variant_id for record in records)
    names = [record.variant_id if worded else record.replicate for record in records]
    if None in names or len(set(names)) < len(records):
        kind = "wording" if worded else "replicate"
        raise UserError(f"published: {source.path} holds a {kind} twice, or one without a name")
    if not worded:
        runs = {int(record.replicate or 0): record for record in records}
    else:  # one a wording, the canonical one first
        ordered = sorted(records, key=lambda r: (r.family != "canonical", str(r.variant_id)))
        runs = dict(enumerate(ordered))
    return PublishedCondition(release, source, runs, torn)


def _agrees(record: Record, source: PublishedFile) -> None:
    """Check that a run belongs to the condition in its file's name.

    Raises
    ------
    UserError
        It belongs to another condition.
    """
    setting = record.run.condition
    stated = {
        "scenario": (record.run.scenario_id[: len(source.scenario)], source.scenario),
        "temperature": (temperature_label(setting.temperature), source.temperature),
        "roles": (setting.roles_enabled, source.roles != "off"),
        "agents": (setting.n_agents, source.agents),
        "rounds": (setting.rounds, source.rounds),
        "window": (setting.k_window, int(source.memory[1:])),
    }
    for name, (inside, outside) in stated.items():
        if inside != outside:
            raise UserError(
                f"published: {source.path} holds a run with {name} {inside}; its name and folder "
                f"say {outside}"
            )


@cache
def _lineup(model: str) -> dict[str, Any]:
    loaded = OmegaConf.load(resolve_path(f"conf/model/{model}.yaml"))
    container: dict[str, Any] = OmegaConf.to_container(loaded, resolve=False)  # type: ignore[assignment]
    return container
