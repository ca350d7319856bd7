"""plenum's committee audited as somebody else's program comes to what its native run comes to."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "scripts/bench"))

from audits import native

pytestmark = pytest.mark.long


def test_a_wrapped_committee_has_the_lambda_and_the_flips_of_the_native_run(tmp_path: Path) -> None:
    both = native.compare(tmp_path, runs=6)
    audited, run = both.audited, both.native
    assert len(run.decisions) == 6
    assert audited.decisions == run.decisions
    np.testing.assert_array_equal(audited.preferences, run.preferences)
    assert audited.growth == run.growth
    assert audited.divergence == run.divergence
    assert audited.flips == run.flips > 0
