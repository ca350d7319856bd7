"""What the script of wordings draws, asks a judge and reads; ``e2e`` calls it."""

import json
import sys
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from plenum.calls.conversation import Misread
from plenum.scenarios.scenario import load_scenario
from plenum.scenarios.variant_files import find_problems, read_wordings

sys.path.append(str(Path(__file__).resolve().parents[3] / "scripts"))

import screen_variants as script


@settings(max_examples=15)
@given(st.integers(9, 45))
def test_ten_distinct_combinations_that_change_half_and_use_every_way(n: int) -> None:
    made = script.draw_rephrasings("WA-01", n)
    assert len(set(made)) == len(made) == 10
    assert all(len(digits) == n and set(digits) <= set("012") for digits in made)
    assert all(2 * digits.count("0") <= n for digits in made)
    for column in zip(*made, strict=True):
        assert min(column.count("1"), column.count("2")) >= 3


def test_they_are_the_documented_ones_and_other_scenarios_have_others(root: Path) -> None:
    folder = root / "scenarios" / "variants"
    for name in ("IM-01", "HL-02"):
        case = load_scenario(root / "scenarios" / f"{name}.yaml")
        read = read_wordings(folder / f"{name}.yaml", case)
        assert read.rephrasings == script.draw_rephrasings(name, len(read.sentences))
    assert not set(script.draw_rephrasings("A", 29)) & set(script.draw_rephrasings("B", 29))


def test_they_are_appended_once_and_comments_survive(tmp_path: Path, root: Path) -> None:
    case = load_scenario(root / "scenarios" / "IM-01.yaml")
    text = (root / "scenarios" / "variants" / "IM-01.yaml").read_text()
    text = text[: text.index("\nrephrasings:")]
    path = tmp_path / "IM-01.yaml"
    path.write_text(text)  # without a line break at its end
    script.append_rephrasings(case, path)
    first = path.read_text()
    assert first.startswith(text + "\nrephrasings:\n")
    read = read_wordings(path, case)
    assert yaml.safe_load(first)["rephrasings"] == list(read.rephrasings)
    assert list(find_problems(read, case)) == []
    script.append_rephrasings(case, path)
    assert path.read_text() == first


@given(st.floats(0, 10), st.text(max_size=40))
def test_an_answer_of_the_form_is_read(score: float, difference: str) -> None:
    text = json.dumps({"score": score, "difference": difference})
    expected = {"score": score, "difference": " ".join(difference.split())}
    assert script.read_score(text) == script.read_score(f"\n```json\n{text}\n```\n") == expected


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no JSON object"),
        ("9", "the object needs exactly"),
        ('Sure: {"score": 9, "difference": "none"}', "no JSON object"),
        ('{"score": 9}', "exactly difference, score"),
        ('{"score": 9, "difference": "", "more": 1}', "exactly difference, score"),
        ('{"score": 9, "score": 2, "difference": ""}', "a key stands twice"),
        ('{"score": "9", "difference": ""}', "score is no number"),
        ('{"score": true, "difference": ""}', "score is no number"),
        ('{"score": 10.5, "difference": ""}', "score is no number from 0 to 10"),
        ('{"score": -1, "difference": ""}', "score is no number from 0 to 10"),
        ('{"score": NaN, "difference": ""}', "NaN is no number"),
        ('{"score": 1e999, "difference": ""}', "score is no number"),
        ('{"score": 9, "difference": null}', "difference is no text"),
        ("[" * 100_000, "no JSON object"),
    ],
)
def test_anything_else_is_no_score(text: str, why: str) -> None:
    with pytest.raises(Misread, match=why):
        script.read_score(text)


def test_six_registers_are_fifteen_pairs_and_the_judge_reads_both_versions_whole(
    root: Path,
) -> None:
    case = load_scenario(root / "scenarios" / "IM-01.yaml")
    pairs = script.list_pairs(case, script.survey(case, root / "scenarios" / "variants"))
    assert sum(pair["family"] == "register" for pair in pairs) == 15
    assert len({pair["key"] for pair in pairs}) == len(pairs) == 10 + 9 + 15
    asked = script.make_question("One text.", "Another text.")
    assert "<first>\nOne text.\n</first>" in asked
    assert "<second>\nAnother text.\n</second>" in asked
    assert '{"score": S, "difference": "D"}' in asked
