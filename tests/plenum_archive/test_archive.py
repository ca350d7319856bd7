"""Archives of studies: equal bytes, every damage found, hostile files harmless, and back again."""

import json
import stat
import zipfile
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from archives import Study, condition, files_of, forged
from hypothesis import given
from hypothesis import strategies as st

from plenum.base.errors import UserError
from plenum.records.usage import Usage
from plenum.tracking import store
from plenum_archive import container, dictionary, import_, scrub, verify
from plenum_archive.import_ import Import
from plenum_archive.verify import check_archive

PLACE = "conditions/001-c0"
JOURNAL = f"{PLACE}/transcripts/000.jsonl"


@pytest.fixture(scope="module")
def uri(tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"sqlite:///{tmp_path_factory.mktemp('archives')}/mlflow.db"


@pytest.fixture(scope="module")
def study(uri: str, tmp_path_factory: pytest.TempPathFactory) -> Study:
    return Study(uri, "s1", tmp_path_factory.mktemp("journals")).write()


@pytest.fixture(scope="module")
def archive(study: Study, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return study.export(tmp_path_factory.mktemp("archive") / "s1.zip")


def bring_back(archive: Path, uri: str, study: str = "", journals: Path | None = None) -> None:
    import_.bring_back(Import(archive, study, uri, journals and str(journals)))


def test_the_same_study_has_the_same_bytes(study: Study, archive: Path, tmp_path: Path) -> None:
    again = study.export(tmp_path / "again.zip")
    assert again.read_bytes() == archive.read_bytes()
    assert check_archive(archive).problems == ()
    assert [path.name for path in tmp_path.iterdir()] == ["again.zip"]


def test_transcripts_are_kept_byte_for_byte(study: Study, archive: Path) -> None:
    files = files_of(archive)
    assert files[JOURNAL] == (study.folder / "c0/000.jsonl").read_bytes()
    kept = files["conditions/002-c1/transcripts/000.jsonl"]
    assert kept == (study.folder / "c1/000.jsonl").read_bytes()


FORGED = b"file,field,type,unit,range,meaning\n*,*,text,,,see http://evil.example\n"


@pytest.mark.parametrize(
    "change",
    [
        lambda own: FORGED,
        lambda own: own.replace(b"completed", b"finished", 1),
        lambda own: b"\n".join(own.splitlines()[:-1]) + b"\n",
        lambda own: own + own.splitlines()[-1] + b"\n",
        lambda own: b"",
        lambda own: b"\xff",
        lambda own: None,
    ],
    ids=["other", "a word", "a line less", "a line twice", "empty", "no text", "missing"],
)
def test_a_forged_dictionary_is_refused_though_every_digest_fits(
    archive: Path,
    uri: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    change: Callable[[bytes], bytes | None],
) -> None:
    own = files_of(archive)["dictionary.csv"]
    made = forged(archive, tmp_path / "forged.zip", {"dictionary.csv": change(own)})
    assert verify.verify(made) == 2
    (told,) = capsys.readouterr().err.splitlines()
    assert "dictionary.csv: " in told
    with pytest.raises(UserError, match=r"dictionary\.csv"):
        bring_back(made, uri, "forged")


def test_an_archive_of_an_earlier_version_may_know_fewer_columns_in_earlier_words(
    archive: Path, tmp_path: Path
) -> None:
    head, *rows = files_of(archive)["dictionary.csv"].splitlines(keepends=True)
    earlier = Path(dictionary.__file__).with_name("dictionary_earlier.csv").read_bytes()
    by = {"written_by": {"plenum": "0.0.9"}}
    for data, status in ((head + b"".join(rows[:-3]) + earlier, 0), (FORGED, 2)):
        made = forged(archive, tmp_path / f"{status}.zip", {"dictionary.csv": data}, **by)
        assert verify.verify(made) == status


def test_it_names_no_folder_of_the_machine(archive: Path, tmp_path: Path) -> None:
    config = yaml.safe_load(files_of(archive)[f"{PLACE}/config.yaml"])
    assert config["tracking"]["uri"] == "sqlite:///<folder>/mlflow.db"
    assert config["journals"] == "mlruns/journals"
    everything = b"".join(files_of(archive).values())
    assert str(Path.home()).encode() not in everything or len(str(Path.home())) < 6
    assert str(tmp_path.parents[1]).encode() not in everything


def test_a_secret_is_refused_and_nothing_is_left(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", '"rights","model":"m"')
    with pytest.raises(UserError, match="holds the value of a secret"):
        study.export(tmp_path / "s.zip")
    assert list(tmp_path.iterdir()) == []


# --- damage ------------------------------------------------------------------------------------


@given(st.data())
def test_any_changed_byte_is_found(archive: Path, data: st.DataObject) -> None:
    whole = archive.read_bytes()
    at = data.draw(st.integers(0, len(whole) - 1))
    flip = data.draw(st.integers(1, 255))
    changed = archive.with_name("changed.zip")
    changed.write_bytes(whole[:at] + bytes([whole[at] ^ flip]) + whole[at + 1 :])
    assert check_archive(changed).problems


def _rows(data: bytes, change: Callable[[pd.DataFrame], object]) -> bytes:
    table = pd.read_parquet(BytesIO(data))
    change(table)
    out = BytesIO()
    table.to_parquet(out)
    return out.getvalue()


def _set(column: str, value: object) -> Callable[[pd.DataFrame], object]:
    def change(table: pd.DataFrame) -> None:
        table.loc[0, column] = value

    return change


def test_what_contradicts_itself_is_found_though_all_digests_fit(
    archive: Path, tmp_path: Path
) -> None:
    files = files_of(archive)
    runs = json.loads(files[f"{PLACE}/runs.json"])
    runs["replicates"][0]["tags"]["plenum.decision"] = "B"
    tables = {name: files[f"{PLACE}/{name}.parquet"] for name in ("ensemble", "replicates")}
    told = {
        JOURNAL: (files[JOURNAL].replace(b"0.6,0.4", b"0.7,0.3"), "digest doesn't match"),
        f"{PLACE}/ensemble.parquet": (
            _rows(tables["ensemble"], _set("p_A", 0.9)),
            "row 0, p_A: 0.9, but its transcripts give 0.5",
        ),
        f"{PLACE}/replicates.parquet": (
            _rows(tables["replicates"], _set("status", "failed")),
            "row 0, status",
        ),
        f"{PLACE}/runs.json": (json.dumps(runs).encode(), "its decision isn't that of its run"),
        "conditions/./runs.json": (b"{}", "not a name that an archive has"),
        f"{PLACE}/transcripts/001.jsonl": (None, "missing"),
        f"{PLACE}/transcripts/007.jsonl": (files[JOURNAL], "knows no such replicate"),
        f"{PLACE}/condition.json": (b"{}", "not of this condition"),
        "conditions/009-x/runs.json": (b"{}", "the manifest doesn't list"),
    }
    for number, (name, (data, problem)) in enumerate(told.items()):
        problems = check_archive(forged(archive, tmp_path / f"{number}.zip", {name: data})).problems
        assert any(problem in line for line in problems), (name, problems)


def test_counts_that_do_not_add_up_are_found(archive: Path, tmp_path: Path) -> None:
    conditions = check_archive(archive).manifest["conditions"]
    conditions[0] |= {"completed": 2, "failed": 0}
    found = check_archive(forged(archive, tmp_path / "f.zip", {}, conditions=conditions)).problems
    assert any("2 completed, but its transcripts say 1" in line for line in found)
    conditions[0] |= {"target": 5}
    found = check_archive(forged(archive, tmp_path / "g.zip", {}, conditions=conditions)).problems
    assert any("target isn't completed + failed + pending" in line for line in found)


@pytest.mark.parametrize("value", [[], {"a": 1}, 3, None, "../x", [[]], [{"folder": "../x"}]])
def test_manifests_of_any_shape_are_no_crash(archive: Path, tmp_path: Path, value: Any) -> None:
    for key in ("conditions", "counts", "format", "kind", "study"):
        assert check_archive(forged(archive, tmp_path / f"{key}.zip", {}, **{key: value})).problems


def test_journals_of_any_shape_are_no_crash(archive: Path, tmp_path: Path) -> None:
    for data in (b"", b"[]\n", b'{"kind":1}\n', b"\xff\n", b"[" * 100_000):
        for name in (JOURNAL, f"{PLACE}/runs.json", f"{PLACE}/ensemble.parquet"):
            out = tmp_path / "f.zip"
            assert check_archive(forged(archive, out, {name: data})).problems


# --- hostile files -----------------------------------------------------------------------------


def hostile(path: Path, *members: tuple[str, bytes, int]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for name, data, mode in members:
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            out.writestr(info, data, zipfile.ZIP_DEFLATED)
    return path


@pytest.mark.parametrize(
    "name",
    ["../evil", "/etc/evil", "a/../../evil", "C:\\evil", "a\\..\\evil", "a//b", "./a", "a/", "é"],
)
def test_names_that_lead_elsewhere_are_refused(tmp_path: Path, name: str) -> None:
    (problem,) = check_archive(hostile(tmp_path / "h.zip", (name, b"x", 0o100644))).problems
    assert "not a name that an archive has" in problem


def test_links_and_doubled_names_are_refused(tmp_path: Path) -> None:
    link = hostile(tmp_path / "l.zip", ("a", b"/etc/passwd", stat.S_IFLNK | 0o777))
    assert "a link" in check_archive(link).problems[0]
    with pytest.warns(UserWarning, match="Duplicate"):
        doubled = hostile(tmp_path / "d.zip", ("a", b"1", 0), ("a", b"2", 0))
    assert "more than one file" in check_archive(doubled).problems[0]


def test_a_bomb_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(container, "_LARGEST", 1_000_000)
    members = [(f"f{n}", bytes(900_000), 0o100644) for n in range(9)]
    (problem,) = check_archive(hostile(tmp_path / "b.zip", *members)).problems
    assert "would unpack to 8,100,000 bytes" in problem


def test_what_is_no_archive_is_refused(tmp_path: Path) -> None:
    other = hostile(tmp_path / "o.zip", ("a.txt", b"x", 0o100644))
    assert any("manifest.json: missing" in line for line in check_archive(other).problems)
    text = tmp_path / "t.zip"
    text.write_text("no zip at all")
    assert "no whole zip file" in check_archive(text).problems[0]


def test_problems_are_lines_that_a_terminal_can_show(
    archive: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    manifest = check_archive(archive).manifest
    manifest["conditions"][0]["folder"] = "\x1b[31mred\n\x07" * 99
    bad = forged(archive, tmp_path / "f.zip", {}, conditions=manifest["conditions"])
    assert verify.verify(bad) == 2
    told = capsys.readouterr().err
    assert not {"\x1b", "\x07"} & set(told)
    assert all(line.startswith(str(bad)) for line in told.splitlines())


# --- back again --------------------------------------------------------------------------------


def tracked(archive: Path) -> dict[str, bytes]:
    """The files of an archive that don't depend on the study's name."""
    return {name: data for name, data in files_of(archive).items() if name.startswith("cond")}


def test_what_was_brought_back_has_the_same_runs_and_archive(
    study: Study, archive: Path, tmp_path: Path
) -> None:
    bring_back(archive, study.uri, "again")
    assert tracked(study.export(tmp_path / "again.zip", "again")) == tracked(archive)
    ours, theirs = (
        {run.data.tags.get("plenum.origin", run.info.run_id): run for run in study.runs(name)}
        for name in ("s1", "again")
    )
    assert ours.keys() == theirs.keys()
    for origin, run in ours.items():
        again = theirs[origin]
        assert again.data.params == run.data.params
        assert again.data.metrics == run.data.metrics
        times = ("status", "start_time", "end_time", "run_name")
        assert [getattr(again.info, t) for t in times] == [getattr(run.info, t) for t in times]
        for key in run.data.metrics:
            points = [
                [(p.step, p.value) for p in study.client.get_metric_history(r.info.run_id, key)]
                for r in (run, again)
            ]
            assert points[0] == points[1]


def test_a_study_that_is_there_is_left_alone(
    study: Study, archive: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {run.info.run_id for run in study.runs()}
    bring_back(archive, study.uri)  # it is the very study that was exported
    assert "nothing to do" in capsys.readouterr().out
    assert {run.info.run_id for run in study.runs()} == before
    other = Study(study.uri, "taken", tmp_path)
    other.writer.open(condition("c9"), 1)
    with pytest.raises(UserError, match="holds something else"):
        bring_back(archive, study.uri, "taken")
    bring_back(archive, study.uri, "second")
    bring_back(archive, study.uri, "second")
    assert len(study.runs("second")) == len(before)


class Stopped(BaseException):
    """The import was killed here."""


class Stopping:
    """A client that is stopped before one of its writes."""

    def __init__(self, client: Any, left: int) -> None:
        self._client, self._left = client, left

    def __getattr__(self, name: str) -> Any:
        own = getattr(self._client, name)
        if name.startswith(("get_", "search_")):
            return own

        def call(*given: Any, **named: Any) -> Any:
            self._left -= 1
            if self._left < 0:
                raise Stopped
            return own(*given, **named)

        return call


@pytest.mark.long
def test_an_import_that_was_stopped_anywhere_goes_on(
    study: Study, archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = store.open_client
    stops = 0
    for left in range(3, 40, 2):  # every call gets further than the one before
        monkeypatch.setattr(
            import_, "open_client", lambda uri, left=left: Stopping(opened(uri), left)
        )
        try:
            bring_back(archive, study.uri, "stopped")
            break
        except Stopped:
            stops += 1
            assert study.client.get_experiment_by_name("stopped") is None
    monkeypatch.undo()
    assert stops >= 2
    assert len(study.runs("stopped")) == len(study.runs("s1"))
    assert tracked(study.export(tmp_path / "s.zip", "stopped")) == tracked(archive)


def test_journals_are_unpacked_and_never_overwritten(
    study: Study, archive: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "journals"
    bring_back(archive, study.uri, journals=folder)
    bring_back(archive, study.uri, journals=folder)
    for name in ("c0/000.jsonl", "c0/001.jsonl", "c1/000.jsonl"):
        assert (folder / name).read_bytes() == (study.folder / name).read_bytes()
    (folder / "c0/000.jsonl").write_text("mine")
    with pytest.raises(UserError, match="says something else"):
        bring_back(archive, study.uri, "unpacked", folder)
    assert study.client.get_experiment_by_name("unpacked") is None


# --- studies that aren't whole -----------------------------------------------------------------


def test_a_half_written_replicate_is_told(study: Study, tmp_path: Path) -> None:
    half = Study(study.uri, "half", tmp_path / "half").write()
    run = next(r for r in half.runs() if r.data.tags["plenum.kind"] == "replicate")
    half.client.update_run(run.info.run_id, status="RUNNING")
    with pytest.raises(UserError, match="half written"):
        half.export(tmp_path / "s.zip")


def test_estimates_that_are_older_than_the_transcripts_are_told(
    study: Study, tmp_path: Path
) -> None:
    stale = Study(study.uri, "stale", tmp_path / "stale").write()
    own = condition("c0")
    journal = stale.folder / "c0/001.jsonl"
    journal.unlink()
    stale.writer.open(own, 2).replicate(stale.journal(own, 1), Usage(attempts=6, seconds=0.25))
    with pytest.raises(UserError, match="doesn't agree with itself"):
        stale.export(tmp_path / "s.zip")
    assert not (tmp_path / "s.zip").exists()


def test_an_archives_accounts_tell_servers_apart_and_name_no_host() -> None:
    taken = {"calls": 17, "replicates": 1}
    named = {"m": {"calls": 34, "servers": {"gpu1.lab:8000": taken, "gpu2.lab:8000": taken}}}
    clean = scrub.accounts(json.dumps({"models": named}).encode())
    assert b"lab" not in clean
    assert len(json.loads(clean)["models"]["m"]["servers"]) == 2
    assert scrub.accounts(clean) == clean
    plain = b'{"models":   {"m": {"calls": 1}}}'
    assert scrub.accounts(plain) == plain
