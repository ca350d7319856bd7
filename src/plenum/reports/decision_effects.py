"""Decisions compared between conditions: disagreement, shares, interactions, over scenarios."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache, partial
from math import isnan, nan
from typing import Any, cast

from plenum.dynamics.decision_contrasts import (
    DecisionContrast,
    ShareContrast,
    compare_decisions,
    decision_interaction,
    pool_decisions,
)
from plenum.dynamics.meta_analysis import limit_scenarios
from plenum.dynamics.multiplicity import holm
from plenum.reports.effects import (
    CONTRASTED,
    INTERACTION,
    ComparedConditions,
    Effect,
    adjust_family,
    group_shared,
    measure_family,
    pad_family,
    pairs,
    read_wordings,
    same_wordings,
    select_deliberations,
    squares,
)
from plenum.reports.fragility import TOUCHING
from plenum.reports.rows import Row, has_mixed_environments
from plenum.reports.settings import Settings

DecisionEffect = Effect[DecisionContrast]
Counts = tuple[tuple[str, int], ...]


def compare_decisions_of_conditions(rows: Sequence[Row], chosen: Settings) -> list[DecisionEffect]:
    """Compare decisions of every level of a factor with its reference, with all else equal."""
    able, measure = select_deliberations(rows), partial(_contrast, chosen=chosen)
    families = [measure_family(pairs(able, factor), measure, _adjust) for factor in CONTRASTED]
    return [effect for family in families for effect in family]


def interact(rows: Sequence[Row], chosen: Settings) -> list[DecisionEffect]:
    """Estimate the interaction of roles and model, wherever all four cells exist."""

    def measure(square: ComparedConditions) -> DecisionEffect:
        cells = tuple(map(_counts, square.cells))
        return _effect(square, _interaction(cells, chosen.draws, chosen.seed))

    return measure_family(squares(rows), measure, _adjust)


def pool(effects: Sequence[DecisionEffect], chosen: Settings) -> list[DecisionEffect]:
    """Average effects that several scenarios share, by permutation within scenarios."""
    means = []
    for others, group in group_shared(effects):
        arms = [_arms(effect.cells) for effect in group]
        mean = pool_decisions(
            [cells for cells, _ in arms],
            paired=[paired for _, paired in arms],
            draws=chosen.draws,
            seed=chosen.seed,
        )
        carried = tuple(dict.fromkeys(name for effect in group for name in effect.warnings))
        n = sum(row.n for effect in group for row in effect.cells)
        fewest = min(effect.fewest for effect in group)
        low, high = limit_scenarios(
            [e.estimate.value for e in group if not isnan(e.estimate.value)]
        )
        more: dict[str, Any] = {"n": n, "disagreement": (), "fewest": fewest}
        more |= {"like_low": low, "like_high": high}
        name = group[0].name
        means.append(Effect("decision_contrasts", name, others, (), mean, (), carried, more))
    return _adjust(means, len(means))


def list_share_effects(effects: Sequence[DecisionEffect]) -> list[Effect[ShareContrast]]:
    """List the differences of shares; a family has those of all its decisions and contrasts.

    What nobody decided is one of these: which decisions occur isn't known before the runs.
    """
    families: dict[tuple[bool, str, int], list[Effect[ShareContrast]]] = {}
    tests: Counter[tuple[bool, str, int]] = Counter()
    for effect in effects:
        of = effect.name == INTERACTION, effect.name.split(" ")[0], len(effect.cells)
        family = families.setdefault(of, [])
        options = effect.cells[0].tracked.played[1] if effect.cells else 0
        tests[of] += max(options + 1, len(effect.estimate.shares))
        for share in effect.estimate.shares:
            shares = tuple(cell.value for cell in share.cells) if effect.cells else ()
            more = {
                "n": effect.more["n"],
                "scenarios": 1 if effect.cells else effect.estimate.n,
                "decision": share.decision,
                "shares": shares,
            }
            family.append(
                Effect(
                    "share_contrasts", effect.name, effect.others, effect.cells, share,
                    effect.warnings, effect.carried, more,
                )
            )  # fmt: skip
    return [
        effect for of, family in families.items() for effect in adjust_family(family, tests[of])
    ]


def adjust_law(effect: DecisionEffect) -> float:
    """Return the p of one law, adjusted over the effects of its family."""
    return cast(float, effect.more["p_law_holm"])


def _adjust(family: Sequence[DecisionEffect], tests: int) -> list[DecisionEffect]:
    """Adjust p over a family's effects: those of disagreement, and those of one law.

    An interaction has no test of one law, which hence isn't missing from the family.
    """
    tested = [effect.name != INTERACTION for effect in family]
    p = [e.estimate.p_law for e, known in zip(family, tested, strict=True) if known]
    laws = iter(holm(pad_family(p, tests - tested.count(False))))
    return [
        replace(effect, more={**effect.more, "p_law_holm": float(next(laws) if known else nan)})
        for effect, known in zip(adjust_family(family, tests), tested, strict=True)
    ]


def _contrast(pair: ComparedConditions, chosen: Settings) -> DecisionEffect:
    (treated, control), paired = _arms(pair.cells)
    if not paired:
        first, second = map(_counts, pair.cells)
        return _effect(pair, _comparison(first, second, chosen.draws, chosen.seed))
    settings = {"draws": chosen.draws, "seed": chosen.seed}
    return _effect(pair, compare_decisions(treated, control, paired=True, **settings))


def _effect(compared: ComparedConditions, found: DecisionContrast) -> DecisionEffect:
    """Make the effect, with the warnings of its conditions that concern decisions."""
    warned = [name for row in compared.cells for name in row.warnings if name in TOUCHING]
    if has_mixed_environments(compared.cells):
        warned.append("environments")
    if len({row.estimand for row in compared.cells}) > 1:
        warned.append("mixed_estimands")
    more: dict[str, Any] = {
        "n": tuple(cell.n for cell in found.cells) or tuple(row.n for row in compared.cells),
        "disagreement": tuple(cell.value for cell in found.cells),
    }
    warnings = tuple(dict.fromkeys(warned))
    return Effect("decision_contrasts", *compared, found, warnings, more=more)


def _arms(cells: Sequence[Row]) -> tuple[list[list[str]], bool]:
    """Return the decisions of each condition; pairs by wording where two read the same ones."""
    tracked = [row.tracked for row in cells]
    common = sorted(same_wordings(*tracked)) if len(tracked) == 2 else []
    if not common:
        return [_spread(_counts(row)) for row in cells], False
    decided = [dict(zip(read_wordings(t), t.decisions, strict=True)) for t in tracked]
    return [[known[reading] for reading in common] for known in decided], True


def _counts(row: Row) -> Counts:
    return tuple(row.decisions.items())


def _spread(counts: Counts) -> list[str]:
    return [decision for decision, n in counts for _ in range(n)]


@lru_cache(maxsize=4096)
def _comparison(treated: Counts, control: Counts, draws: int, seed: int) -> DecisionContrast:
    """Compare two conditions by their counts; in a large study many are alike."""
    return compare_decisions(_spread(treated), _spread(control), draws=draws, seed=seed)


@lru_cache(maxsize=4096)
def _interaction(cells: tuple[Counts, ...], draws: int, seed: int) -> DecisionContrast:
    both, first, second, neither = map(_spread, cells)
    return decision_interaction(both, first, second, neither, draws=draws, seed=seed)
