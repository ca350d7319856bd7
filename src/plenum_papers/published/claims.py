"""Claims that 000 and 001 make in words, each decided from the released runs."""

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from plenum.dynamics import (
    Estimate,
    LyapunovEstimate,
    contrast,
    excludes_zero,
    interaction,
    switch_counts,
    time_to_majority,
)
from plenum.reports import format_p_value
from plenum_papers.published.cells import (
    Cell,
    Cells,
    Key,
    NoFileError,
    estimate_growth,
    grows,
    growth,
    p_growth,
)
from plenum_papers.published.verdicts import (
    CONTRADICTED,
    NO_TEST,
    NOT_CONTRADICTED,
    NOT_SHOWN,
    SHOWN,
    Decision,
    VerbalClaim,
    settle,
)

TEMPERATURES = ("t0", "t1e-5", "t1e-4", "t0.01", "t0.05", "t0.1", "t0.2", "t0.7")
POOLED = ("t0", "t0.01", "t0.05", "t0.1", "t0.2", "t0.7")
SEATS = ("chair", "welfare", "rights", "equity", "security")


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
    found = [estimate_growth(cells[key("IM-01", "on", temperature=t)]) for t in TEMPERATURES]
    values = np.array([each.value for each in found])
    text = f"λ̂ from {values.min():.3f} to {values.max():.3f}"
    without = sum(np.isnan(each.ci_low) for each in found)
    if without:
        return NO_TEST, f"{text}; {without} of {len(found)} have no interval"
    weights = 1 / np.array([each.se for each in found]) ** 2
    q = float((weights * (values - np.average(values, weights=weights)) ** 2).sum())
    p = float(chi2.sf(q, len(found) - 1))
    return (NOT_CONTRADICTED if p >= 0.05 else CONTRADICTED), f"{text}; Q = {q:.1f}, p = {p:.2f}"


def _near_zero(cells: Cells) -> Decision:
    above = [t for t in TEMPERATURES if p_growth(cells[key("IM-01", "off", temperature=t)]) < 0.05]
    text = (
        f"p of no growth is below 0.05 at {len(above)} of {len(TEMPERATURES)}: {', '.join(above)}"
    )
    return (NOT_CONTRADICTED if len(above) <= 1 else CONTRADICTED), text


def _overlap(cells: Cells) -> Decision:
    cold, hot = (estimate_growth(cells[key("IM-01", "on", temperature=t)]) for t in ("t0", "t0.7"))
    text = f"{format_interval(cold)} and {format_interval(hot)}"
    if np.isnan([cold.ci_low, hot.ci_low]).any():  # compared with NaN, nothing is ever apart
        return NO_TEST, text
    apart = cold.ci_low > hot.ci_high or hot.ci_low > cold.ci_high
    return (CONTRADICTED if apart else NOT_CONTRADICTED), text


def _first_round(cells: Cells) -> Decision:
    times = [
        time_to_majority(cells[key("IM-01", "off", temperature=t)].preferences, ties="first")
        for t in TEMPERATURES
    ]
    later = sum(int(((t.times > 1) | ~t.observed).sum()) for t in times)
    every = sum(t.n for t in times)
    return settle(not later, f"{later} of {every} runs later, or never")


def _judge_delay(cells: Cells) -> Decision:
    medians = [
        float(np.median(time_to_majority(cells[key("IM-01", "on", temperature=t)].preferences,
                                         ties="first").times))
        for t in ("t0", "t0.7")
    ]  # fmt: skip
    right = all(2 <= median <= 3 for median in medians)
    return settle(right, f"median rounds {medians[0]:g} and {medians[1]:g}")


def _never_stable(cells: Cells) -> Decision:
    shares = []
    for t in TEMPERATURES:
        found = time_to_majority(
            cells[key("IM-01", "on", temperature=t)].preferences, "stable", ties="first"
        )
        shares.append(1 - found.events / found.n)
    text = f"{100 * min(shares):.0f} to {100 * max(shares):.0f} % over eight temperatures"
    within = min(shares) >= 0.1 and max(shares) <= 0.2
    return settle(within, text)


def _switches(cells: Cells) -> tuple[NDArray[np.float64], str]:
    """Return mean switches by seat over the temperatures of Table S7, and their text."""
    runs = [cells[key("IM-01", "on", temperature=t)].preferences for t in POOLED]
    means = np.asarray(switch_counts(np.concatenate(runs), ties="first").mean)
    return means, ", ".join(f"{s} {mean:.2f}" for s, mean in zip(SEATS, means, strict=True))


def _most_switches(cells: Cells) -> Decision:
    means, text = _switches(cells)
    return settle(int(np.argmax(means)) == 0, text)


def _few_switches(cells: Cells) -> Decision:
    means, text = _switches(cells)
    return settle(bool((means[1:] < 1).all()), text)


def _grows(cells: Cells) -> Decision:
    cell = cells[key("HL-01", "off")]
    text = f"λ̂ {growth(cell):.4f}, p of no growth = {format_p_value(p_growth(cell))}"
    return (SHOWN if grows(cell) else NOT_SHOWN), text


def _judge_growth(cells: Cells) -> Decision:
    found = [cells[key(scenario, "off")] for scenario in _list_mixed(cells)]
    above, sure = sum(growth(cell) > 0 for cell in found), sum(map(grows, found))
    text = f"above 0 in {above} of {len(found)} scenarios, shown in {sure}"
    return settle(2 * above > len(found), text)


def _judge_elevation(roles: str, model: str, cells: Cells) -> Decision:
    scenarios = _list_mixed(cells)
    values = [
        [estimate_growth(cells[key(scenario, *design)]).value for scenario in scenarios]
        for design in ((roles, model), ("off", "uniform"))
    ]
    higher = sum(first > second for first, second in zip(*values, strict=True))
    return settle(2 * higher >= len(scenarios), f"in {higher} of {len(scenarios)} scenarios")


def _list_mixed(cells: Cells) -> list[str]:
    """Return the scenarios of the landscape, which mixed committees played too."""
    scenarios = sorted({k[0] for k in cells if k[2] == "mixed"})
    if not scenarios:
        raise NoFileError("mixed committees")
    return scenarios


def _difference(first: Key, second: Key, sign: int, cells: Cells) -> Decision:
    return _judge(_contrast(cells[first], cells[second]), sign)


def _contrast(first: Cell, second: Cell) -> Estimate:
    arms = (first, second)
    means = (cell.preferences.mean(axis=2) for cell in arms)
    return contrast(*means, decisions=[cell.decided for cell in arms])


def _interaction(scenario: str, cells: Cells) -> Decision:
    design = (("on", "mixed"), ("on", "uniform"), ("off", "mixed"), ("off", "uniform"))
    square = [cells[key(scenario, roles, model)] for roles, model in design]
    means = (cell.preferences.mean(axis=2) for cell in square)
    return _judge(interaction(*means, decisions=[cell.decided for cell in square]), -1)


def _judge(found: Estimate, sign: int) -> Decision:
    text = f"Δλ̂ {format_interval(found)}"
    if np.isnan(found.p):
        return NO_TEST, text
    p = format_p_value(found.p)
    text += f", p {p if p.startswith('<') else f'= {p}'}"
    if not (found.p < 0.05 and excludes_zero(found.ci_low, found.ci_high)):
        return NOT_SHOWN, text
    return (SHOWN if found.value * sign > 0 else CONTRADICTED), text


def _each(firsts: Sequence[Key], seconds: Sequence[Key], sign: int, cells: Cells) -> Decision:
    """Decide a claim on several differences: all of the sign, and how many of them are shown."""
    pairs = zip(firsts, seconds, strict=True)
    contrasts = [_contrast(cells[first], cells[second]) for first, second in pairs]
    found = [_judge(each, sign)[0] for each in contrasts]
    of_sign = sum(each.value * sign > 0 for each in contrasts)
    tested = len(found) - found.count(NO_TEST)
    text = f"of the sign in {of_sign} of {len(found)}, shown in {found.count(SHOWN)} of {tested}"
    text += " with a test"
    if CONTRADICTED in found:
        return CONTRADICTED, text
    return (found[0] if len(set(found)) == 1 else NOT_SHOWN), text


def _largest_ablation(cells: Cells) -> Decision:
    whole = estimate_growth(cells[key("HL-01", "on")]).value
    falls = {s: whole - estimate_growth(cells[key("HL-01", f"ablate_{s}")]).value for s in SEATS}
    text = ", ".join(f"{seat} {fall:+.4f}" for seat, fall in falls.items())
    return settle(max(falls, key=falls.__getitem__) == "chair", text)


def _lowest(cells: Cells) -> Decision:
    scenarios, count = _list_mixed(cells), 0
    for scenario in scenarios:
        values = {
            (roles, model): estimate_growth(cells[key(scenario, roles, model)]).value
            for roles in ("on", "off")
            for model in ("uniform", "mixed")
        }
        count += min(values, key=values.__getitem__) == ("off", "uniform")
    text = f"lowest of four in {count} of {len(scenarios)} scenarios"
    return settle(2 * count > len(scenarios), text)


def format_interval(found: Estimate | LyapunovEstimate) -> str:
    """Write an estimate with its interval."""
    if np.isnan(found.ci_low):
        return f"{found.value:.4f}"
    return f"{found.value:.4f} [{found.ci_low:.4f}, {found.ci_high:.4f}]"


_AT_K3 = [key(s, "on", memory="k3") for s in ("AI-01", "CL-01", "HL-01", "SP-03")]
_AT_K1 = [key(s, "on", memory="k1") for s in ("IM-01", "CL-01")]
_FIVE = ("IM-01", "HL-01", "CL-01", "SP-03", "AI-01")
_NO_CHAIR, _CHAIR = (
    [key(s, roles, perturbation="chair_ablation") for s in _FIVE]
    for roles in ("ablate_chair", "on")
)


def _with_roles(keys: Sequence[Key]) -> list[Key]:
    return [key(each[0], "on") for each in keys]


CLAIMS: tuple[VerbalClaim, ...] = (
    VerbalClaim("001, Fig. 1", "HL-01: λ̂ of a uniform committee without roles is above 0", _grows),
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
        "001, Fig. 4", "uniform without roles: λ̂ is above 0 in most scenarios", _judge_growth
    ),
    VerbalClaim(
        "001, Fig. 4",
        "uniform: λ̂ is higher with roles in at least half of the scenarios",
        partial(_judge_elevation, "on", "uniform"),
    ),
    VerbalClaim(
        "001, Fig. 4",
        "without roles: λ̂ is higher with mixed models in at least half of the scenarios",
        partial(_judge_elevation, "off", "mixed"),
    ),
    VerbalClaim(
        "001, Fig. 2A", "HL-01: of all mandates the Chair's raises λ̂ most", _largest_ablation
    ),
    VerbalClaim(
        "001, Fig. 2B",
        "the Chair's mandate raises λ̂ in five scenarios",
        partial(_each, _NO_CHAIR, _CHAIR, -1),
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
        "001, Fig. S3", "IM-01: the other seats change less than once a run", _few_switches
    ),
    VerbalClaim(
        "001, Fig. S4", "IM-01 without roles: every run has a majority in round 1", _first_round
    ),
    VerbalClaim("001, Fig. S4", "IM-01 with roles: a majority comes in round 2 or 3", _judge_delay),
    VerbalClaim(
        "001, Fig. S4", "IM-01 with roles: 10 to 20 % never have a stable majority", _never_stable
    ),
    VerbalClaim(
        "001, Fig. S7",
        "IM-01: λ̂ over six wordings is below that over twenty reruns",
        partial(_difference, key("IM-01", "on", perturbation="registers6"), key("IM-01", "on"), -1),
    ),
)
"""The claims of 001 that the released runs decide, in the order of the paper."""
