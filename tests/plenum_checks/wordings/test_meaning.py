"""What a judge is asked, and that only a score counts as one."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plenum_checks.wordings import meaning


@given(st.floats(0, 10), st.text(max_size=40))
def test_an_answer_of_the_form_is_read(score: float, difference: str) -> None:
    text = json.dumps({"score": score, "difference": difference})
    expected = meaning.Opinion(score, " ".join(difference.split()))
    assert (
        meaning.read_opinion(text) == meaning.read_opinion(f"\n```json\n{text}\n```\n") == expected
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no JSON object"),
        ("9", "the object needs exactly"),
        ("I'd say 9 of 10.", "no JSON object"),
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
    with pytest.raises(meaning.Unread, match=why):
        meaning.read_opinion(text)


def test_the_judge_reads_both_versions_whole() -> None:
    asked = meaning.ask_judge("One text.", "Another text.")
    assert "<first>\nOne text.\n</first>" in asked
    assert "<second>\nAnother text.\n</second>" in asked
    assert '{"score": S, "difference": "D"}' in asked


def test_a_pair_without_a_score_is_never_flagged_as_one() -> None:
    pair = meaning.Judgement("IM-01", "canonical", "rephrase01", "rephrase", "judge", "unread")
    assert not meaning.is_flagged(pair, 10)
    assert math.isnan(meaning.mean([]))
