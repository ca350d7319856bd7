"""Measure the audit: error rates, overhead, kills, reports.

    python scripts/bench/audit.py [--only PART] [--quick]

- stopping  false verdicts of 20,000 simulated audits a share at the boundaries, and the runs after
            which a program that always decides alike is stable
- proxy     what the proxy adds to a call, and to 64 runs in flight
- kills     audits of a concurrent LangGraph team are killed 50 times: what is lost or paid twice
- native    whether plenum's committee, wrapped as a program, gives the λ̂ and flips of `run.py`
- report    seconds of the reports on 40 cases of 40 runs

`--quick` makes 500 audits a share and 3 kills. The last line is JSON with all figures.
"""

from collections.abc import Callable
from typing import Any

from measuring import measure_parts

TO_REACH = {
    "false_stable": "≤ 0.05",
    "false_unstable": "≤ 0.05",
    "runs_stable_100": "≤ 18; ≤ 36",
    "peeking_clopper_pearson": "printed, about 0.2",
    "proxy_ms": "≤ 1.0",
    "proxy_wall": "≤ 1.05",
    "replay_lost": "0",
    "replay_paid_twice": "0",
    "native_equal": "True",
    "audit_report_s": "≤ 10",
}
"""What the figures should be."""


def _stopping(quick: bool) -> dict[str, Any]:
    from audits import stopping

    return stopping.measure(500 if quick else 20_000)


def _proxy(quick: bool) -> dict[str, Any]:
    from audits import proxying

    return proxying.measure(quick)


def _kills(quick: bool) -> dict[str, Any]:
    from audits import killed

    return killed.measure(3 if quick else 50)


def _native(quick: bool) -> dict[str, Any]:
    from audits import native

    return native.measure()


def _report(quick: bool) -> dict[str, Any]:
    from audits import reporting

    sizes = (5, 10) if quick else (40, 40)
    return reporting.measure(*sizes)


PARTS: dict[str, Callable[[bool], dict[str, Any]]] = {
    "stopping": _stopping,
    "proxy": _proxy,
    "kills": _kills,
    "native": _native,
    "report": _report,
}


if __name__ == "__main__":
    measure_parts(__doc__, PARTS, TO_REACH)
