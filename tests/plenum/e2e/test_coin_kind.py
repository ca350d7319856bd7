"""A third kind of study, added without touching a file of the package: see ``tests/coin``."""

import json
import shutil
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
OLD = '''
"""The coin as version 0.2 had it, by dotted texts."""

from plenum.design{module} import Kind

KIND = Kind(
    name="coin",
    plural="coins",
    tasks=("coin",),
    assumed_answers="one word",
    factors=("task", "heads", "model", "backend", "settings", "rounds", "seed"),
    repeated=(),
    tables=("replicates",),
    settings={{"task": "coin.settings:CoinTaskConfig"}},
    parts={{
        "compose": "coin.flips:compose",
        "conversation": "coin.flips:Flips",
        "longest_run": "copy:copy",
        "longest_answer": "coin.parts:find_longest_answer",
        "simulated_agent": "coin.flips:answer",
        "estimates": "coin.flips:estimates",
        "run_name": "coin.parts:run_name",
        "tables": "coin.flips:tables",
        "tracked": "coin.parts:read_fields",
        "by_round": "coin.parts:by_round",
        "report_tables": "coin.flips:report_tables",
        "report_frames": "coin.flips:report_frames",
        "findings": "coin.parts:write_findings",
    }},
)
'''
PARTS = """
def find_longest_answer(condition, ask):
    return "heads", 2.0

def read_fields(table, params):
    return {"metrics": table("flips")}

def by_round(transcript):
    return {"heads": [float(entry["side"] == "heads") for entry in transcript.calls]}

def write_findings(table):
    return [f"Conditions of the coin that were run: {len(table)}."]
"""


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


def test_a_kind_without_tables_of_its_own_can_be_swept(stored: Path) -> None:
    shutil.copytree(COIN, stored / "bare")
    module = stored / "bare/coin/__init__.py"
    before, _, rest = module.read_text().partition("    def publish_tables")
    module.write_text(f"{before}    def make_frames{rest.partition('    def make_frames')[2]}")
    (stored / "site").mkdir()
    bare = find_package(stored / "bare", stored / "site")
    done = call(stored, "run.py", "task=coin", "replicates=2", **bare)
    assert "2/2 completed" in done.stderr
    refused = call(stored, "scripts/tables.py", "study=coin", status=2, **bare)
    assert "it holds coins; tables: only for" in refused.stderr


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


@pytest.mark.parametrize("module", ["", ".kinds"])
def test_a_kind_of_version_0_2_goes_the_whole_way_with_a_line_of_warning(
    stored: Path, module: str
) -> None:
    shutil.copytree(COIN, stored / "old")
    (stored / "old/coin/__init__.py").write_text(OLD.format(module=module))
    (stored / "old/coin/parts.py").write_text(PARTS)
    (stored / "site").mkdir()
    old = find_package(stored / "old", stored / "site")

    def warned(*command: str) -> str:
        done = call(stored, *command, **old)
        (line,) = [each for each in done.stderr.splitlines() if "deprecated" in each]
        assert ("imports Kind from plenum.design" if not module else "dotted texts") in line
        return done.stdout

    warned("run.py", "-m", "task=coin", "task.heads=0.2,0.9", "replicates=2")
    assert "Conditions of the coin that were run: 2." in warned("scripts/tables.py", "study=coin")
    table = pd.read_csv(stored / "outputs/coin/coin.csv")
    assert table["completed"].tolist() == [2, 2]
    dry = warned("run.py", "task=coin", "dry_run=true", "study=dry")
    assert "120 calls" in dry
    done = call(stored, "scripts/report.py", "study=coin", status=2, **old)
    assert "study: it holds coins; report: only for committees" in done.stderr
