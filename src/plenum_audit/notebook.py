"""Audits from Python: ``plenum_audit.audit``."""

import asyncio
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from plenum.design.schema import StudyConfig, TrackingConfig
from plenum.design.settings import Api, Backend, Budget, Simulated
from plenum.design.validation import validate
from plenum_audit.design import AuditConfig, CommitteeConfig
from plenum_audit.ends import explain_in_outputs
from plenum_audit.execution.audit import run_audit
from plenum_audit.program_gate import run_audit_gate
from plenum_audit.programs.adapters.committee import find_program, name_program, wrap_program
from plenum_audit.programs.compose import Audit, make_audit
from plenum_verdicts.cases.case import AuditCase
from plenum_verdicts.cases.cases import load_cases, require_apart
from plenum_verdicts.dynamics.audit_result import AuditResult

_STUDY = "audit"
"""The study that an audit from Python is tracked as."""
_BACKENDS = {"simulated": Simulated, "api": Api}


def audit(
    committee: Callable[..., Any] | str,
    case: AuditCase | str | Path,
    *,
    acceptable: float = 0.95,
    unacceptable: float = 0.80,
    max_runs: int = 100,
    backend: Backend | str = "simulated",
    folder: Path | None = None,
    dollars: float | None = None,
    concurrency: int = 8,
    timeout_s: float = 600.0,
) -> AuditResult:
    """Run a committee until its stability is decided.

    Parameters
    ----------
    committee
        A function ``(case, run) -> decision``, async or not, which is called in this process; or
        ``FILE.py:NAME``, which runs in its own process.
    case
        A case, or a file or a folder of cases.
    acceptable, unacceptable, max_runs
        The criterion of stability, as for ``scripts/audit.py``.
    backend
        The backend that answers its calls: ``simulated``, ``api``, or a backend's settings.
    folder
        The folder for journals, the tracking store and the outputs, in which evidence accumulates
        over audits. By default a temporary folder without outputs.
    dollars
        The limit of its cost.
    concurrency, timeout_s
        Number of runs in flight, and the time limit of each in seconds.

    Returns
    -------
    AuditResult
        The verdicts: ``result.family.verdict``, and a line per case in ``result.lines()``.

    Raises
    ------
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
    >>> result = plenum_audit.audit(committee, case, max_runs=40)
    >>> result.family.verdict, len(result.lines())
    ('stable', 1)
    """
    with tempfile.TemporaryDirectory() as scratch:
        place = folder or Path(scratch)
        uri = None if folder is None else f"sqlite:///{folder.resolve()}/mlflow.db"
        target = committee if isinstance(committee, str) else name_program(committee)
        isolate = "process" if isinstance(committee, str) else "none"
        called = {"target": target, "isolate": isolate, "timeout_s": timeout_s}
        config = AuditConfig(
            committee=validate(CommitteeConfig, called, "committee"),
            case=str(case),
            acceptable=acceptable,
            unacceptable=unacceptable,
            max_runs=max_runs,
            concurrency=concurrency,
            out=str(place),
        )
        study = StudyConfig(
            study=_STUDY,
            backend=_BACKENDS[backend]() if isinstance(backend, str) else backend,
            budget=Budget(dollars=dollars),
            tracking=TrackingConfig(uri=uri),
            journals=str(place / "journals"),
        )
        with explain_in_outputs(lambda: (_STUDY, config) if folder is not None else None):
            program = (
                find_program(config.committee)
                if isinstance(committee, str)
                else wrap_program(committee)
            )
            cases = (require_apart(case),) if isinstance(case, AuditCase) else load_cases(case)
            composed = make_audit(config, study, "", program, program.identity, cases)
        run = run_audit if folder is None else run_audit_gate
        result: AuditResult | None = _outside_of_loops(run, composed)
        assert result is not None  # only a dry run has none
        return result


def _outside_of_loops(run: Callable[[Audit], AuditResult | None], given: Audit) -> Any:
    """Run an audit in its own event loop, even if a notebook's loop is running."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return run(given)
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(run, given).result()
