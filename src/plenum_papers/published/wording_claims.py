"""Claims that 000 makes in words, each decided from the released runs."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from plenum.reports import format_p_value
from plenum_papers.published.cells import (
    Cell,
    Cells,
    Key,
    NoFileError,
    grows,
    growth,
    off_plurality,
    p_growth,
)
from plenum_papers.published.claims import key
from plenum_papers.published.verdicts import NOT_SHOWN, SHOWN, Decision, VerbalClaim, settle

_FRAGILE = ("HL-01", "IN-01", "SP-03", "CL-01")


def _select_hosted(cells: Cells) -> Sequence[tuple[Key, Cell]]:
    return _find("hosted runs", [(k, cell) for k, cell in cells.items() if k[5] == "variants20"])


def _landscape(cells: Cells) -> Sequence[tuple[Key, Cell]]:
    """Return the conditions of twelve scenarios at temperature 0, of uniform and mixed models."""
    usual = ("k15", "t0", "none")
    return _find(
        "deployed runs",
        [
            (k, cell)
            for k, cell in cells.items()
            if k[1] in ("on", "off") and k[2] in ("uniform", "mixed") and k[3:] == usual
        ],
    )


def _find(name: str, cells: Sequence[tuple[Key, Cell]]) -> Sequence[tuple[Key, Cell]]:
    if not cells:
        raise NoFileError(name)
    return cells


def _wordings_change(cells: Cells) -> Decision:
    shares = [off_plurality(cell) for _, cell in _select_hosted(cells)]
    changed = sum(share > 0 for share in shares)
    text = f"in {changed} of {len(shares)} conditions; mean fragility {np.mean(shares):.2f}"
    return settle(2 * changed > len(shares), text)


def _most_fragile(cells: Cells) -> Decision:
    """Compare the mean of both conditions of a scenario, with roles and without."""
    shares: defaultdict[str, list[float]] = defaultdict(list)
    for (scenario, *_), cell in _select_hosted(cells):
        shares[scenario].append(off_plurality(cell))
    means = {scenario: float(np.mean(values)) for scenario, values in shares.items()}
    if missing := [scenario for scenario in _FRAGILE if scenario not in means]:
        raise NoFileError(missing[0])
    least = min(means[scenario] for scenario in _FRAGILE)
    others = {s: mean for s, mean in means.items() if s not in _FRAGILE}
    above = [f"{s} {mean:.3f}" for s, mean in others.items() if mean > least]
    named = ", ".join(f"{s} {means[s]:.3f}" for s in _FRAGILE)
    text = f"{named}; above the least of these: {', '.join(above) or 'none'}"
    return settle(not above, text)


def _wordings_grow(cells: Cells) -> Decision:
    found = [cell for _, cell in _select_hosted(cells)]
    above, sure = sum(growth(cell) > 0 for cell in found), sum(map(grows, found))
    text = f"above 0 in {above} of {len(found)} conditions, shown in {sure}"
    return settle(above == len(found), text)


def _grows_in_families(cells: Cells) -> Decision:
    found = [
        (cells[key("HL-01", roles, "qwen2.5-7b", perturbation="variants20")].within(name))
        for roles in ("on", "off")
        for name in ("surface_rephrasing", "formatting_changes")
    ]
    values = (f"{growth(cell):.4f} (p {format_p_value(p_growth(cell))})" for cell in found)
    return (SHOWN if all(map(grows, found)) else NOT_SHOWN), ", ".join(values)


def _reruns_part(cells: Cells) -> Decision:
    shares = [off_plurality(cell) for _, cell in _landscape(cells)]
    apart = sum(share > 0 for share in shares)
    return settle(apart > 0, f"not all decide alike in {apart} of {len(shares)} conditions")


CLAIMS: tuple[VerbalClaim, ...] = (
    VerbalClaim("000, Fig. 1B", "other wordings often change the decision", _wordings_change),
    VerbalClaim(
        "000, Results", "HL-01, IN-01, SP-03 and CL-01 are the most fragile", _most_fragile
    ),
    VerbalClaim("000, Fig. 1C", "other wordings give a positive λ̂ everywhere", _wordings_grow),
    VerbalClaim(
        "000, Results", "HL-01: λ̂ is positive within both families of wordings", _grows_in_families
    ),
    VerbalClaim(
        "000, Abstract", "deployed committees end differently at temperature 0", _reruns_part
    ),
)
"""The claims of 000 that the released runs decide; those that it shares with 001 stand there."""
