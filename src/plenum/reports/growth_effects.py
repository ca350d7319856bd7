"""Growth of a typical pair compared between conditions, and over scenarios."""

from collections.abc import Sequence

from plenum.dynamics.growth_contrasts import GrowthContrast, contrast_growth, pool_growth
from plenum.reports.effects import (
    CONTRASTED,
    ComparedConditions,
    Effect,
    adjust_family,
    group_shared,
    measure_family,
    pairs,
    select_deliberations,
)
from plenum.reports.rows import Row
from plenum.reports.settings import Settings

GrowthEffect = Effect[GrowthContrast]


def compare_growth_rates(rows: Sequence[Row], chosen: Settings) -> list[GrowthEffect]:
    """Compare the growth of every level of a factor with its reference, with all else equal.

    Conditions of a large study, whose arrays lie elsewhere, are left out.
    """

    def measure(pair: ComparedConditions) -> GrowthEffect:
        treated, control = (row.tracked.ensemble for row in pair.cells)
        found = contrast_growth(
            treated, control, chosen.window, draws=chosen.draws, seed=chosen.seed
        )
        warned = tuple(dict.fromkeys(name for row in pair.cells for name in row.warnings))
        more = {
            "n": tuple(row.n for row in pair.cells),
            "growth": tuple(cell.value for cell in found.cells),
        }
        return Effect("growth_contrasts", *pair, found, warned, more=more)

    # Arrays of a large study would be read for every pair of levels, which takes hours.
    able = [row for row in select_deliberations(rows) if not row.tracked.outline]
    families = [measure_family(pairs(able, name), measure, adjust_family) for name in CONTRASTED]
    return [effect for family in families for effect in family]


def average_growth_rates(effects: Sequence[GrowthEffect]) -> list[GrowthEffect]:
    """Average effects that several scenarios share: for these, and for scenarios like these."""
    means = []
    for others, group in group_shared(effects):
        # A mean has no p: which of both intervals a test would be of depends on what is claimed.
        mean, (low, high) = pool_growth([effect.estimate for effect in group])
        carried = tuple(dict.fromkeys(name for effect in group for name in effect.warnings))
        n = sum(row.n for effect in group for row in effect.cells)
        more = {"like_low": low, "like_high": high, "n": n, "growth": ()}
        more["fewest"] = min(effect.fewest for effect in group)
        means.append(
            Effect("growth_contrasts", group[0].name, others, (), mean, (), carried, more=more)
        )
    return means
