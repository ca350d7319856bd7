"""Replicates as rows of their condition's run: whoever reads a study learns the same."""

import hashlib
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from command_line import call, replicates

from plenum.reports import estimates
from plenum.reports.rows import make_frame
from plenum.reports.settings import Settings
from plenum.reports.study import load_study
from plenum.show.table import format_csv
from plenum.tracking import rows, study
from plenum.tracking.study import Study
from plenum_archive.gather import gather_conditions

pytestmark = pytest.mark.long

SWEEP = ("-m", "study=forms", "roles=on,off", "rounds=6", "calls.max_attempts=1")
FAULTS = ("backend.malformed_rate=0.06", "backend.timeout_rate=0.004")
NESTED, ROWS = "tracking.replicates=all", "tracking.replicates=none"
FORMS = {
    "nested": [("replicates=6", NESTED)],
    "rows": [("replicates=6", ROWS)],
    "grown": [("replicates=3", NESTED), ("replicates=6", ROWS)],
    "shrunk": [("replicates=3", ROWS), ("replicates=6", NESTED)],
}


def store_of(folder: Path, form: str) -> str:
    return f"sqlite:///{folder}/{form}/mlruns/mlflow.db"


@pytest.fixture(scope="module")
def forms(tmp_path_factory: pytest.TempPathFactory, empty_store: Path) -> Path:
    """One study in four stores, from the same journals; calls are made for the first alone."""
    folder = tmp_path_factory.mktemp("forms")
    for form, sweeps in FORMS.items():
        (folder / form / "mlruns").mkdir(parents=True)
        (folder / form / "mlruns/mlflow.db").write_bytes(empty_store.read_bytes())
        for given in sweeps:
            uri = f"tracking.uri={store_of(folder, form)}"
            done = call(folder, "run.py", *SWEEP, *FAULTS, *given, uri, status=None)
            assert "Traceback" not in done.stderr
    return folder


def published(folder: Path, form: str, script: str) -> dict[str, bytes]:
    """The CSV files that a script writes of a study."""
    out = f"outputs/{form}-{script}"
    given = ("study=forms", f"tracking.uri={store_of(folder, form)}", f"out={out}")
    call(folder, f"scripts/{script}.py", *given)
    return {file.name: file.read_bytes() for file in sorted((folder / out).glob("*.csv"))}


def archived(folder: Path, form: str) -> Any:
    """What an archive would hold, but for ids and times."""

    def plain(run: Any) -> dict[str, Any]:
        return {k: v for k, v in asdict(run).items() if k not in ("run_id", "start", "end")}

    with gather_conditions("forms", store_of(folder, form)) as conditions:
        return [
            {
                "counts": each.counts,
                "run": plain(each.run),
                "replicates": [plain(run) for run in each.replicates],
                "transcripts": {n: path.read_bytes() for n, path in each.transcripts.items()},
                "artifacts": {
                    name: hashlib.sha256(data).hexdigest()
                    for name, data in each.artifacts.items()
                    if name != "config.yaml"
                },
            }
            for each in conditions
        ]


def test_each_form_is_what_was_wished_for(forms: Path) -> None:
    held = {}
    for form in FORMS:
        study = Study("forms", store_of(forms, form))
        numbers = [run.data.tags["plenum.replicate"] for run in replicates(study)]
        assert sorted(numbers) == sorted("012345" * 2)
        held[form] = len(study.nested_runs)
    assert held == {"nested": 12, "rows": 0, "grown": 6, "shrunk": 6}


@pytest.mark.parametrize("form", [form for form in FORMS if form != "nested"])
def test_tables_explorer_and_archive_are_the_same_in_each_form(forms: Path, form: str) -> None:
    tables = published(forms, form, "tables")
    assert tables == published(forms, "nested", "tables")
    of = ("", "decision_", "growth_", "share_")
    compared = [f"{name}contrasts.csv" for name in of]
    assert tables.keys() == {"conditions.csv", *compared}
    assert archived(forms, form) == archived(forms, "nested")
    pages = {}
    for name in (form, "nested"):
        out = f"outputs/{name}.html"
        given = ("study=forms", f"tracking.uri={store_of(forms, name)}", f"out={out}")
        # Without Watch, which tells the time.
        call(forms, "scripts/explore.py", *given, "journals=")
        pages[name] = (forms / out).read_bytes()
    assert pages[form] == pages["nested"]


def test_accounts_and_the_report_are_the_same(forms: Path) -> None:
    studies = [Study("forms", store_of(forms, form)) for form in ("nested", "rows")]
    accounts, others = (published(forms, form, "accounting") for form in ("nested", "rows"))
    for one, other in zip(*(each.condition_runs for each in studies), strict=True):
        ids = [run.info.run_id.encode() for run in (one, other)]
        others = {name: data.replace(*reversed(ids)) for name, data in others.items()}
    assert others == accounts
    assert "manifest.csv" in accounts
    kept = [[(u.pending, u.models, u.outcomes, u.digests) for u in s.usage] for s in studies]
    assert kept[0] == kept[1]
    assert all("transcripts" in digests for *_, digests in kept[1])
    versions = [[p.versions for p in study.provenance.values()] for study in studies]
    assert versions[0] == versions[1]


def test_what_is_there_as_rows_is_not_written_again(forms: Path) -> None:
    """Neither by the same command, nor by one that would nest replicates."""
    files = sorted((forms / "rows").rglob("*.parquet")) + sorted((forms / "rows").rglob("*.zip"))
    before = {file: file.stat().st_mtime_ns for file in files}
    assert {file.name for file in files} >= {rows.ROWS_FILE, rows.ROWS_ARCHIVE}
    uri = f"tracking.uri={store_of(forms, 'rows')}"
    for mode in (ROWS, NESTED):
        done = call(forms, "run.py", *SWEEP, *FAULTS, "replicates=6", mode, uri, status=None)
        assert "0 calls made now" in done.stderr
        assert "to MLflow" not in done.stderr
    assert {file: file.stat().st_mtime_ns for file in files} == before


def test_a_transcript_is_traced_from_its_row(forms: Path) -> None:
    for form in ("rows", "shrunk"):  # whose parents were replaced
        study = Study("forms", store_of(forms, form))
        traces = study.client.search_traces([study.experiment])
        runs = [*study.condition_runs, *study.nested_runs]  # one that decides otherwise is nested
        sources = {trace.info.trace_metadata["mlflow.sourceRun"] for trace in traces}
        assert {run.info.run_id for run in study.condition_runs} <= sources
        assert sources <= {run.info.run_id for run in runs}


def test_an_archive_is_imported_as_rows(forms: Path) -> None:
    place = f"tracking.uri={store_of(forms, 'nested')}"
    call(forms, "scripts/export.py", "study=forms", place, "out=forms.zip")
    place = f"tracking.uri={store_of(forms, 'rows')}"
    call(forms, "scripts/import.py", "archive=forms.zip", "study=theirs", place, ROWS)
    study = Study("theirs", store_of(forms, "rows"))
    assert not study.nested_runs
    assert len(replicates(study)) == 12
    again = call(forms, "scripts/import.py", "archive=forms.zip", "study=theirs", place, NESTED)
    assert "with the same contents: nothing to do" in again.stdout


def test_a_condition_of_rows_is_dropped_and_restored(forms: Path) -> None:
    given = ("study=forms", f"tracking.uri={store_of(forms, 'grown')}", "yes=true")
    before = archived(forms, "grown")
    identity = Study("forms", store_of(forms, "grown")).listed[0].identity
    call(forms, "scripts/study.py", *given, f"drop={identity}")
    assert len(replicates(Study("forms", store_of(forms, "grown")))) == 6
    call(forms, "scripts/study.py", *given, "delete")
    call(forms, "scripts/study.py", *given, "restore")
    assert archived(forms, "grown") == before


def test_auto_counts_the_replicates_of_the_sweep() -> None:
    assert rows.has_nested_runs("auto", 2000)
    assert not rows.has_nested_runs("auto", 2001)
    assert rows.has_nested_runs("all", 10**6)
    assert not rows.has_nested_runs("none", 1)


def test_estimates_that_a_sweep_stored_are_those_that_would_be_computed(
    forms: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    uri = store_of(forms, "rows")
    chosen = Settings("forms", uri, forms / "unused")
    whole = Study("forms", uri)
    version = whole.condition_runs[0].data.tags["plenum.version"].removesuffix("-dirty")
    for run in whole.condition_runs:
        whole.client.set_tag(run.info.run_id, "plenum.version", version)
    monkeypatch.setattr(study, "MANY", 1)
    monkeypatch.setattr(study, "code_version", lambda: version)
    stored, computed = load_study(chosen, outlined=True), load_study(chosen)
    assert all(row.tracked.outline and not row.tracked.preferences.size for row in stored.rows)
    assert format_csv(make_frame(stored.rows)) == format_csv(make_frame(computed.rows))
    first, second = stored.contrasts[0].estimate, computed.contrasts[0].estimate
    assert (first.value, first.ci_low, first.p_wald) == (second.value, second.ci_low, second.p_wald)
    assert first.p == first.p_wald
    others = replace(chosen, window=(2, 5))
    expected = format_csv(make_frame(load_study(others).rows))
    for alone in (200, 0):  # in this process, and in several
        monkeypatch.setattr(estimates, "_ALONE", alone)
        again = load_study(others, outlined=True)
        assert not any(row.tracked.preferences.size for row in again.rows)
        assert format_csv(make_frame(again.rows)) == expected
