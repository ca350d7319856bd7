"""What stands behind the conditions' estimates: diagnostics of λ̂, and decisions."""

import math
from collections.abc import Sequence

from plenum.reports.effect_tables import of_wordings
from plenum.reports.rows import Row, named, shown, symbol
from plenum.reports.settings import Settings
from plenum.reports.sheets import Sheet, limits, number, of_cells, provenance
from plenum.reports.tables.estimates import fitted


def diagnostics(rows: Sequence[Row], chosen: Settings) -> Sheet:
    """What a λ̂ rests on: D at both ends, room to grow, other means over pairs, other fits."""
    names, same = shown(rows)
    exponent = symbol(rows)
    head = (
        *(*names, *("condition",) * same, "rounds fit", "D first", "D last", "cap", "headroom"),
        *("full", f"{exponent} - diffusion", f"RMS {exponent}", f"quenched {exponent}", "misfit"),
    )
    body = [(*named(row, names, same), *_diagnosed(row)) for row in rows]
    notes = (
        "rounds fit: used, + left out because D = 0; D: in the first and last of rounds "
        f"{fitted(rows, chosen)}; cap: the largest D that R replicates "
        "and K options allow; headroom: log(cap / D) per round; full: first round with D at half "
        "the cap (saturated)",
        f"RMS, quenched: {exponent} from the mean of D² and from the mean of log D over pairs, "
        "± jackknife standard error; misfit: residuals of log D on t (exponential) / on log t "
        "(power law)",
        *of_wordings(rows),
        provenance(rows),
    )
    return of_cells(f"Diagnostics of {exponent}", head, tuple(body), notes, len(names) + same)


def decisions(rows: Sequence[Row]) -> Sheet:
    """Decisions, majorities and switches: one column a seat."""
    names, same = shown(rows)
    seats = sorted({seat for row in rows for seat, _ in row.switches})
    head = (
        *(*names, *("condition",) * same, "flip rate", "pairwise disagreement"),
        *("first majority", "stable majority", *(f"switches {seat}" for seat in seats)),
    )
    body = [(*named(row, names, same), *_decided(row), *_switched(row, seats)) for row in rows]
    notes = (
        "flip rate: share off the modal decision [Clopper-Pearson]; pairwise disagreement: "
        "unbiased R/(R-1)·(1-Σp²) [95 %]; NONE is a decision of its own",
        "majorities: Kaplan-Meier median round [95 %], replicates with one / all; switches: mean "
        "changes of the top option in a replicate",
        provenance(rows),
    )
    return of_cells("Decisions", head, tuple(body), notes, len(names) + same)


def _diagnosed(row: Row) -> tuple[str, ...]:
    found = row.summary.lyapunov.diagnostics if row.summary else None
    if row.summary is None or found is None:
        return ("-",) * 10
    e = row.summary.lyapunov
    return (
        f"{e.rounds_used}+{e.zero_rounds}" if e.zero_rounds else str(e.rounds_used),
        number(found.d_first, 4),
        number(found.d_last, 4),
        number(found.cap, 3),
        number(found.headroom, 3) if math.isfinite(found.headroom) else "-",
        "-" if found.saturated_round is None else str(found.saturated_round),
        f"{found.excess:.3f} {limits(found.excess_ci_low, found.excess_ci_high, 3)}",
        f"{number(found.rms.value, 3)} ±{number(found.rms.se, 3)}",
        f"{number(found.quenched.value, 3)} ±{number(found.quenched.se, 3)}",
        f"{found.exponential_residual:.2f} / {found.power_residual:.2f}",
    )


def _decided(row: Row) -> tuple[str, ...]:
    s = row.summary
    if s is None:
        return ("-",) * 4
    shares = (
        f"{number(x.value, 3)} {limits(x.ci_low, x.ci_high, 3)}"
        for x in (s.flip_rate, s.disagreement)
    )
    majorities = (
        f"{number(t.median, 0)} [{number(t.ci_low, 0)}, {number(t.ci_high, 0)}], {t.events}/{t.n}"
        for t in (s.time_to_majority, s.time_to_stable)
    )
    return (*shares, *majorities)


def _switched(row: Row, seats: Sequence[str]) -> list[str]:
    """The mean switches of some seats; a dash for one that the committee doesn't have."""
    means = dict(row.switches)
    return [number(means.get(seat, math.nan), 1) for seat in seats]
