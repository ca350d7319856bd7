"""Differences of decisions between conditions: how often runs disagree, and what they decide."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from plenum.dynamics.decision_arms import (
    DISAGREEMENT,
    LAW,
    Arms,
    Measure,
    compute_difference,
    compute_p,
    make_arms,
    make_share_measure,
)
from plenum.dynamics.decisions import NO_MAJORITY, Share, tally
from plenum.dynamics.estimate import Estimate, make_estimate
from plenum.dynamics.resampling import DRAWS


@dataclass(frozen=True)
class ShareContrast(Estimate):
    """The difference of one decision's share: see `DecisionContrast`.

    Attributes
    ----------
    decision
        An option's label, or ``NONE`` for no majority.
    cells
        The shares in the conditions, each with its own interval.
    """

    decision: str = ""
    cells: tuple[Share, ...] = ()


@dataclass(frozen=True)
class DecisionContrast(Estimate):
    """The difference of the pairwise disagreement, with those of what was decided.

    Attributes
    ----------
    value, se, ci_low, ci_high
        The difference, its standard error, and the 95 % interval.
    p
        Two-sided, by permutation: exact where both conditions follow one law, and in large samples
        right wherever they disagree equally often.
    p_law
        By permutation, exact: of one law, so that every decision is equally likely in both. NaN
        for an interaction.
    shares
        The difference for every decision that occurs, the most frequent first.
    cells
        The disagreement of each condition, in the order of the arguments.
    drawn
        True if labellings were drawn for p, because there are too many to list.
    """

    p_law: float = math.nan
    shares: tuple[ShareContrast, ...] = ()
    cells: tuple[Share, ...] = ()
    drawn: bool = False


def compare_decisions(
    treated: Sequence[str],
    control: Sequence[str],
    *,
    paired: bool = False,
    draws: int = DRAWS,
    seed: int = 0,
) -> DecisionContrast:
    """Compare what two conditions decide, and how often two runs of each disagree.

    The tests permute replicates between the arms. All labellings are listed with their
    probabilities, so that p is exact, unless there are more than 100,000: then some are drawn.
    Disagreements are compared after division by their standard error. Since two conditions can
    disagree equally often about different options, p is the larger one of two: with the decisions
    as they are, and with decisions named by their place in each arm (the most frequent one, the
    second ...). The first makes the test exact under one law, the second makes it hold where laws
    differ in names alone.

    Intervals are Student's t with Welch-Satterthwaite degrees of freedom. Standard errors are those
    of one more replicate for every decision of both arms, and for one that didn't occur: an arm of
    equal decisions isn't certain (Agresti and Caffo 2000).

    Parameters
    ----------
    treated, control
        One decision a replicate; ``NONE`` is a decision of its own. Two or more each.
    paired
        True if index r of both read the same wording. Then arms are swapped within pairs.
    draws, seed
        Of labellings where there are too many to list, and their seed.

    Returns
    -------
    DecisionContrast
        NaN where an arm has fewer than two replicates.

    Raises
    ------
    ValueError
        Paired arms differ in length, or ``draws`` is below 1.

    Examples
    --------
    >>> import plenum
    >>> on, off = ["A"] * 11 + ["B"] * 9, ["A"] * 19 + ["B"]
    >>> found = plenum.compare_decisions(on, off)
    >>> round(found.value, 2), round(found.p, 3), [s.decision for s in found.shares]
    (0.42, 0.008, ['A', 'B'])
    """
    if paired and len(treated) != len(control):
        raise ValueError(f"paired arms of {len(treated)} and {len(control)} replicates")
    if draws < 1:
        raise ValueError(f"draws: {draws}; at least 1")
    # Disagreement is of two runs, so an arm of one has none.
    if min(len(treated), len(control)) < 2:
        return DecisionContrast(n=len(treated) + len(control))
    names = tuple(tally([*treated, *control]))
    arms = make_arms(treated, control, names, paired, draws, seed)
    found = _contrast([arms], [1.0], names)
    # Of one law alone: an interaction of four cells has no pair of arms that would have to be
    # equal.
    return replace(found, p_law=compute_p([arms], [1.0], LAW)[0])


def decision_interaction(
    both: Sequence[str],
    first: Sequence[str],
    second: Sequence[str],
    neither: Sequence[str],
    *,
    draws: int = DRAWS,
    seed: int = 0,
) -> DecisionContrast:
    """Estimate the 2x2 interaction (both - first) - (second - neither) of decisions.

    The arms of one factor are permuted within each level of the other, and the other way round; p
    is the larger one. It is exact where one of the factors has no effect at all. Where both have
    one, it rests on the standard error by which the difference is divided.

    Parameters
    ----------
    both, first, second, neither
        Decisions in the four cells: both factors, the first alone, the second alone, none.
    draws, seed
        As for `compare_decisions`.

    Returns
    -------
    DecisionContrast
        The difference of differences; NaN where a cell has fewer than two replicates. Shares have
        intervals, and no p.

    Raises
    ------
    ValueError
        ``draws`` is below 1.

    Examples
    --------
    >>> import plenum
    >>> split, agreed = ["A"] * 10 + ["B"] * 10, ["A"] * 20
    >>> found = plenum.decision_interaction(split, agreed, agreed, agreed)
    >>> round(found.value, 2), found.p < 0.05, len(found.cells)
    (0.53, True, 4)
    """
    cells = (both, first, second, neither)
    if draws < 1:
        raise ValueError(f"draws: {draws}; at least 1")
    if min(map(len, cells)) < 2:
        return DecisionContrast(n=sum(map(len, cells)))
    names = tuple(tally([d for cell in cells for d in cell]))
    return _interaction([cells], [names], names, draws, seed)


def pool_decisions(
    cases: Sequence[Sequence[Sequence[str]]],
    *,
    paired: Sequence[bool] = (),
    draws: int = DRAWS,
    seed: int = 0,
) -> DecisionContrast:
    """Average the difference of two conditions, or a 2x2 interaction, over scenarios.

    Each scenario has the same weight. Replicates change places within each scenario (a stratified
    permutation), so that the test is exact where no scenario has an effect; that of an interaction
    is right as `decision_interaction` is. The mean is that of these scenarios: it says nothing
    about others. Of shares only that of no majority has a meaning in all scenarios.

    Parameters
    ----------
    cases
        Decisions of the treated and of the control condition in each scenario; or those of the four
        cells of a 2x2, in the order that `decision_interaction` takes them.
    paired
        True if the replicates of each scenario are pairs; by default none are.
    draws, seed
        As for `compare_decisions`.

    Returns
    -------
    DecisionContrast
        ``n`` counts scenarios. Scenarios with fewer than two replicates in a cell are left out.

    Raises
    ------
    ValueError
        Cases aren't all of two or all of four cells, ``paired`` has another length than ``cases``,
        or ``draws`` is below 1.

    Examples
    --------
    >>> import plenum
    >>> case = ["A"] * 6 + ["B"] * 4, ["A"] * 10
    >>> found = plenum.pool_decisions([case] * 3)
    >>> round(found.value, 2), found.p < 0.01, found.n
    (0.53, True, 3)
    """
    flags = list(paired) or [False] * len(cases)
    if len(flags) != len(cases) or draws < 1:
        raise ValueError(f"{len(flags)} values of paired for {len(cases)} cases; draws: {draws}")
    if {*map(len, cases)} not in ({2}, {4}, set()):
        raise ValueError("cases: two arms each, or four cells each")
    kept = [each for each in zip(cases, flags, strict=True) if min(map(len, each[0])) > 1]
    if not kept:
        return DecisionContrast()
    names = [_none_last(cells) for cells, _ in kept]
    if len(kept[0][0]) == 4:
        squares = [cells for cells, _ in kept]
        return replace(_interaction(squares, names, (NO_MAJORITY,), draws, seed), n=len(kept))
    strata = [
        make_arms(cells[0], cells[1], known, flag, draws, seed)
        for (cells, flag), known in zip(kept, names, strict=True)
    ]
    # Equal weights: the scenarios are the units, however many replicates each has.
    mean = [1 / len(strata)] * len(strata)
    found = _contrast(strata, mean, (NO_MAJORITY,))
    law, _ = compute_p(strata, mean, LAW)
    return replace(found, p_law=law, n=len(strata))


def _interaction(
    squares: Sequence[Sequence[Sequence[str]]],
    names: Sequence[tuple[str, ...]],
    of_shares: tuple[str, ...],
    draws: int,
    seed: int,
) -> DecisionContrast:
    """Average the interaction over squares, whose decisions have these names."""
    by_first, by_second = (
        _contrast(
            [
                make_arms(square[i], square[j], known, False, draws, seed)
                for square, known in zip(squares, names, strict=True)
                for i, j in way
            ],
            [1 / len(squares), -1 / len(squares)] * len(squares),
            of_shares,
        )
        # (both - second) - (first - neither) permutes the first factor within levels of the second;
        # (both - first) - (second - neither) permutes the second one. Both are the same number.
        for way in (((0, 2), (1, 3)), ((0, 1), (2, 3)))
    )
    # How often tests of single shares are wrong where both factors have an effect isn't known.
    shares = tuple(replace(one, p=math.nan) for one in by_second.shares)
    drawn = by_first.drawn or by_second.drawn
    # Which factor does nothing isn't known: the larger p is right if either test is.
    return replace(by_second, p=max(by_first.p, by_second.p), shares=shares, drawn=drawn)


def _none_last(cells: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """List the decisions of some cells; no majority is always the last one."""
    decided = tally([decision for cell in cells for decision in cell])
    return (*(d for d in decided if d != NO_MAJORITY), NO_MAJORITY)


def _contrast(
    strata: Sequence[Arms], coefficients: Sequence[float], names: Sequence[str]
) -> DecisionContrast:
    """Contrast arms by a sum of differences; their decisions end with those of ``names``."""
    found, cells, drawn = _difference(strata, coefficients, DISAGREEMENT)
    shares = []
    for at, name in enumerate(names):
        # Counted from the end, since scenarios share no decision but the last one, no majority.
        one, both, _ = _difference(strata, coefficients, make_share_measure(at - len(names)))
        shares.append(ShareContrast(**vars(one), decision=name, cells=both))
    return DecisionContrast(**vars(found), shares=tuple(shares), cells=cells, drawn=drawn)


def _difference(
    strata: Sequence[Arms], coefficients: Sequence[float], measure: Measure
) -> tuple[Estimate, tuple[Share, ...], bool]:
    """Estimate a sum of differences, with what it is made of, and whether p rests on draws."""
    value, se, df = compute_difference(strata, coefficients, measure)
    p, drawn = compute_p(strata, coefficients, measure)
    # In the same order by frequency both namings are one, and so is their p.
    if measure.nameless and not all(arms.same_ranks for arms in strata):
        by_rank, also = compute_p([arms.rank_decisions() for arms in strata], coefficients, measure)
        p, drawn = max(p, by_rank), drawn or also
    n = sum(arms.size for arms in strata)
    how = "swaps within pairs" if any(arms.joint is not None for arms in strata) else "permutation"
    method = f"{how}, {f'{strata[0].draws:,} draws' if drawn else 'exact'}"
    cells = tuple(measure.share(counts) for arms in strata for counts in arms.both)
    found = make_estimate(value, se, df, n, method)
    most = float(sum(map(abs, coefficients)))  # what such a sum of shares can be at most
    low, high = max(found.ci_low, -most), min(found.ci_high, most)
    return replace(found, ci_low=low, ci_high=high, p=p), cells, drawn
