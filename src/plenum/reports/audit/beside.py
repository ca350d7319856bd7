"""What an audit was told beside its runs' tables: what would steady it, baseline, control."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from plenum.dynamics.audit_baseline import Comparison
from plenum.dynamics.audit_result import AuditResult
from plenum.dynamics.audit_result import Option as Tried


@dataclass(frozen=True)
class Option:
    """A way to run the program, over all cases; see :class:`plenum.dynamics.audit_result.Option`.

    Attributes
    ----------
    share, low, high
        In the case whose runs decide least alike; ``None`` without runs.
    calls, dollars
        Of a run, on average; ``None`` where they aren't known.
    accuracy
        ``None`` where no right answer is known.
    """

    name: str
    share: float | None
    low: float
    high: float
    runs: int
    calls: float | None
    dollars: float | None
    accuracy: float | None
    verdict: str
    constant: bool


@dataclass(frozen=True)
class Compared:
    """A case beside the same case of an earlier program.

    Attributes
    ----------
    now, before, difference, low, high
        Shares of runs that decide alike, their difference, and its interval.
    e_worse
        The e-value against: the share isn't smaller than it was.
    worse
        Whether that is shown among all cases.
    """

    case: str
    now: float
    runs_now: int
    before: float
    runs_before: int
    difference: float
    low: float
    high: float
    e_worse: float
    worse: bool
    decides_otherwise: bool


@dataclass(frozen=True)
class Control:
    """Chances that two runs of a case end differently: as it is, and without interaction."""

    case: str
    disagreement: float | None
    runs: int


@dataclass(frozen=True)
class Beside:
    """What there is beside the verdicts; empty where it wasn't wanted.

    Attributes
    ----------
    options, bound
        What was tried to steady it, the program as it is first; what any vote can gain, in words.
    errors
        What cut the audit short, one line each.
    """

    options: tuple[Option, ...] = ()
    bound: str = ""
    baseline: tuple[Compared, ...] = ()
    control: tuple[Control, ...] = ()
    errors: tuple[str, ...] = ()


def beside(results: AuditResult | None) -> Beside:
    """As plain data, with ``None`` for what isn't known."""
    if results is None:
        return Beside()
    comparisons, control = results.comparisons or {}, results.control or {}
    return Beside(
        options=tuple(map(_option, results.steadier)),
        bound=results.bound,
        baseline=tuple(_compared(c, each, results.worse) for c, each in comparisons.items()),
        control=tuple(
            Control(case, _known(each.disagreement), each.runs) for case, each in control.items()
        ),
        errors=results.errors,
    )


def _option(tried: Tried) -> Option:
    known = (_known(tried.calls), _known(tried.dollars), _known(tried.accuracy))
    share = (_known(tried.share), tried.low, tried.high)
    return Option(tried.name, *share, tried.runs, *known, tried.verdict, tried.constant)


def _compared(case: str, each: Comparison, worse: Sequence[str]) -> Compared:
    return Compared(
        case=case,
        now=each.now.share,
        runs_now=each.now.runs,
        before=each.before.share,
        runs_before=each.before.runs,
        difference=each.difference,
        low=each.low,
        high=each.high,
        e_worse=each.worse,
        worse=case in worse,
        decides_otherwise=each.decides_otherwise,
    )


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value
