"""Reports of the screen and the judge on variants: tables for the terminal, and CSV."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
from pydantic import BeforeValidator, PlainValidator

from plenum.base import project_root, resolve_path
from plenum.design import StrictSettings, require_one_of
from plenum.reports import (
    NONE,
    Column,
    Table,
    format_csv,
    format_decimals,
    format_significant,
    make_keys,
    show,
)
from plenum.scenarios import (
    Scenario,
    VariantSurvey,
    load_scenario,
    read_wordings,
    survey_variants,
    wordings_file,
)
from plenum_checks.wordings import Judgement, append_rephrasings, is_flagged


def _load_scenarios(names: Any) -> tuple[Scenario, ...]:
    known = {path.stem: path for path in sorted((project_root() / "scenarios").glob("*.yaml"))}
    names = list(known) if names is None else names
    if not isinstance(names, list):
        raise ValueError(f"{names!r}; write a list such as 'scenarios=[IM-01,HL-01]'")
    for name in names:
        require_one_of("scenarios", name, tuple(known))
    return tuple(load_scenario(known[name]) for name in names)


def _find_folder(name: object) -> Path:
    folder = resolve_path(str(name))
    if not folder.is_dir():
        raise ValueError(f"{folder} does not exist, or is no folder")
    return folder


@dataclass(frozen=True)
class ScreenSettings(StrictSettings):
    """The scenarios whose variants are screened, the variants' folder, and the report's."""

    scenarios: Annotated[tuple[Scenario, ...], PlainValidator(_load_scenarios)]
    folder: Annotated[Path, BeforeValidator(_find_folder)]
    combine: bool
    out: Path


def combine(chosen: ScreenSettings) -> None:
    """Write rephrasings into variants files that have none, and print what was done."""
    for scenario in chosen.scenarios:
        file = wordings_file(chosen.folder, scenario, "rephrase")
        read = read_wordings(file, scenario)
        done = append_rephrasings(read)
        print(f"{read.path}: {'ten rephrasings added' if done else 'has rephrasings, unchanged'}")


def publish(chosen: ScreenSettings) -> tuple[list[VariantSurvey], str]:
    """Print and write the findings of the rules.

    Returns
    -------
    list of Surveyed
        Every scenario's variants.
    str
        The number of failing variants, in one line; empty if all pass.
    """
    surveys = [survey_variants(scenario, chosen.folder) for scenario in chosen.scenarios]
    checked = [variant for surveyed in surveys for variant in surveyed.checked]
    records = [
        {
            "scenario": variant.scenario,
            "variant": variant.name,
            "family": variant.family,
            "passes": not variant.problems,
            "problems": " | ".join(variant.problems),
        }
        for variant in checked
    ]
    _write(chosen.out / "variants.csv", pd.DataFrame(records), _rules(surveys))
    failing = [variant for variant in checked if variant.problems]
    problems = sum(len(variant.problems) for variant in failing)
    if not failing:
        return surveys, ""
    return surveys, f"{problems} problems in {len(failing)} of {len(checked)} checks"


def publish_scores(out: Path, judged: Sequence[Judgement], below: float) -> str:
    """Print and write the scores of a judge.

    Returns
    -------
    str
        The numbers of pairs that are flagged or have no score, in one line; empty if there are
        none.
    """
    frame = pd.DataFrame([_score(pair, below) for pair in judged], columns=_SCORE)
    frame = frame.astype({"score": float})
    _write(out / "scores.csv", frame, _scores(frame, judged, below))
    flagged = sum(is_flagged(pair, below) for pair in judged)
    without = sum(pair.opinion is None for pair in judged)
    counts = [f"{flagged} pairs are flagged"] if flagged else []
    if without:
        counts.append(f"{without} pairs have no score")
    return " and ".join(counts)


def _write(file: Path, frame: pd.DataFrame, tables: Sequence[Table]) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(format_csv(frame), encoding="utf-8")
    show([table for table in tables if table is tables[0] or len(table)])
    print(f"written: {file}")


_FAMILIES = ("rephrase", "format", "register")


def _or_dash(count: int) -> str:
    return str(count or NONE)


def _rules(surveys: Sequence[VariantSurvey]) -> list[Table]:
    """Return tables of how many variants pass, and of each problem."""
    counts = []
    for surveyed in surveys:
        passed = Counter(v.family for v in surveyed.checked if v.variant and not v.problems)
        problems = sum(len(v.problems) for v in surveyed.checked)
        counts.append(
            {
                "scenario": surveyed.scenario.id,
                **{family: passed[family] for family in _FAMILIES},
                "problems": problems or "none",
            }
        )
    families = (Column(family, format=_or_dash) for family in _FAMILIES)
    notes = tuple(note for surveyed in surveys for note in surveyed.notes)
    failing = pd.DataFrame(
        [
            {"scenario": v.scenario, "variant": v.name, "family": v.family, "problem": problem}
            for surveyed in surveys
            for v in surveyed.checked
            for problem in v.problems
        ]
    )
    named = (*make_keys(["scenario", "variant"]), Column("family"), Column("problem"))
    columns = (*make_keys(["scenario"]), *families, Column("problems"))
    return [
        Table("rules", "Variants that the rules pass", pd.DataFrame(counts), columns, notes),
        Table("problems", "Problems", failing, named),
    ]


def _scores(frame: pd.DataFrame, judged: Sequence[Judgement], below: float) -> list[Table]:
    """Return tables of scores by scenario and family, flagged pairs, and pairs without a score."""
    low = frame["score"].lt(below)
    unread, lost = frame["outcome"].eq("unread"), frame["score"].isna()
    groups = frame.assign(low=low, unread=unread, failed=lost & ~unread).groupby(
        ["scenario", "family"], sort=False, as_index=False
    )
    summary = groups.agg(
        pairs=("outcome", "size"),
        scored=("score", "count"),
        mean=("score", "mean"),
        lowest=("score", "min"),
        flagged=("low", "sum"),
        unread=("unread", "sum"),
        failed=("failed", "sum"),
    )
    judge = ", ".join(frame["judge"].unique())
    earlier = sum(pair.earlier for pair in judged)
    notes = [f"judge: {judge}; scores from 0 to 10, flagged below {below:g}"]
    if earlier:
        notes.append(f"{earlier} of {len(judged)} scores are from earlier runs")
    numbers = (
        Column("pairs"),
        Column("scored"),
        Column("mean", format=format_decimals(2)),
        Column("lowest", format=format_significant(6)),
        *(Column(name, format=_or_dash) for name in ("flagged", "unread", "failed")),
    )
    pair = make_keys(["scenario", "first", "variant"])
    opinion = (
        Column("score", format=format_significant(6)),
        Column("difference", "what the judge says"),
    )
    by = (*make_keys(["scenario", "family"]), *numbers)
    without = (*pair, Column("outcome"), Column("detail"))
    return [
        Table("scores", "Meaning, as the judge scores it", summary, by, tuple(notes)),
        Table("flagged", "Flagged", frame[low], (*pair, *opinion)),
        Table("without", "Without a score", frame[lost], without),
    ]


_SCORE = [
    "scenario", "first", "variant", "family", "judge", "outcome", "score", "flagged", "difference",
    "detail",
]  # fmt: skip


def _score(pair: Judgement, below: float) -> dict[str, object]:
    opinion = pair.opinion
    return {
        "scenario": pair.scenario,
        "first": pair.first,
        "variant": pair.variant,
        "family": pair.family,
        "judge": pair.judge,
        "outcome": pair.outcome,
        "score": opinion.score if opinion else None,
        "flagged": is_flagged(pair, below) if opinion else None,
        "difference": opinion.difference if opinion else "",
        "detail": pair.detail,
    }
