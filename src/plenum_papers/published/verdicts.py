"""Verdicts on claims that the papers make in words: their kinds, their count and their table."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import pandas as pd

from plenum.reports import Column, Table
from plenum_papers.published.cells import Cells, NoFileError
from plenum_papers.published.references import reference_rows

SHOWN, NOT_SHOWN, CONTRADICTED, HOLDS = "shown", "not shown", "contradicted", "holds"
NOT_CONTRADICTED, NO_TEST, NO_DATA = "not contradicted", "no test", "no released data"
"""Verdicts. An effect is shown by a test or not, what can be counted holds or not, and what says
that nothing differs can only be contradicted. Where λ̂ has no interval, nothing is decided."""

RUNS, PRINTED = "released runs", "printed tables"
PLAYED, EQUATIONS = "released rules", "equations"
"""The material that decides a claim."""

OVERALL, EVERY_ROW, NAMED = "overall", "every row", "those named"
"""Rows of a printed table that decide: those that the sentence speaks of, else the overall one."""

Decision = tuple[str, str]
"""A verdict, and the numbers that it rests on."""


@dataclass(frozen=True)
class VerbalClaim:
    """A claim in words.

    Attributes
    ----------
    source
        The paper, and where it says so.
    claim
        The claim, in our words.
    decide
        Returns the verdict and its numbers; ``NoFileError`` where the clone lacks the runs.
    decided_by
        What it is decided by.
    rows
        The rows of a printed table that decide; empty where none does.
    """

    source: str
    claim: str
    decide: Callable[[Cells], Decision] = field(repr=False)
    decided_by: str = RUNS
    rows: str = ""


@dataclass(frozen=True)
class DecidedClaim:
    """A claim with its verdict, and the numbers that this rests on."""

    claim: VerbalClaim
    verdict: str
    numbers: str


def settle(holds: bool, numbers: str) -> Decision:
    """Return the verdict on what can be counted."""
    return (HOLDS if holds else CONTRADICTED), numbers


def decide_claims(
    claims: Sequence[VerbalClaim], cells: Cells
) -> tuple[list[DecidedClaim], list[str]]:
    """Decide every claim; also list those whose runs a clone lacks."""
    decided, lacking = [], []
    for claim in claims:
        try:
            decided.append(DecidedClaim(claim, *claim.decide(cells)))
        except NoFileError as error:
            lacking.append(f"{claim.source}: not decided, the clone has no file of {error}")
    return decided, lacking


def list_open_claims() -> list[DecidedClaim]:
    """List the claims that nothing decides that was released, with what they would need."""
    return [
        DecidedClaim(
            VerbalClaim(row["source"], row["claim"], _refuse, row["decided_by"]),
            NO_DATA,
            row["needs"],
        )
        for row in reference_rows("claims-without-data")
    ]


def _refuse(_: Cells) -> Decision:
    raise NoFileError("runs that nobody released")


def count_verdicts(decided: Sequence[DecidedClaim], lacking: Sequence[str]) -> dict[str, int]:
    """Count the claims by verdict, and those that a clone lacks the runs of.

    ``claims`` are those with released data: ``claims_no_test`` of them have no test.
    """
    verdicts = [each.verdict for each in decided]
    return {
        "claims": len(verdicts) - verdicts.count(NO_DATA),
        "claims_not_shown": verdicts.count(NOT_SHOWN),
        "claims_contradicted": verdicts.count(CONTRADICTED),
        "claims_no_test": verdicts.count(NO_TEST),
        "claims_without_data": verdicts.count(NO_DATA),
        "claims_undecided": len(lacking),
    }


def tabulate_claims(decided: Sequence[DecidedClaim], lacking: Sequence[str], origin: str) -> Table:
    """Make the table of claims in words, each with its verdict and its numbers."""
    frame = pd.DataFrame(
        {
            "source": d.claim.source,
            "claim": d.claim.claim,
            "verdict": d.verdict,
            "decided_by": d.claim.decided_by,
            "rows": d.claim.rows,
            "numbers": d.numbers,
        }
        for d in decided
    )
    columns = (
        Column("source", key=True),
        Column("claim"),
        Column("verdict"),
        Column("decided_by", "decided by"),
        Column("rows"),
        Column("numbers"),
    )
    notes = (
        f"claim: in our words; {RUNS}: the files of {origin}; {PRINTED}: whether the paper's own"
        f" tables say so; {PLAYED}: scripted agents in the world of the released code, no model;"
        f" {EQUATIONS}: simulated, and proved",
        "shown: the effect has the sign, p is below 0.05 and the interval excludes 0; contradicted:"
        " it has the other sign by the same rule; not shown: neither",
        "holds, contradicted: what is counted is so, or isn't; not contradicted: that nothing"
        " differs can't be shown",
        f"{NO_TEST}: λ̂ has neither interval nor test there, since runs jump or a few make most of"
        " it; the claim is neither shown nor contradicted",
        f"rows: of printed tables; {EVERY_ROW}: the sentence speaks of every level, model or"
        f" metric; {NAMED}: it speaks of certain ones; {OVERALL}: of none, and the row over all"
        " levels decides",
        f"{NO_DATA}: neither runs nor rules that decide it are public; numbers: what would",
        "p of no growth: by time reversal of whole runs; p isn't adjusted for the number of claims",
        *lacking,
    )
    return Table(
        "published_claims", "Claims in words, and what decides them", frame, columns, notes
    )
