"""Claims that the papers make in words, each decided from the released runs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pandas as pd
from scipy.stats import chi2

from plenum.dynamics import (
    Estimate,
    LyapunovEstimate,
    contrast,
    excludes,
    interaction,
    switch_counts,
    time_to_majority,
)
from plenum.reports import Column, Table, format_p_value
from plenum_papers.published.cells import Cell, Cells, Key, NoFileError, growth_of, off_plurality

SHOWN, NOT_SHOWN, CONTRADICTED, HOLDS = "shown", "not shown", "contradicted", "holds"
NOT_CONTRADICTED = "not contradicted"
"""Verdicts. An effect is shown by a test or not, what can be counted holds or not, and what says
that nothing differs can only be contradicted."""

TEMPERATURES = ("t0", "t1e-5", "t1e-4", "t0.01", "t0.05", "t0.1", "t0.2", "t0.7")
SEATS = ("chair", "welfare", "rights", "equity", "security")

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
    """

    source: str
    claim: str
    decide: Callable[[Cells], Decision] = field(repr=False)


@dataclass(frozen=True)
class DecidedClaim:
    """A claim with its verdict, and the numbers that this rests on."""

    claim: VerbalClaim
    verdict: str
    numbers: str


def key(
    scenario: str,
    roles: str,
    model: str = "uniform",
    memory: str = "k15",
    temperature: str = "t0",
    perturbation: str = "none",
) -> Key:
    """Return the key of a condition."""
    return scenario, roles, model, memory, temperature, perturbation


def _flat(cells: Cells) -> Decision:
    """Test one λ̂ at all temperatures: Cochran's Q over the jackknife's standard errors."""
    found = [growth_of(cells[key("IM-01", "on", temperature=t)]) for t in TEMPERATURES]
    values = np.array([each.value for each in found])
    weights = 1 / np.array([each.se for each in found]) ** 2
    q = float((weights * (values - np.average(values, weights=weights)) ** 2).sum())
    p = float(chi2.sf(q, len(found) - 1))
    text = f"λ̂ from {values.min():.3f} to {values.max():.3f}; Q = {q:.1f}, p = {p:.2f}"
    return (NOT_CONTRADICTED if p >= 0.05 else CONTRADICTED), text


def _near_zero(cells: Cells) -> Decision:
    found = [growth_of(cells[key("IM-01", "off", temperature=t)]) for t in TEMPERATURES]
    above = [t for t, e in zip(TEMPERATURES, found, strict=True) if excludes(e.ci_low, e.ci_high)]
    text = f"the interval excludes 0 at {len(above)} of {len(found)}: {', '.join(above)}"
    return (NOT_CONTRADICTED if len(above) <= 1 else CONTRADICTED), text


def _overlap(cells: Cells) -> Decision:
    cold, hot = (growth_of(cells[key("IM-01", "on", temperature=t)]) for t in ("t0", "t0.7"))
    meet = cold.ci_low <= hot.ci_high and hot.ci_low <= cold.ci_high
    return (HOLDS if meet else CONTRADICTED), f"{_interval(cold)} and {_interval(hot)}"


def _first_round(cells: Cells) -> Decision:
    times = [
        time_to_majority(cells[key("IM-01", "off", temperature=t)].preferences, ties="first")
        for t in TEMPERATURES
    ]
    later = sum(int(((t.times > 1) | ~t.observed).sum()) for t in times)
    every = sum(t.n for t in times)
    return (CONTRADICTED if later else HOLDS), f"{later} of {every} runs later, or never"


def _delayed(cells: Cells) -> Decision:
    medians = [
        float(np.median(time_to_majority(cells[key("IM-01", "on", temperature=t)].preferences,
                                         ties="first").times))
        for t in ("t0", "t0.7")
    ]  # fmt: skip
    right = all(2 <= median <= 3 for median in medians)
    return (HOLDS if right else CONTRADICTED), f"median rounds {medians[0]:g} and {medians[1]:g}"


def _never_stable(cells: Cells) -> Decision:
    shares = []
    for t in TEMPERATURES:
        found = time_to_majority(
            cells[key("IM-01", "on", temperature=t)].preferences, "stable", ties="first"
        )
        shares.append(1 - found.events / found.n)
    text = f"{100 * min(shares):.0f} to {100 * max(shares):.0f} % over eight temperatures"
    within = min(shares) >= 0.1 and max(shares) <= 0.2
    return (HOLDS if within else CONTRADICTED), text


def _most_switches(cells: Cells) -> Decision:
    runs = np.concatenate(
        [cells[key("IM-01", "on", temperature=t)].preferences for t in ("t0", "t0.7")]
    )
    means = switch_counts(runs, ties="first").mean
    text = ", ".join(f"{seat} {mean:.2f}" for seat, mean in zip(SEATS, means, strict=True))
    return (HOLDS if int(np.argmax(means)) == 0 else CONTRADICTED), text


def _difference(first: Key, second: Key, sign: int, cells: Cells) -> Decision:
    found = contrast(*(cells[k].preferences.mean(axis=2) for k in (first, second)))
    return _judge(found, sign)


def _interaction(scenario: str, cells: Cells) -> Decision:
    design = (("on", "mixed"), ("on", "uniform"), ("off", "mixed"), ("off", "uniform"))
    square = [
        cells[key(scenario, roles, model)].preferences.mean(axis=2) for roles, model in design
    ]
    return _judge(interaction(*square), -1)


def _judge(found: Estimate, sign: int) -> Decision:
    p = format_p_value(found.p)
    text = f"Δλ̂ {_interval(found)}, p {p if p.startswith('<') else f'= {p}'}"
    if not (found.p < 0.05 and excludes(found.ci_low, found.ci_high)):
        return NOT_SHOWN, text
    return (SHOWN if found.value * sign > 0 else CONTRADICTED), text


def _each(firsts: Sequence[Key], seconds: Sequence[Key], sign: int, cells: Cells) -> Decision:
    """Decide a claim on several differences: all of the sign, and how many of them are shown."""
    contrasts = [
        contrast(*(cells[k].preferences.mean(axis=2) for k in pair))
        for pair in zip(firsts, seconds, strict=True)
    ]
    found = [_judge(each, sign)[0] for each in contrasts]
    of_sign = sum(each.value * sign > 0 for each in contrasts)
    text = f"of the sign in {of_sign} of {len(found)}, shown in {found.count(SHOWN)}"
    if CONTRADICTED in found:
        return CONTRADICTED, text
    return (SHOWN if set(found) == {SHOWN} else NOT_SHOWN), text


def _largest_ablation(cells: Cells) -> Decision:
    whole = growth_of(cells[key("HL-01", "on")]).value
    falls = {s: whole - growth_of(cells[key("HL-01", f"ablate_{s}")]).value for s in SEATS}
    text = ", ".join(f"{seat} {fall:+.4f}" for seat, fall in falls.items())
    return (HOLDS if max(falls, key=falls.__getitem__) == "chair" else CONTRADICTED), text


def _lowest(cells: Cells) -> Decision:
    scenarios = sorted({k[0] for k in cells if k[2] == "mixed"})
    if not scenarios:
        raise NoFileError("mixed committees")
    count = 0
    for scenario in scenarios:
        values = {
            (roles, model): growth_of(cells[key(scenario, roles, model)]).value
            for roles in ("on", "off")
            for model in ("uniform", "mixed")
        }
        count += min(values, key=values.__getitem__) == ("off", "uniform")
    text = f"lowest of four in {count} of {len(scenarios)} scenarios"
    return (HOLDS if 2 * count > len(scenarios) else CONTRADICTED), text


def _hosted(cells: Cells) -> Sequence[tuple[Key, Cell]]:
    found = [(k, cell) for k, cell in cells.items() if k[5] == "variants20"]
    if not found:
        raise NoFileError("hosted runs")
    return found


def _wordings_change(cells: Cells) -> Decision:
    shares = [off_plurality(cell) for _, cell in _hosted(cells)]
    changed = sum(share > 0 for share in shares)
    text = f"in {changed} of {len(shares)} conditions; mean fragility {np.mean(shares):.2f}"
    return (HOLDS if 2 * changed > len(shares) else CONTRADICTED), text


def _wordings_grow(cells: Cells) -> Decision:
    found = [growth_of(cell) for _, cell in _hosted(cells)]
    above = sum(each.value > 0 for each in found)
    sure = sum(each.value > 0 and excludes(each.ci_low, each.ci_high) for each in found)
    text = f"above 0 in {above} of {len(found)} conditions, by its interval in {sure}"
    return (HOLDS if above == len(found) else CONTRADICTED), text


def _grows_in_families(cells: Cells) -> Decision:
    found = [
        growth_of(cells[key("HL-01", roles, "qwen2.5-7b", perturbation="variants20")].within(name))
        for roles in ("on", "off")
        for name in ("surface_rephrasing", "formatting_changes")
    ]
    text = ", ".join(map(_interval, found))
    return (HOLDS if all(each.ci_low > 0 for each in found) else CONTRADICTED), text


def _interval(found: Estimate | LyapunovEstimate) -> str:
    return f"{found.value:.4f} [{found.ci_low:.4f}, {found.ci_high:.4f}]"


_AT_K3 = [key(s, "on", memory="k3") for s in ("AI-01", "CL-01", "HL-01", "SP-03")]
_AT_K1 = [key(s, "on", memory="k1") for s in ("IM-01", "CL-01")]
_NO_CHAIR = [key(s, "ablate_chair") for s in ("IM-01", "HL-01", "CL-01", "SP-03", "AI-01")]


def _with_roles(keys: Sequence[Key]) -> list[Key]:
    return [key(each[0], "on") for each in keys]


CLAIMS: tuple[VerbalClaim, ...] = (
    VerbalClaim(
        "001, Fig. 1",
        "HL-01: roles raise λ̂ of a uniform committee",
        partial(_difference, key("HL-01", "on"), key("HL-01", "off"), 1),
    ),
    VerbalClaim(
        "001, Fig. 1",
        "HL-01: mixed models raise λ̂ without roles",
        partial(_difference, key("HL-01", "off", "mixed"), key("HL-01", "off"), 1),
    ),
    VerbalClaim(
        "001, Fig. 1B",
        "HL-01: with mixed models, roles lower λ̂",
        partial(_difference, key("HL-01", "on", "mixed"), key("HL-01", "off", "mixed"), -1),
    ),
    VerbalClaim(
        "001, Fig. 1B",
        "HL-01: roles and mixed models do less together than apart",
        partial(_interaction, "HL-01"),
    ),
    VerbalClaim(
        "001, Fig. 4", "uniform without roles mostly has the lowest λ̂ of four designs", _lowest
    ),
    VerbalClaim(
        "001, Fig. 2A", "HL-01: of all mandates the Chair's raises λ̂ most", _largest_ablation
    ),
    VerbalClaim(
        "001, Fig. 2B",
        "the Chair's mandate raises λ̂ in five scenarios",
        partial(_each, _NO_CHAIR, _with_roles(_NO_CHAIR), -1),
    ),
    VerbalClaim(
        "001, Fig. 3A",
        "three arguments of memory in place of 15 lower λ̂ in four scenarios",
        partial(_each, _AT_K3, _with_roles(_AT_K3), -1),
    ),
    VerbalClaim(
        "001, Fig. 3B",
        "one argument of memory lowers λ̂ in two scenarios",
        partial(_each, _AT_K1, _with_roles(_AT_K1), -1),
    ),
    VerbalClaim("001, S1", "IM-01 with roles: intervals of λ̂ at T = 0 and 0.7 meet", _overlap),
    VerbalClaim("001, Fig. S1", "IM-01 with roles: λ̂ is the same at eight temperatures", _flat),
    VerbalClaim(
        "001, Fig. S1", "IM-01 without roles: no λ̂ but one of eight differs from 0", _near_zero
    ),
    VerbalClaim("001, Fig. S3", "IM-01: the Chair changes its option most", _most_switches),
    VerbalClaim(
        "001, Fig. S4", "IM-01 without roles: every run has a majority in round 1", _first_round
    ),
    VerbalClaim("001, Fig. S4", "IM-01 with roles: a majority comes in round 2 or 3", _delayed),
    VerbalClaim(
        "001, Fig. S4", "IM-01 with roles: 10 to 20 % never have a stable majority", _never_stable
    ),
    VerbalClaim("000, Fig. 1B", "other wordings often change the decision", _wordings_change),
    VerbalClaim("000, Fig. 1C", "other wordings give a positive λ̂ everywhere", _wordings_grow),
    VerbalClaim(
        "000, Results", "HL-01: λ̂ is positive within both families of wordings", _grows_in_families
    ),
)
"""The claims of 001 and 000 that the released runs decide, in the order of the papers."""


def decide_claims(cells: Cells) -> tuple[list[DecidedClaim], list[str]]:
    """Decide every claim; also list those whose runs a clone lacks."""
    decided, lacking = [], []
    for claim in CLAIMS:
        try:
            decided.append(DecidedClaim(claim, *claim.decide(cells)))
        except NoFileError as error:
            lacking.append(f"{claim.source}: not decided, the clone has no file of {error}")
    return decided, lacking


def count_verdicts(decided: Sequence[DecidedClaim], lacking: Sequence[str]) -> dict[str, int]:
    """Count the claims: all, not shown, contradicted, and undecided for want of runs."""
    verdicts = [each.verdict for each in decided]
    return {
        "claims": len(verdicts),
        "claims_not_shown": verdicts.count(NOT_SHOWN),
        "claims_contradicted": verdicts.count(CONTRADICTED),
        "claims_undecided": len(lacking),
    }


def tabulate_claims(decided: Sequence[DecidedClaim], lacking: Sequence[str], origin: str) -> Table:
    """Make the table of claims in words, each with its verdict and its numbers."""
    frame = pd.DataFrame(
        {
            "source": d.claim.source,
            "claim": d.claim.claim,
            "verdict": d.verdict,
            "numbers": d.numbers,
        }
        for d in decided
    )
    columns = (Column("source", key=True), Column("claim"), Column("verdict"), Column("numbers"))
    notes = (
        f"claim: in our words; numbers: from the files of {origin}",
        "shown: the effect has the sign, p is below 0.05 and the interval excludes 0; contradicted:"
        " it has the other sign by the same rule; not shown: neither",
        "holds, contradicted: what is counted is so, or isn't; not contradicted: that nothing"
        " differs can't be shown",
        "p isn't adjusted for the number of claims, and is too small where few runs jump",
        *lacking,
    )
    return Table("published_claims", "Claims in words, decided by the runs", frame, columns, notes)
