"""The examples through the real command line, as the docs call them."""

import shlex
import shutil
from pathlib import Path

import pytest
from command_line import Run

pytestmark = pytest.mark.long

ROOT = Path(__file__).resolve().parents[3]
PYTHON = ROOT / ".frameworks/langgraph/bin/python"
LANGGRAPH = [
    f"committee={ROOT}/examples/hiring_langgraph.py:committee",
    f"committee.python={PYTHON}",
]


@pytest.mark.parametrize(
    "committee",
    [
        pytest.param(
            [f"committee.command=node {shlex.quote(str(ROOT))}/examples/hiring.mjs {{case}}"],
            id="command",
            marks=pytest.mark.skipif(shutil.which("node") is None, reason="no node"),
        ),
        pytest.param(
            LANGGRAPH,
            id="langgraph",
            marks=pytest.mark.skipif(
                not PYTHON.exists(), reason="sh scripts/frameworks.sh langgraph"
            ),
        ),
    ],
)
def test_an_example_is_audited(run: Run, committee: list[str]) -> None:
    case = f"case={ROOT}/examples/cases/night-nurse.yaml"
    settings = ["backend=simulated", "tracking=none", "max_runs=3", "undecided=pass"]
    done = run(*committee, case, *settings, script="scripts/audit.py")
    assert "night-nurse: Undecided" in done.stdout
