"""plenum's committee audited as somebody else's program comes to what its native run comes to."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import ROOT, call
from numpy.typing import NDArray

from plenum.dynamics.summary import summarise
from plenum.tracking.study import Study
from plenum_audit.tracking.programs import collect_ensemble

pytestmark = pytest.mark.long

SETTINGS = ("rounds=6", "temperature=t0.7")
"""With these three of ten replicates of CL-04 decide otherwise than most."""

SHARES = ("unacceptable=0.69", "acceptable=0.71")
"""On both sides of the truth, so that no verdict ends the runs."""

PROGRAM = f"""
import sys
sys.path.insert(0, {str(ROOT / "examples")!r})
from plenum_committee import Committee
committee = Committee({", ".join(map(repr, SETTINGS))})
"""


def test_a_wrapped_committee_has_the_lambda_and_the_flips_of_the_native_run(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    given = ("committee=program.py:committee", f"case={ROOT}/scenarios/CL-04.yaml", *SHARES)
    more = ("backend=simulated", "max_runs=6", "study=audited")
    call(tmp_path, "scripts/audit.py", *given, *more, status=None)
    call(tmp_path, "run.py", "scenario=CL-04", *SETTINGS, "replicates=6", "study=native")

    uri = f"sqlite:///{tmp_path}/mlruns/mlflow.db"
    studies = [Study(name, uri) for name in ("audited", "native")]
    (audited,), (native,) = (study.conditions for study in studies)
    with studies[0].transcripts() as stored:
        ensemble = collect_ensemble([each.verify() for each in stored[audited.run_id]])
    assert ensemble is not None
    array = ensemble[0]
    assert len(native.decisions) == 6
    np.testing.assert_array_equal(array, native.preferences)
    ours, theirs = came_to(array, audited.decisions), came_to(native.preferences, native.decisions)
    assert ours == theirs
    assert theirs["flips"] > 0


def came_to(preferences: NDArray[np.float64], decisions: tuple[str, ...]) -> dict[str, Any]:
    made = tuple("none" if decision == "NONE" else decision for decision in decisions)
    summary = summarise(preferences, made)
    return {
        "decisions": made,
        "growth": summary.lyapunov.value,
        "divergence": tuple(summary.divergence),
        "flips": summary.flip_rate.value,
    }
