"""What a study found and what it didn't, as plain facts for a few sentences after its tables."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from plenum.dynamics import Pooled, Share
from plenum.reports.article.comparisons import shown_of, suspicious, with_estimate
from plenum.reports.article.decided import flips, fragility
from plenum.reports.article.families import Tested, holds, hopeless, shaky
from plenum.reports.article.material import Kind, Material
from plenum.reports.article.rendering import paragraphs
from plenum.reports.article.told_exponents import NO_SLOPE
from plenum.reports.article.told_wordings import growth_beyond
from plenum.reports.article.words import estimated, listed
from plenum.reports.effects import Effect
from plenum.reports.rows import Row
from plenum.reports.study import Study


@dataclass(frozen=True)
class Slopes:
    """What was shown of one kind of λ̂; conditions are told by their names.

    Attributes
    ----------
    symbol, perturbed
        What it is called, and whether it is growth between wordings.
    conditions, fitted
        How many deliberated, and how many of them have a λ̂.
    without
        Why the others have none, and how many.
    value
        The estimate with its interval, of the only condition.
    up, down, faster, slower
        Where D(t) was shown to grow, to contract, and to do so faster and slower than diffusion.
    still, like_diffusion
        In how many conditions neither growth nor contraction, and no difference from diffusion,
        was shown.
    shaky
        Warnings that those shown carry, and how many of them.
    too_few
        The numbers of replicates, where so few could not have shown growth.
    """

    symbol: str
    perturbed: bool
    conditions: int
    fitted: int
    without: tuple[tuple[str, int], ...]
    value: str
    up: tuple[str, ...]
    down: tuple[str, ...]
    faster: tuple[str, ...]
    slower: tuple[str, ...]
    still: int
    like_diffusion: int
    shaky: tuple[tuple[str, int], ...]
    too_few: str


@dataclass(frozen=True)
class Compared:
    """The comparisons of one kind: what they could show, those that do, and of how many."""

    what: str
    shown: tuple[str, ...]
    tested: int


@dataclass(frozen=True)
class Most:
    """The largest share: of how many units, and the conditions that have it."""

    count: int
    n: int
    where: tuple[str, ...]


@dataclass(frozen=True)
class Findings:
    """What a study of committees found.

    Attributes
    ----------
    conditions, simulated, tiny
        How many there are, and how many were answered by simulated agents and by the tiny model.
    failed, pending
        Replicates that are in no estimate.
    slopes
        By kind of λ̂.
    decided, flips, alike, unseen
        Conditions with decisions; the largest flip rate; in how many all replicates decided alike,
        and the share that could still decide otherwise there.
    fragility
        The largest share of wordings that change the decision.
    branches
        Conditions of continuations, and what their growth was shown to be.
    compared
        Contrasts, interactions, pooled effects and differences of fragility.
    suspicious
        Warnings of what was shown to differ, with which it need not be growth.
    """

    conditions: int
    simulated: int
    tiny: int
    failed: int
    pending: int
    slopes: tuple[Slopes, ...]
    decided: int
    flips: Most | None
    alike: int
    unseen: float
    fragility: Most | None
    branches: tuple[tuple[str, str], ...]
    compared: tuple[Compared, ...]
    suspicious: tuple[str, ...]


def sentences(study: Study) -> list[str]:
    """What a study of committees found, what it didn't show, and what is left out."""
    return paragraphs("findings.txt", f=findings(Material(study, (), {})), unit="replicate")


def findings(material: Material) -> Findings:
    """The facts behind the sentences of a study of committees."""
    rows = {row.tracked.identity: row for row in material.rows}.values()
    decided, study = material.decided, material.study
    return Findings(
        conditions=len(material.rows),
        simulated=sum(row.tracked.simulated for row in material.rows),
        tiny=sum(row.tracked.tiny for row in material.rows),
        failed=sum(row.failed for row in rows),
        pending=sum(row.pending for row in rows),
        slopes=tuple(_slopes(material, kind) for kind in material.kinds),
        decided=len(decided.rows),
        flips=_most(material, decided.rows, flips),
        alike=len(decided.alike),
        unseen=decided.unseen,
        fragility=_most(material, decided.fragile, fragility),
        branches=tuple(
            (material.name(row), growth_beyond(row.branches))
            for row in material.branched
            if row.branches is not None
        ),
        compared=tuple(_compared(material)),
        suspicious=tuple(suspicious(shown_of([*study.contrasts, *study.interactions]))),
    )


def _slopes(material: Material, kind: Kind) -> Slopes:
    found, tests = kind.verdicts, kind.tested
    once = [row for row in kind.rows if not row.tracked.rerun]
    reasons = Counter(NO_SLOPE[row.status] for row in once if row.status in NO_SLOPE)
    moved = (*found.up, *found.down, *found.faster, *found.slower)
    carried = shaky([t.fit for t in tests if any(t is other for other in moved)])
    counts = sorted({t.fit.row.n for t in tests})
    e = kind.fits[0].exponent if len(kind.fits) == 1 else None

    def names(own: Sequence[Tested]) -> tuple[str, ...]:
        return tuple(material.name(t.fit.row) for t in own)

    return Slopes(
        symbol=kind.symbol,
        perturbed=kind.perturbed,
        conditions=len(once),
        fitted=len(kind.fits),
        without=tuple(reasons.items()),
        value=estimated(e.value, e.ci_low, e.ci_high) if e else "",
        up=names(found.up),
        down=names(found.down),
        faster=names(found.faster),
        slower=names(found.slower),
        still=found.rest + len(found.split),
        like_diffusion=len(tests) - len(found.faster) - len(found.slower),
        shaky=tuple((warning, len(own)) for warning, own in carried.items()),
        too_few=listed([str(n) for n in counts], "or") if hopeless(tests) else "",
    )


def _most(material: Material, rows: Sequence[Row], share: Callable[[Row], Share]) -> Most | None:
    """The largest share of some conditions; none where a single replicate can't differ."""
    known = [row for row in rows if row.n > 1]
    if not known:
        return None
    top = max(map(share, known), key=lambda found: found.value)
    where = [material.name(row) for row in known if share(row).value == top.value]
    return Most(round(top.value * top.n), top.n, tuple(where))


def _compared(material: Material) -> Iterator[Compared]:
    study = material.study
    measured = [e for e in study.contrasts if math.isfinite(e.contrast.value)]
    for factor in dict.fromkeys(e.name.split(" ")[0] for e in measured):
        own = [e for e in measured if e.name.split(" ")[0] == factor]
        yield _effects(f"an effect of {factor}", own)
    interactions = [e for e in study.interactions if math.isfinite(e.contrast.value)]
    if interactions:
        yield _effects("an interaction of both", interactions)
    means = [a for a in study.across if isinstance(a.estimate, Pooled) and a.estimate.n]
    if means:
        pooled = [a for a in means if holds(a.p_holm, a.estimate.ci_low, a.estimate.ci_high)]
        yield Compared("a mean effect over scenarios", tuple(a.name for a in pooled), len(means))
    changes = [c for c in material.changes if not math.isnan(c.contrast.value)]
    if changes:
        shown = [c for c in changes if holds(c.p_holm, c.contrast.ci_low, c.contrast.ci_high)]
        yield Compared("a difference of fragility", tuple(c.name for c in shown), len(changes))


def _effects(what: str, own: Sequence[Effect]) -> Compared:
    shown = shown_of(own)
    return Compared(what, tuple(with_estimate(effect, own) for effect in shown), len(own))
