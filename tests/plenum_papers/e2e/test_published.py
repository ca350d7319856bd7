"""Runs that somebody else published: checked, imported, and read as any study."""

import csv
import hashlib
import json
import re
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import released
from command_line import Run, call, client, runs, table, with_store

from plenum.dynamics.lyapunov import lyapunov
from plenum_papers.published import importer
from plenum_papers.published.catalogue import Release

pytestmark = pytest.mark.long

ON = "clone/data/raw/chaos_v1/HL-01__T0.0__N5__rolesTrue__R6.jsonl"
ORIGIN = r"github\.com/somebody/runs"
NAMED = ("published=clone", "catalogue=catalogue.yaml")


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory, empty_store: Path) -> Path:
    """A folder with a release and a store that it was imported to; ``stdout`` has what was said."""
    folder = with_store(empty_store, tmp_path_factory.mktemp("published"))
    written = released.write(folder)
    (folder / "runs.json").write_text(json.dumps(written))
    (folder / "stdout").write_text(call(folder, "scripts/import.py", *NAMED).stdout)
    return folder


def condition(rows: list[dict[str, str]], **factors: str) -> dict[str, str]:
    (row,) = [row for row in rows if all(row[key] == value for key, value in factors.items())]
    return row


def test_estimates_are_those_of_the_released_preferences(published: Path) -> None:
    call(published, "scripts/tables.py", "study=published_pair", "draws=100")
    rows = table(published, "published_pair")
    written = json.loads((published / "runs.json").read_text())
    cells = {"on": ("on", "uniform"), "off": ("off", "uniform"), "mixed": ("on", "mixed")}
    for name, (roles, model) in cells.items():
        row = condition(rows, roles=roles, model=model)
        means = released.preferences(written[name].values()).mean(axis=2)
        np.testing.assert_allclose(float(row["lambda"]), lyapunov(means).value, atol=1e-12)
        assert row["backend"] == "published"
    assert condition(rows, roles="off")["failed"] == "1"


def test_the_table_of_what_committees_do_is_of_the_released_preferences(published: Path) -> None:
    call(published, "scripts/tables.py", "study=published_pair", "table=behaviour", "out=does")
    with (published / "does/table_behaviour.csv").open() as file:
        row = condition(list(csv.DictReader(file)), roles="on", model="uniform")
    given = released.preferences(json.loads((published / "runs.json").read_text())["on"].values())
    means = given.mean(axis=2)
    for t in (1, 3):
        apart = [np.linalg.norm(a[t - 1] - b[t - 1]) for a, b in combinations(means, 2)]
        np.testing.assert_allclose(float(row[f"D {t}"]), np.mean(apart))
    top = given.argmax(axis=-1)  # drawn from a density, so that none are tied
    changes = (np.diff(top, axis=1) != 0).sum(axis=1).mean(axis=0)
    for seat, mean in zip(released.SEATS, changes, strict=True):
        np.testing.assert_allclose(float(row[f"switches {seat}"]), mean)
    assert (float(row["ties"]), row["repairs"]) == (0.0, "")


def test_printed_tables_say_whose_runs_they_are(published: Path) -> None:
    given = ("study=published_pair", "draws=100", "out=printed")
    printed = " ".join(call(published, "scripts/tables.py", *given).stdout.split())
    assert "github.com/somebody/runs@0000000" in printed
    for row in runs(published, "published_pair", "condition"):
        assert row.data.tags["plenum.version"] == "github.com/somebody/runs@0000000"


def test_the_fuller_of_two_files_stands_and_the_other_is_named(published: Path) -> None:
    printed = (published / "stdout").read_text()
    assert "data/raw/chaos_v1/HL-01__T0.0__N5__rolesTrue__R6__multimodel.jsonl: left" in printed
    assert "12 replicates = 11 completed + 1 failed" in printed


def test_next_answers_come_with_the_condition_whose_run_they_follow(published: Path) -> None:
    (row,) = [
        row
        for row in runs(published, "published_pair", "condition")
        if (row.data.params["roles"], row.data.params["model"]) == ("on", "uniform")
    ]
    file = client(published).download_artifacts(row.info.run_id, "next_answers.csv")
    lines = Path(file).read_text().splitlines()
    levels = [float(line["entropy"]) for line in csv.DictReader(lines)]
    assert levels == pytest.approx([np.log(2)] * 6 + [0.0] * 4)
    assert f"Γ̂ = {0.6 * np.log(2):.3f}" in (published / "stdout").read_text()


def test_wordings_are_those_of_the_hosted_file(published: Path) -> None:
    found = runs(published, "published_wordings", "replicate")
    completed = [run for run in found if run.data.tags["plenum.status"] == "completed"]
    families = [run.data.params["family"] for run in completed]
    assert sorted(families) == ["canonical", "format", "rephrase"]


def test_importing_again_changes_nothing(run: Run, published: Path) -> None:
    def state() -> dict[str, Any]:
        kinds = ("condition", "replicate")
        found = [r for kind in kinds for r in runs(published, "published_pair", kind)]
        return {r.info.run_id: (r.info.end_time, r.data.tags, r.data.metrics) for r in found}

    before = state()
    run(*NAMED, script="scripts/import.py", cwd=published)
    assert state() == before


@pytest.mark.long
def test_files_that_come_later_take_the_place_of_less_whole_ones(run: Run, stored: Path) -> None:
    released.write(stored)
    whole = stored / "clone/data/vm/chaos/HL-01__T0.0__N5__rolesTrue__R6__multimodel.jsonl"
    whole.rename(stored / "later.jsonl")
    run(*NAMED, "study=pair", script="scripts/import.py", cwd=stored)
    (stored / "later.jsonl").rename(whole)
    run(*NAMED, "study=pair", script="scripts/import.py", cwd=stored)
    assert len(runs(stored, "published_pair", "condition")) == 3
    statuses = [r.data.tags["plenum.status"] for r in runs(stored, "published_pair", "replicate")]
    assert (statuses.count("completed"), statuses.count("failed")) == (11, 1)


@pytest.mark.long
def test_runs_of_one_condition_in_two_files_stay_apart(
    monkeypatch: pytest.MonkeyPatch, stored: Path
) -> None:
    """A replication has runs of its own, whichever study the same process wrote before it."""
    released.write(stored)
    others = {r: released.run(40 + r) for r in range(released.REPLICATES)}
    again = stored / "clone/data/again"
    again.mkdir()
    (again / Path(ON).name).write_text(released.lines(others))
    folders = {**released.CATALOGUE["folders"], "again": ["data/again"]}
    studies = {**released.CATALOGUE["studies"], "again": [{"in": "again", "rounds": 6}]}
    released.catalogue(stored, folders=folders, studies=studies)
    monkeypatch.setattr(importer, "_PROCESSES", 1)
    release = Release(stored / "clone", stored / "catalogue.yaml")
    uri = f"sqlite:///{stored / 'mlruns/mlflow.db'}"
    importer.bring_in(importer.PublishedImport(release, (), uri))
    call(stored, "scripts/tables.py", "study=published_again", "draws=100")
    (row,) = table(stored, "published_again")
    means = released.preferences(others.values()).mean(axis=2)
    np.testing.assert_allclose(float(row["lambda"]), lyapunov(means).value, atol=1e-12)


@pytest.mark.long
def test_an_imported_study_is_exported_and_imported_with_the_same_tables(
    run: Run, published: Path
) -> None:
    run(
        "study=published_pair",
        "out=pair.zip",
        "draws=100",
        script="scripts/export.py",
        cwd=published,
    )
    run("archive=pair.zip", "study=again", script="scripts/import.py", cwd=published)
    texts = []
    for study in ("published_pair", "again"):
        given = (f"study={study}", "draws=100", "out=exported")
        run(*given, script="scripts/tables.py", cwd=published)
        texts.append((published / "exported/conditions.csv").read_text().replace(study, "NAMED"))
    assert texts[0] == texts[1]


@pytest.mark.long
@pytest.mark.parametrize(
    ("script", "given", "file", "shown"),
    [
        ("explore", ["out=pair.html"], "", r"pair\.html \(3 conditions, 12 replicates"),
        ("report", ["out=report"], "report/report.md", ORIGIN),
        ("accounting", ["out=accounting"], "accounting/accounting.csv", r"t0,published,.*,4,3,1,"),
        ("figures", ["figure=divergence", "out=figures"], "figures/captions.md", ORIGIN),
        ("plan", ["difference=0.3"], "", r"HL-01 +on +uniform +4 +\d\.\d+ "),
    ],
)
def test_every_script_reads_an_imported_study(
    run: Run, published: Path, script: str, given: list[str], file: str, shown: str
) -> None:
    done = run("study=published_pair", *given, script=f"scripts/{script}.py", cwd=published)
    written = (published / file).read_text() if file else done.stdout
    assert re.search(shown, written)


def changed(change: Callable[[dict[str, Any]], None]) -> Callable[[str], str]:
    """A file whose second run was changed."""

    def apply(text: str) -> str:
        lines = text.splitlines()
        record = json.loads(lines[1])
        change(record["run"])
        return "\n".join([lines[0], json.dumps(record), *lines[2:]])

    return apply


def swap(run: dict[str, Any]) -> None:
    run["turns"][0], run["turns"][1] = run["turns"][1], run["turns"][0]


def rename(run: dict[str, Any]) -> None:
    for turn in run["turns"]:
        turn["role"] = turn["role"].replace("Chair", "President")


BROKEN: dict[str, Callable[[str], str | bytes]] = {
    "nothing": lambda text: "",
    "no run": lambda text: '{"replicate": 0}\n' + text,
    "not text": lambda text: b"\xff\xfe" + text.encode(),
    "not finite": changed(lambda run: run["turns"][3].update(pref=[float("nan"), 0.5, 0.5])),
    "beyond 1": changed(lambda run: run["turns"][3].update(pref=[1.5, 0.2, 0.1])),
    "adds up to 0.9": changed(lambda run: run["turns"][3].update(pref=[0.5, 0.2, 0.2])),
    "two options": changed(lambda run: run["turns"][3].update(pref=[0.5, 0.5])),
    "another order": changed(swap),
    "a turn is missing": changed(lambda run: run["turns"].pop()),
    "another scenario": changed(lambda run: run.update(scenario_id="IM-01")),
    "another temperature": changed(lambda run: run["condition"].update(temperature=0.7)),
    "the same replicate twice": lambda text: text + text,
    "a round twice": changed(lambda run: [t.update(round_num=1) for t in run["turns"]]),
    "more rounds than there can be": changed(lambda run: run["condition"].update(rounds=10**30)),
    "another seat in one run": changed(rename),
    "tokens beyond any number": changed(
        lambda run: run["usage_total"].update(input_tokens=10**400)
    ),
    "no number": lambda text: text.replace('"replicate": 0', '"replicate": null'),
    "a wording among replicates": lambda text: text.replace('{"', '{"variant_id": "x", "', 1),
}


@pytest.mark.parametrize("slip", BROKEN)
def test_a_broken_file_ends_in_one_line_and_nothing_is_imported(
    run: Run, stored: Path, slip: str
) -> None:
    released.write(stored)
    text = (stored / ON).read_text()
    damaged = BROKEN[slip](text)
    (stored / ON).write_bytes(damaged if isinstance(damaged, bytes) else damaged.encode())
    done = run(*NAMED, script="scripts/import.py", cwd=stored, status=2)
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("error:")]
    assert "rolesTrue__R6.jsonl" in line
    assert [e.name for e in client(stored).search_experiments()] == ["Default"]


def test_a_torn_line_is_left_out_and_counted(run: Run, stored: Path) -> None:
    released.write(stored)
    text = (stored / ON).read_text()
    (stored / ON).write_text(text[:-200])
    printed = run(*NAMED, "study=pair", script="scripts/import.py", cwd=stored).stdout
    assert "1 line can't be read" in printed
    assert "10 completed + 2 failed" in printed


def test_what_somebody_says_ends_no_line(run: Run, stored: Path) -> None:
    released.write(stored)
    text = (stored / ON).read_text()
    (stored / ON).write_text(text.replace("Chair in round 2", "Chair\u2028in round 2"))
    printed = run(*NAMED, "study=pair", script="scripts/import.py", cwd=stored).stdout
    assert "11 completed + 1 failed" in printed


def test_a_file_whose_name_is_of_no_condition_is_named(run: Run, stored: Path) -> None:
    released.write(stored)
    odd = (stored / ON).with_name("HL-01__T0..1__N5__rolesTrue__R6.jsonl")
    odd.write_text("")
    printed = run(*NAMED, script="scripts/import.py", cwd=stored).stdout
    assert f"not imported: {odd.relative_to(stored / 'clone')} is in no study" in printed


def test_a_file_that_was_changed_after_the_release_is_refused(run: Run, stored: Path) -> None:
    released.write(stored)
    files = [p for p in sorted((stored / "clone").rglob("*")) if p.is_file()]
    rows = ["path,blob"]
    for path in files:
        data = path.read_bytes()
        blob = hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
        rows.append(f"{path.relative_to(stored / 'clone')},{blob}")
    lacking = "HL-01__T0.0__N5__rolesTrue__R6__gpt-4.1.jsonl"
    rows += [f"data/raw/chaos_v1/{name},00" for name in ("absent.jsonl", lacking)]
    (stored / "files.csv").write_text("\n".join(rows))
    models = {"in": "deployed", "rounds": released.ROUNDS, "model": ["uniform", "gpt-4.1"]}
    studies = {**released.CATALOGUE["studies"], "models": [models]}
    released.catalogue(stored, files="files.csv", studies=studies)
    printed = run(*NAMED, script="scripts/import.py", cwd=stored).stdout
    assert "data/raw/chaos_v1/absent.jsonl" in printed
    for study, said in (("models", True), ("pair", False)):
        given = (*NAMED, f"study={study}")
        printed = run(*given, script="scripts/import.py", cwd=stored).stdout
        assert (f"{lacking} was released and is not in the clone" in printed) is said
    (stored / ON).write_text((stored / ON).read_text().replace("60", "61", 1))
    done = run(*NAMED, script="scripts/import.py", cwd=stored, status=2)
    assert "rolesTrue__R6.jsonl" in done.stderr


@pytest.mark.long
def test_the_check_recomputes_what_the_clone_has_and_names_the_rest(run: Run, stored: Path) -> None:
    given = {r: released.run(r, rounds=20) for r in range(4)}
    folder = stored / "clone/data/raw/chaos_v1"
    folder.mkdir(parents=True)
    (folder / "HL-01__T0.0__N5__rolesTrue.jsonl").write_text(released.lines(given))
    study = [{"in": "deployed", "model": "uniform", "roles": "on"}]
    more = {"studies": {"pair": study}, "tables": ["fig-1"], "explained": {}}
    released.catalogue(stored, **more)
    done = run(*NAMED, "check=true", "out=check", script="scripts/papers.py", cwd=stored)
    with (stored / "check/published_check.csv").open() as file:
        rows = {row["quantity"]: row for row in csv.DictReader(file)}
    growth = lyapunov(released.preferences(given.values()).mean(axis=2)).value
    assert (rows["lambda"]["published"], rows["n"]["recomputed"]) == ("0.0541", "4")
    assert rows["lambda"]["recomputed"] == f"{growth:.4f}"
    counts = json.loads(done.stdout.splitlines()[-1])
    assert counts["compared"] == counts["equal"] + counts["unexplained"] == len(rows)
    assert counts["not_compared"] > 0
    assert done.stdout.count("not compared, the clone has no file of") == counts["not_compared"]
    page = (stored / "check/published_check.md").read_text()
    assert f"{counts['equal']} of {len(rows)} numbers" in page
    assert f"{counts['not_compared']} lines of the papers weren't compared" in page
    assert "| 001, Fig. 1: HL-01 on, lambda | 0.0541 | " in page
    assert len(page.split()) <= 500
