"""``assert_stable``: an audit as an assertion, in pytest or elsewhere."""

import unittest
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:  # pytest loads this file whenever it starts
    from plenum_verdicts.cases.case import AuditCase
    from plenum_verdicts.dynamics.audit_result import AuditResult

Undecided = Literal["fail", "skip", "pass"]


def assert_stable(
    committee: Callable[..., Any] | str,
    case: "AuditCase | str | Path",
    *,
    undecided: Undecided = "fail",
    **settings: Any,
) -> "AuditResult":
    """Run a committee until its stability is decided, and fail unless it is stable.

    Parameters
    ----------
    committee, case
        As for ``plenum_audit.audit``.
    undecided
        Result of the test if ``max_runs`` don't decide.
    settings
        As for ``plenum_audit.audit``: ``acceptable``, ``max_runs``, ``folder`` and the others.

    Returns
    -------
    AuditResult
        The verdicts.

    Raises
    ------
    AssertionError
        It is unstable, or undecided with ``undecided="fail"``, or was stopped before a verdict; the
        message has a line per case.
    unittest.SkipTest
        It is undecided, and ``undecided="skip"``; pytest skips the test.
    UserError
        Something can't work, such as a file without a case.

    Examples
    --------
    >>> from pathlib import Path
    >>> import plenum_audit
    >>> case = Path("roof.yaml")
    >>> written = case.write_text("{text: Which bid for the roof?, options: [Alder, Birch]}")
    >>> def committee(case, run):
    ...     return min(case.options)
    >>> result = plenum_audit.assert_stable(committee, case, max_runs=40)
    >>> result.family.verdict
    'stable'
    """
    from plenum.base.errors import UserError
    from plenum_audit.notebook import audit
    from plenum_verdicts.dynamics.audits import STABLE, UNDECIDED

    __tracebackhide__ = True  # pytest shows the line of the test
    try:
        result = audit(committee, case, **settings)
    except UserError as error:
        raise UserError(str(error)) from None
    verdict, lines = result.family.verdict, "\n".join(result.lines())
    is_open = verdict == UNDECIDED and not result.stopped
    if verdict == STABLE or (is_open and undecided == "pass"):
        return result
    if is_open and undecided == "skip":
        raise unittest.SkipTest(lines)
    raise AssertionError(lines)
