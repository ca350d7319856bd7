"""A third kind of study, added without touching a file of the package: see ``tests/coin``."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from command_line import ROOT, call, find_package, journals
from statsmodels.stats.proportion import proportion_confint

from plenum.records.transcript import read_transcript
from plenum.tracking import store

COIN = ROOT / "tests/coin"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return find_package(COIN, tmp_path_factory.mktemp("site"))


def test_a_coin_goes_from_a_config_through_journals_and_mlflow_to_a_printed_table(
    stored: Path, path: dict[str, Any]
) -> None:
    done = call(stored, "run.py", "-m", "task=coin", "task.heads=0.2,0.9", **path)
    assert "deprecated" not in done.stderr

    flipped = {}
    for file in map(Path, journals(stored)):
        transcript = read_transcript(stored / "mlruns/journals" / file)
        sides = [entry["side"] for entry in transcript.calls]
        assert transcript.end is not None
        assert (len(sides), sides.count("heads")) == (20, transcript.end["heads"])
        flipped.setdefault(transcript.head["heads"], []).append(transcript.end["heads"])
    assert {heads: len(counts) for heads, counts in flipped.items()} == {"0.2": 6, "0.9": 6}

    client = store.open_client(f"sqlite:///{stored}/mlruns/mlflow.db")
    experiment = client.get_experiment_by_name("coin")
    assert experiment.tags["plenum.study_kind"] == "coin"
    parents = client.search_runs([experiment.experiment_id], "tags.`plenum.kind` = 'condition'")
    shares = {run.data.params["heads"]: run.data.metrics["share"] for run in parents}
    assert shares == {h: pytest.approx(sum(counts) / 120) for h, counts in flipped.items()}

    printed = call(stored, "scripts/tables.py", "study=coin", **path).stdout
    table = pd.read_csv(stored / "outputs/coin/coin.csv", dtype={"heads": str})
    for line in table.itertuples():
        low, high = proportion_confint(sum(flipped[line.heads]), 120, method="beta")
        assert (line.target, line.completed) == (6, 6)
        assert [line.share, line.ci_low, line.ci_high] == pytest.approx(
            [shares[line.heads], low, high]
        )
        assert f"{line.share:.3f}" in printed
    script = stored / "shares.py"
    script.write_text("import plenum; print(plenum.study('coin').frame()['share'].sum())")
    assert float(call(stored, str(script), **path).stdout) == pytest.approx(table["share"].sum())
    call(stored, "scripts/accounting.py", "study=coin", **path)
    accounts = pd.read_csv(stored / "outputs/coin/accounting.csv")
    assert accounts[["target", "completed", "calls"]].to_numpy().tolist() == [[6, 6, 120]] * 2
    assert json.dumps(sorted(shares)) == '["0.2", "0.9"]'


def test_a_study_without_a_completed_replicate_has_a_table(
    stored: Path, path: dict[str, Any]
) -> None:
    call(stored, "run.py", "task=coin", "backend.timeout_rate=1", "study=out", status=None, **path)
    call(stored, "scripts/tables.py", "study=out", **path)
    table = pd.read_csv(stored / "outputs/out/coin.csv")
    assert table[["completed"]].to_numpy().tolist() == [[0]]
    assert table["share"].isna().all()


@pytest.mark.needs("plenum_archive")
def test_an_archive_keeps_the_kind_s_own_table(stored: Path, path: dict[str, Any]) -> None:
    call(stored, "run.py", "-m", "task=coin", "task.heads=0.2,0.9", **path)
    call(stored, "scripts/export.py", "study=coin", "out=coin.zip", **path)
    call(stored, "scripts/export.py", "--verify", "coin.zip", **path)
    call(stored, "scripts/import.py", "archive=coin.zip", "study=again", **path)

    def tables(study: str) -> list[tuple[str, bytes]]:
        files = (stored / "mlruns/artifacts" / study).rglob("*.parquet")
        return sorted((file.name, file.read_bytes()) for file in files)

    assert tables("again") == tables("coin")
    names = [name for name, _ in tables("coin")]
    assert names == [*["flips.parquet"] * 2, *["replicates.parquet"] * 2]
    with zipfile.ZipFile(stored / "coin.zip") as archive:
        assert "| `flips.parquet` | a table of this kind" in archive.read("README.md").decode()
    call(stored, "scripts/tables.py", "study=again", **path)
    shown = [(stored / "outputs" / study / "coin.csv").read_bytes() for study in ("coin", "again")]
    assert shown[0] == shown[1]
