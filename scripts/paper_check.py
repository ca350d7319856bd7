"""Check of the papers' printed values: recompute each that the released files determine."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from paper_cells import (
    FACTORS,
    Cell,
    Cells,
    NoFileError,
    growth,
    load_cells,
    majority_round,
    off_plurality,
    replicates,
)

from plenum.base.errors import UserError
from plenum.dynamics.nulls import shuffle_test
from plenum.dynamics.switches import switch_counts
from plenum.show.phrases import make_environment
from plenum.show.table import format_csv as csv_text
from plenum.show.terminal_tables import show_text
from plenum_papers.items.published_values import read_numbers
from plenum_papers.published import branching
from plenum_papers.published.catalogue import Release

_MOST = 8
"""Number of differing values that the page lists; the CSV file has all."""

_REGISTERS = {
    "canonical": "canonical",
    "register_synonym": "synonym_light",
    "register_passive": "passive_reframe",
    "register_formal": "numeric_reorder",
    "register_legalistic": "bureaucratic_register",
    "register_conversational": "conversational_register",
}
"""Names of wordings in ``reference/fig-s7.csv``, by their released names."""

QUANTITIES: dict[str, tuple[Callable[[Cell], float], str]] = {
    "lambda": (growth, "slope of log D(t), rounds 3-20"),
    "flip_rate": (off_plurality, "share off the plurality"),
    "fragility_plurality": (off_plurality, "share off the plurality"),
    "time_to_majority": (majority_round, "median round, ties: first option, none: last round"),
    "n": (replicates, "completed runs"),
    "realised": (replicates, "completed runs"),
    "A": (lambda cell: cell.decisions["A"], "decisions for A"),
    "B": (lambda cell: cell.decisions["B"], "decisions for B"),
    "C": (lambda cell: cell.decisions["C"], "decisions for C"),
}
"""Definitions of columns in the reference files: a function, and its description."""


@dataclass(frozen=True)
class PublishedComparison:
    """A published value and the recomputed one.

    Attributes
    ----------
    source
        The paper, and its figure or table.
    what
        The condition, or part of it.
    quantity, definition
        The published quantity, and the definition by which it is recomputed.
    published, recomputed
        The values, with as many digits as printed.
    why
        The reason of a difference; empty if none is known.
    """

    source: str
    what: str
    quantity: str
    definition: str
    published: str
    recomputed: str
    why: str = ""

    @property
    def name(self) -> str:
        """The source, the condition and the quantity."""
        return f"{self.source} / {self.what} / {self.quantity}"

    @property
    def equal(self) -> bool:
        """True if both values agree to the last printed digit."""
        return self.published == self.recomputed


def compare_values(release: Release, cells: Cells) -> tuple[list[PublishedComparison], list[str]]:
    """Compare all published values that the files of a clone determine; also list missing files.

    Raises
    ------
    UserError
        A file can't be read.
    """
    comparisons: list[PublishedComparison] = []
    lacking: list[str] = []
    makers = dict.fromkeys(release.rules["tables"], _of_table) | {
        "table-s7": _switches,
        "fig-s7": _wordings,
        "fig-1-families": _families,
        "fig-s6": partial(_compare_branching, release),
        "fig-s5": _null,
    }
    for name, make in makers.items():
        for row in read_numbers(name):
            try:
                comparisons += make(row, cells)
            except NoFileError as error:
                lacking.append(f"{row['source']}: not compared, the clone has no file of {error}")
    explained = release.rules["explained"]
    return [replace(c, why=explained.get(c.name, "")) for c in comparisons], lacking


def _of_table(row: Mapping[str, str], cells: Cells) -> Iterator[PublishedComparison]:
    wanted = [row[factor] for factor in FACTORS]
    meant = [
        cell
        for key, cell in cells.items()
        if all(value in (part, "all 12") for value, part in zip(wanted, key, strict=True))
    ]
    if not meant:
        raise NoFileError(_name(row))
    for quantity in filter(row.get, QUANTITIES):
        measure, definition = QUANTITIES[quantity]
        value = sum(map(measure, meant))  # of counts over all scenarios
        yield _comparison(row["source"], _name(row), quantity, definition, row[quantity], value)


def _name(row: Mapping[str, str]) -> str:
    usual = {"memory": "k15", "temperature": "t0", "perturbation": "none", "model": "uniform"}
    return " ".join(row[f] for f in FACTORS if row[f] != usual.get(f))


def _comparison(
    source: str, what: str, quantity: str, definition: str, published: str, value: float
) -> PublishedComparison:
    digits = len(published.partition(".")[2])
    recomputed = f"{value:.{digits}f}"
    return PublishedComparison(source, what, quantity, definition, published, recomputed)


def _switches(row: Mapping[str, str], cells: Cells) -> Iterator[PublishedComparison]:
    """Compare Table S7: changes of a seat's preferred option over pooled temperatures."""
    keys = [
        tuple(temperature if f == "temperature" else row[f] for f in FACTORS)
        for temperature in row["temperature"].split()
    ]
    pooled = np.concatenate([cells[key].preferences for key in keys])
    seats = next(iter(cells[keys[0]].condition.runs.values())).seats
    counts, seat = switch_counts(pooled, ties="first"), seats.index(row["seat"])
    definition = "changes of the top option, ties: first option"
    values = {"switches": counts.mean[seat], "sd": counts.sd[seat], "n": counts.n}
    for name, value in values.items():
        yield _comparison(
            row["source"], f"IM-01 {row['seat']}", name, definition, row[name], float(value)
        )


def _wordings(row: Mapping[str, str], cells: Cells) -> Iterator[PublishedComparison]:
    """Compare Fig. S7: the decision of each wording."""
    runs = cells[tuple(row[f] for f in FACTORS)].condition.runs.values()
    wanted = _REGISTERS[row["variant"]]
    decisions = {
        "canonical" if run.variant_label == "original" else str(run.variant_label): (
            run.run.final_decision.decision
        )
        for run in runs
    }
    if wanted not in decisions:
        raise NoFileError(f"wording {wanted}")
    yield PublishedComparison(
        row["source"],
        f"IM-01 {row['variant']}",
        "decision",
        f"the clerk's, wording {wanted}",
        row["decision"],
        decisions[wanted],
    )


def _families(row: Mapping[str, str], cells: Cells) -> Iterator[PublishedComparison]:
    """Compare the metrics by family of wordings, which leave out the canonical wording."""
    cell = cells[tuple(row[f] for f in FACTORS)].within(row["family"])
    for quantity in filter(row.get, QUANTITIES):
        measure, definition = QUANTITIES[quantity]
        value, name = measure(cell), f"{_name(row)} {row['family']}"
        definition = f"{definition}; the family's wordings alone"
        yield _comparison(row["source"], name, quantity, definition, row[quantity], value)


def _compare_branching(
    release: Release, row: Mapping[str, str], cells: Cells
) -> Iterator[PublishedComparison]:
    """Compare Fig. S6: Γ̂ by the released files' definition."""
    bases = [turns.answers for turns in branching.read(release)]
    if not bases:
        raise NoFileError("next answers")
    gammas = np.array([base.gamma for base in bases])
    values = {
        "gamma": float(gammas.mean()),
        "gamma_se": float(gammas.std() / np.sqrt(len(gammas))),
        "bases": len(gammas),
        "positive": int((gammas > 0).sum()),
    }
    meaning = "share of turns whose next answers have an entropy of at least 0.5 nats, times ĉ_in"
    definitions = {"gamma_se": "standard deviation over n (not n - 1) of Γ̂, by the root of n"}
    for name, value in values.items():
        definition = definitions.get(name, meaning)
        yield _comparison(row["source"], "IM-01 t0.7", name, definition, row[name], value)


def _null(row: Mapping[str, str], cells: Cells) -> Iterator[PublishedComparison]:
    """Compare Fig. S5: p of the permutation null, which the papers print as a bound."""
    cell = cells[tuple(row[f] for f in FACTORS)]
    null = shuffle_test(cell.preferences.mean(axis=2), draws=int(row["draws"]), rounds="all")
    bound = row["p"]
    below = null.p_right < float(bound.removeprefix("<"))
    yield PublishedComparison(
        row["source"],
        _name(row),
        "p",
        "permutation null: all 20 rounds shuffled, right tail",
        bound,
        bound if below else f"{null.p_right:.4f}",
    )


def count_comparisons(comparisons: list[PublishedComparison]) -> dict[str, int]:
    """Count the compared values that are equal, that differ for a known reason, and the others."""
    different = [c for c in comparisons if not c.equal]
    explained = sum(bool(c.why) for c in different)
    return {
        "compared": len(comparisons),
        "equal": len(comparisons) - len(different),
        "explained": explained,
        "unexplained": len(different) - explained,
    }


def publish_check(release: Release, out: Path) -> None:
    """Compare all published values with recomputed ones, and print how many agree.

    Every value is written as a line of ``published_check.csv``, and ``published_check.md`` tells of
    them in a page. The last line printed is one JSON object with the counts.

    Raises
    ------
    UserError
        A file can't be read, or the clone has none of them.
    """
    comparisons, lacking = compare_values(release, load_cells(release))
    if not comparisons:
        raise UserError(f"published: {release.clone} has no file that a value follows from")
    counts = count_comparisons(comparisons) | {"not_compared": len(lacking)}
    frame = pd.DataFrame([{**vars(c), "equal": c.equal} for c in comparisons])
    page = format_page(frame, counts, release.origin)
    for text in (page, *lacking):
        show_text(text)
    out.mkdir(parents=True, exist_ok=True)
    for kind, text in (("csv", csv_text(frame)), ("md", f"{page}\n")):
        file = out / f"published_check.{kind}"
        file.write_text(text, encoding="utf-8")
        show_text(f"written: {file}")
    print(json.dumps(counts))


def format_page(frame: pd.DataFrame, counts: Mapping[str, int], origin: str) -> str:
    """Return the page: counts by source, the values that differ, and how to run it again.

    Parameters
    ----------
    frame
        The lines of the CSV file.
    counts
        The :func:`count_comparisons`, and the papers' lines that a clone has no file of.
    origin
        The repository and its commit.
    """
    different = frame[~frame["equal"]]
    template = make_environment().get_template("plenum_papers.published/check.md.j2")
    return template.render(
        counts=counts,
        sources=frame.groupby("source", sort=False)["equal"].agg(["size", "sum"]).itertuples(),
        different=different[:_MOST].to_dict("records"),
        left=len(different[_MOST:]),
        origin=origin,
    )
