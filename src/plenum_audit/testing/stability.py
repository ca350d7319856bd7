"""``assert_stable``: an audit as an assertion, in pytest or anywhere else."""

import tempfile
import unittest
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:  # pytest loads this file whenever it starts
    from plenum.design.settings import Backend
    from plenum_audit.dynamics.audit_result import AuditResult
    from plenum_audit.programs.adapters import Program
    from plenum_audit.programs.case import Case
    from plenum_audit.programs.compose import Audit
    from plenum_audit.programs.condition import ProgramCondition

Undecided = Literal["fail", "skip", "pass"]


def assert_stable(
    committee: Callable[..., Any] | str,
    case: "Case | str | Path",
    *,
    acceptable: float = 0.95,
    unacceptable: float = 0.80,
    max_runs: int = 100,
    undecided: Undecided = "fail",
    backend: "Backend | str" = "simulated",
    folder: Path | None = None,
    dollars: float | None = None,
    concurrency: int = 8,
    timeout_s: float = 600.0,
) -> "AuditResult":
    """Run a committee until it is clear whether it decides alike.

    Parameters
    ----------
    committee
        A function ``(case, run) -> decision``, async or not, which is called in this process; or
        ``FILE.py:NAME``, which runs in a process of its own.
    case
        A case, or a file or a folder of them.
    acceptable, unacceptable, max_runs
        When it counts as stable, as for ``scripts/audit.py``.
    undecided
        What becomes of the test where ``max_runs`` show neither.
    backend
        What answers its calls: ``simulated``, ``api``, or a backend's settings.
    folder
        Where journals, the tracking store and the outputs go: evidence then accumulates from one
        test run to the next. A temporary folder, without outputs, where it isn't given.
    dollars
        What it may cost.
    concurrency, timeout_s
        Runs in flight, and the seconds of each.

    Returns
    -------
    AuditResult
        The verdicts.

    Raises
    ------
    AssertionError
        It is unstable, or undecided where that fails, or was stopped before a verdict; the message
        has a line a case.
    unittest.SkipTest
        It is undecided, and ``undecided="skip"``; pytest skips the test.
    UserError
        Something can't work, as a file without a case.
    """
    from plenum.base.errors import UserError
    from plenum_audit.dynamics.audits import STABLE, UNDECIDED
    from plenum_audit.execution import audit as audits
    from plenum_audit.gating import audited

    __tracebackhide__ = True  # pytest shows the line of the test
    settings = {"acceptable": acceptable, "unacceptable": unacceptable, "max_runs": max_runs}
    with tempfile.TemporaryDirectory() as scratch:
        place, uri = folder or Path(scratch), None
        if folder is not None:
            uri = f"sqlite:///{folder.resolve()}/mlflow.db"
        audit = _audit(
            *(committee, case, backend, timeout_s),
            settings={**settings, "concurrency": concurrency, "out": str(place)},
            how={"journals": str(place / "journals"), "tracking_uri": uri, "dollars": dollars},
        )
        try:
            result = audits.run(audit) if folder is None else audited(audit)
        except UserError as error:
            raise UserError(str(error)) from None
        assert result is not None
    verdict, lines = result.family.verdict, "\n".join(result.lines())
    is_open = verdict == UNDECIDED and not result.stopped
    if verdict == STABLE or (is_open and undecided == "pass"):
        return result
    if is_open and undecided == "skip":
        raise unittest.SkipTest(lines)
    raise AssertionError(lines)


def _audit(
    committee: Callable[..., Any] | str,
    case: "Case | str | Path",
    backend: "Backend | str",
    timeout_s: float,
    settings: dict[str, Any],
    how: dict[str, Any],
) -> "Audit":
    """The audit of a committee, as ``scripts/audit.py`` composes it from a config."""
    from plenum.design.condition import Job
    from plenum.design.settings import Budget, Calls
    from plenum_audit.design import AuditConfig, CommitteeConfig
    from plenum_audit.programs import adapters, cases
    from plenum_audit.programs.case import Case
    from plenum_audit.programs.compose import Audit

    if isinstance(committee, str):
        called = adapters.Committee(target=committee, timeout_s=timeout_s)
        program = adapters.program(called)
    else:
        program = adapters.in_process(committee)
        called = adapters.Committee(target=program.name, isolate="none", timeout_s=timeout_s)
    given = (cases.require_apart(case),) if isinstance(case, Case) else cases.load(case)
    jobs = [
        Job(
            condition=_condition(program, each, backend),
            study="audit",
            replicates=settings["max_runs"],
            calls=Calls(),
            budget=Budget(dollars=how["dollars"]),
            prices={},
            tracking_uri=how["tracking_uri"],
            journals=how["journals"],
            dry_run=False,
            retry_failed=False,
            config="",
            traces="none",
            objective="share",
        )
        for each in given
    ]
    config = AuditConfig(CommitteeConfig(target=called.target), case=str(case), **settings)
    return Audit(config, tuple(jobs), called, program)


def _condition(program: "Program", case: "Case", backend: "Backend | str") -> "ProgramCondition":
    from plenum.design.settings import Api, Sampling, Simulated
    from plenum_audit.programs.compose import OWN_MODELS
    from plenum_audit.programs.condition import ProgramCondition

    named: dict[str, Backend] = {"simulated": Simulated(), "api": Api()}
    return ProgramCondition(
        model=OWN_MODELS,
        sampling=Sampling(),
        backend=named[backend] if isinstance(backend, str) else backend,
        rounds=1,
        seed=0,
        committee=program.name,
        program=program.identity,
        case=case,
        knobs={name: values[0] for name, values in program.knobs.items()},
        overrides={},
    )
