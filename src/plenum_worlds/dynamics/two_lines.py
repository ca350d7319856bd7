"""The two-lines test of an inverted U: y rises with x and then falls.

A parabola can't show that. Any curvature, such as a logarithm's, gives it a negative quadratic term
and a peak somewhere. Here one line is fitted to low x and another one to high x, and an inverted U
needs a significant rise and a significant fall (Simonsohn 2018, "Two lines: a valid alternative to
the invalid testing of U-shaped relationships with quadratic regressions").
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from plenum.dynamics.estimate import two_sided_p
from plenum.dynamics.fit import Floats
from plenum_worlds.dynamics.smoothing import spline

FEW_POINTS = 10
"""Number of points on a side of the breakpoint below which there is a warning."""

FEW_GROUPS = 10
"""Number of groups below which there is a warning."""

LEVEL = 0.05
"""Two-sided level of each slope."""

_Whole = NDArray[np.int_]


@dataclass(frozen=True)
class TwoLines:
    """Result of the two-lines test.

    Attributes
    ----------
    breakpoint
        The border between the lines; points on it belong to both.
    slope_low, se_low, p_low
        Slope below it, its robust standard error, two-sided p (Student's t).
    slope_high, se_high, p_high
        The same above it.
    inverted_u
        A rise below and a fall above, each with p < 0.05.
    n, n_groups
        Numbers of points, and of the independent groups that they form.
    warnings
        ``dropped_nan``, ``constant_x``, ``few_values`` (of x: fewer than 5), ``few_low`` and
        ``few_high`` (points on a side), ``few_groups``.
    """

    breakpoint: float = math.nan
    slope_low: float = math.nan
    se_low: float = math.nan
    p_low: float = math.nan
    slope_high: float = math.nan
    se_high: float = math.nan
    p_high: float = math.nan
    inverted_u: bool = False
    n: int = 0
    n_groups: int = 0
    warnings: tuple[str, ...] = ()


def fit_two_lines(x: ArrayLike, y: ArrayLike, groups: ArrayLike | None = None) -> TwoLines:
    """Test for an inverted U, with the breakpoint of the Robin Hood algorithm.

    A penalised cubic spline is fitted. In the middle 80 % of the data, the points where it comes
    within one standard error of its maximum are the flat region. Lines on both sides of their
    median have test statistics t₁ and t₂; the breakpoint is the quantile t₂ / (t₁ + t₂) of the flat
    region, which gives points to the weaker line.

    Standard errors are HC3 without groups. With groups they are those of the delete-one-group
    jackknife (CV3), which equals HC3 if each group is one point.

    Parameters
    ----------
    x, y
        Shape (n,). Pairs with a value that isn't finite are left out.
    groups
        Labels of dependent points, such as the episode of each round, shape (n,); None for
        independent points.

    Raises
    ------
    ValueError
        The lengths differ.
    """
    x, y, members, dropped = _check(x, y, groups)
    count = len(np.unique(members))
    values = len(np.unique(x))
    warned = ["dropped_nan"] if dropped else []
    if values == 1:
        warned.append("constant_x")
    if 1 < values < 5:
        warned.append("few_values")
    if count < FEW_GROUPS:
        warned.append("few_groups")
    if values < 5:
        return TwoLines(n=len(x), n_groups=count, warnings=tuple(warned))
    where = _robin_hood(x, y, members)
    low, high = (_line(x, y, members, side) for side in (x <= where, x >= where))
    if (x <= where).sum() < FEW_POINTS:
        warned.append("few_low")
    if (x >= where).sum() < FEW_POINTS:
        warned.append("few_high")
    return TwoLines(
        float(where),
        *low,
        *high,
        inverted_u=bool(low[2] < LEVEL and high[2] < LEVEL and low[0] > 0 > high[0]),
        n=len(x),
        n_groups=count,
        warnings=tuple(warned),
    )


def _check(
    x: ArrayLike, y: ArrayLike, groups: ArrayLike | None
) -> tuple[Floats, Floats, _Whole, bool]:
    x_values, y_values = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    names = np.arange(x_values.size) if groups is None else np.asarray(groups)
    if x_values.ndim != 1 or not x_values.shape == y_values.shape == names.shape:
        raise ValueError(
            f"x, y, groups have one length, not {x_values.shape}, {y_values.shape}, {names.shape}"
        )
    kept = np.isfinite(x_values) & np.isfinite(y_values)
    members = np.unique(names[kept], return_inverse=True)[1]
    return x_values[kept], y_values[kept], members, not kept.all()


def _robin_hood(x: Floats, y: Floats, members: _Whole) -> float:
    """Return the breakpoint at the maximum of y's spline."""
    level, error = spline(x, y)
    low, high = np.quantile(x, [0.1, 0.9])
    middle = (x > low) & (x < high)
    if not middle.any():  # few values of x, and most points lie on its ends
        middle = (x > x.min()) & (x < x.max())
    flat = x[middle & (level + error >= level[middle].max())]
    centre = np.median(flat)
    lines = (_line(x, y, members, side) for side in (x <= centre, x >= centre))
    first, second = (abs(slope / se) if se > 0 else 0.0 for slope, se, _ in lines)
    share = second / (first + second) if first + second > 0 else 0.5
    return float(np.quantile(flat, share))


def _line(
    x: Floats, y: Floats, members: _Whole, side: NDArray[np.bool_]
) -> tuple[float, float, float]:
    """Return slope on one side, its standard error, and two-sided p."""
    centred = x[side] - x[side].mean() if side.any() else x[side]
    return _coefficient(np.column_stack([np.ones(len(centred)), centred]), y[side], members[side])


def _coefficient(design: Floats, y: Floats, members: _Whole) -> tuple[float, float, float]:
    """Return the last least-squares coefficient, jackknife standard error, two-sided p.

    The squared changes from leaving out each group are summed (HC3), times (G-1)/G if a group has
    several points (CV3). NaN if a group can't be left out.
    """
    nan = float("nan")
    points, terms = design.shape
    names, code = np.unique(members, return_inverse=True)
    if points <= terms or np.linalg.matrix_rank(design) < terms:
        return nan, nan, nan
    if np.ptp(y) == 0:  # float residue would have a slope, and make it significant
        return 0.0, 0.0, 1.0
    inverse = np.linalg.inv(design.T @ design)
    coefficients = inverse @ design.T @ y
    score = design * (y - design @ coefficients)[:, None]
    count = len(names)
    sums, squares = np.zeros((count, terms)), np.zeros((count, terms, terms))
    np.add.at(sums, code, score)
    np.add.at(squares, code, design[:, :, None] * design[:, None, :])
    gram = design.T @ design
    rest = gram - squares
    left = np.einsum("gii->gi", rest)
    if (left <= 1e-12 * np.diag(gram)).any():  # nothing but float residue without that group
        return float(coefficients[-1]), nan, nan
    scale = np.sqrt(left)
    if (np.linalg.cond(rest / (scale[:, :, None] * scale[:, None, :])) > 1e10).any():
        return float(coefficients[-1]), nan, nan
    moved = np.linalg.solve(rest, sums[..., None])[:, -1, 0]
    single = count == points
    variance = float((moved**2).sum()) * (1.0 if single else (count - 1) / count)
    df = points - terms if single else count - 1
    error = math.sqrt(variance)
    return float(coefficients[-1]), error, two_sided_p(float(coefficients[-1]), error, df)
