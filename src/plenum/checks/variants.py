"""What the screen and the judge say of the variants: tables for the terminal, and CSV."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from omegaconf import DictConfig, OmegaConf

from plenum import scenarios
from plenum.base import project
from plenum.base.errors import UserError
from plenum.reports.formats import number
from plenum.reports.printing import show
from plenum.reports.sheets import of_cells
from plenum.reports.table import Table
from plenum.scenarios import Scenario, meaning, rephrase, variant_files
from plenum.scenarios.meaning import Judged
from plenum.scenarios.perturbations import Surveyed, survey


@dataclass(frozen=True)
class Asked:
    """Which scenarios' variants are screened, where they lie, and where the report goes."""

    scenarios: tuple[Scenario, ...]
    folder: Path
    combine: bool
    out: Path


def asked(cfg: DictConfig) -> Asked:
    """Check what the config of `scripts/screen_variants.py` says of scenarios and folders.

    Raises
    ------
    UserError
        A scenario or the folder is unknown, or a value is of the wrong type.
    """
    if type(cfg.combine) is not bool:
        raise UserError(f"combine: {cfg.combine!r}; true or false")
    known = {path.stem: path for path in sorted((project.root() / "scenarios").glob("*.yaml"))}
    wanted = list(known) if cfg.scenarios is None else cfg.scenarios
    if not OmegaConf.is_list(wanted) and not isinstance(wanted, list):
        raise UserError(f"scenarios: {wanted!r}; write a list such as 'scenarios=[IM-01,HL-01]'")
    for name in wanted:
        if name not in known:
            raise UserError(f"scenarios: {name!r} is not one of {', '.join(known)}")
    loaded = tuple(scenarios.load(known[name]) for name in wanted)
    folder = project.resolve(str(cfg.folder))
    if not folder.is_dir():
        raise UserError(f"folder: {folder} does not exist, or is no folder")
    return Asked(loaded, folder, cfg.combine, Path(cfg.out))


def combine(chosen: Asked) -> None:
    """Write rephrasings into the variants files that have none; say what was done with each."""
    for scenario in chosen.scenarios:
        file = variant_files.wordings_file(chosen.folder, scenario, "rephrase")
        read = variant_files.read(file, scenario)
        done = rephrase.write(read)
        print(f"{read.path}: {'ten rephrasings added' if done else 'has rephrasings, left alone'}")


def publish(chosen: Asked) -> tuple[list[Surveyed], str]:
    """Print and write what the rules find.

    Returns
    -------
    list of Surveyed
        Every scenario's variants.
    str
        How many variants fail, in one line; empty where all pass.
    """
    found = [survey(scenario, chosen.folder) for scenario in chosen.scenarios]
    _write(chosen.out / "variants.csv", _sheets(found), _records(found))
    checked = [one for surveyed in found for one in surveyed.checked]
    failing = [one for one in checked if one.problems]
    problems = sum(len(one.problems) for one in failing)
    told = f"{problems} problems in {len(failing)} of {len(checked)} checks" if failing else ""
    return found, told


def publish_scores(out: Path, judged: Sequence[Judged], below: float) -> str:
    """Print and write what a judge says.

    Returns
    -------
    str
        How many pairs are flagged or without a score, in one line; empty where there is none.
    """
    records = [_score(one, below) for one in judged]
    _write(out / "scores.csv", _score_sheets(judged, below), records)
    flagged = sum(meaning.flagged(one, below) for one in judged)
    without = sum(one.opinion is None for one in judged)
    told = [f"{flagged} pairs are flagged"] * bool(flagged)
    told += [f"{without} pairs have no score"] * bool(without)
    return " and ".join(told)


def _write(file: Path, sheets: Sequence[Table], records: Sequence[dict[str, object]]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(list(records)).to_csv(file, index=False)
    show(sheets)
    print(f"written: {file}")


def _sheets(found: Sequence[Surveyed]) -> list[Table]:
    notes = tuple(note for surveyed in found for note in surveyed.notes)
    sheets = [
        of_cells("Variants that the rules pass", _COUNTED, tuple(map(_counted, found)), notes),
    ]
    problems = tuple(
        (one.scenario, one.name, one.family, problem)
        for surveyed in found
        for one in surveyed.checked
        for problem in one.problems
    )
    if problems:
        head = ("scenario", "variant", "family", "problem")
        sheets.append(of_cells("Problems", head, problems, (), keys=2))
    return sheets


_COUNTED = ("scenario", "rephrase", "format", "register", "problems")


def _counted(surveyed: Surveyed) -> tuple[str, ...]:
    passed = Counter(
        one.family for one in surveyed.checked if one.variant is not None and not one.problems
    )
    families = (str(passed[family]) if passed[family] else "-" for family in _COUNTED[1:4])
    problems = sum(len(one.problems) for one in surveyed.checked)
    return (surveyed.scenario.id, *families, str(problems or "none"))


def _records(found: Sequence[Surveyed]) -> list[dict[str, object]]:
    return [
        {
            "scenario": one.scenario,
            "variant": one.name,
            "family": one.family,
            "passes": not one.problems,
            "problems": " | ".join(one.problems),
        }
        for surveyed in found
        for one in surveyed.checked
    ]


def _score_sheets(judged: Sequence[Judged], below: float) -> list[Table]:
    groups: dict[tuple[str, str], list[Judged]] = {}
    for one in judged:
        groups.setdefault((one.scenario, one.family), []).append(one)
    head = (
        "scenario",
        "family",
        "pairs",
        "scored",
        "mean",
        "lowest",
        "flagged",
        "unread",
        "failed",
    )
    body = tuple((*key, *_scored(group, below)) for key, group in groups.items())
    judge = ", ".join(dict.fromkeys(one.judge for one in judged))
    earlier = sum(one.earlier for one in judged)
    notes = [f"judge: {judge}; scores from 0 to 10, flagged below {below:g}"]
    notes += [f"{earlier} of {len(judged)} scores are from earlier runs"] * bool(earlier)
    sheets = [of_cells("Meaning, as the judge scores it", head, body, tuple(notes), keys=2)]
    named = ("scenario", "variant", "score", "what the judge says")
    short = [
        (one.scenario, one.variant, f"{one.opinion.score:g}", one.opinion.difference)
        for one in judged
        if one.opinion is not None and meaning.flagged(one, below)
    ]
    if short:
        sheets.append(of_cells("Flagged", named, tuple(short), (), keys=2))
    without = [
        (one.scenario, one.variant, one.outcome, one.detail)
        for one in judged
        if one.opinion is None
    ]
    if without:
        lost = ("scenario", "variant", "outcome", "detail")
        sheets.append(of_cells("Without a score", lost, tuple(without), (), keys=2))
    return sheets


def _scored(group: Sequence[Judged], below: float) -> tuple[str, ...]:
    scores = [one.opinion.score for one in group if one.opinion is not None]
    unread = sum(one.outcome == "unread" for one in group)
    counts = (
        sum(meaning.flagged(one, below) for one in group),
        unread,
        len(group) - len(scores) - unread,
    )
    lowest = f"{min(scores):g}" if scores else "-"
    return (
        *(str(len(group)), str(len(scores)), number(meaning.mean(scores), 2), lowest),
        *(str(count) if count else "-" for count in counts),
    )


def _score(one: Judged, below: float) -> dict[str, object]:
    opinion = one.opinion
    return {
        "scenario": one.scenario,
        "variant": one.variant,
        "family": one.family,
        "judge": one.judge,
        "outcome": one.outcome,
        "score": opinion.score if opinion else None,
        "flagged": meaning.flagged(one, below) if opinion else None,
        "difference": opinion.difference if opinion else "",
        "detail": one.detail,
    }
