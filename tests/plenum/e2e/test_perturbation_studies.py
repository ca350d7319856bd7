"""The hosted regime's studies on simulated agents; golden files hold what they print and log."""

from pathlib import Path

import pytest
from command_line import Run, call, table

pytestmark = pytest.mark.long


@pytest.mark.parametrize(
    ("script", "key"), [("tables", "baseline"), ("figures", "baseline"), ("figures", "reruns")]
)
def test_another_study_that_is_not_there_is_named(
    gallery: Path, run: Run, script: str, key: str
) -> None:
    given = ("study=default", f"{key}=nothing", "draws=200")
    done = run(*given, script=f"scripts/{script}.py", cwd=gallery, status=2)
    assert f"error: {key}: there is no study 'nothing'" in done.stderr


def test_registers_are_a_family(stored: Path) -> None:
    call(stored, "run.py", "-m", "+experiment=semantic", "rounds=4")
    rows = table(stored, "semantic")
    assert [(r["scenario"], r["roles"], r["completed"]) for r in rows] == [
        *(("IM-01", "on", "6"), ("IM-01", "off", "6"))
    ]
    assert {r["perturbation"] for r in rows} == {"registers6"}
    assert all(r["fragility_register"] == r["fragility"] for r in rows)


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        (
            ("model=qwen2.5-7b", "scenario=HL-01,IM-01", "rounds=6"),
            "model=qwen2.5-7b memory=k15",
        ),
        (("scenario=HL-01", "rounds=6"), "model=tiny memory=k5"),
        (("scenario=HL-01,IM-01", "memory=k3"), "4 conditions, 80 replicates"),
        (
            ("backend=simulated", "scenario=HL-01"),
            "memory=k15 temperature=t0 backend=simulated perturbation=variants20",
        ),
    ],
)
def test_the_experiment_takes_overrides(run: Run, overrides: tuple[str, ...], words: str) -> None:
    done = run("-m", "+experiment=hosted_benchmark", "dry_run=true", *overrides)
    assert words in " ".join(done.stdout.split())
