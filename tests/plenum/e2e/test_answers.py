"""Cases with answers, from a published file to tables: the command line, end to end."""

import json
from pathlib import Path

import pytest
from command_line import call, client, table, with_store

from plenum.records.transcript import Transcript, read_transcript

pytestmark = pytest.mark.long

TASKS = [
    {
        "id": number,
        "name": f"pier {number}",
        "description": "A ferry leaves soon, from one of three piers.",
        "shared_information": ["The north pier is the nearest."],
        "hidden_information": [
            "The gate of the north pier is locked.",
            "Divers work below the south pier until noon.",
            "A bus waits at the east pier.",
        ],
        "possible_answers": ["North pier", "South pier", "East pier"],
        "correct_answer": answer,
    }
    for number, answer in ((1, "East pier"), (2, "North pier"))
]
NAMES = ("accuracy", "gain", "facts_said")


@pytest.fixture
def folder(empty_store: Path, tmp_path: Path) -> Path:
    """A working folder with a benchmark's file."""
    (tmp_path / "tasks.json").write_text(json.dumps(TASKS), encoding="utf-8")
    return with_store(empty_store, tmp_path)


def count_plainly(runs: list[Transcript], answer: str) -> tuple[float, float, float]:
    """Accuracy, gain and facts said of completed runs, in plain lines."""
    right = first = said = 0.0
    for run in runs:
        seats = [seat["seat"] for seat in run.head["seats"]]
        opening = {turn.seat: turn.pref for turn in run.turns if turn.round == 1}
        sole = [pref for pref in opening.values() if pref.count(max(pref)) == 1]
        votes = ["ABC"[pref.index(max(pref))] for pref in sole]
        right += run.end is not None and run.end["decision"] == answer
        first += votes.count(answer) > len(seats) / 2
        facts = [(s, f) for s, listed in run.head["private_facts"].items() for f in listed]
        for seat, fact in facts:
            words = {w for w in fact.lower().strip(".").split() if len(w) > 3}
            told = [t.argument.lower() for t in run.turns if t.seat == seat]
            split = [set("".join(c if c.isalnum() else " " for c in t).split()) for t in told]
            said += any(words <= each for each in split) / len(facts)
    return right / len(runs), (right - first) / len(runs), said / len(runs)


def test_from_a_file_of_tasks_to_tables(folder: Path) -> None:
    given = ("hiddenbench=tasks.json", "out=cases")
    done = call(folder, "scripts/scenarios.py", *given)
    assert "tasks.json: 2 of 2 read; 2 with 3 private facts; answers: A 1, C 1" in done.stdout
    assert "cases/scenarios exists" in call(folder, "scripts/scenarios.py", *given, status=2).stderr
    own = ("--config-dir", "cases")
    size = ("roles.agents=3", "rounds=3", "replicates=5", "sampling.temperature=0.7", "study=piers")
    cells = ("scenario=HB3-01,HB3-02", "protocol=deliberation,conformity,all_facts")
    printed = call(folder, "run.py", *own, "-m", *cells, *size).stdout
    assert all(name.replace("_", " ") in printed for name in NAMES)
    assert "Simulated agents: no evidence about language models" in printed
    rows = table(folder, "piers")
    assert len(rows) == 6
    for row in rows:
        place = folder / "mlruns/journals" / row["condition"]
        runs = [read_transcript(file) for file in sorted(place.glob("[0-9]*.jsonl"))]
        known = NAMES[:2] if row["protocol"] == "all_facts" else NAMES
        for run in runs if row["protocol"] == "all_facts" else ():
            assert "private_facts" not in run.head
            run.head["private_facts"] = {"Chair": ["It rains."]}
        counted = count_plainly(runs, "C" if row["scenario"] == "HB3-01" else "A")
        for name, value in zip(known, counted, strict=False):
            assert float(row[name]) == pytest.approx(value), (row["protocol"], name)
            low, high = (float(row[f"{name}_ci_{end}"]) for end in ("low", "high"))
            assert low <= value <= high
        assert (row["facts_said"] == "") == (row["protocol"] == "all_facts")
    (stored,) = (
        run.data
        for run in client(folder).search_runs(["1"], "params.protocol = 'conformity'")
        if run.data.params.get("right_answer") == "A"
    )
    (row,) = (r for r in rows if (r["scenario"], r["protocol"]) == ("HB3-02", "conformity"))
    for name in (*NAMES, "gain_ci_low"):
        assert stored.metrics[f"more.answers.{name}"] == pytest.approx(float(row[name]))
    again = call(folder, "scripts/tables.py", "study=piers", "table=all").stdout
    assert "a lower bound" in again
    assert table(folder, "piers") == rows


def test_other_studies_have_none_of_it(folder: Path) -> None:
    call(folder, "run.py", "rounds=2", "replicates=2", "study=plain")
    assert not {*NAMES} & table(folder, "plain")[0].keys()
